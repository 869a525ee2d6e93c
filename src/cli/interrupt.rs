//! Signals: Ctrl-C or SIGTERM ends the process without half-written files.
//!
//! ```text
//! out/.mumakil-…  is being written, hidden          Ctrl-C: the signal thread removes it
//! rename          gives it its final name           the signal thread waits for the end
//! out/mine-42/    is whole                          Ctrl-C: it stays
//! ```
//! No destructor runs when a signal ends the process, so the signal thread removes the hidden
//! files, and ends the programs that are policies.
//!
//! Ctrl-C comes from a user, SIGTERM from a program: a queue sends it before the time limit. The exit
//! codes are those of shells, 128 plus the number of the signal: 130 and 143.

use std::io;

use super::progress::RunBar;
use super::terminal;
use mumakil_external::end_all;
use mumakil_run::output::{HIDDEN, last_put, remove_unfinished};

/// From now on, handles the signals that end the process. The message on stderr ends with `after`,
/// which says what happened to the results.
pub fn guard(bar: &RunBar, after: &'static str) {
    guard_with(bar, after, || {});
}

/// Handles signals like [`guard`], for commands that write the results of a run at their end.
pub fn guard_results(bar: &RunBar) {
    watch_with(bar, told_of_results, || {});
}

/// Returns what happened to the results of a run.
fn told_of_results() -> String {
    match last_put() {
        // The signal came while the old results were removed, or while the lines about the new ones
        // were printed.
        Some(folder) => format!(", but the results in {} are whole", folder.display()),
        None => ", no results were written".to_owned(),
    }
}

/// Handles signals like [`guard`], but first calls `last` when a signal comes.
pub fn guard_with(bar: &RunBar, after: &'static str, last: impl Fn() + Send + 'static) {
    watch_with(bar, move || after.to_owned(), last);
}

fn watch_with(
    bar: &RunBar,
    after: impl Fn() -> String + Send + 'static,
    last: impl Fn() + Send + 'static,
) {
    let bar = bar.clone();
    let end = move |signal: Signal| {
        last();
        // Hold this guard until the exit: until then, no thread may give a file its final name.
        let _removed = remove_unfinished();
        // Clear the bar: otherwise the message would begin in the bar's line, after the terminal's
        // `^C`.
        bar.clear();
        terminal::error(&format!("{}{}", signal.told(), after()));
        // Programs that are policies end with Mumakil, whatever they are doing. Do this last: their
        // runs fail with it, and a thread could report that.
        end_all();
        std::process::exit(signal.exit_code());
    };
    if let Err(error) = watch(end) {
        terminal::warn(&format!(
            "Ctrl-C cannot be caught ({error}) and would leave something hidden, `{HIDDEN}…`, \
             beside the results; remove it then"
        ));
    }
}

/// The number of a signal that ends the process.
#[derive(Clone, Copy, Debug)]
struct Signal(i32);

impl Signal {
    const INTERRUPT: Self = Self(2);

    fn told(self) -> &'static str {
        match self.0 {
            2 => "interrupted",
            _ => "told to end",
        }
    }

    fn exit_code(self) -> i32 {
        128 + self.0
    }
}

/// Calls `end` when a signal comes. Only the first call of `watch` in a process has an effect; that
/// suffices, since `end` removes the hidden files of all threads.
#[cfg(unix)]
fn watch(end: impl Fn(Signal) + Send + 'static) -> io::Result<()> {
    use std::sync::atomic::{AtomicBool, Ordering};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    static WATCHED: AtomicBool = AtomicBool::new(false);
    if WATCHED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    // Messages and exit codes are computed from the number.
    assert_eq!(SIGINT, Signal::INTERRUPT.0, "the number is the same on every system");
    let mut wanted = vec![SIGINT, SIGTERM];
    // `nohup` makes a process ignore SIGHUP, so that it outlives its terminal: go on ignoring it
    // then.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !is_ignored(SIGHUP, &status) {
        wanted.push(SIGHUP);
    }
    let mut signals = Signals::new(wanted)?;
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(move || signals.forever().for_each(|signal| end(Signal(signal)))).map(drop)
}

#[cfg(not(unix))]
fn watch(end: impl Fn(Signal) + Send + 'static) -> io::Result<()> {
    match ctrlc::set_handler(move || end(Signal::INTERRUPT)) {
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Returns whether a process ignores a signal, from its `/proc/self/status` on Linux.
#[cfg(unix)]
fn is_ignored(signal: i32, status: &str) -> bool {
    let digits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = digits.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    // Bit 0 of the mask is signal 1.
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Makes a write beyond the largest size of a file (`ulimit -f`) fail with an error, as on a full
/// disk. By default a signal ends the process without a message.
pub fn outlive_limits() {
    #[cfg(unix)]
    {
        use signal_hook::{consts::SIGXFSZ, flag};
        // Nothing reads the flag: with any handler, the write fails with an error. If the handler
        // cannot be registered, the signal ends the process as usual.
        let _ = flag::register(SIGXFSZ, std::sync::Arc::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_are_in_their_place_are_not_called_unwritten() {
        // Other tests of this process may have put a folder before, so begin with one.
        let room = tempfile::TempDir::new().unwrap();
        let target = room.path().join("whole");
        mumakil_run::output::AsideFolder::create(
            &target,
            mumakil_run::output::ReplacedFiles::Nothing,
        )
        .unwrap()
        .put()
        .unwrap();
        let told = told_of_results();
        assert!(told.ends_with("are whole") && !told.contains("no results"), "{told}");
    }

    #[test]
    fn interrupts_and_requests_to_end_are_told_apart() {
        let ended = [2, 15, 1].map(|number| (Signal(number).told(), Signal(number).exit_code()));
        assert_eq!(ended, [("interrupted", 130), ("told to end", 143), ("told to end", 129)]);
    }

    #[cfg(unix)]
    #[test]
    fn nohup_is_seen() {
        // Bit 0 is signal 1, bit 14 is signal 15.
        let status = "Name:\tm\nSigIgn:\t0000000000004001\nSigCgt:\t0000000000000002\n";
        assert_eq!([1, 2, 15].map(|signal| is_ignored(signal, status)), [true, false, true]);
        assert!(!is_ignored(1, "Name:\tm\n"));
    }
}

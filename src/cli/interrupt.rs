//! Signals. Ctrl-C, and being told to end: nothing half-written stays behind.
//!
//! ```text
//! out/.mumakil-…  is being written, hidden          Ctrl-C: the signal thread removes it
//! rename          puts it in its place              the signal thread waits for it
//! out/mine-42/    is there, as a whole              Ctrl-C: it stays
//! ```
//! A process that ends by a signal drops no values, so their destructors cannot remove hidden
//! files.
//!
//! Ctrl-C comes from a person, SIGTERM from a program: Slurm sends it before the time limit. The
//! exit codes differ as in shells, 128 and the number of the signal: 130 and 143.

use std::io;

use super::progress::RunBar;
use super::terminal;
use crate::output::{HIDDEN, remove_unfinished};

/// Watches for signals that end us, from here on; `after` says what that means.
pub(super) fn guard(bar: &RunBar, after: &'static str) {
    guard_with(bar, after, || {});
}

/// Does the same, and calls `last` before anything else.
pub(super) fn guard_with(bar: &RunBar, after: &'static str, last: impl Fn() + Send + 'static) {
    let bar = bar.clone();
    let end = move |signal: Signal| {
        last();
        // Hold this guard until the exit: no thread may put a file in place meanwhile.
        let _removed = remove_unfinished();
        // Without this the message would begin behind the bar and the terminal's `^C`.
        bar.clear();
        terminal::error(&format!("{}{after}", signal.told()));
        std::process::exit(signal.exit_code());
    };
    if let Err(error) = watch(end) {
        terminal::warn(&format!(
            "Ctrl-C cannot be caught ({error}) and would leave something hidden, `{HIDDEN}…`, \
             beside the results; remove it then"
        ));
    }
}

/// The number of a signal that ends us.
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

/// Calls `end` when a signal comes. Only the first call in a process counts: it removes all hidden
/// files, of all threads.
#[cfg(unix)]
fn watch(end: impl Fn(Signal) + Send + 'static) -> io::Result<()> {
    use std::sync::atomic::{AtomicBool, Ordering};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    static WATCHED: AtomicBool = AtomicBool::new(false);
    if WATCHED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    // Messages and exit codes are made from the number.
    assert_eq!(SIGINT, Signal::INTERRUPT.0, "the number is the same on every system");
    let mut wanted = vec![SIGINT, SIGTERM];
    // `nohup` makes a process ignore SIGHUP, to outlive its terminal: do not undo that.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !is_ignored(SIGHUP, &status) {
        wanted.push(SIGHUP);
    }
    let mut signals = Signals::new(wanted)?;
    let wait = move || signals.forever().for_each(|signal| end(Signal(signal)));
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

#[cfg(not(unix))]
fn watch(end: impl Fn(Signal) + Send + 'static) -> io::Result<()> {
    match ctrlc::set_handler(move || end(Signal::INTERRUPT)) {
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Returns whether a process ignores a signal, by its `/proc/self/status` on Linux.
#[cfg(unix)]
fn is_ignored(signal: i32, status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Bit 0 of the mask is signal 1.
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Leaves Ctrl-C to a program that has the terminal.
pub(super) fn ignore_ctrl_c() {
    use signal_hook::{consts::SIGINT, flag};
    // If this fails, Ctrl-C ends us together with the pager, or a moment before it.
    let _ = flag::register(SIGINT, std::sync::Arc::default());
}

/// Makes a file that grows beyond the system's limit (`ulimit -f`) an error, as a full disk is. By
/// default the signal would end the process without a message.
pub(super) fn outlive_limits() {
    #[cfg(unix)]
    {
        use signal_hook::{consts::SIGXFSZ, flag};
        // The flag itself is never read: to have any handler makes the write fail with an error. If
        // it cannot be registered, the signal ends us as usual.
        let _ = flag::register(SIGXFSZ, std::sync::Arc::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_interrupts_and_who_tells_to_end_are_told_apart() {
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

//! Signals. Ctrl-C, and being told to end: nothing half-written stays behind.
//!
//! A file is written hidden until it is whole, and is removed when its owner is dropped. A process that is
//! interrupted drops nothing, so the thread that waits for signals removes hidden files. Only the renaming
//! that puts a file in its place must not be interrupted, and is not.
//!
//! Ctrl-C comes from a person, SIGTERM from the program that runs us: Slurm sends it before a limit of time. The
//! exit code tells them apart as shells do: 128 and the number of the signal, so 130 and 143.

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
        // Held to the end, so that nothing is put in place while it is being removed.
        let _removed = remove_unfinished();
        // Otherwise the message would begin behind the `^C` that the terminal adds to the bar.
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

/// Calls `end` when a signal comes. Of a process only the first call counts: what that one removes
/// is everybody's.
#[cfg(unix)]
fn watch(end: impl Fn(Signal) + Send + 'static) -> io::Result<()> {
    use std::sync::atomic::{AtomicBool, Ordering};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    static WATCHED: AtomicBool = AtomicBool::new(false);
    if WATCHED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    assert_eq!(SIGINT, Signal::INTERRUPT.0, "the number is the same on every system");
    let mut wanted = vec![SIGINT, SIGTERM];
    // A user who began us with `nohup` wants us to outlive the terminal.
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

/// Returns whether a process ignores a signal, by what Linux says of the process.
#[cfg(unix)]
fn is_ignored(signal: i32, status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Leaves Ctrl-C to a program that has the terminal.
pub(super) fn ignore_ctrl_c() {
    use signal_hook::{consts::SIGINT, flag};
    // Without it we end with the other program, at worst before it.
    let _ = flag::register(SIGINT, std::sync::Arc::default());
}

/// Makes a file that would be larger than the system allows (`ulimit -f`) an error, as a full disk
/// is. The signal would end us, and nobody would hear why.
pub(super) fn outlive_limits() {
    #[cfg(unix)]
    {
        use signal_hook::{consts::SIGXFSZ, flag};
        // Whether it came does not matter: what was being written fails as well. Without it all is
        // as the system wants it.
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

//! Signals. Ctrl-C: nothing half-written stays behind.
//!
//! What is written lies hidden until it is whole, and goes when its owner is dropped; a process that
//! is interrupted drops nothing, so the handler removes it. Only the step that puts it in its place
//! must not be interrupted, and is not.

use super::progress::Bar;
use super::terminal;
use crate::output::{HIDDEN, remove_unfinished};

/// The exit code of what Ctrl-C ended: 128 and the number of the signal, as shells say it.
const INTERRUPTED: i32 = 130;

/// Watches for Ctrl-C, and for being told to end, from here on; `words` say what that means.
pub(super) fn guard(bar: &Bar, words: &'static str) {
    let bar = bar.clone();
    let handler = move || {
        // Held to the end, so that nothing is put in place while it is being removed.
        let _removed = remove_unfinished();
        // Otherwise the message would begin behind the `^C` that the terminal adds to the bar.
        bar.clear();
        terminal::error(words);
        std::process::exit(INTERRUPTED);
    };
    match ctrlc::set_handler(handler) {
        // An earlier command of the same process watches: what it removes is everybody's.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => {}
        Err(error) => terminal::warn(&format!(
            "Ctrl-C cannot be caught ({error}) and would leave something hidden, `{HIDDEN}…`, \
             beside the results; remove it then"
        )),
    }
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

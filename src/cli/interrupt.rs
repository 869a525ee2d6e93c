//! Ctrl-C: nothing half-written stays behind.
//!
//! A run writes into a hidden folder that goes when its owner is dropped; a process that is
//! interrupted drops nothing, so the handler removes it. Only the step that puts the folder in its
//! place must not be interrupted, and is not.

use super::progress::Bar;
use super::terminal;
use crate::output::Unfinished;

/// The exit code of what Ctrl-C ended: 128 and the number of the signal, as shells say it.
const INTERRUPTED: i32 = 130;

/// Watches for Ctrl-C, and for being told to end, from here on; `words` say what that means.
pub(super) fn guard(unfinished: &Unfinished, bar: &Bar, words: &'static str) {
    let (unfinished, bar) = (unfinished.clone(), bar.clone());
    let handler = move || {
        // Held to the end, so that nothing is put in place while it is being removed.
        let _removed = unfinished.remove();
        // Otherwise the message would begin behind the `^C` that the terminal adds to the bar.
        bar.clear();
        terminal::error(words);
        std::process::exit(INTERRUPTED);
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        terminal::warn(&format!(
            "Ctrl-C cannot be caught ({error}) and would leave a hidden folder, `.mumakil-…`, \
             beside the results; remove it then"
        ));
    }
}

//! Ctrl-C: nothing half-written stays behind.
//!
//! A run writes into a hidden folder that goes when its owner is dropped; a process that is
//! interrupted drops nothing, so the handler removes it. Only the step that puts the folder in its
//! place must not be interrupted, and is not.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use super::progress::Bar;
use super::terminal;

/// The exit code of what Ctrl-C ended: 128 and the number of the signal, as shells say it.
const INTERRUPTED: i32 = 130;

/// What is to be removed if Ctrl-C comes.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    aside: Arc<Mutex<Vec<PathBuf>>>,
    bar: Bar,
}

impl Guard {
    /// Watches for Ctrl-C, and for being told to end, from here on; these folders and files are
    /// removed then.
    pub(super) fn install(aside: Vec<PathBuf>, bar: Bar) -> Self {
        let guard = Self { aside: Arc::new(Mutex::new(aside)), bar };
        let own = guard.clone();
        let handler = move || own.interrupted();
        if let Err(error) = ctrlc::set_handler(handler) {
            let aside: Vec<_> =
                guard.aside.lock().iter().map(|path| path.display().to_string()).collect();
            terminal::warn(&format!(
                "Ctrl-C cannot be caught ({error}) and would leave {}; remove it then",
                aside.join(" and ")
            ));
        }
        guard
    }

    /// Calls `commit`, which takes away what is aside, without being interrupted.
    pub(super) fn release<T>(&self, commit: impl FnOnce() -> T) -> T {
        let mut aside = self.aside.lock();
        let result = commit();
        aside.clear();
        result
    }

    fn interrupted(&self) {
        // Held to the end, so that nothing is put in place while it is being removed.
        let aside = self.aside.lock();
        for path in &*aside {
            // The run goes on writing for a moment and may add a file to what is being removed.
            for _ in 0..10 {
                let removed = fs::remove_dir_all(path).or_else(|_| fs::remove_file(path));
                if removed.is_ok() || !path.exists() {
                    break;
                }
            }
        }
        // Otherwise the message would begin behind the `^C` that the terminal adds to the bar.
        self.bar.clear();
        terminal::error("interrupted, no results were written");
        std::process::exit(INTERRUPTED);
    }
}

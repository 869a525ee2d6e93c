//! Ctrl-C: nothing half-written stays behind.
//!
//! A run writes into a hidden folder that goes when its owner is dropped; a process that is
//! interrupted drops nothing, so the handler removes it. Only the step that puts the folder in its
//! place must not be interrupted, and is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::progress::Bar;
use super::terminal;

/// The exit code of what Ctrl-C ended: 128 and the number of the signal, as shells say it.
const INTERRUPTED: i32 = 130;

/// What is to be removed if Ctrl-C comes.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    folder: Arc<Mutex<Option<PathBuf>>>,
    bar: Bar,
}

impl Guard {
    /// Watches for Ctrl-C, and for being told to end, from here on.
    pub(super) fn install(folder: &Path, bar: Bar) -> Self {
        let guard = Self { folder: Arc::new(Mutex::new(Some(folder.to_owned()))), bar };
        let own = guard.clone();
        let handler = move || own.interrupted();
        if let Err(error) = ctrlc::set_handler(handler) {
            terminal::warn(&format!(
                "Ctrl-C cannot be caught ({error}) and would leave {}; remove it then",
                folder.display()
            ));
        }
        guard
    }

    /// Calls `commit`, which takes the folder away, without being interrupted.
    pub(super) fn release<T>(&self, commit: impl FnOnce() -> T) -> T {
        let mut folder = self.folder.lock();
        let result = commit();
        *folder = None;
        result
    }

    fn interrupted(&self) {
        // Held to the end, so that nothing is put in place while it is being removed.
        let folder = self.folder.lock();
        if let Some(folder) = &*folder {
            // The run goes on writing for a moment and may add a file to what is being removed.
            for _ in 0..10 {
                if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
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

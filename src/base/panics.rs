//! The panics that no code has answered for.
//!
//! A thread that panics ends without a word, and the process may go on and end with success. So the
//! command's panic hook notes each panic here, and code that catches a panic and reports it says so
//! ([`answered`]). If a panic is left at the end, the command fails.

use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

/// A panic, by its message and its place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedPanic {
    /// The message.
    pub words: String,
    /// The place, if it is known.
    pub place: Option<String>,
}

static LEFT: Mutex<Vec<(ThreadId, NotedPanic)>> = Mutex::new(Vec::new());

fn left<R>(use_list: impl FnOnce(&mut Vec<(ThreadId, NotedPanic)>) -> R) -> R {
    // The list is whole even if another thread panicked while it used it.
    use_list(&mut LEFT.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Notes a panic of this thread.
pub fn note(panic: NotedPanic) {
    left(|list| list.push((thread::current().id(), panic)));
}

/// Forgets the panics of this thread: the caller has caught them, and reports them.
pub fn answered() {
    let own = thread::current().id();
    left(|list| list.retain(|(thread, _)| *thread != own));
}

/// Returns the first panic that no code has answered for.
pub fn unanswered() -> Option<NotedPanic> {
    left(|list| list.first().map(|(_, panic)| panic.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_thread_is_left_until_that_thread_has_answered() {
        let panic = NotedPanic { words: "oh".to_owned(), place: None };
        let noted = panic.clone();
        thread::spawn(move || note(noted)).join().unwrap();
        answered();
        assert_eq!(unanswered(), Some(panic.clone()), "it is another thread's");
        note(panic);
        answered();
        assert_eq!(left(|list| list.len()), 1);
    }
}

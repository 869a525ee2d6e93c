//! A thread that calls a function repeatedly, beside the main work.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};

/// Calls a function until this value is dropped; dropping waits for a call in progress.
#[derive(Debug)]
pub(super) struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Begins the calls. `spans` are the time before the first call, and the time between calls.
    pub(super) fn new(spans: [Duration; 2], mut tick: impl FnMut() + Send + 'static) -> Self {
        // The channel carries no message: dropping `stop` wakes the thread at once.
        let (stop, stopped) = bounded(0);
        let thread = thread::spawn(move || {
            let [mut span, next] = spans;
            while stopped.recv_timeout(span) == Err(RecvTimeoutError::Timeout) {
                tick();
                span = next;
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, the panic hook has printed the panic already.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn nothing_is_done_once_it_is_dropped() {
        let done = Arc::new(AtomicUsize::new(0));
        let counted = done.clone();
        let ticker = Ticker::new([Duration::from_millis(1); 2], move || {
            counted.fetch_add(1, Ordering::SeqCst);
        });
        while done.load(Ordering::SeqCst) < 3 {
            thread::yield_now();
        }
        drop(ticker);
        assert_eq!(Arc::strong_count(&done), 1, "the thread is over");
    }

    #[test]
    fn a_handle_dropped_early_does_not_wait() {
        drop(Ticker::new([Duration::from_secs(3_600); 2], || panic!("an hour has not passed")));
    }
}

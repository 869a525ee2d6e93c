//! The open connections of the server: at most so many, and the oldest makes room for a new one.
//!
//! ```text
//! accept              a stranger: has not shown the token yet     at most 64
//! the first request   the right token: is admitted                at most 128
//! one too many        the oldest of its kind is closed
//! ```
//! So a stranger cannot take the place of a browser that knows the token. A browser whose stream of
//! pictures is closed for another opens it again by itself.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::{Sleep, sleep};

/// The most connections that have not shown the token.
// Chosen: a request needs its connection for milliseconds, and a browser opens six at most.
const STRANGERS: usize = 64;
/// The most connections that have shown the token.
// Chosen: with the strangers below the usual limit of 256 to 1024 open files.
const ADMITTED: usize = 128;

/// All open connections.
#[derive(Default)]
pub(super) struct OpenConnections(Mutex<ConnectionLists>);

#[derive(Default)]
struct ConnectionLists {
    number: u64,
    strangers: VecDeque<(u64, AbortHandle)>,
    admitted: VecDeque<(u64, AbortHandle)>,
}

/// A connection in the lists; it leaves them when this is dropped.
pub(super) struct ListedConnection {
    pub(super) number: u64,
    of: Arc<OpenConnections>,
}

impl OpenConnections {
    /// Returns a new connection, which is in no list yet.
    pub(super) fn next(self: &Arc<Self>) -> ListedConnection {
        let mut lists = self.0.lock();
        lists.number += 1;
        ListedConnection { number: lists.number, of: self.clone() }
    }

    /// Lists a connection as a stranger; `task` serves it.
    pub(super) fn add(&self, number: u64, task: AbortHandle) {
        let strangers = &mut self.0.lock().strangers;
        strangers.push_back((number, task));
        close_oldest(strangers, STRANGERS);
    }
}

impl ListedConnection {
    /// Notes that the connection has shown the token.
    pub(super) fn admit(&self) {
        let ConnectionLists { strangers, admitted, .. } = &mut *self.of.0.lock();
        let place = strangers.iter().position(|(number, _)| *number == self.number);
        // A connection may send several requests; only the first finds it among the strangers.
        admitted.extend(place.and_then(|place| strangers.remove(place)));
        close_oldest(admitted, ADMITTED);
    }
}

impl Drop for ListedConnection {
    fn drop(&mut self) {
        let ConnectionLists { strangers, admitted, .. } = &mut *self.of.0.lock();
        for list in [strangers, admitted] {
            list.retain(|(number, _)| *number != self.number);
        }
    }
}

fn close_oldest(list: &mut VecDeque<(u64, AbortHandle)>, most: usize) {
    while most < list.len() {
        let oldest = list.pop_front();
        oldest.inspect(|(_, task)| task.abort());
    }
}

/// A stream that fails if its other side takes nothing for a time.
pub(super) struct ImpatientStream {
    stream: TcpStream,
    patience: Duration,
    /// Runs while the other side takes nothing.
    waits: Option<Pin<Box<Sleep>>>,
}

impl ImpatientStream {
    pub(super) fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream, patience, waits: None }
    }

    /// Passes on whether something was written; an error if nothing was for too long.
    fn judge<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        waits.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for ImpatientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for ImpatientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.judge(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polls a future on a runtime of its own.
    fn on_runtime<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(work)
    }

    #[test]
    fn strangers_make_room_for_strangers_and_the_admitted_stay() {
        on_runtime(async {
            let all = Arc::new(OpenConnections::default());
            let enter = || {
                let connection = all.next();
                let task = tokio::spawn(std::future::pending::<()>());
                all.add(connection.number, task.abort_handle());
                (connection, task)
            };
            let (guest, guest_task) = enter();
            guest.admit();
            guest.admit();
            let strangers: Vec<_> = (0..STRANGERS + 2).map(|_| enter()).collect();
            tokio::task::yield_now().await;
            let ended: Vec<bool> = strangers.iter().map(|(_, task)| task.is_finished()).collect();
            assert_eq!(ended[..3], [true, true, false]);
            assert!(!guest_task.is_finished());
            drop(strangers);
            let ConnectionLists { strangers, admitted, .. } = &*all.0.lock();
            assert_eq!((strangers.len(), admitted.len()), (0, 1));
        });
    }

    #[test]
    fn a_receiver_that_takes_nothing_is_given_up() {
        on_runtime(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let silent = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = ImpatientStream::new(stream, Duration::from_millis(50));
            // The system buffers some megabytes before a write has to wait.
            let error = loop {
                let write = |context: &mut Context<'_>| {
                    Pin::new(&mut stream).poll_write(context, &[0; 64 << 10])
                };
                if let Err(error) = std::future::poll_fn(write).await {
                    break error;
                }
            };
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            drop(silent);
        });
    }
}

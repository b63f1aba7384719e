// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The interface between a protocol and the thread that serves its peers.

/// The bytes to send.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) bytes: Vec<u8>,
    /// Whether the connection is closed after these bytes.
    pub(crate) is_last: bool,
}

/// A long operation, which runs on its own thread.
pub(crate) type Job = Box<dyn FnOnce() -> Answer + Send>;

/// The reply to a request.
pub(crate) enum Reply {
    Now(Answer),
    /// The reply comes from a long operation; no other peer waits for it.
    Later(Job),
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Now(answer)
    }
}

/// The reason why a peer is disconnected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The peer's request is too long.
    Long,
    /// The peer's request did not arrive in time.
    Slow,
    /// There are too many peers.
    Crowded,
}

/// A protocol of requests and replies.
pub(crate) trait Protocol: Send + 'static {
    /// The longest request in bytes.
    const REQUEST_MAX: usize;

    /// Returns the position at which the first request in `input` ends; no request ends before
    /// `scanned`.
    fn end(input: &[u8], scanned: usize) -> Option<usize>;

    /// Executes a request.
    fn answer(&mut self, request: &[u8]) -> Reply;

    /// Returns the bytes that tell a peer why it is refused.
    fn refusal(&self, why: Refusal) -> Vec<u8>;
}

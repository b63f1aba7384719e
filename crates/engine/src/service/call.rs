// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A client's call, its parts as the store takes them, and its reply.
//!
//! ```text
//!   client's thread: Call --inbox--> the service's thread --mailbox--> client's thread
//!                    the call's parts own the data, in both directions
//! ```

#[cfg(any(test, feature = "harness"))]
use oneshot::TryRecvError;
use oneshot::{Receiver, Sender};
use rustix::io::Errno;
use tidegate_device::{IoBuffer, IoError};
use tidegate_model::{Bytes, Duration, Lba, Time};

use super::offer::ExportId;

/// The largest number of requests in a piece of a blocking call. A piece has at least one request,
/// and at least the number that a proved contract allows at the same time. Calls are limited
/// because a client can ask for 4 GiB of zeroes, and the service's thread handles everything that
/// arrives together in one iteration.
const PIECE_PARTS: usize = 64;
/// The largest piece of a blocking call, in bytes.
const PIECE_BYTES: usize = 8 << 20;

/// The reason why a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The store refused the request or reported an error.
    #[error("{0}")]
    Store(#[from] IoError),
    /// The offset or length is not a multiple of a block.
    #[error("offset and length must be multiples of {alignment}")]
    Unaligned {
        /// The block size in bytes.
        alignment: Bytes,
    },
    /// The range reaches beyond the end of the export.
    #[error("the export ends at {size}")]
    BeyondEnd {
        /// The export's size.
        size: Bytes,
    },
    /// The call writes to a read-only export.
    #[error("the export is read-only")]
    ReadOnly,
    /// An earlier flush failed: data written since the last successful flush may be lost, so the
    /// service no longer makes anything durable.
    #[error(
        "an earlier flush failed, and the data that it covered may be lost: restart the service"
    )]
    FlushBroken,
    /// The export was removed while its client was connected.
    #[error("the export was removed")]
    Removed,
    /// The service ended.
    #[error("the service ended")]
    Ended,
}

impl CallError {
    /// Returns the kernel's number for the error, for servers and C programs.
    pub fn raw_os_error(self) -> i32 {
        let errno = match self {
            Self::Store(error) => return error.raw_os_error(),
            Self::Unaligned { .. } => Errno::INVAL,
            Self::BeyondEnd { .. } => Errno::NOSPC,
            Self::ReadOnly => Errno::PERM,
            Self::FlushBroken => Errno::IO,
            Self::Removed | Self::Ended => Errno::SHUTDOWN,
        };
        errno.raw_os_error()
    }
}

/// The operation of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    Read,
    Write {
        /// Whether the data must be on the medium before the reply.
        is_durable: bool,
    },
    Flush,
    /// The client no longer needs the range's data.
    Trim,
}

/// A part of a call; the policy handles it as one request.
#[derive(Debug)]
pub(crate) struct CallPart {
    /// The first sector in the store.
    pub(crate) start: Lba,
    pub(crate) size: Bytes,
    /// `None` for flush and trim, and while the store owns the buffer.
    pub(crate) data: Option<IoBuffer>,
}

/// A call that has not been answered yet.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) export: ExportId,
    pub(crate) kind: CallKind,
    /// The arrival time.
    pub(crate) released: Time,
    /// The requests of the call, at least one.
    pub(crate) parts: Vec<CallPart>,
    pub(crate) answer: ReplySender,
}

/// The response time of a successful call, and whether the contract covers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answered {
    /// The response time, from when the contract allowed the call (without a contract: from its
    /// arrival) to the reply. The bound applies to this value. For a call that was split, it is the
    /// response time of the slowest request. A request in a later piece counts from its own
    /// arrival.
    pub response: Duration,
    /// Whether the contract allowed the whole call when it arrived, so that `response` and the
    /// bound count from the arrival.
    pub is_within_contract: bool,
}

impl Answered {
    /// The neutral value for [`Self::and`]: no response time, and within the contract.
    pub(crate) fn best() -> Self {
        Self { response: Duration::ZERO, is_within_contract: true }
    }

    /// Combines the results of two parts of one call.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            response: self.response.max(other.response),
            is_within_contract: self.is_within_contract && other.is_within_contract,
        }
    }
}

/// The result of a call, and its parts with their memory.
pub(crate) type Reply = (Result<Answered, CallError>, Vec<CallPart>);

/// The destination of a reply.
#[derive(Debug)]
pub(crate) enum ReplySender {
    /// The service's end of a mailbox. Dropping it unused tells the client that the service ended.
    /// Sending a reply does not block.
    Mailbox(Sender<Reply>),
    /// An operation of a client that the service's thread itself serves (`connections`).
    Operation(usize),
}

/// The reply to an operation, for `connections`.
#[derive(Debug)]
pub(crate) struct OperationReply {
    pub(crate) operation: usize,
    pub(crate) result: Result<Answered, CallError>,
    pub(crate) parts: Vec<CallPart>,
}

impl ReplySender {
    /// Sends a reply to a mailbox; for an operation, returns the reply instead.
    pub(crate) fn give(
        self,
        result: Result<Answered, CallError>,
        parts: Vec<CallPart>,
    ) -> Option<OperationReply> {
        match self {
            Self::Mailbox(sender) => {
                // The client may no longer exist, which has no effect.
                let _ = sender.send((result, parts));
                None
            }
            Self::Operation(operation) => Some(OperationReply { operation, result, parts }),
        }
    }
}

/// The client's end of a mailbox.
#[derive(Debug)]
pub(crate) struct Awaited(Receiver<Reply>);

impl Awaited {
    /// Blocks until the reply arrives.
    pub(crate) fn wait(self) -> Reply {
        self.0.recv().unwrap_or_else(|_| (Err(CallError::Ended), Vec::new()))
    }

    /// Returns whether [`Self::wait`] returns immediately.
    pub(crate) fn is_there(&self) -> bool {
        self.0.has_message() || self.0.is_closed()
    }

    /// Returns the reply if it has arrived.
    #[cfg(any(test, feature = "harness"))]
    pub(crate) fn poll(&self) -> Option<Reply> {
        match self.0.try_recv() {
            Ok(reply) => Some(reply),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some((Err(CallError::Ended), Vec::new())),
        }
    }
}

/// Makes a mailbox; returns both ends.
pub(crate) fn mailbox() -> (ReplySender, Awaited) {
    let (sender, receiver) = oneshot::channel();
    (ReplySender::Mailbox(sender), Awaited(receiver))
}

/// Returns the number of parts in the largest piece of a call, if a part has at most `part_max`
/// bytes and a contract allows `at_once` parts together.
pub(super) fn piece_parts(part_max: usize, at_once: usize) -> usize {
    (PIECE_BYTES / part_max).clamp(1, PIECE_PARTS).max(at_once)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a client asks for, cut into what the store takes, and how it is answered.
//!
//! ```text
//!   client's thread: Call --inbox--> the service's thread --mailbox--> client's thread
//!                    its parts own the data, there and back
//! ```

#[cfg(any(test, feature = "harness"))]
use oneshot::TryRecvError;
use oneshot::{Receiver, Sender};
use rustix::io::Errno;
use tidegate_device::{IoBuffer, IoError};
use tidegate_model::{Bytes, Duration, Lba, Time};

use super::offer::ExportId;

/// Why a call was not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The store refused or failed.
    #[error("{0}")]
    Store(#[from] IoError),
    /// It begins or ends within a block.
    #[error("offset and length must be multiples of {alignment}")]
    Unaligned {
        /// The size of a block.
        alignment: Bytes,
    },
    /// It reaches beyond the end of the export.
    #[error("the export ends at {size}")]
    BeyondEnd {
        /// The size of the export.
        size: Bytes,
    },
    /// It writes to an export that is only read.
    #[error("the export is read-only")]
    ReadOnly,
    /// A flush failed before: what was written since the last good one may be lost, so nothing
    /// is promised to be durable any more.
    #[error(
        "an earlier flush failed, and what it was to make durable may be lost: restart the service"
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
    /// The kernel's number for it, as servers and programs in C tell it.
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

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    Read,
    Write {
        /// On the medium before it is answered.
        is_durable: bool,
    },
    Flush,
    /// What is there is no longer wanted.
    Trim,
}

/// A part of a call: one request for the policy.
#[derive(Debug)]
pub(crate) struct CallPart {
    /// First sector of the store.
    pub(crate) start: Lba,
    pub(crate) size: Bytes,
    /// None of a flush and a trim, and while the store has it.
    pub(crate) data: Option<IoBuffer>,
}

/// A call on its way.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) export: ExportId,
    pub(crate) kind: CallKind,
    /// When it came.
    pub(crate) released: Time,
    /// At least one.
    pub(crate) parts: Vec<CallPart>,
    pub(crate) answer: Answer,
}

/// What a client learns of a call that went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answered {
    /// From when the contract allowed it, without one from arrival, to the answer; of a call
    /// that was cut, that of the slowest request, from its own arrival where it came in a later
    /// piece. This is what a bound speaks of.
    pub response: Duration,
    /// Whether the contract allowed all of it at once, so that `response` counts from arrival and
    /// the bound does too.
    pub is_within_contract: bool,
}

impl Answered {
    /// What no request makes better.
    pub(crate) fn best() -> Self {
        Self { response: Duration::ZERO, is_within_contract: true }
    }

    /// Of one that consists of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            response: self.response.max(other.response),
            is_within_contract: self.is_within_contract && other.is_within_contract,
        }
    }
}

/// What came of a call, with the memory that went with it.
pub(crate) type Reply = (Result<Answered, CallError>, Vec<CallPart>);

/// The service's end of a mailbox: dropped unused, it says that the service ended. Giving an
/// answer waits for nobody.
#[derive(Debug)]
pub(crate) struct Answer(Sender<Reply>);

impl Answer {
    pub(crate) fn give(self, result: Result<Answered, CallError>, parts: Vec<CallPart>) {
        // Whoever asked may have gone: that changes nothing.
        let _ = self.0.send((result, parts));
    }
}

/// The client's end of a mailbox.
#[derive(Debug)]
pub(crate) struct Awaited(Receiver<Reply>);

impl Awaited {
    /// Blocks until the answer is there.
    pub(crate) fn wait(self) -> Reply {
        self.0.recv().unwrap_or_else(|_| (Err(CallError::Ended), Vec::new()))
    }

    /// Whether there is anything to wait for no more.
    pub(crate) fn is_there(&self) -> bool {
        self.0.has_message() || self.0.is_closed()
    }

    /// The answer, if it is there.
    #[cfg(any(test, feature = "harness"))]
    pub(crate) fn poll(&self) -> Option<Reply> {
        match self.0.try_recv() {
            Ok(reply) => Some(reply),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some((Err(CallError::Ended), Vec::new())),
        }
    }
}

/// A new mailbox: both of its ends.
pub(crate) fn mailbox() -> (Answer, Awaited) {
    let (sender, receiver) = oneshot::channel();
    (Answer(sender), Awaited(receiver))
}

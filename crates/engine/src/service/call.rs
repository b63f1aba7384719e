// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a client asks for, cut into what the store takes, and how it is answered.
//!
//! ```text
//!   client's thread: Call --inbox--> the service's thread --mailbox--> client's thread
//!                    its parts own the data, there and back
//! ```

use device::{IoBuffer, IoError};
use model::{Bytes, Lba, Time};
#[cfg(test)]
use oneshot::TryRecvError;
use oneshot::{Receiver, Sender};

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
    /// A flush failed before: what was written since the last good one may be lost, so no later
    /// flush can succeed.
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

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    Read,
    Write {
        /// On the medium before it is answered.
        is_durable: bool,
    },
    Flush,
}

/// A part of a call: one request for the policy.
#[derive(Debug)]
pub(crate) struct CallPart {
    /// First sector of the store.
    pub(crate) start: Lba,
    pub(crate) size: Bytes,
    /// None of a flush, and while the store has it.
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

/// What came of a call, with the memory that went with it.
pub(crate) type Answered = (Result<(), CallError>, Vec<CallPart>);

/// The service's end of a mailbox: dropped unused, it says that the service ended. Giving an
/// answer waits for nobody.
#[derive(Debug)]
pub(crate) struct Answer(Sender<Answered>);

impl Answer {
    pub(crate) fn give(self, result: Result<(), CallError>, parts: Vec<CallPart>) {
        // Whoever asked may have gone: that changes nothing.
        let _ = self.0.send((result, parts));
    }
}

/// The client's end of a mailbox.
#[derive(Debug)]
pub(crate) struct Awaited(Receiver<Answered>);

impl Awaited {
    /// Blocks until the answer is there.
    pub(crate) fn wait(self) -> Answered {
        self.0.recv().unwrap_or_else(|_| (Err(CallError::Ended), Vec::new()))
    }

    /// The answer, if it is there.
    #[cfg(test)]
    pub(crate) fn poll(&self) -> Option<Answered> {
        match self.0.try_recv() {
            Ok(answered) => Some(answered),
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

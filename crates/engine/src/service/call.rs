// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a client asks for, cut into what the store takes, and how it is answered.
//!
//! ```text
//!   client's thread: Call --inbox--> the service's thread --mailbox--> client's thread
//!                    its parts own the data, there and back
//! ```

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use device::{IoBuffer, IoError};
use model::{Bytes, Lba, Time};

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
    pub(crate) export: usize,
    pub(crate) kind: CallKind,
    /// When it came.
    pub(crate) released: Time,
    /// At least one.
    pub(crate) parts: Vec<CallPart>,
    pub(crate) answer: Answer,
}

/// What came of a call, with the memory that went with it.
pub(crate) type Answered = (Result<(), CallError>, Vec<CallPart>);

/// Where an answer waits for its client.
#[derive(Debug, Default)]
struct Mailbox {
    answered: Mutex<Option<Answered>>,
    arrived: Condvar,
}

/// The service's end of a mailbox: dropped unused, it says that the service ended.
#[derive(Debug)]
pub(crate) struct Answer {
    mailbox: Option<Arc<Mailbox>>,
}

impl Answer {
    pub(crate) fn give(mut self, result: Result<(), CallError>, parts: Vec<CallPart>) {
        self.put((result, parts));
    }

    fn put(&mut self, answered: Answered) {
        let Some(mailbox) = self.mailbox.take() else { return };
        *mailbox.answered.lock().unwrap_or_else(PoisonError::into_inner) = Some(answered);
        mailbox.arrived.notify_one();
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.put((Err(CallError::Ended), Vec::new()));
    }
}

/// The client's end of a mailbox.
#[derive(Debug)]
pub(crate) struct Awaited {
    mailbox: Arc<Mailbox>,
}

impl Awaited {
    /// Blocks until the answer is there.
    pub(crate) fn wait(self) -> Answered {
        let lock = self.mailbox.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let is_empty = |answered: &mut Option<Answered>| answered.is_none();
        let waited = self.mailbox.arrived.wait_while(lock, is_empty);
        waited.unwrap_or_else(PoisonError::into_inner).take().expect("waited for it")
    }

    /// The answer, if it is there.
    #[cfg(any(test, feature = "harness"))]
    pub(crate) fn poll(&self) -> Option<Answered> {
        self.mailbox.answered.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A new mailbox: both of its ends.
pub(crate) fn mailbox() -> (Answer, Awaited) {
    let mailbox = Arc::new(Mailbox::default());
    (Answer { mailbox: Some(mailbox.clone()) }, Awaited { mailbox })
}

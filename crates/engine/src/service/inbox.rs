// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How clients reach the service's thread.
//!
//! A call is stamped with its arrival under the lock, so that the order of arrival is the order
//! of stamps. What is sent to a service that ended is dropped, and says so to its client.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use device::{Clock, Waker};
use model::Time;
use policy::NoticeKind;

use super::call::Call;
use super::offer::{Arrangement, ExportId, Member};
use super::statistics::ServiceStatistics;

/// What clients send.
#[derive(Debug)]
pub(crate) enum Message {
    Call(Call),
    Notice {
        export: ExportId,
        kind: NoticeKind,
    },
    /// What was seen of these exports, and of the drive.
    Ask {
        exports: Vec<ExportId>,
        answer: Sender<ServiceStatistics>,
    },
    /// This export takes no more calls.
    Close {
        export: ExportId,
    },
    Change(Box<Change>),
    Stop,
}

/// Another set of exports, to be carried out from a quiet instant on.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) members: Vec<Member>,
    /// None: nothing changes for who is there.
    pub(crate) arrangement: Option<Arrangement>,
    /// When it is given up.
    pub(crate) until: Time,
    /// Gets when it took place; none: it did not.
    pub(crate) answer: Sender<Option<Time>>,
}

#[derive(Debug, Default)]
struct Waiting {
    messages: Vec<Message>,
    /// Nothing more is taken.
    is_closed: bool,
}

/// What was sent and not taken.
#[derive(Debug)]
pub(crate) struct Inbox {
    waiting: Mutex<Waiting>,
    clock: Clock,
    waker: Waker,
}

impl Inbox {
    pub(crate) fn new(clock: Clock, waker: Waker) -> Self {
        Self { waiting: Mutex::default(), clock, waker }
    }

    /// Sends a message, or drops it where nobody takes it any more.
    pub(crate) fn send(&self, mut message: Message) {
        {
            let mut waiting = self.lock();
            if waiting.is_closed {
                return;
            }
            if let Message::Call(call) = &mut message {
                call.released = self.clock.now();
            }
            waiting.messages.push(message);
        }
        self.waker.ring();
    }

    /// What the service saw so far of these exports; none when it ended, or takes longer.
    pub(crate) fn ask(
        &self,
        exports: Vec<ExportId>,
        at_most: Option<std::time::Duration>,
    ) -> Option<ServiceStatistics> {
        let (answer, answered) = channel();
        self.send(Message::Ask { exports, answer });
        match at_most {
            Some(time) => answered.recv_timeout(time).ok(),
            None => answered.recv().ok(),
        }
    }

    /// Time since the service began.
    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// The last message: what comes later is refused.
    pub(crate) fn stop(&self) {
        {
            let mut waiting = self.lock();
            waiting.messages.push(Message::Stop);
            waiting.is_closed = true;
        }
        self.waker.ring();
    }

    /// Nobody takes anything any more.
    pub(crate) fn close(&self) {
        let mut waiting = self.lock();
        waiting.is_closed = true;
        let messages = std::mem::take(&mut waiting.messages);
        drop(waiting);
        // Their clients are told as they are dropped.
        drop(messages);
    }

    /// Moves everything into `messages`, which is empty.
    pub(crate) fn take(&self, messages: &mut Vec<Message>) {
        std::mem::swap(&mut self.lock().messages, messages);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How clients reach the service's thread.
//!
//! The service's thread waits for no client: one that is not running may have sent its message
//! or not. A call is stamped with its arrival by its client; where clients overtake each other
//! between stamp and sending, the later stamp counts for both, so that the order of arrival is
//! the order of stamps. What is sent to a service that ended is dropped, and says so to its client.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use oneshot::{Sender, channel};
use tidegate_device::{MpscStack, Waker};
use tidegate_model::Time;
use tidegate_platform::Clock;
use tidegate_policy::NoticeKind;

use super::call::Call;
use super::core::GivenUp;
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
    /// Nothing new is to come.
    WindDown,
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
    /// Gets when it took place, or why it did not.
    pub(crate) answer: Sender<Result<Time, GivenUp>>,
}

/// What was sent and not taken.
#[derive(Debug)]
pub(crate) struct Inbox {
    messages: MpscStack<Message>,
    /// Nothing new is taken.
    is_refusing: AtomicBool,
    /// Nobody takes anything any more.
    is_closed: AtomicBool,
    clock: Clock,
    waker: Waker,
}

impl Inbox {
    pub(crate) fn new(clock: Clock, waker: Waker) -> Self {
        let (is_refusing, is_closed) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { messages: MpscStack::new(), is_refusing, is_closed, clock, waker }
    }

    /// Sends a message, or drops it where nobody takes it any more.
    pub(crate) fn send(&self, mut message: Message) {
        if self.is_refusing.load(SeqCst) {
            return;
        }
        if let Message::Call(call) = &mut message {
            call.released = self.clock.now();
        }
        self.put(message);
    }

    fn put(&self, message: Message) {
        self.messages.put(message);
        if self.is_closed.load(SeqCst) {
            // The last look may have come before it.
            self.messages.take(&mut Vec::new());
        }
        self.waker.wake();
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
        self.is_refusing.store(true, SeqCst);
        self.put(Message::Stop);
    }

    /// Nobody takes anything any more: clients are told as their messages are dropped.
    pub(crate) fn close(&self) {
        self.is_refusing.store(true, SeqCst);
        self.is_closed.store(true, SeqCst);
        self.messages.take(&mut Vec::new());
    }

    /// Appends everything to `messages`, in the order of arrival. `latest` is when the latest call
    /// arrived that was taken before; no later one arrives sooner.
    pub(crate) fn take(&self, messages: &mut Vec<Message>, latest: &mut Time) {
        self.messages.take(messages);
        for message in messages {
            if let Message::Call(call) = message {
                *latest = call.released.max(*latest);
                call.released = *latest;
            }
        }
    }
}

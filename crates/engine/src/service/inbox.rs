// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Passes clients' messages to the service's thread.
//!
//! The service's thread never waits for clients: a client that is preempted has either sent its
//! message or not. A client stamps its call with the arrival time. If clients overtake each other
//! between stamping and sending, the later stamp counts for both, so that the order of arrival is
//! the order of the stamps. Messages to a service that has ended are dropped, which notifies their
//! clients.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use oneshot::{Sender, channel};
use tidegate_device::{MpscStack, Waker};
use tidegate_model::Time;
use tidegate_platform::Clock;
use tidegate_policy::NoticeKind;

use super::call::Call;
use super::connections::Newcomer;
use super::core::GivenUp;
use super::offer::{Arrangement, ExportId, Member};
use super::statistics::ServiceStatistics;

/// A message from a client.
#[derive(Debug)]
pub(crate) enum Message {
    Call(Call),
    Notice {
        export: ExportId,
        kind: NoticeKind,
    },
    /// Asks for the statistics of these exports and of the drive.
    Ask {
        exports: Vec<ExportId>,
        answer: Sender<ServiceStatistics>,
    },
    /// Closes this export to new calls.
    Close {
        export: ExportId,
    },
    Change(Box<Change>),
    /// A new client of the service's own server.
    Connect(Box<Newcomer>),
    /// Prepares the end of the service: see [`Service::wind_down`](super::Service::wind_down).
    WindDown,
    Stop,
}

/// Another set of exports, which the service serves from a quiet instant on.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) members: Vec<Member>,
    /// `None` keeps the current arrangement, and existing exports are unaffected.
    pub(crate) arrangement: Option<Arrangement>,
    /// The instant at which the change is given up.
    pub(crate) until: Time,
    /// Receives the instant of the change, or the reason why it did not happen.
    pub(crate) answer: Sender<Result<Time, GivenUp>>,
}

/// The messages that have been sent but not yet taken.
#[derive(Debug)]
pub(crate) struct Inbox {
    messages: MpscStack<Message>,
    /// Whether new messages are refused.
    is_refusing: AtomicBool,
    /// Whether the service's thread has ended.
    is_closed: AtomicBool,
    clock: Clock,
    waker: Waker,
}

impl Inbox {
    pub(crate) fn new(clock: Clock, waker: Waker) -> Self {
        let (is_refusing, is_closed) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { messages: MpscStack::new(), is_refusing, is_closed, clock, waker }
    }

    /// Sends a message, or drops it if the service has ended or is stopping.
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
            // The thread may have looked for messages for the last time before this one was added.
            self.messages.take(&mut Vec::new());
        }
        self.waker.wake();
    }

    /// Returns the service's statistics of these exports; `None` if it has ended or takes longer
    /// than `at_most`.
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

    /// Returns the time since the service started.
    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Sends the last message, which stops the service; later messages are refused.
    pub(crate) fn stop(&self) {
        self.is_refusing.store(true, SeqCst);
        self.put(Message::Stop);
    }

    /// Drops all messages, which notifies their clients, and refuses new ones.
    pub(crate) fn close(&self) {
        self.is_refusing.store(true, SeqCst);
        self.is_closed.store(true, SeqCst);
        self.messages.take(&mut Vec::new());
    }

    /// Appends all messages to `messages`, in the order of arrival. `latest` is the latest arrival
    /// time of a call taken before; no later call gets an earlier one.
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

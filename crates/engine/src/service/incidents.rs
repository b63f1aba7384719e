// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The events that a service reports to its operator.
//!
//! The service's thread never waits for the receiver. If the log does not drain, a drive that often
//! exceeds its table fills the channel, and further overruns and stalls are lost; the statistics
//! still count them. There is always room for the two incidents that happen once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError, SyncSender, sync_channel};
use std::time;

use tidegate_device::IoError;
use tidegate_model::{Duration, Time};

/// The largest number of overruns and stalls that wait for their receiver.
const WAITING_MAX: usize = 256;
/// The room reserved for the incidents that happen once.
const ONCE: usize = 2;

/// A batch that took longer than the drive's table allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overrun {
    /// The sequence number of the overrun, starting at 1.
    pub number: u64,
    /// The completion time, since the service started.
    pub at: Time,
    /// The batch's service time.
    pub time: Duration,
    /// The time by which the batch exceeded the table.
    pub excess: Duration,
    /// Whether the proof tolerates the overrun.
    pub is_tolerated: bool,
}

/// A drive that has requests in flight and completes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// The instant at which the stall was noticed, since the service started.
    pub at: Time,
    /// The time since the last completion, or since the submission if the drive was idle before it.
    pub waited: Duration,
    /// The number of requests in flight.
    pub in_flight: u32,
}

/// An event that an operator must know about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Incident {
    /// A batch took longer than the table allows.
    Overrun(Overrun),
    /// The drive completes nothing; each stall is reported once.
    Stall(Stall),
    /// The first flush failed; no flush succeeds after it.
    FlushFailed {
        /// The instant of the failure, since the service started.
        at: Time,
        /// The error.
        error: IoError,
    },
    /// The service ended by itself.
    Ended {
        /// The reason.
        reason: String,
    },
}

/// Makes a channel for the incidents of one service.
pub(crate) fn incidents() -> (IncidentSender, Incidents) {
    let (sender, receiver) = sync_channel(WAITING_MAX + ONCE);
    let waiting = Arc::new(AtomicUsize::new(0));
    (IncidentSender { sender, waiting: waiting.clone() }, Incidents { receiver, waiting })
}

/// The sending end of the channel of incidents.
#[derive(Debug, Clone)]
pub(crate) struct IncidentSender {
    sender: SyncSender<Incident>,
    /// The number of incidents that have been sent but not received.
    waiting: Arc<AtomicUsize>,
}

impl IncidentSender {
    /// Reports an incident. An overrun or a stall is lost if too many are waiting; every incident
    /// is lost if the receiver is gone.
    pub(crate) fn send(&self, incident: Incident) {
        let is_counted = match incident {
            Incident::Overrun(_) | Incident::Stall(_) => true,
            Incident::FlushFailed { .. } | Incident::Ended { .. } => false,
        };
        if is_counted && self.waiting.load(Ordering::Relaxed) >= WAITING_MAX {
            return;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _ = self.sender.try_send(incident);
    }
}

/// The incidents of a service, oldest first ([`Service::incidents`](super::Service::incidents)).
#[derive(Debug)]
pub struct Incidents {
    receiver: Receiver<Incident>,
    waiting: Arc<AtomicUsize>,
}

impl Incidents {
    /// Waits for the next incident.
    ///
    /// # Errors
    /// If the service has ended and all its incidents were received.
    pub fn recv(&self) -> Result<Incident, RecvError> {
        self.receiver.recv().inspect(|_| self.received())
    }

    /// Waits for the next incident, but no longer than `timeout`.
    ///
    /// # Errors
    /// If the timeout is reached, or for the reason in [`Self::recv`].
    pub fn recv_timeout(&self, timeout: time::Duration) -> Result<Incident, RecvTimeoutError> {
        self.receiver.recv_timeout(timeout).inspect(|_| self.received())
    }

    /// Returns the incidents that are waiting now.
    pub fn try_iter(&self) -> impl Iterator<Item = Incident> {
        self.receiver.try_iter().inspect(|_| self.received())
    }

    fn received(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stall(ms: u64) -> Incident {
        Incident::Stall(Stall { at: Time::ZERO, waited: Duration::from_ms(ms), in_flight: 1 })
    }

    /// Goal: a flood of overruns and stalls displaces no incident that happens once, and there is
    /// room again once some were received.
    #[test]
    fn what_happens_once_is_never_lost() {
        let (sender, incidents) = incidents();
        (0..2 * WAITING_MAX as u64).for_each(|number| sender.send(stall(number)));
        let end = Incident::Ended { reason: "the drive is gone".to_owned() };
        sender.send(end.clone());
        assert_eq!(incidents.recv(), Ok(stall(0)));
        assert_eq!(incidents.recv_timeout(time::Duration::ZERO), Ok(stall(1)));
        sender.send(stall(9_999));
        let mut rest = (2..WAITING_MAX as u64).map(stall).collect::<Vec<_>>();
        rest.push(end);
        // 254 stalls and the service's end are waiting, so there is room for one more stall.
        rest.push(stall(9_999));
        assert_eq!(incidents.try_iter().collect::<Vec<_>>(), rest);
        drop(sender);
        assert_eq!(incidents.recv(), Err(RecvError));
    }
}

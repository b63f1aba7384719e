// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `edf`, `scan-edf`, `g-edf`: serve requests by deadline, one request on the drive at a time.
//!
//! | policy | request sent whenever the drive is idle |
//! |---|---|
//! | `edf` | the earliest absolute deadline; if equal, the oldest |
//! | `scan-edf` | the earliest window of deadlines; within it the next upwards from the head, then the lowest |
//! | `g-edf` | within the earliest group the smallest, if equal the nearest; or the nearest of all |
//!
//! A group holds the requests due no later than the earliest deadline + factor * the relative
//! deadline of the earliest request.
//!
//! Best effort is sent, in an order of its own, only while no real-time request is queued.
//! `tidegate_analysis` bounds `edf` and `scan-edf` (`edf`, `edf_in_windows`); no bound for `g-edf`
//! is known. The variant with batches is `dq-edf`.

mod due_queue;
mod elevator_queue;
mod group_queue;
mod one_at_a_time;

use tidegate_model::parameters::{GroupEdfParams, ScanEdfParameters};
use tidegate_model::{Task, Time};

pub(crate) use due_queue::DueQueue;

use crate::order::{OrderedQueue, OrdersBestEffort};
use crate::{Decision, Event, Full, Policy};
use elevator_queue::ElevatorQueue;
use group_queue::GroupQueue;
use one_at_a_time::{OneAtATime, PlacedQueue};

// The order depends on deadlines alone.
impl PlacedQueue for DueQueue {}

/// Earliest deadline first, one request at a time; see the module documentation.
///
/// # Source
/// C. L. Liu and J. W. Layland, "Scheduling Algorithms for Multiprogramming in a Hard-Real-Time
/// Environment", JACM 20(1), 1973. Preemption is omitted here: a request cannot be recalled from
/// the drive.
#[derive(Debug)]
pub struct Edf {
    requests: OneAtATime<DueQueue>,
}

impl Edf {
    /// Returns a policy that holds at most `queued_max` requests of each kind.
    pub fn new(queued_max: u32) -> Self {
        Self { requests: OneAtATime::new(DueQueue::new(queued_max), queued_max) }
    }
}

/// Earliest deadline first, deadlines of one window by position; see the module documentation.
///
/// # Source
/// A. L. N. Reddy and J. Wyllie, "Disk Scheduling in a Multimedia I/O System", ACM Multimedia,
/// 1993. If no deadlines are equal, this is `edf`. Their systems round deadlines to batches of a
/// common period; here deadlines are rounded down to the plan's windows, for any periods.
#[derive(Debug)]
pub struct ScanEdf {
    requests: OneAtATime<ElevatorQueue>,
}

impl ScanEdf {
    /// Returns a policy that holds at most `queued_max` requests of each kind.
    pub fn new(parameters: ScanEdfParameters, queued_max: u32) -> Self {
        Self { requests: OneAtATime::new(ElevatorQueue::new(parameters, queued_max), queued_max) }
    }
}

/// Groups of nearby deadlines, the smallest or the nearest request of a group first; see the module
/// documentation.
///
/// # Source
/// W. Li, K. Kavi and R. Akl, "A Non-Preemptive Scheduling Algorithm for Soft Real-Time Systems",
/// Computers and Electrical Engineering 33(1), 2007, as section 9.4.1 of the dissertation describes
/// it. This is a model: execution times of requests are unknown here, so sizes replace them
/// (shortest job first). With [`GroupRule::Nearest`](tidegate_model::parameters::GroupRule) this is
/// the order of Fg-EDF, which takes the shortest seek. Fg-EDF's feasibility check is omitted: it
/// ends requests that would be late without serving them, and no policy here may do that.
#[derive(Debug)]
pub struct GroupEdf {
    requests: OneAtATime<GroupQueue>,
}

impl GroupEdf {
    /// Returns a policy that holds at most `queued_max` requests of each kind. `tasks` gives the
    /// relative deadlines, of which a group spans a share.
    pub fn new(parameters: GroupEdfParams, tasks: &[Task], queued_max: u32) -> Self {
        let queue = GroupQueue::new(parameters, tasks, queued_max);
        Self { requests: OneAtATime::new(queue, queued_max) }
    }
}

macro_rules! policy_of_requests {
    ($($Name:ty),+) => {$(
        impl OrdersBestEffort for $Name {
            fn best_effort_mut(&mut self) -> &mut OrderedQueue {
                self.requests.best_effort_mut()
            }
        }

        impl Policy for $Name {
            fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
                self.requests.observe(event)
            }

            fn decide(&mut self, _now: Time) -> Decision {
                self.requests.decide()
            }
        }
    )+};
}
policy_of_requests!(Edf, ScanEdf, GroupEdf);

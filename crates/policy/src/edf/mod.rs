// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `edf`, `scan-edf`, `g-edf`: by deadline, one request on the drive at a time.
//!
//! | policy | whenever the drive is idle, send it |
//! |---|---|
//! | `edf` | the request with the earliest absolute deadline, of equal ones the oldest |
//! | `scan-edf` | the same, of equal ones the next upwards from the head, then the lowest |
//! | `g-edf` | of those due no later than the earliest due + factor * relative deadline of the earliest the smallest, of equal ones the nearest |
//!
//! Best effort is sent, oldest first, only when no real-time request is queued. Bounds of
//! the first two: `tidegate_analysis::edf`; of the third none is known. With batches: `dq-edf`.

mod due_queue;
mod elevator_queue;
mod group_queue;
mod one_at_a_time;

use tidegate_model::{Task, Time};

pub(crate) use due_queue::DueQueue;

use crate::{Decision, Event, Full, Policy};
use elevator_queue::ElevatorQueue;
use group_queue::GroupQueue;
use one_at_a_time::{OneAtATime, PlacedQueue};

// Deadlines alone say which is next.
impl PlacedQueue for DueQueue {}

/// Earliest deadline first, one request at a time; see the module's text.
///
/// # Source
/// C. L. Liu and J. W. Layland, "Scheduling Algorithms for Multiprogramming in a
/// Hard-Real-Time Environment", JACM 20(1), 1973, not preempted here: a request cannot be
/// recalled from the drive.
#[derive(Debug)]
pub struct Edf {
    requests: OneAtATime<DueQueue>,
}

impl Edf {
    /// A policy that holds at most `queued_max` requests of each kind.
    pub fn new(queued_max: u32) -> Self {
        Self { requests: OneAtATime::new(DueQueue::new(queued_max), queued_max) }
    }
}

/// Earliest deadline first, equal deadlines by position; see the module's text.
///
/// # Source
/// A. L. N. Reddy and J. Wyllie, "Disk Scheduling in a Multimedia I/O System", ACM
/// Multimedia, 1993. Where no two deadlines are equal this is `edf`: their systems round
/// deadlines to batches of a common period, which a workload says by its offsets here.
#[derive(Debug)]
pub struct ScanEdf {
    requests: OneAtATime<ElevatorQueue>,
}

impl ScanEdf {
    /// A policy that holds at most `queued_max` requests of each kind.
    pub fn new(queued_max: u32) -> Self {
        Self { requests: OneAtATime::new(ElevatorQueue::new(queued_max), queued_max) }
    }
}

/// Groups of near deadlines, inside a group the smallest first; see the module's text.
///
/// # Source
/// W. Li, K. Kavi and R. Akl, "A Non-Preemptive Scheduling Algorithm for Soft Real-Time
/// Systems", Computers and Electrical Engineering 33(1), 2007, as section 9.4.1 of the
/// dissertation tells it. A model: execution times of requests are not known here, their
/// sizes stand for them (shortest job first), and equal sizes go by distance from the head,
/// as in the variant for disks, Fg-EDF, whose shortest seek it is. Fg-EDF's feasibility
/// check, which kills requests, is left out.
#[derive(Debug)]
pub struct GroupEdf {
    requests: OneAtATime<GroupQueue>,
}

impl GroupEdf {
    /// A policy whose groups span `group_ppm` of the relative deadline that `tasks` gives
    /// the earliest request, and that holds at most `queued_max` requests of each kind.
    pub fn new(group_ppm: u32, tasks: &[Task], queued_max: u32) -> Self {
        let queue = GroupQueue::new(group_ppm, tasks, queued_max);
        Self { requests: OneAtATime::new(queue, queued_max) }
    }
}

macro_rules! policy_of_requests {
    ($($Name:ty),+) => {$(
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

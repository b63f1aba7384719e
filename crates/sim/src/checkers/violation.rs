// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a checker found: when, and which rule was broken with which facts.

use tidegate_model::{RequestId, TaskIndex, Time};

/// A broken invariant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at {} ns: {breach}", at.ns())]
pub struct Violation {
    /// When it was seen.
    pub at: Time,
    /// What was broken.
    pub breach: Breach,
}

/// Which rule, and the facts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Breach {
    /// Two requests of one name.
    #[error("{id:?} was released twice")]
    ReleasedTwice {
        /// The request.
        id: RequestId,
    },
    /// A request went to the drive that was not waiting for it.
    #[error("{id:?} was dispatched and was not queued")]
    DispatchedUnqueued {
        /// The request.
        id: RequestId,
    },
    /// A request was given up that was not waiting.
    #[error("{id:?} was dropped and was not queued")]
    DroppedUnqueued {
        /// The request.
        id: RequestId,
    },
    /// A request came back that was not on the drive.
    #[error("{id:?} completed and was not in flight")]
    CompletedUndispatched {
        /// The request.
        id: RequestId,
    },
    /// A real-time request was lost.
    #[error("{id:?} never completed")]
    NeverCompleted {
        /// The request.
        id: RequestId,
    },
    /// The drive had room, requests were queued, and nothing was sent.
    #[error("{queued_count} requests queued with {in_flight_count} in flight")]
    RoomUnused {
        /// Requests that could have been sent.
        queued_count: u64,
        /// Requests on the drive.
        in_flight_count: u64,
    },
    /// A request was sent after a younger one.
    #[error("{id:?} was dispatched after the younger {younger:?}")]
    Overtaken {
        /// The request.
        id: RequestId,
        /// One that was released later and had been sent before.
        younger: RequestId,
    },
    /// A request was sent before one that is due earlier.
    #[error("{id:?} was dispatched and left {waiting:?} queued, which is due earlier")]
    LaterDueFirst {
        /// The request of the latest due in the batch.
        id: RequestId,
        /// The one that is due earlier.
        waiting: RequestId,
    },
    /// A batch was larger than it may be.
    #[error("a batch of {requests} requests, {real_time} of them real time; {batch_max} allowed")]
    BatchTooLarge {
        /// Requests of the batch.
        requests: u64,
        /// Real-time requests of the batch.
        real_time: u64,
        /// The most that this batch may hold.
        batch_max: u64,
    },
    /// The requests of a batch cost more than they may.
    #[error("a batch at a cost of {cost_ns} ns; {cost_ns_max} ns allowed")]
    BatchTooDear {
        /// What they cost together.
        cost_ns: u64,
        /// The most that this batch may cost.
        cost_ns_max: u64,
    },
    /// A batch left a real-time request behind for which it had room, or which its best effort
    /// kept out.
    #[error("a batch at a real-time cost of {cost_ns} ns left {waiting:?} behind")]
    BatchCutShort {
        /// The oldest that was left.
        waiting: RequestId,
        /// What its real-time requests cost together.
        cost_ns: u64,
    },
    /// A batch was sent to a drive that was not drained.
    #[error("a batch was dispatched with {in_flight_count} in flight")]
    DispatchedWhileBusy {
        /// Requests on the drive.
        in_flight_count: u64,
    },
    /// Something was sent while real-time requests were on the drive.
    #[error("a batch was dispatched with {real_time_count} real-time requests on the drive")]
    RealTimeJoined {
        /// Real-time requests on the drive.
        real_time_count: u64,
    },
    /// More of best effort was on the drive than it may be.
    #[error("{best_effort_count} requests of best effort on the drive; {depth_max} allowed")]
    BestEffortTooDeep {
        /// Requests of best effort on the drive.
        best_effort_count: u64,
        /// The most that may be.
        depth_max: u64,
    },
    /// A request was sent while one of a higher class waited.
    #[error("{id:?} was dispatched while a higher class waited")]
    ClassOvertook {
        /// The request.
        id: RequestId,
    },
    /// Something was sent after the latest instant at which that kept all deadlines for certain.
    #[error("{id:?} joined {outstanding} outstanding requests too late to keep all deadlines")]
    JoinedTooLate {
        /// The last request of the batch.
        id: RequestId,
        /// Requests on the drive after it.
        outstanding: u64,
    },
    /// A request was sent that is not next by its position.
    #[error("{id:?} was dispatched while {expected:?} was next by position")]
    OutOfPosition {
        /// The request.
        id: RequestId,
        /// The one that is next.
        expected: RequestId,
    },
    /// A request that had waited too long was left for longer still.
    #[error("{id:?} was dispatched and left {waiting:?}, whose turn was overdue")]
    ExpiredLeft {
        /// The request.
        id: RequestId,
        /// The one that waited.
        waiting: RequestId,
    },
    /// A source sent for longer than its time slice while another waited.
    #[error("{id:?} was dispatched after its slice while source {} waited", waiting.0)]
    SliceExceeded {
        /// The request.
        id: RequestId,
        /// The source that waited.
        waiting: TaskIndex,
    },
    /// A source sent while the drive was kept for another.
    #[error("{id:?} was dispatched in the turn of source {}", kept_for.0)]
    TurnTaken {
        /// The request.
        id: RequestId,
        /// The source whose turn it is.
        kept_for: TaskIndex,
    },
    /// More requests were on the drive than may be.
    #[error("{in_flight_count} requests in flight; {in_flight_max} allowed")]
    TooManyInFlight {
        /// Requests on the drive.
        in_flight_count: u64,
        /// The most that may be.
        in_flight_max: u64,
    },
}

/// The violations that one checker found: all are counted, the first are kept.
#[derive(Debug, Clone, Default)]
pub struct ViolationLog {
    first: Vec<Violation>,
    count: u64,
}

impl ViolationLog {
    /// How many are kept: a broken policy is broken at every instant of a long run.
    pub const KEPT_MAX: usize = 64;

    pub(super) fn add(&mut self, at: Time, breach: Breach) {
        self.count += 1;
        if self.first.len() < Self::KEPT_MAX {
            self.first.push(Violation { at, breach });
        }
    }

    /// How many there were.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The first of them, in order of time.
    pub fn first(&self) -> &[Violation] {
        &self.first
    }
}

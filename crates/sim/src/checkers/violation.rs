// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A checker's findings: the instant, the broken rule and its facts.

use tidegate_model::{RequestId, Tag, TaskIndex, Time};

/// A broken invariant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at {} ns: {breach}", at.ns())]
pub struct Violation {
    /// The instant at which the violation was found.
    pub at: Time,
    /// The broken rule.
    pub breach: Breach,
}

/// The broken rule, with its facts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Breach {
    /// Two requests have the same id.
    #[error("{id:?} was released twice")]
    ReleasedTwice {
        /// The id that both requests have.
        id: RequestId,
    },
    /// A request that was not queued was dispatched.
    #[error("{id:?} was dispatched and was not queued")]
    DispatchedUnqueued {
        /// The request that was dispatched.
        id: RequestId,
    },
    /// A request that was not queued was dropped.
    #[error("{id:?} was dropped and was not queued")]
    DroppedUnqueued {
        /// The request that was dropped.
        id: RequestId,
    },
    /// A request that was not on the drive completed.
    #[error("{id:?} completed and was not in flight")]
    CompletedUndispatched {
        /// The request that completed.
        id: RequestId,
    },
    /// A real-time request was lost.
    #[error("{id:?} never completed")]
    NeverCompleted {
        /// The lost request.
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
        /// The older request, which was sent later.
        id: RequestId,
        /// A request that was released later and dispatched earlier.
        younger: RequestId,
    },
    /// A request was dispatched before one with an earlier deadline.
    #[error("{id:?} was dispatched and left {waiting:?} queued, which is due earlier")]
    LaterDueFirst {
        /// The dispatched request, or one of its batch.
        id: RequestId,
        /// The request with the earlier deadline.
        waiting: RequestId,
    },
    /// A batch was larger than allowed.
    #[error("a batch of {requests} requests, {real_time} of them real time; {batch_max} allowed")]
    BatchTooLarge {
        /// Number of requests in the batch.
        requests: u64,
        /// Number of real-time requests in the batch.
        real_time: u64,
        /// The largest allowed size of this batch.
        batch_max: u64,
    },
    /// The requests of a batch cost more than allowed.
    #[error("a batch at a cost of {cost_ns} ns; {cost_ns_max} ns allowed")]
    BatchTooDear {
        /// The total cost of the requests, in ns.
        cost_ns: u64,
        /// The largest allowed cost of this batch, in ns.
        cost_ns_max: u64,
    },
    /// A batch left a real-time request queued although it had room for it, or filled that room
    /// with best effort.
    #[error("a batch at a real-time cost of {cost_ns} ns left {waiting:?} behind")]
    BatchCutShort {
        /// The oldest request left queued.
        waiting: RequestId,
        /// The total cost of the batch's real-time requests, in ns.
        cost_ns: u64,
    },
    /// A batch was sent to a drive that was not drained.
    #[error("a batch was dispatched with {in_flight_count} in flight")]
    DispatchedWhileBusy {
        /// Number of requests on the drive.
        in_flight_count: u64,
    },
    /// A request was dispatched while real-time requests were on the drive.
    #[error("a batch was dispatched with {real_time_count} real-time requests on the drive")]
    RealTimeJoined {
        /// Number of real-time requests on the drive.
        real_time_count: u64,
    },
    /// A request was dispatched while another had been on the drive for too long.
    #[error("{id:?} was dispatched while {overdue:?} was overdue on the drive")]
    OverdueJoined {
        /// The request that was dispatched.
        id: RequestId,
        /// The request that is overdue.
        overdue: RequestId,
    },
    /// Real-time requests of a round stayed queued although the drive had room for them.
    #[error("{queued_count} requests were left out of a round with {in_flight_count} in flight")]
    RoundCut {
        /// Number of real-time requests left queued.
        queued_count: u64,
        /// Number of requests on the drive.
        in_flight_count: u64,
    },
    /// A request's tag was not the one that its policy gives to its class.
    #[error("{id:?} was dispatched with the tag {tag:?}")]
    WrongTag {
        /// The request with the wrong tag.
        id: RequestId,
        /// The tag that the request had.
        tag: Tag,
    },
    /// More best effort was on the drive than allowed.
    #[error("{best_effort_count} requests of best effort on the drive; {depth_max} allowed")]
    BestEffortTooDeep {
        /// Number of best-effort requests on the drive.
        best_effort_count: u64,
        /// The largest allowed number of best-effort requests.
        depth_max: u64,
    },
    /// A request was dispatched while a request of a higher class waited.
    #[error("{id:?} was dispatched while a higher class waited")]
    ClassOvertook {
        /// The request that was dispatched.
        id: RequestId,
    },
    /// A request was dispatched after the latest instant at which all deadlines were certain.
    #[error("{id:?} joined {outstanding} outstanding requests too late to keep all deadlines")]
    JoinedTooLate {
        /// The last request of the batch.
        id: RequestId,
        /// Number of requests on the drive after the dispatch.
        outstanding: u64,
    },
    /// A dispatch after which a real-time request may be late: the dispatched request or another.
    #[error("{id:?} was dispatched, after which {waiting:?} may be late")]
    FallbackBroken {
        /// The request that was dispatched.
        id: RequestId,
        /// The request that may be late.
        waiting: RequestId,
    },
    /// A request that is not next in its group of near deadlines was dispatched.
    #[error("{id:?} was dispatched while {expected:?} was next in its group")]
    OutOfGroupOrder {
        /// The request that was dispatched.
        id: RequestId,
        /// The request that is next.
        expected: RequestId,
    },
    /// A request that is not next by its position was dispatched.
    #[error("{id:?} was dispatched while {expected:?} was next by position")]
    OutOfPosition {
        /// The request that was dispatched.
        id: RequestId,
        /// The request that is next.
        expected: RequestId,
    },
    /// Another request was sent before one that had waited too long.
    #[error("{id:?} was dispatched and left {waiting:?}, whose turn was overdue")]
    ExpiredLeft {
        /// The request that was sent.
        id: RequestId,
        /// The request that waited.
        waiting: RequestId,
    },
    /// A source sent for longer than its time slice while another waited.
    #[error("{id:?} was dispatched after its slice while source {} waited", waiting.0)]
    SliceExceeded {
        /// The request that was sent after the slice.
        id: RequestId,
        /// The source that waited.
        waiting: TaskIndex,
    },
    /// A source sent while the drive was kept for another source.
    #[error("{id:?} was dispatched in the turn of source {}", kept_for.0)]
    TurnTaken {
        /// The request that was sent.
        id: RequestId,
        /// The source that has the turn.
        kept_for: TaskIndex,
    },
    /// A shaper passed a request on without its tokens.
    #[error("{id:?} was passed on with {tokens_missing} tokens missing")]
    RateExceeded {
        /// The request that was passed on.
        id: RequestId,
        /// The tokens that the request lacked, rounded up.
        tokens_missing: u64,
    },
    /// A shaper held back a request that had its tokens.
    #[error("{id:?} was held back although it had its tokens")]
    HeldTooLong {
        /// The request that was held back.
        id: RequestId,
    },
    /// More best-effort requests were served before a request than its order allows.
    #[error("{id:?} let {overtaken_by} requests of best effort pass; {overtaken_max} allowed")]
    WaitedTooLong {
        /// The request that waited.
        id: RequestId,
        /// The number of best-effort requests dispatched since it was released.
        overtaken_by: u64,
        /// The largest allowed number of best-effort requests.
        overtaken_max: u64,
    },
    /// More requests were on the drive than allowed.
    #[error("{in_flight_count} requests in flight; {in_flight_max} allowed")]
    TooManyInFlight {
        /// Number of requests on the drive.
        in_flight_count: u64,
        /// The largest allowed number of requests on the drive.
        in_flight_max: u64,
    },
}

/// The violations of one checker: all are counted, the first are kept.
#[derive(Debug, Clone, Default)]
pub struct ViolationLog {
    first: Vec<Violation>,
    count: u64,
}

impl ViolationLog {
    /// The largest number of violations kept; a broken policy breaks its rule at every instant of a
    /// long run.
    pub const KEPT_MAX: usize = 64;

    pub(super) fn add(&mut self, at: Time, breach: Breach) {
        self.count += 1;
        if self.first.len() < Self::KEPT_MAX {
            self.first.push(Violation { at, breach });
        }
    }

    /// Returns the number of all violations.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the first violations, in order of time.
    pub fn first(&self) -> &[Violation] {
        &self.first
    }
}

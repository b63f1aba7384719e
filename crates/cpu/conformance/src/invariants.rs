// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The invariants that every sporadic server must keep, with any work.

use tidegate_model::{Duration, Time};

tidegate_model::names! {
    /// An invariant of a sporadic server.
    pub enum Invariant {
        /// I1: the replenishments always sum to the budget.
        Budget => "I1",
        /// I2: a server above all tasks executes in any window at most as much as a periodic task
        /// with its budget and period, plus one overrun.
        Window => "I2",
        /// I3: no task below the server responds later than response-time analysis allows, with the
        /// server counted as such a task plus one overrun.
        Response => "I3",
        /// I4: replenishments are in order of time, no more are pending than allowed, and none is
        /// zero.
        Queue => "I4",
        /// I5: merging chunks does not change their sum.
        Merging => "I5",
        /// I6: a server that always has work and runs out of budget did receive its budget before.
        Liveness => "I6",
    }
}

impl Invariant {
    /// The number of invariants.
    pub const COUNT: usize = Self::ALL.len();

    /// Returns the invariant's index in lists.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

/// A violated invariant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A violation of [`Invariant::Budget`], I1.
    #[error("I1 at {}: the replenishments sum to {sum}, the budget is {budget}", at_text(*.at))]
    Budget {
        /// The instant of the violation.
        at: Time,
        /// The sum of the replenishments.
        sum: Duration,
        /// The budget.
        budget: Duration,
    },
    /// A violation of [`Invariant::Window`], I2.
    #[error(
        "I2: {executed} executed in the window from {} to {}, but {allowed} are allowed",
        at_text(*.from), at_text(*.to)
    )]
    Window {
        /// The window's start.
        from: Time,
        /// The window's end.
        to: Time,
        /// The execution and the charges in the window.
        executed: Duration,
        /// The largest allowed amount.
        allowed: Duration,
    },
    /// A violation of [`Invariant::Response`], I3.
    #[error(
        "I3: the job of `{task}` that arrived at {} responded in {response}, but its bound is {bound}",
        at_text(*.arrival)
    )]
    Response {
        /// The name of a task below the server.
        task: String,
        /// The arrival of the job.
        arrival: Time,
        /// The job's response time.
        response: Duration,
        /// The bound on the response time.
        bound: Duration,
    },
    /// A violation of I3 by a job that never completed.
    #[error(
        "I3: a job of `{task}` has not completed within its bound of {bound} when the run ends"
    )]
    Unanswered {
        /// The name of a task below the server.
        task: String,
        /// The bound on its response time.
        bound: Duration,
    },
    /// A violation of [`Invariant::Queue`], I4.
    #[error("I4 at {}: {what}", at_text(*.at))]
    Queue {
        /// The instant of the violation.
        at: Time,
        /// The fault of the queue.
        what: QueueFault,
    },
    /// A violation of [`Invariant::Merging`], I5.
    #[error("I5 at {}: chunks of {before} were merged to {after}", at_text(*.at))]
    Merging {
        /// The instant of the merging.
        at: Time,
        /// The sum of the chunks before.
        before: Duration,
        /// The sum of the chunks after.
        after: Duration,
    },
    /// A violation of [`Invariant::Liveness`], I6.
    #[error(
        "I6: {executed} executed in the window from {} to {}, although it always had work and had \
         no budget at the end; at least {due} are due",
        at_text(*.from), at_text(*.to)
    )]
    Liveness {
        /// The window's start.
        from: Time,
        /// The window's end.
        to: Time,
        /// The execution and the charges in the window.
        executed: Duration,
        /// The least amount that the server must get.
        due: Duration,
    },
}

/// A fault of a queue of replenishments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueueFault {
    /// The replenishments are out of order.
    #[error("the replenishments are not in order of time")]
    Unsorted,
    /// There are too many pending replenishments.
    #[error("{count} replenishments are pending, but at most {max} are allowed")]
    TooMany {
        /// The number of pending replenishments.
        count: usize,
        /// The largest allowed number.
        max: u32,
    },
    /// A replenishment has the amount zero.
    #[error("a replenishment of zero")]
    Zero,
}

impl Violation {
    /// Returns the violated invariant.
    pub const fn invariant(&self) -> Invariant {
        match self {
            Self::Budget { .. } => Invariant::Budget,
            Self::Window { .. } => Invariant::Window,
            Self::Response { .. } | Self::Unanswered { .. } => Invariant::Response,
            Self::Queue { .. } => Invariant::Queue,
            Self::Merging { .. } => Invariant::Merging,
            Self::Liveness { .. } => Invariant::Liveness,
        }
    }

    /// Returns the instant at which the violation was detected; `None` for the end of the run.
    pub fn at(&self) -> Option<Time> {
        match self {
            Self::Budget { at, .. } | Self::Queue { at, .. } | Self::Merging { at, .. } => {
                Some(*at)
            }
            Self::Window { to, .. } | Self::Liveness { to, .. } => Some(*to),
            Self::Response { arrival, response, .. } => arrival.checked_add(*response),
            Self::Unanswered { .. } => None,
        }
    }
}

fn at_text(at: Time) -> Duration {
    at - Time::ZERO
}

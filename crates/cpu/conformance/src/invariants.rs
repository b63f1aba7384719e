// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What must hold of every sporadic server, whatever its work does.

use std::fmt;

use tidegate_model::{Duration, Time};

/// An invariant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// I1: the replenishments sum to the budget, always.
    Budget,
    /// I2: a server above everybody executes no more in any window than a periodic task with its
    /// budget and period, plus one overrun.
    Window,
    /// I3: nobody below it answers later than response-time analysis says with the server as such
    /// a task, plus one overrun.
    Response,
    /// I4: replenishments are in order of time, no more to come than there may be, none of zero.
    Queue,
    /// I5: what chunks sum to is the same before and after they are merged.
    Merging,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Budget, Self::Window, Self::Response, Self::Queue, Self::Merging];

    /// I1 to I5.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Budget => "I1",
            Self::Window => "I2",
            Self::Response => "I3",
            Self::Queue => "I4",
            Self::Merging => "I5",
        }
    }

    /// Where it stands in lists.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An invariant that did not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// I1.
    #[error("I1 at {}: the replenishments sum to {sum}, the budget is {budget}", at_text(*.at))]
    Budget {
        /// When.
        at: Time,
        /// What they sum to.
        sum: Duration,
        /// What they should.
        budget: Duration,
    },
    /// I2.
    #[error(
        "I2: {executed} in the window from {} to {}, {allowed} allowed",
        at_text(*.from), at_text(*.to)
    )]
    Window {
        /// Its start.
        from: Time,
        /// Its end.
        to: Time,
        /// What the server executed and was charged in it.
        executed: Duration,
        /// What it may.
        allowed: Duration,
    },
    /// I3.
    #[error(
        "I3: `{task}` released at {} answers in {response}, the bound is {bound}",
        at_text(*.arrival)
    )]
    Response {
        /// A task below the server.
        task: String,
        /// When the job arrived.
        arrival: Time,
        /// Its response.
        response: Duration,
        /// The most it may be.
        bound: Duration,
    },
    /// I3, of a job that never answered.
    #[error("I3: `{task}` has not answered within its bound of {bound} when the run ends")]
    Unanswered {
        /// A task below the server.
        task: String,
        /// The most its response may be.
        bound: Duration,
    },
    /// I4.
    #[error("I4 at {}: {what}", at_text(*.at))]
    Queue {
        /// When.
        at: Time,
        /// What is wrong with the queue.
        what: QueueFault,
    },
    /// I5.
    #[error("I5 at {}: chunks of {before} were merged to {after}", at_text(*.at))]
    Merging {
        /// When.
        at: Time,
        /// The sum before.
        before: Duration,
        /// The sum after.
        after: Duration,
    },
}

/// What may be wrong with a queue of replenishments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueueFault {
    /// Out of order.
    #[error("the replenishments are not in order of time")]
    Unsorted,
    /// Too many.
    #[error("{count} replenishments to come, at most {max} are allowed")]
    TooMany {
        /// How many.
        count: usize,
        /// At most.
        max: u32,
    },
    /// One of nothing.
    #[error("a replenishment of zero")]
    Zero,
}

impl Violation {
    /// Which invariant.
    pub const fn invariant(&self) -> Invariant {
        match self {
            Self::Budget { .. } => Invariant::Budget,
            Self::Window { .. } => Invariant::Window,
            Self::Response { .. } | Self::Unanswered { .. } => Invariant::Response,
            Self::Queue { .. } => Invariant::Queue,
            Self::Merging { .. } => Invariant::Merging,
        }
    }
}

fn at_text(at: Time) -> Duration {
    at - Time::ZERO
}

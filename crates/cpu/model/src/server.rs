// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An aperiodic server: processor time for work that comes when it likes, within a budget.

use super::Priority;
use tidegate_model::names;
use tidegate_model::units::Duration;

names! {
    /// The aperiodic servers, by the names that files and scripts use.
    pub enum ServerKind {
        /// Looks for work once a period; a budget without work is lost until the next.
        Polling => "polling",
        /// Keeps its budget to the end of the period, full again at the next.
        Deferrable => "deferrable",
        /// SCHED_SPORADIC as POSIX writes it, with its defects, for comparison.
        PosixSporadic => "posix-sporadic",
        /// The same, reading strictly that what is replenished at exhaustion is a new activation.
        PosixSporadicStrict => "posix-sporadic-strict",
        /// The corrected sporadic server.
        Sporadic => "sporadic",
        /// The same; when it runs out of budget all its replenishments become one.
        HybridImmediate => "hybrid-immediate",
        /// The same; when it runs out of budget its first two replenishments become one.
        HybridGradual => "hybrid-gradual",
    }
}

impl ServerKind {
    /// Whether the execution of one is never more than that of a periodic task with its budget
    /// and period (and one overrun), which is what analyses of tasks below it rest on.
    pub const fn is_like_a_periodic_task(self) -> bool {
        match self {
            Self::Polling | Self::Sporadic | Self::HybridImmediate | Self::HybridGradual => true,
            Self::Deferrable | Self::PosixSporadic | Self::PosixSporadicStrict => false,
        }
    }
}

/// What a server that is out of budget may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// Not execute.
    #[default]
    Never,
    /// Execute at this priority, which costs no budget.
    At(Priority),
}

/// The parameters of a server's rules; what it is called and how urgent it is are its host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerParams {
    /// Which rules.
    pub kind: ServerKind,
    /// Execution in each period, at least 1 ns and at most the period.
    pub budget: Duration,
    /// The period.
    pub period: Duration,
    /// The most replenishments that a sporadic server keeps, at least 1.
    pub replenishments_max: u32,
    /// Taken from the budget whenever the server preempts.
    pub preemption_charge: Duration,
}

/// Why there is no such server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerParamsError {
    /// A budget of nothing.
    #[error("a budget of zero: the server would never execute; write a budget above zero")]
    BudgetZero,
    /// More budget than time.
    #[error("the budget {budget} exceeds the period {period}; write at most the period")]
    BudgetAbovePeriod {
        /// The budget.
        budget: Duration,
        /// The period.
        period: Duration,
    },
    /// Nothing could be replenished.
    #[error("0 replenishments: the budget would never come back; write at least 1")]
    ReplenishmentsZero,
    /// So many that memory for them is a slip of the pen.
    #[error(
        "{replenishments} replenishments; write at most {}",
        ServerParams::REPLENISHMENTS_LIMIT
    )]
    ReplenishmentsTooMany {
        /// How many.
        replenishments: u32,
    },
    /// A preemption that costs all the budget or more leaves no time for work.
    #[error(
        "a preemption is charged {charge}, the budget is {budget}; write a charge below the budget"
    )]
    ChargeAboveBudget {
        /// The charge.
        charge: Duration,
        /// The budget.
        budget: Duration,
    },
}

impl ServerParams {
    /// Replenishments where nothing says otherwise.
    pub const REPLENISHMENTS_DEFAULT: u32 = 20;

    /// More replenishments than anybody has use for.
    pub const REPLENISHMENTS_LIMIT: u32 = 65_536;

    /// A server of this kind that is charged nothing for preemptions.
    pub const fn new(kind: ServerKind, budget: Duration, period: Duration) -> Self {
        Self {
            kind,
            budget,
            period,
            replenishments_max: Self::REPLENISHMENTS_DEFAULT,
            preemption_charge: Duration::ZERO,
        }
    }

    /// The parameters, if there can be such a server.
    ///
    /// # Errors
    /// The first parameter that makes no sense.
    pub fn checked(self) -> Result<Self, ServerParamsError> {
        let Self { budget, period, replenishments_max: replenishments, .. } = self;
        let charge = self.preemption_charge;
        if budget.is_zero() {
            return Err(ServerParamsError::BudgetZero);
        }
        if budget > period {
            return Err(ServerParamsError::BudgetAbovePeriod { budget, period });
        }
        if replenishments == 0 {
            return Err(ServerParamsError::ReplenishmentsZero);
        }
        if replenishments > Self::REPLENISHMENTS_LIMIT {
            return Err(ServerParamsError::ReplenishmentsTooMany { replenishments });
        }
        if charge >= budget {
            return Err(ServerParamsError::ChargeAboveBudget { charge, budget });
        }
        Ok(self)
    }
}

/// A server on a processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuServer {
    /// Unique on its processor.
    pub name: String,
    /// While it has budget. Under EDF all are equal, and this is 0: a server's deadline is a
    /// period after its budget was replenished.
    pub priority: Priority,
    /// Its rules.
    pub params: ServerParams,
    /// What it does without budget.
    pub background: Background,
    /// The longest that less urgent threads keep it waiting, with locks or with preemption off.
    pub blocking: Duration,
    /// Jobs that may wait for it, the one in execution among them; those beyond are lost.
    pub queued_max: u32,
}

impl CpuServer {
    /// Jobs that may wait where nothing says otherwise.
    pub const QUEUED_MAX_DEFAULT: u32 = 65_536;

    /// A server that does nothing without budget.
    pub fn new(name: impl Into<String>, priority: Priority, params: ServerParams) -> Self {
        Self {
            name: name.into(),
            priority,
            params,
            background: Background::Never,
            blocking: Duration::ZERO,
            queued_max: Self::QUEUED_MAX_DEFAULT,
        }
    }
}

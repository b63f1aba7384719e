// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An aperiodic server: processor time for aperiodic work, within a budget.

use super::Priority;
use tidegate_model::names;
use tidegate_model::units::Duration;

names! {
    /// The aperiodic servers, by the names that files and scripts use.
    pub enum ServerKind {
        /// No server at all: its work has its priority at any time, and the budget limits nothing.
        FixedPriority => "fixed-priority",
        /// Looks for work once a period; without work, the budget is lost until the next period.
        Polling => "polling",
        /// Keeps its budget to the end of the period; it is full again at the next.
        Deferrable => "deferrable",
        /// The original sporadic server of Sprunt, Sha and Lehoczky, with its defect, for study.
        Spsl => "spsl",
        /// SCHED_SPORADIC as POSIX specifies it, with its defects, for comparison.
        PosixSporadic => "posix-sporadic",
        /// Like `posix-sporadic`, under the strict reading that a replenishment at exhaustion is a
        /// new activation.
        PosixSporadicStrict => "posix-sporadic-strict",
        /// The corrected sporadic server.
        Sporadic => "sporadic",
        /// Like `sporadic`; when it runs out of budget, all its replenishments become one.
        HybridImmediate => "hybrid-immediate",
        /// Like `sporadic`; when it runs out of budget, its first two replenishments become one.
        HybridGradual => "hybrid-gradual",
    }
}

impl ServerKind {
    /// Returns whether a server of this kind executes at most as much as a periodic task with its
    /// budget and period (plus one overrun), which analyses of tasks below it assume.
    pub const fn is_like_a_periodic_task(self) -> bool {
        match self {
            Self::Polling | Self::Sporadic | Self::HybridImmediate | Self::HybridGradual => true,
            Self::FixedPriority
            | Self::Deferrable
            | Self::Spsl
            | Self::PosixSporadic
            | Self::PosixSporadicStrict => false,
        }
    }

    /// Returns whether a server of this kind has a budget at all.
    pub const fn has_budget(self) -> bool {
        match self {
            Self::FixedPriority => false,
            Self::Polling
            | Self::Deferrable
            | Self::Spsl
            | Self::PosixSporadic
            | Self::PosixSporadicStrict
            | Self::Sporadic
            | Self::HybridImmediate
            | Self::HybridGradual => true,
        }
    }

    /// Returns whether the budget of a server of this kind is cut into replenishments.
    pub const fn has_replenishments(self) -> bool {
        match self {
            Self::FixedPriority | Self::Polling | Self::Deferrable => false,
            Self::Spsl
            | Self::PosixSporadic
            | Self::PosixSporadicStrict
            | Self::Sporadic
            | Self::HybridImmediate
            | Self::HybridGradual => true,
        }
    }
}

/// Whether a server that is out of budget may execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// The server does not execute.
    #[default]
    Never,
    /// The server executes at this priority, without using budget.
    At(Priority),
}

/// The parameters of a server's rules, without the server's name and priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerParams {
    /// The kind of rules.
    pub kind: ServerKind,
    /// The processor time in each period, at least 1 ns and at most the period.
    pub budget: Duration,
    /// The period.
    pub period: Duration,
    /// The largest number of replenishments that a sporadic server keeps, at least 1.
    pub replenishments_max: u32,
    /// The charge to the budget each time the server preempts.
    pub preemption_charge: Duration,
}

/// Why the parameters are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerParamsError {
    /// The budget is zero.
    #[error("the budget is zero, so the server would never execute; write a budget above zero")]
    BudgetZero,
    /// The budget exceeds the period.
    #[error("the budget {budget} exceeds the period {period}; write at most the period")]
    BudgetAbovePeriod {
        /// The budget.
        budget: Duration,
        /// The period.
        period: Duration,
    },
    /// The number of replenishments is zero, so no budget could be replenished.
    #[error("with 0 replenishments the budget would never be replenished; write at least 1")]
    ReplenishmentsZero,
    /// The number of replenishments exceeds [`ServerParams::REPLENISHMENTS_LIMIT`].
    #[error(
        "{replenishments} replenishments are too many; write at most {}",
        ServerParams::REPLENISHMENTS_LIMIT
    )]
    ReplenishmentsTooMany {
        /// The number of replenishments.
        replenishments: u32,
    },
    /// A preemption charge at or above the budget leaves no time for work.
    #[error(
        "the preemption charge {charge} is not below the budget {budget}; write a charge below the budget"
    )]
    ChargeAboveBudget {
        /// The charge.
        charge: Duration,
        /// The budget.
        budget: Duration,
    },
}

impl ServerParams {
    /// The default number of replenishments.
    pub const REPLENISHMENTS_DEFAULT: u32 = 20;

    /// The largest number of replenishments.
    pub const REPLENISHMENTS_LIMIT: u32 = 65_536;

    /// Creates the parameters of a server of this kind, without a preemption charge.
    pub const fn new(kind: ServerKind, budget: Duration, period: Duration) -> Self {
        Self {
            kind,
            budget,
            period,
            replenishments_max: Self::REPLENISHMENTS_DEFAULT,
            preemption_charge: Duration::ZERO,
        }
    }

    /// Returns the parameters if they are valid.
    ///
    /// # Errors
    /// The first invalid parameter.
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
    /// The name, unique on its processor.
    pub name: String,
    /// The priority while the server has budget. Under EDF it is 0: the server is scheduled by its
    /// deadline, one period after its budget was replenished.
    pub priority: Priority,
    /// The parameters of its rules.
    pub params: ServerParams,
    /// Whether the server executes when it is out of budget.
    pub background: Background,
    /// The longest time that less urgent threads delay the server, by holding locks or by disabling
    /// preemption.
    pub blocking: Duration,
    /// The largest number of queued jobs, including the executing one; further jobs are lost.
    pub queued_max: u32,
}

impl CpuServer {
    /// The default of `queued_max`.
    pub const QUEUED_MAX_DEFAULT: u32 = 65_536;

    /// Creates a server that does nothing when it is out of budget.
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

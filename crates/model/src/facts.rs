// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The facts that distinguish one policy from another, in terms that all crates share. The facts of
//! each policy are beside its name: [`PolicyName::facts`](crate::PolicyName::facts).
//!
//! Only these files may compare such values with `==` or `matches!`. All other code matches them
//! exhaustively, so a new policy, theorem or contract breaks the build wherever it matters.

use crate::contracts::DriveContract;
use crate::regulator::RegulatorName;

pub(crate) mod unproved;

/// How many requests a policy has on the drive at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DispatchMode {
    /// All queued requests, up to the drive's depth.
    UpToDepth,
    /// One request.
    OneAtATime,
    /// A batch, sent to an idle drive; no request joins it.
    Batches,
    /// Real-time requests by the policy's rule, best effort up to a separate depth.
    BestEffortDepth,
}

impl DispatchMode {
    /// Returns whether best effort has a separate depth on the drive.
    pub const fn limits_best_effort(self) -> bool {
        matches!(self, Self::BestEffortDepth)
    }

    /// Returns whether a request waits until the drive is idle.
    pub const fn awaits_idle_drive(self) -> bool {
        match self {
            Self::OneAtATime | Self::Batches => true,
            Self::UpToDepth | Self::BestEffortDepth => false,
        }
    }
}

/// The theorem that bounds a policy's response times. `tidegate_analysis` proves each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Theorem {
    /// One at a time in the order of release.
    Fifo,
    /// One at a time in the order of deadlines.
    Edf,
    /// Any order that keeps a fallback schedule feasible.
    ActiveSubset,
    /// Batches in the order of release.
    DualQueue,
    /// Batches in the order of release that grow while more requests are queued than the contracts
    /// allow.
    ElasticDualQueue,
    /// Batches in the order of deadlines.
    DualQueueEdf,
    /// The drive's own starvation bound.
    Starvation,
    /// Rounds of real time to a drained drive, beside as much best effort as fits.
    DrainRounds,
    /// As `DrainRounds`, beside as much best effort as the proof allows without a later bound.
    LimitedDrainRounds,
    /// Rounds of real time with the drive's own priority.
    PriorityRounds,
    /// Best effort until the latest safe instant, for one task.
    AdaptiveDrain,
    /// As `AdaptiveDrain`, for several tasks.
    GatedDrain,
}

impl Theorem {
    /// Returns whether the theorem also holds with a stated probability, from batch times that are
    /// rarely exceeded.
    pub const fn has_soft_form(self) -> bool {
        match self {
            Self::DualQueue => true,
            Self::Fifo
            | Self::Edf
            | Self::ActiveSubset
            | Self::ElasticDualQueue
            | Self::DualQueueEdf
            | Self::Starvation
            | Self::DrainRounds
            | Self::LimitedDrainRounds
            | Self::PriorityRounds
            | Self::AdaptiveDrain
            | Self::GatedDrain => false,
        }
    }
}

/// Whether deadlines decide which requests a policy dispatches, or when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Deadlines {
    /// Deadlines change nothing.
    Ignored,
    /// Deadlines decide: a task with a later deadline may be served later.
    Decide,
}

/// The requests that never wait while the drive has room in the policy's [`DispatchMode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConservesWork {
    /// All requests.
    All,
    /// Real time, and best effort too if the plan fills batches with it.
    Filled,
    /// Real time.
    RealTime,
    /// Real time of the plan's tasks, but not of a stream that a regulator detected.
    RealTimeOfTasks,
    /// Real time, if the plan allows no request to be dropped.
    RealTimeAtFullQuality,
    /// No requests.
    Nothing,
}

/// The knowledge of the drive that a policy needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Knowledge {
    /// Only its depth and its batch table.
    Nothing,
    /// The positions of its sectors and its movements.
    AccessTimes,
    /// The drain times, drain(q).
    DrainTimes,
}

/// The limits of a batch in addition to the drive's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchLimit {
    /// The plan's number of requests.
    Count,
    /// The plan's number of requests, and their cost if the plan limits it.
    CountAndCost,
    /// The plan's number of requests, without a limit while more requests are queued than the
    /// contracts allow.
    CountUntilOverload,
}

/// The most best effort on the drive if nothing is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnprovedDepth {
    /// As much as the drive accepts.
    Drive,
    /// As much as leaves room for all requests that the tasks can release together.
    BesideTasks,
    /// As much as can be drained with these requests within the shortest deadline.
    WithinDeadlines,
}

/// The facts of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyFacts {
    /// Its dispatch mode.
    pub dispatch: DispatchMode,
    /// The theorem that bounds its response times, or the reason for none: a sentence without its
    /// full stop.
    pub theorem: Result<Theorem, &'static str>,
    /// The contract of the drive that its bounds, or its rule, need.
    pub contract: Option<DriveContract>,
    /// The role of deadlines.
    pub deadlines: Deadlines,
    /// The work that it conserves.
    pub conserves_work: ConservesWork,
    /// The knowledge of the drive that it needs.
    pub needs: Knowledge,
    /// Whether best effort waits in the same queue as the tasks, in the order of release.
    pub has_common_queue: bool,
    /// Whether it profits from many queued requests, because it chooses among them by position.
    pub wants_choice: bool,
    /// The limits of its batches, if it sends batches.
    pub batch_limit: BatchLimit,
    /// The most best effort that it sends to the drive if nothing is proved.
    pub unproved_depth: UnprovedDepth,
    /// The regulator around `noop` that this policy is; `None` for other policies.
    pub shaper: Option<RegulatorName>,
}

impl PolicyFacts {
    /// Returns whether its real-time requests carry the drive's own priority.
    pub const fn uses_drive_priority(&self) -> bool {
        matches!(self.contract, Some(DriveContract::Priority))
    }
}

/// Returns the facts of a policy whose last five facts have the common values.
pub(crate) const fn row(
    dispatch: DispatchMode,
    theorem: Result<Theorem, &'static str>,
    contract: Option<DriveContract>,
    deadlines: Deadlines,
    conserves_work: ConservesWork,
    needs: Knowledge,
) -> PolicyFacts {
    PolicyFacts {
        dispatch,
        theorem,
        contract,
        deadlines,
        conserves_work,
        needs,
        has_common_queue: false,
        wants_choice: false,
        batch_limit: BatchLimit::Count,
        unproved_depth: UnprovedDepth::Drive,
        shaper: None,
    }
}

/// Returns the facts of a shaper around `noop`.
pub(crate) const fn shaped(shaper: RegulatorName) -> PolicyFacts {
    PolicyFacts {
        shaper: Some(shaper),
        ..row(
            DispatchMode::UpToDepth,
            Err(unproved::SHAPED),
            None,
            Deadlines::Ignored,
            ConservesWork::Nothing,
            Knowledge::Nothing,
        )
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What distinguishes one policy from another, in words that every crate shares. The rows
//! themselves stand beside the names: [`PolicyName::facts`](crate::PolicyName::facts).
//!
//! Only these files may compare such values with `==` or `matches!`. All other code matches them
//! exhaustively, so a new policy, theorem or contract stops the build wherever it counts.

use crate::contracts::DriveContract;
use crate::names::{PolicyName, RegulatorName};

pub(crate) mod unproved;

/// How many requests a policy has on the drive at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DispatchMode {
    /// Whatever comes, up to the drive's depth.
    UpToDepth,
    /// One request.
    OneAtATime,
    /// A batch, sent to an idle drive; nothing joins it.
    Batches,
    /// Real-time requests as the policy says, best effort up to a depth of its own.
    BestEffortDepth,
}

impl DispatchMode {
    /// Whether best effort has a depth of its own on the drive.
    pub const fn limits_best_effort(self) -> bool {
        matches!(self, Self::BestEffortDepth)
    }

    /// Whether a request waits until the drive is idle.
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
    /// Any order that leaves a fallback schedule feasible.
    ActiveSubset,
    /// Batches in the order of release.
    DualQueue,
    /// Batches in the order of release that grow while more is queued than was promised.
    ElasticDualQueue,
    /// Batches in the order of deadlines.
    DualQueueEdf,
    /// The drive's own starvation bound.
    Starvation,
    /// Rounds of real time to a drive that is drained, beside as much best effort as fits.
    DrainRounds,
    /// The same beside as much best effort as costs no proof.
    LimitedDrainRounds,
    /// Rounds of real time with the drive's own priority.
    PriorityRounds,
    /// Best effort until the latest safe instant, for one task.
    AdaptiveDrain,
    /// The same for several tasks.
    GatedDrain,
}

impl Theorem {
    /// Whether it also holds with a stated probability, from times that batches seldom exceed.
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

/// Whether deadlines decide what a policy dispatches, or when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Deadlines {
    /// They change nothing.
    Ignored,
    /// They do: a task with a later deadline may be served later.
    Decide,
}

/// Which requests never wait beside a drive that has room in the policy's
/// [`DispatchMode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConservesWork {
    /// All.
    All,
    /// Real time; best effort too where the plan fills batches with it.
    Filled,
    /// Real time.
    RealTime,
    /// Real time of the plan's tasks, none of a source that a regulator found.
    RealTimeOfTasks,
    /// Real time, if the plan allows no request to be dropped.
    RealTimeAtFullQuality,
    /// None.
    Nothing,
}

/// What a policy must know of the drive before it can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Knowledge {
    /// Nothing beside its depth and its batch table.
    Nothing,
    /// Where its sectors are and how it moves.
    AccessTimes,
    /// drain(q).
    DrainTimes,
}

/// What limits a batch beside the table of the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchLimit {
    /// The plan's number of requests.
    Count,
    /// That, and what they cost where the plan says so.
    CountAndCost,
    /// That number, and none while more is queued than was promised.
    CountUntilOverload,
}

/// How much best effort may be on the drive where nothing is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnprovedDepth {
    /// As much as the drive accepts.
    Drive,
    /// As much as leaves room for all requests that the tasks can release together.
    BesideTasks,
    /// As much as can be drained with those requests within the shortest deadline.
    WithinDeadlines,
}

/// The row of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyFacts {
    /// How it dispatches.
    pub dispatch: DispatchMode,
    /// The theorem that bounds its response times, or why there is none: a sentence without its
    /// full stop.
    pub theorem: Result<Theorem, &'static str>,
    /// The contract of the drive that its bounds, or its rule, rest on.
    pub contract: Option<DriveContract>,
    /// Whether deadlines decide.
    pub deadlines: Deadlines,
    /// Which work it conserves.
    pub conserves_work: ConservesWork,
    /// What it must know of the drive.
    pub needs: Knowledge,
    /// Whether best effort waits in the same queue as the tasks, in the order of release.
    pub has_common_queue: bool,
    /// Whether it profits from many queued requests, among which it chooses by position.
    pub wants_choice: bool,
    /// What limits its batches, if it sends any.
    pub batch_limit: BatchLimit,
    /// How much best effort it lets on the drive where nothing is proved.
    pub unproved_depth: UnprovedDepth,
    /// The regulator that it is, round `noop`; none for a policy proper.
    pub shaper: Option<RegulatorName>,
}

impl PolicyFacts {
    /// Whether its real-time requests carry the drive's own priority.
    pub const fn uses_drive_priority(&self) -> bool {
        matches!(self.contract, Some(DriveContract::Priority))
    }
}

impl RegulatorName {
    /// Whether reports of tasks about their own service change what it does.
    pub const fn is_steered(self) -> bool {
        match self {
            Self::Mdn | Self::MdnExtended => true,
            Self::DepthLimit | Self::TokenBucket | Self::TokensPerTask => false,
        }
    }

    /// Whether it does nothing without parameters of its own.
    pub const fn needs_parameters(self) -> bool {
        match self {
            Self::DepthLimit => true,
            Self::TokenBucket | Self::Mdn | Self::MdnExtended | Self::TokensPerTask => false,
        }
    }
}

impl PolicyName {
    /// Whether the same theorem bounds both policies.
    pub fn shares_bounds_with(self, other: Self) -> bool {
        let [own, others] = [self.facts().theorem, other.facts().theorem];
        self == other || (own.is_ok() && own == others)
    }
}

/// A row whose last five facts are the common ones.
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

/// The row of a shaper round `noop`.
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

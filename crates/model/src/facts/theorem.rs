// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The theorems that bound response times, and the facts that each of them rests on.

use super::{BatchLimit, ConservesWork, DispatchMode, Knowledge};
use crate::contracts::DriveContract;

/// The theorem that bounds a policy's response times. `tidegate_analysis` proves each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Theorem {
    /// One at a time in the order of release.
    Fifo,
    /// One at a time in the order of deadlines.
    Edf,
    /// One at a time in the order of deadlines, where deadlines in the same window count as equal.
    EdfInWindows,
    /// Any order that keeps a fallback schedule feasible.
    ActiveSubset,
    /// Batches in the order of release.
    DualQueue,
    /// Batches in the order of release; they grow while more requests are queued than the contracts
    /// allow.
    ElasticDualQueue,
    /// Batches in the order of deadlines.
    DualQueueEdf,
    /// The drive's own starvation bound.
    Starvation,
    /// Rounds of real-time requests, with as much best effort on the drive as fits; nothing is sent
    /// while a round is on the drive.
    DrainRounds,
    /// As `DrainRounds`, with only as much best effort on the drive as leaves every provable
    /// deadline proven.
    LimitedDrainRounds,
    /// Rounds of real time with the drive's own priority.
    PriorityRounds,
    /// Best effort until the latest safe instant, for one task.
    AdaptiveDrain,
    /// As `AdaptiveDrain`, for several tasks.
    GatedDrain,
    /// Real time in any order, with nothing of a lower class sent while any is queued or on the
    /// drive, and no more than a chosen number of requests of all classes on the drive.
    StrictClasses,
}

/// The assumptions of a theorem about its policies and the drive, and the cases that it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, a line of the table each")]
pub struct TheoremFacts {
    /// The dispatch mode of the theorem's policies.
    pub dispatch: DispatchMode,
    /// The requests that the theorem's policies never keep waiting while the dispatch mode has room
    /// for them.
    pub conserves_work: ConservesWork,
    /// The limits of the batches.
    pub batch_limit: BatchLimit,
    /// The contract of the drive that the bounds need.
    pub contract: DriveContract,
    /// The knowledge of the drive that the theorem's policies need.
    pub needs: Knowledge,
    /// Whether deadlines decide the order or the instant of dispatch. A task with a later deadline
    /// may then be served later.
    pub decides_by_deadline: bool,
    /// Whether the theorem counts best effort ahead of the tasks, in a common queue in the order of
    /// release.
    pub counts_best_effort_ahead: bool,
    /// Whether the theorem's policies give away all the time that the drive's tables leave before
    /// the deadlines, so that no drive may be slower than these tables.
    pub spends_slack: bool,
    /// Whether the theorem also holds with a stated probability, from batch times that are rarely
    /// exceeded.
    pub has_soft_form: bool,
}

impl Theorem {
    /// Returns the facts that the theorem rests on. A policy whose row names the theorem gets these
    /// facts from here, so its row cannot contradict its proof.
    #[rustfmt::skip]
    pub const fn facts(self) -> TheoremFacts {
        use BatchLimit::{Count, CountAndCost, CountUntilOverload};
        use ConservesWork::{All, Filled, RealTime, RealTimeAtFullQuality, RealTimeOfTasks};
        use DispatchMode::{BestEffortDepth, OneAtATime};
        use DriveContract as Contract;
        use Knowledge::{AccessTimes, DrainTimes, Nothing};
        match self {
            Self::Fifo => TheoremFacts {
                dispatch: OneAtATime, conserves_work: All, batch_limit: Count,
                contract: Contract::Batches, needs: Nothing,
                decides_by_deadline: false, counts_best_effort_ahead: true, has_soft_form: false,
                spends_slack: false,
            },
            Self::Edf | Self::EdfInWindows => TheoremFacts {
                dispatch: OneAtATime, conserves_work: All, batch_limit: Count,
                contract: Contract::Batches, needs: Nothing,
                decides_by_deadline: true, counts_best_effort_ahead: false, has_soft_form: false,
                spends_slack: false,
            },
            Self::ActiveSubset => TheoremFacts {
                dispatch: OneAtATime, conserves_work: RealTimeAtFullQuality, batch_limit: Count,
                contract: Contract::Batches, needs: AccessTimes,
                decides_by_deadline: true, counts_best_effort_ahead: false, has_soft_form: false,
                spends_slack: true,
            },
            Self::DualQueue => TheoremFacts {
                dispatch: DispatchMode::Batches, conserves_work: Filled, batch_limit: CountAndCost,
                contract: Contract::Batches, needs: Nothing,
                decides_by_deadline: false, counts_best_effort_ahead: false, has_soft_form: true,
                spends_slack: false,
            },
            Self::ElasticDualQueue => TheoremFacts {
                dispatch: DispatchMode::Batches, conserves_work: Filled, batch_limit: CountUntilOverload,
                contract: Contract::Batches, needs: Nothing,
                decides_by_deadline: false, counts_best_effort_ahead: false, has_soft_form: false,
                spends_slack: false,
            },
            Self::DualQueueEdf => TheoremFacts {
                dispatch: DispatchMode::Batches, conserves_work: Filled, batch_limit: Count,
                contract: Contract::Batches, needs: Nothing,
                decides_by_deadline: true, counts_best_effort_ahead: false, has_soft_form: false,
                spends_slack: false,
            },
            Self::Starvation => TheoremFacts {
                dispatch: BestEffortDepth, conserves_work: RealTime, batch_limit: Count,
                contract: Contract::Starvation, needs: Nothing,
                decides_by_deadline: false, counts_best_effort_ahead: false, has_soft_form: false,
                spends_slack: false,
            },
            Self::DrainRounds | Self::LimitedDrainRounds | Self::StrictClasses => TheoremFacts {
                dispatch: BestEffortDepth, conserves_work: RealTime, batch_limit: Count,
                contract: Contract::Drain, needs: Nothing,
                decides_by_deadline: false, counts_best_effort_ahead: false, has_soft_form: false,
                spends_slack: false,
            },
            Self::PriorityRounds => TheoremFacts {
                dispatch: BestEffortDepth, conserves_work: RealTime, batch_limit: Count,
                contract: Contract::Priority, needs: Nothing,
                decides_by_deadline: false, counts_best_effort_ahead: false, has_soft_form: false,
                spends_slack: false,
            },
            Self::AdaptiveDrain => TheoremFacts {
                dispatch: BestEffortDepth, conserves_work: RealTime, batch_limit: Count,
                contract: Contract::Drain, needs: DrainTimes,
                decides_by_deadline: true, counts_best_effort_ahead: false, has_soft_form: false,
                spends_slack: true,
            },
            Self::GatedDrain => TheoremFacts {
                dispatch: BestEffortDepth, conserves_work: RealTimeOfTasks, batch_limit: Count,
                contract: Contract::Drain, needs: DrainTimes,
                decides_by_deadline: true, counts_best_effort_ahead: false, has_soft_form: false,
                spends_slack: true,
            },
        }
    }
}

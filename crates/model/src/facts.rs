// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The facts that distinguish one policy from another, in terms that all crates share. The facts of
//! each policy are listed with its name: [`PolicyName::facts`](crate::PolicyName::facts).
//!
//! No code compares such values with `==` or `matches!`: it matches them exhaustively, so a new
//! policy, theorem or contract breaks the build wherever it matters.

use crate::contracts::DriveContract;
use crate::regulator::RegulatorName;

pub(crate) mod reason;
mod theorem;

pub use theorem::{Theorem, TheoremFacts};

/// The number of requests that a policy has on the drive at the same time.
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
        match self {
            Self::BestEffortDepth => true,
            Self::UpToDepth | Self::OneAtATime | Self::Batches => false,
        }
    }

    /// Returns whether a request waits until the drive is idle.
    pub const fn awaits_idle_drive(self) -> bool {
        match self {
            Self::OneAtATime | Self::Batches => true,
            Self::UpToDepth | Self::BestEffortDepth => false,
        }
    }
}

/// The requests that are never kept waiting while the policy's [`DispatchMode`] has room for them
/// on the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConservesWork {
    /// All requests.
    All,
    /// Real-time requests, and best effort too if the plan fills batches with it.
    Filled,
    /// Real-time requests.
    RealTime,
    /// Real-time requests of the plan's tasks, but not those of a stream that a regulator detected.
    RealTimeOfTasks,
    /// Real-time requests, if the plan allows no request to be dropped.
    RealTimeAtFullQuality,
    /// No requests.
    Nothing,
}

/// The knowledge of the drive that a policy needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Knowledge {
    /// Only the drive's depth and batch table.
    Nothing,
    /// The drive's sector positions and head movements.
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
    /// The plan's number of requests; unlimited while more requests are queued than the contracts
    /// allow.
    CountUntilOverload,
}

/// The largest number of best-effort requests on the drive if nothing is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnprovedDepth {
    /// As many as the drive accepts.
    Drive,
    /// As many as leave room for all requests that the tasks can release together.
    BesideTasks,
    /// As many as can be drained, together with all requests that the tasks can release at the same
    /// time, within the shortest deadline.
    WithinDeadlines,
    /// As many as the workload states, for requests of all classes; otherwise as many as the drive
    /// accepts.
    Stated,
}

/// The way in which best effort waits under a policy. No bound depends on the order of best effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BestEffortQueue {
    /// The policy's own rule orders it.
    OwnRule,
    /// In the order that the workload names; by default, by position if the drive rotates. Order by
    /// position is safe here: best effort that joins real-time requests on the drive cannot delay
    /// them more than the policy allows.
    Held,
    /// In the order that the workload names; by default, in order of release. Best effort joins
    /// real time on the drive, and a run of requests that are near each other would keep the
    /// drive's own queue from serving a distant one.
    BesideRealTime,
}

impl BestEffortQueue {
    /// Returns whether best effort waits in the order that the workload names.
    pub const fn has_order(self) -> bool {
        match self {
            Self::OwnRule => false,
            Self::Held | Self::BesideRealTime => true,
        }
    }
}

/// The facts of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyFacts {
    /// The theorem that bounds the policy's response times, or the reason why there is none, as a
    /// sentence without its full stop.
    pub theorem: Result<Theorem, &'static str>,
    /// The policy's dispatch mode.
    pub dispatch: DispatchMode,
    /// The requests that the policy never keeps waiting while its dispatch mode has room for them.
    pub conserves_work: ConservesWork,
    /// The limits of the policy's batches, if it sends batches.
    pub batch_limit: BatchLimit,
    /// The knowledge of the drive that the policy needs.
    pub needs: Knowledge,
    /// Whether best effort waits in the same queue as the tasks, in the order of release.
    pub has_common_queue: bool,
    /// The way in which the policy's best effort waits.
    pub best_effort: BestEffortQueue,
    /// Whether positions decide which of the policy's requests comes next, apart from the order of
    /// best effort that the workload names.
    pub serves_by_position: bool,
    /// Whether the policy profits from many queued requests, because it chooses among them by
    /// position.
    pub wants_choice: bool,
    /// The largest number of best-effort requests that the policy has on the drive if nothing is
    /// proved.
    pub unproved_depth: UnprovedDepth,
    /// The regulator, if the policy is `noop` wrapped in one; `None` for other policies.
    pub shaper: Option<RegulatorName>,
}

impl PolicyFacts {
    /// Returns the same facts for a policy whose order is decided by positions.
    pub(crate) const fn by_position(self) -> Self {
        Self { serves_by_position: true, ..self }
    }

    /// Returns the contract of the drive that a run is checked against: the one that the bounds
    /// need or, without bounds, the one that the policy's rule relies on. A rule that relies on no
    /// other contract is checked against b(i), which every drive has.
    pub const fn contract(&self) -> DriveContract {
        match self.theorem {
            Ok(theorem) => theorem.facts().contract,
            Err(_) => match self.needs {
                Knowledge::Nothing | Knowledge::AccessTimes => DriveContract::Batches,
                Knowledge::DrainTimes => DriveContract::Drain,
            },
        }
    }

    /// Returns whether the policy's bounds rest on predicted service times of requests.
    pub const fn rests_on_predictions(&self) -> bool {
        match self.needs {
            Knowledge::AccessTimes => self.theorem.is_ok(),
            Knowledge::Nothing | Knowledge::DrainTimes => false,
        }
    }

    /// Returns whether the policy's real-time requests carry the drive's own priority.
    pub const fn uses_drive_priority(&self) -> bool {
        match self.contract() {
            DriveContract::Priority => true,
            DriveContract::Batches | DriveContract::Drain | DriveContract::Starvation => false,
        }
    }
}

/// Returns the facts of a policy that this theorem bounds.
pub(crate) const fn proved(theorem: Theorem) -> PolicyFacts {
    let facts = theorem.facts();
    PolicyFacts {
        theorem: Ok(theorem),
        dispatch: facts.dispatch,
        conserves_work: facts.conserves_work,
        batch_limit: facts.batch_limit,
        needs: facts.needs,
        has_common_queue: facts.counts_best_effort_ahead,
        // In a common queue the order of best effort decides how soon closed loops release again.
        best_effort: if facts.counts_best_effort_ahead {
            BestEffortQueue::OwnRule
        } else {
            BestEffortQueue::Held
        },
        serves_by_position: false,
        wants_choice: false,
        unproved_depth: UnprovedDepth::Drive,
        shaper: None,
    }
}

/// Returns the facts of a policy that no theorem bounds, with the reason.
pub(crate) const fn unproved(
    dispatch: DispatchMode,
    reason: &'static str,
    conserves_work: ConservesWork,
    needs: Knowledge,
) -> PolicyFacts {
    PolicyFacts {
        theorem: Err(reason),
        dispatch,
        conserves_work,
        batch_limit: BatchLimit::Count,
        needs,
        has_common_queue: false,
        best_effort: BestEffortQueue::OwnRule,
        serves_by_position: false,
        wants_choice: false,
        unproved_depth: UnprovedDepth::Drive,
        shaper: None,
    }
}

/// Returns the facts of a shaper around `noop`.
pub(crate) const fn shaped(shaper: RegulatorName) -> PolicyFacts {
    let (dispatch, reason) = (DispatchMode::UpToDepth, reason::SHAPED);
    PolicyFacts {
        shaper: Some(shaper),
        ..unproved(dispatch, reason, ConservesWork::Nothing, Knowledge::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::PolicyName;

    /// A row names the policy's theorem; all other facts that it states must be facts on which no
    /// proof rests.
    #[test]
    fn rows_agree_with_their_theorems() {
        for policy in PolicyName::ALL {
            let row = policy.facts();
            let Ok(theorem) = row.theorem else { continue };
            let PolicyFacts { best_effort, serves_by_position, wants_choice, .. } = row;
            let stated = PolicyFacts { best_effort, serves_by_position, ..proved(theorem) };
            let unproved_depth = row.unproved_depth;
            let expected = PolicyFacts { wants_choice, unproved_depth, ..stated };
            assert_eq!(row, expected, "{policy}");
        }
    }
}

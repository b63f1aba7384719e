// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The guarantee for one thread: its bound, and its deadline.

use tidegate_model::Duration;

use super::load_test::Load;
use super::objection::Objection;

/// A thread's response-time bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CpuBound {
    /// No job takes longer than this from arrival to completion.
    Bounded(Duration),
    /// No bound was found.
    NoBound,
    /// An assumption of the analysis does not hold.
    NotApplicable(Objection),
}

/// The guarantee for one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuThreadAssessment {
    /// The results of the load test, in the order of [`super::DemandBound::ALL`]; `None` where the
    /// test does not apply.
    pub loads: [Option<Load>; 3],
    /// The bound on the thread's response time; under EDF it is the deadline, if that is met.
    pub bound: CpuBound,
    /// The deadline to which the bound is compared: for a server its period. `None` for work
    /// without a deadline.
    pub deadline: Option<Duration>,
    /// The longest window from a critical instant whose demand the bound depends on.
    pub window: Duration,
}

impl CpuThreadAssessment {
    pub(super) fn unknown(reason: Objection, deadline: Option<Duration>) -> Self {
        Self { bound: CpuBound::NotApplicable(reason), ..Self::of_bound(None, deadline) }
    }

    pub(super) fn of_bound(bound: Option<Duration>, deadline: Option<Duration>) -> Self {
        let bound = bound.map_or(CpuBound::NoBound, CpuBound::Bounded);
        Self { loads: [None; 3], bound, deadline, window: Duration::ZERO }
    }

    /// Returns the bound, if there is one.
    pub fn response_max(&self) -> Option<Duration> {
        match self.bound {
            CpuBound::Bounded(response) => Some(response),
            CpuBound::NoBound | CpuBound::NotApplicable(_) => None,
        }
    }

    /// Returns whether the deadline is certain to be met; true if there is no deadline.
    pub fn is_deadline_met(&self) -> bool {
        match (self.deadline, self.response_max()) {
            (Some(deadline), Some(response)) => response <= deadline,
            (None, _) => true,
            (Some(_), None) => false,
        }
    }
}

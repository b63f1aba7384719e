// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The results of a run.

use tidegate_model::Time;

use crate::metrics::RunMetrics;

/// The results of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Response times and volumes.
    pub metrics: RunMetrics,
    /// The number of events: releases, completions, and instants that a policy requested.
    pub events: u64,
    /// How the run ended.
    pub end: RunEnd,
    /// The instant at which the run ended.
    pub ended: Time,
    /// The number of real-time requests that were released and did not complete. If the run is
    /// complete, the policy lost them.
    pub real_time_left: u64,
    /// The number of best-effort requests that were released and not complete when the run ended.
    pub best_effort_left: u64,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// The run reached its full length.
    Complete,
    /// The run was cancelled: the results cover the part before that.
    Interrupted,
    /// More requests were outstanding than there is room for, because the workload exceeds the
    /// device's capacity: the results cover the part before that.
    Overloaded,
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What came of a run.

use tidegate_model::Time;

use crate::metrics::RunMetrics;

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Response times and volumes.
    pub metrics: RunMetrics,
    /// Releases and completions of requests, and instants that a policy asked for.
    pub events: u64,
    /// How the run ended.
    pub end: RunEnd,
    /// When it did.
    pub ended: Time,
    /// Real-time requests that were released and did not complete: in a complete run, the
    /// policy lost them.
    pub real_time_left: u64,
    /// Best-effort requests that were released and did not complete when the run ended.
    pub best_effort_left: u64,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// At its full length.
    Complete,
    /// It was cancelled: the results are of the part before.
    Interrupted,
    /// More requests waited than there is room for, because the workload asks for more than
    /// the device gives: the results are of the part before.
    Overloaded,
}

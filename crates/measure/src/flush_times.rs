// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The times of flushes, as stored in `[fit.flush]` of a drive file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tidegate_model::Duration;
use tidegate_stats::confidence;

use crate::cache_fill::{CacheFill, FlushStart};
use crate::held_up::Sample;
use crate::kind::Kind;

/// The times of flushes after writes of one size, by start.
///
/// # Shape
/// Each list has one entry for each start that has samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlushTimes {
    /// The number of samples of the start that has fewest.
    pub samples: u32,
    /// The confidence that this number of samples allows.
    pub confidence: String,
    /// Whether the cache was full: further writes no longer made flushes longer.
    pub is_full: bool,
    /// The starts: the writes before each timed flush, by the names of [`FlushStart`].
    pub start: Vec<String>,
    /// The number of writes before each flush.
    pub writes: Vec<u32>,
    /// The longest flush after each start, in nanoseconds.
    pub ns_max: Vec<u64>,
    /// The median flush after each start, in nanoseconds.
    pub ns_p50: Vec<u64>,
}

impl FlushTimes {
    /// Summarises the samples of each start; `None` if no start has any.
    pub(crate) fn of(full: CacheFill, depth: u32, cells: &[Vec<Sample>]) -> Option<Self> {
        let all: Vec<_> = cells.iter().map_while(|cell| Sample::summary(cell)).collect();
        let samples = all.iter().map(|summary| summary.count).min()?;
        let starts = || FlushStart::ALL.into_iter().take(all.len());
        Some(Self {
            samples,
            confidence: confidence::statement(samples),
            is_full: full.is_level,
            start: starts().map(|start| start.name().to_owned()).collect(),
            writes: starts().map(|start| start.writes(depth, full)).collect(),
            ns_max: all.iter().map(|summary| summary.highest.ns()).collect(),
            ns_p50: all.iter().map(|summary| summary.quantiles[2].ns()).collect(),
        })
    }

    /// Returns the longest flush of all starts; `None` if a start has no samples, or the cache was
    /// never full.
    fn longest(&self) -> Option<u64> {
        let is_whole = self.is_full && self.ns_max.len() == FlushStart::ALL.len();
        self.ns_max.iter().copied().max().filter(|_| is_whole)
    }
}

/// Returns the longest flush of all sizes and starts; `None` until all are measured.
pub(crate) fn longest(kinds: &[Kind], found: &BTreeMap<String, FlushTimes>) -> Option<Duration> {
    let of_kinds = kinds.iter().map(|it| found.get(&it.to_string())?.longest());
    of_kinds.collect::<Option<Vec<u64>>>()?.into_iter().max().map(Duration::from_ns)
}

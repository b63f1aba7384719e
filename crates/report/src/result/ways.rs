// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The ways of requests through a busy interval, for charts.

use std::collections::BTreeMap;

use super::{BusyIntervalRecord, StepRecord};

/// A request's way through the interval.
#[derive(Debug, Default)]
pub(crate) struct Way {
    /// The index of its source.
    pub(crate) source: u32,
    pub(crate) released: Option<u64>,
    pub(crate) dispatched: Option<u64>,
    /// When it was complete, or dropped.
    pub(crate) left: Option<u64>,
}

/// The events of an interval, by request and by batch.
#[derive(Debug)]
pub(crate) struct Ways {
    pub(crate) requests: BTreeMap<u64, Way>,
    /// When each batch was dispatched.
    pub(crate) batches: BTreeMap<Option<u64>, u64>,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

impl Ways {
    /// Follows the requests of an interval.
    pub(crate) fn of(interval: &BusyIntervalRecord) -> Self {
        let mut requests: BTreeMap<u64, Way> = BTreeMap::new();
        let mut batches = BTreeMap::new();
        for event in &interval.events {
            let way = requests.entry(event.request).or_default();
            way.source = event.source;
            let at = Some(event.at_ns);
            match event.step {
                StepRecord::Released => way.released = at,
                StepRecord::Dispatched => {
                    way.dispatched = at;
                    batches.insert(event.batch, event.at_ns);
                }
                StepRecord::Completed | StepRecord::Dropped => way.left = at,
            }
        }
        let begin = interval.events.first().map_or(interval.begin_ns, |event| event.at_ns);
        let begin = begin.min(interval.begin_ns);
        let last = interval.events.last().map_or(interval.end_ns, |event| event.at_ns);
        // Without its last events, an interval is drawn as far as they go.
        let end = if interval.events_left_out > 0 { last } else { interval.end_ns };
        Self { requests, batches, begin, end: end.max(begin) }
    }

    /// Returns the row of each source that has requests here.
    pub(crate) fn rows(&self) -> BTreeMap<u32, u64> {
        let mut shown: Vec<u32> = self.requests.values().map(|way| way.source).collect();
        shown.sort_unstable();
        shown.dedup();
        shown.into_iter().zip(0..).collect()
    }
}

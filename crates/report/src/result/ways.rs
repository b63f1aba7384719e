// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The states of requests during a busy interval, for charts.

use std::collections::BTreeMap;

use super::{BusyIntervalRecord, RunRecord, StepRecord};

/// The times of one request in the interval.
#[derive(Debug, Default)]
pub(crate) struct Way {
    /// The index of the request's source.
    pub(crate) source: u32,
    pub(crate) released: Option<u64>,
    pub(crate) dispatched: Option<u64>,
    /// The time at which the request completed or was dropped.
    pub(crate) left: Option<u64>,
}

/// A period in which one request of a busy interval was in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span<'a> {
    /// The name of the request's source.
    pub source: &'a str,
    /// The request's number.
    pub request: u64,
    /// Whether the request was on the drive; otherwise it waited.
    pub is_on_drive: bool,
    /// The start and the end of the period, in ns from the first event.
    pub ns: (u64, u64),
}

impl RunRecord {
    /// Returns the periods of the requests in the longest busy interval, in order of their numbers;
    /// empty without such an interval.
    pub fn spans(&self) -> Vec<Span<'_>> {
        let Some(interval) = &self.longest_busy_interval else { return Vec::new() };
        let ways = Ways::of(interval);
        let mut spans = Vec::new();
        for (&request, way) in &ways.requests {
            let source = self.sources.get(way.source as usize).map_or("", |it| &it.name);
            let left = way.left.unwrap_or(ways.end);
            let mut add = |is_on_drive, from: Option<u64>, to: u64| {
                let Some(from) = from.filter(|from| *from < to) else { return };
                let ns = (from.saturating_sub(ways.begin), to.saturating_sub(ways.begin));
                spans.push(Span { source, request, is_on_drive, ns });
            };
            add(false, way.released, way.dispatched.unwrap_or(left));
            add(true, way.dispatched, left);
        }
        spans
    }
}

/// The events of an interval, by request and by batch.
#[derive(Debug)]
pub(crate) struct Ways {
    pub(crate) requests: BTreeMap<u64, Way>,
    /// The dispatch time of each batch, by the batch's number.
    pub(crate) batches: BTreeMap<Option<u64>, u64>,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

impl Ways {
    /// Derives the times of requests and batches from an interval's events.
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
        // If the last events were left out of the file, the interval is drawn up to the last event
        // in it.
        let end = if interval.events_left_out > 0 { last } else { interval.end_ns };
        Self { requests, batches, begin, end: end.max(begin) }
    }

    /// Returns the row of each source that has requests in the interval.
    pub(crate) fn rows(&self) -> BTreeMap<u32, u64> {
        let mut shown: Vec<u32> = self.requests.values().map(|way| way.source).collect();
        shown.sort_unstable();
        shown.dedup();
        shown.into_iter().zip(0..).collect()
    }
}

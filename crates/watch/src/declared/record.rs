// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The observations of a declared entry.

use std::collections::VecDeque;

use tidegate_model::{Duration, Time};
use tidegate_stats::{Distribution, Memory, ResponseCounts};

use super::entry::{Asks, DeclaredEntry};
use crate::event::Extent;

/// The observed requests of an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The response times, from queueing to completion.
    pub responses: Distribution,
    /// The same response times, counted in classes.
    pub counts: ResponseCounts,
    /// The number of responses above the bound; requests that still wait are not included.
    pub exceeded: u64,
    /// The number of incomplete requests that have already waited longer than the bound.
    pub waiting: u64,
    /// The longest wait among these.
    pub waiting_max: Option<Duration>,
    /// The number of requests that failed.
    pub failed: u64,
    /// The number of requests beyond the contract: more in a period, or more at the same time, than
    /// declared.
    pub beyond: u64,
    /// The number of requests that are larger than declared.
    pub larger: u64,
    /// The number of requests with a class other than the proof needs.
    pub other_class: u64,
    /// The maximum number of requests outstanding at the same time.
    pub outstanding_max: u32,
    pub(super) outstanding: u32,
    /// For each rate, the arrival times of the requests that it allowed in the last period.
    taken: Vec<VecDeque<Time>>,
}

impl Record {
    pub(super) fn new() -> Self {
        Self {
            responses: Distribution::new(Memory::AsNeeded),
            counts: ResponseCounts::default(),
            exceeded: 0,
            waiting: 0,
            waiting_max: None,
            failed: 0,
            beyond: 0,
            larger: 0,
            other_class: 0,
            outstanding_max: 0,
            outstanding: 0,
            taken: Vec::new(),
        }
    }

    /// Counts a request that arrives at `at`. A request beyond the contract does not use up the
    /// contract, as under `tokens-per-task` with best effort for the excess.
    pub(super) fn come(&mut self, at: Time, entry: &DeclaredEntry, extent: Extent) {
        self.outstanding += 1;
        self.outstanding_max = self.outstanding_max.max(self.outstanding);
        self.larger += u64::from(extent.bytes() > entry.size);
        let is_within = match entry.asks {
            Asks::AtOnce(most) => most.is_none_or(|most| self.outstanding <= most),
            Asks::Contract { ref rates, .. } => {
                self.taken.resize_with(rates.len(), VecDeque::new);
                rates.iter().zip(&mut self.taken).any(|(rate, taken)| rate.take(at, taken))
            }
        };
        self.beyond += u64::from(!is_within);
    }

    /// Removes from the counts a request that arrived at `queued` and ended without being sent.
    pub(super) fn withdraw(&mut self, queued: Time, entry: &DeclaredEntry, extent: Extent) {
        self.outstanding = self.outstanding.saturating_sub(1); // as in `serve`
        self.larger -= u64::from(extent.bytes() > entry.size);
        let came = |taken: &VecDeque<Time>| taken.iter().position(|it| *it == queued);
        for taken in &mut self.taken {
            if let Some(index) = came(taken) {
                taken.remove(index);
                return;
            }
        }
        let is_beyond = match entry.asks {
            Asks::Contract { .. } => self.beyond > 0,
            Asks::AtOnce(most) => most.is_some_and(|most| self.outstanding >= most),
        };
        self.beyond = self.beyond.saturating_sub(u64::from(is_beyond));
    }

    /// Counts a response time; for a request that was given up, the time that it waited.
    pub(super) fn respond(&mut self, entry: &DeclaredEntry, response: Duration) {
        self.responses.record(response);
        self.counts.record(response);
        self.exceeded += u64::from(entry.is_above(response));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the service times of requests that have drive priority with the drive's measured times
//! for such requests.
//!
//! A round consists of the priority requests of one batch. It can be compared only if no other
//! request with priority was in flight when it was dispatched, and only until another round joins
//! it; requests without priority do not matter.

use tidegate_model::{BatchTable, Outcome, Request, Tag, Time};

use super::overruns::{Overruns, TableWatch};
use crate::observer::Observer;

/// Compares rounds of requests that have priority with the drive's times for them.
#[derive(Debug, PartialEq)]
pub struct PriorityWatch(TableWatch);

impl PriorityWatch {
    /// Makes a watch that compares rounds with `table`. For each number of requests, `tolerated`
    /// holds the longest time that voids no proof.
    pub fn new(table: BatchTable, tolerated: BatchTable) -> Self {
        Self(TableWatch::new(table, tolerated))
    }

    /// Returns the number of rounds that could be compared, and the number of these that took too
    /// long.
    pub fn overruns(&self) -> Overruns {
        self.0.overruns()
    }
}

fn has_priority(request: &Request) -> bool {
    matches!(request.tag, Tag::Priority | Tag::HeadOfQueue)
}

impl Observer for PriorityWatch {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let count = batch.iter().filter(|request| has_priority(request)).count();
        let count = u32::try_from(count).expect("at most the depth");
        if count == 0 {
            return;
        }
        self.0.check(now);
        let is_comparable = self.0.in_flight_count == 0;
        self.0.restart(now, is_comparable.then_some(count));
        self.0.in_flight_count += count;
    }

    fn completed(&mut self, now: Time, request: &Request, _outcome: Outcome) {
        if has_priority(request) {
            self.0.complete(now);
        }
    }

    fn ended(&mut self, now: Time) {
        self.0.check(now);
    }
}

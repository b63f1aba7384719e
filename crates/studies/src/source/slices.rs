// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Throughput over time, by source and slice.

use tidegate_host::Observer;
use tidegate_model::{Duration, Outcome, Request, Time};
use tidegate_stats::float;

use crate::cell::Cell;

/// The number of completed bytes of each source in each time slice.
#[derive(Debug)]
pub(super) struct Slices {
    length: Duration,
    /// Indexed by slice, then by source.
    bytes: Vec<Vec<u64>>,
    sources: usize,
}

impl Slices {
    /// Makes counters for slices of this length.
    ///
    /// # Errors
    /// If the length is zero.
    pub(super) fn new(length: Duration, sources: usize) -> Result<Self, String> {
        if length.is_zero() {
            return Err("a slice of 0 has no throughput".to_owned());
        }
        Ok(Self { length, bytes: Vec::new(), sources })
    }

    /// Returns a source's throughput in bytes per second for each slice except the last, which is
    /// cut short.
    pub(super) fn rates(&self, source: usize) -> Cell {
        let seconds = float::of(self.length.ns()) / 1e9;
        let whole = self.bytes.split_last().map_or(&[][..], |(_, whole)| whole);
        Cell::List(
            whole.iter().map(|slice| Cell::Float(float::of(slice[source]) / seconds)).collect(),
        )
    }
}

impl Observer for Slices {
    fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        let slice = usize::try_from(now.ns() / self.length.ns()).expect("memory for every slice");
        if self.bytes.len() <= slice {
            self.bytes.resize(slice + 1, vec![0; self.sources]);
        }
        if outcome == Outcome::Done {
            self.bytes[slice][request.task.index()] += request.size.get();
        }
    }
}

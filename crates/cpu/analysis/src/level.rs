// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Everything that can delay a thread of a given priority.

use std::collections::BTreeMap;

use tidegate_model::Duration;

use super::demand::{DemandBound, Source};
use super::interference::MeasuredDemand;
use super::ratio::Ratio;

/// The sources that are at least as urgent as a thread, and the delays that occur once.
#[derive(Debug, Clone, Default)]
pub struct Level<'a> {
    sources: BTreeMap<Source, u64>,
    delay: Duration,
    measured: &'a [MeasuredDemand],
}

impl<'a> Level<'a> {
    /// Creates a level with only the measured demand, which is more urgent than everything else.
    pub fn new(measured: &'a [MeasuredDemand]) -> Self {
        Self { measured, ..Self::default() }
    }

    /// Adds `count` equal sources that are at least as urgent as the thread.
    ///
    /// Equal priorities count as more urgent, so it does not matter how ties are broken.
    pub fn add(&mut self, source: Source, count: u64) {
        *self.sources.entry(source).or_default() += count;
    }

    /// Removes one source: the thread under analysis itself.
    ///
    /// # Panics
    /// If there is no such source.
    pub fn remove(&mut self, source: &Source) {
        let count = self.sources.get_mut(source).expect("a source of the level");
        *count -= 1;
        if *count == 0 {
            self.sources.remove(source);
        }
    }

    /// Adds a delay that occurs once: blocking, or the overrun of a server. A sum beyond
    /// `Duration::MAX` saturates, which gives no bound.
    pub fn delay_once(&mut self, delay: Duration) {
        self.delay = self.delay.checked_add(delay).unwrap_or(Duration::MAX);
    }

    /// Returns the demand in a window of this length that starts at a critical instant, by one of
    /// the bounds and including delays; `None` on overflow.
    pub fn demand(&self, bound: DemandBound, window: Duration) -> Option<Ratio> {
        let mut sum = Ratio::whole(u128::from(self.delay.ns()));
        for (source, &count) in &self.sources {
            sum = sum.add_ceil(source.demand(bound, window)?.times_ceil(count)?)?;
        }
        for measured in self.measured {
            let demand = measured.demand_ns(window.ns())?;
            let limited = demand.min(window.ns());
            sum = sum.add_ceil(Ratio::whole(u128::from(limited)))?;
        }
        Some(sum)
    }

    /// Returns the share of the processor that the level needs in the long run; `None` on overflow.
    pub fn utilization(&self) -> Option<Ratio> {
        let mut sum = Ratio::ZERO;
        for (source, &count) in &self.sources {
            sum = sum.add_ceil(source.utilization().times_ceil(count)?)?;
        }
        self.measured.iter().try_fold(sum, |sum, measured| sum.add_ceil(measured.utilization()))
    }

    /// Returns the number of source evaluations that one computation of the demand takes.
    pub(super) fn width(&self) -> usize {
        self.sources.len() + self.measured.len() + 1
    }

    /// Returns the demand of whole jobs in a window of this length plus every delay; `None` on
    /// overflow.
    pub(super) fn jobs_ns(&self, window_ns: u64) -> Option<u64> {
        let mut sum = self.delay.ns();
        for (source, &count) in &self.sources {
            sum = sum.checked_add(source.jobs_ns(window_ns)?.checked_mul(count)?)?;
        }
        for measured in self.measured {
            sum = sum.checked_add(measured.demand_ns(window_ns)?)?;
        }
        Some(sum)
    }

    /// Returns the least R, from `start_ns` on, with `R >= execution + demand(R)`. By R, this much
    /// execution completes if it is less urgent than the level and is released at a critical
    /// instant.
    ///
    /// `steps` is the number of evaluations left. Returns `None` if they do not suffice, or on
    /// overflow.
    pub(super) fn completion_ns(
        &self,
        execution_ns: u64,
        start_ns: u64,
        steps: &mut usize,
    ) -> Option<u64> {
        let mut completion = start_ns.max(execution_ns);
        loop {
            *steps = steps.checked_sub(self.width())?;
            let next = execution_ns.checked_add(self.jobs_ns(completion)?)?;
            if next <= completion {
                return Some(completion);
            }
            completion = next;
        }
    }
}

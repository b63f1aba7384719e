// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Everything that may keep a thread of one priority waiting.

use std::collections::BTreeMap;

use tidegate_model::Duration;

use super::demand::{DemandBound, Source};
use super::interference::MeasuredDemand;
use super::ratio::Ratio;

/// What is as urgent as a thread or more, and what delays it once.
#[derive(Debug, Clone, Default)]
pub struct Level<'a> {
    sources: BTreeMap<Source, u64>,
    delay: Duration,
    measured: &'a [MeasuredDemand],
}

impl<'a> Level<'a> {
    /// Nothing but what was measured, which is above everything.
    pub fn new(measured: &'a [MeasuredDemand]) -> Self {
        Self { measured, ..Self::default() }
    }

    /// Adds a source that is as urgent or more.
    ///
    /// Equals count as more urgent: then it does not matter how ties are broken.
    pub fn add(&mut self, source: Source, count: u64) {
        *self.sources.entry(source).or_default() += count;
    }

    /// Takes one source out again: the thread itself.
    ///
    /// # Panics
    /// When there is none.
    pub fn remove(&mut self, source: &Source) {
        let count = self.sources.get_mut(source).expect("a source of the level");
        *count -= 1;
        if *count == 0 {
            self.sources.remove(source);
        }
    }

    /// Adds a delay that happens once: blocking, or the overrun of a server. Beyond all time it
    /// stays there, which is no bound.
    pub fn delay_once(&mut self, delay: Duration) {
        self.delay = self.delay.checked_add(delay).unwrap_or(Duration::MAX);
    }

    /// What it may demand from a critical instant on in a window of this length, by one of the
    /// bounds, delays included; none on overflow.
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

    /// The long-run share of the processor; none on overflow.
    pub fn utilization(&self) -> Option<Ratio> {
        let mut sum = Ratio::ZERO;
        for (source, &count) in &self.sources {
            sum = sum.add_ceil(source.utilization().times_ceil(count)?)?;
        }
        self.measured.iter().try_fold(sum, |sum, measured| sum.add_ceil(measured.utilization()))
    }

    /// How many evaluations one look at the demand takes.
    pub(super) fn width(&self) -> usize {
        self.sources.len() + self.measured.len() + 1
    }

    /// Whole jobs in a window of this length and every delay; none on overflow.
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

    /// The least R with `R >= execution + demand(R)`, from `start_ns` on: when so much is complete
    /// that is less urgent than the level and released at a critical instant.
    ///
    /// `steps` is what may still be evaluated; none where that does not suffice, or on overflow.
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

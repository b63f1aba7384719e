// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Preemptive EDF: the processor demand criterion.

use tidegate_model::Duration;

use super::demand::Source;
use super::interference::MeasuredDemand;
use super::ratio::Ratio;
use super::response::STEPS_MAX;

/// A source of jobs that have a deadline, counted from arrival, and can be blocked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdfSource {
    /// The demand of the jobs.
    pub source: Source,
    /// The deadline, counted from the arrival.
    pub deadline: Duration,
    /// The longest time for which jobs with later deadlines can delay one of its jobs.
    pub blocking: Duration,
}

/// The result of the criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdfVerdict {
    /// Every job meets its deadline.
    Met {
        /// The longest busy interval; no longer window was examined.
        busy: Duration,
    },
    /// In a window of this length, more can be due than the processor can execute.
    Exceeded {
        /// The window's length.
        window: Duration,
    },
    /// The tasks need more than the processor, or the search was stopped before its end.
    Unbounded,
}

/// Tests whether the processor can execute everything that is due in any window.
///
/// # Bound
/// For every t at which a job can be due, `B(t) + o + A(t) + sum over i with D_i <= t + J_i of
/// (floor((t + J_i - D_i) / p_i) + 1) e_i <= t`, up to the end of the longest busy interval; o is
/// the delay that occurs once (overruns), A the measured demand, and B the longest blocking of a
/// task with D <= t.
///
/// # Source
/// S. Baruah, A. Mok and L. Rosier, RTSS 1990; the search order follows F. Zhang and A. Burns,
/// "Schedulability Analysis for Real-Time Systems with EDF Scheduling", 2009. Exact for sporadic
/// tasks without blocking or measured demand.
///
/// # Complexity
/// At most 2^22 evaluations of one source's demand.
///
/// # Panics
/// If a period is zero.
pub fn processor_demand(
    sources: &[EdfSource],
    once: Duration,
    measured: &[MeasuredDemand],
) -> EdfVerdict {
    let search = Search { sources, once_ns: once.ns(), measured };
    search.verdict().unwrap_or(EdfVerdict::Unbounded)
}

struct Search<'a> {
    sources: &'a [EdfSource],
    once_ns: u64,
    measured: &'a [MeasuredDemand],
}

impl Search<'_> {
    /// Returns the verdict; `None` if the tasks need more than the processor, the search was
    /// stopped, or a number overflows.
    fn verdict(&self) -> Option<EdfVerdict> {
        if !self.utilization()?.is_at_most(1) {
            return None;
        }
        let mut steps = STEPS_MAX;
        let busy_ns = self.busy_ns(&mut steps)?;
        let mut due = self.due_before(busy_ns.checked_add(1)?);
        while let Some(at) = due {
            steps = steps.checked_sub(self.width())?;
            let demand = self.demand_ns(at)?;
            if demand > at {
                return Some(EdfVerdict::Exceeded { window: Duration::from_ns(at) });
            }
            // Demand never decreases with the window, so no window from `demand` up to here is
            // exceeded.
            due = self.due_before(demand);
        }
        Some(EdfVerdict::Met { busy: Duration::from_ns(busy_ns) })
    }

    fn width(&self) -> usize {
        self.sources.len() + self.measured.len() + 1
    }

    fn utilization(&self) -> Option<Ratio> {
        let of_sources = self.sources.iter().map(|it| it.source.utilization());
        let mut all = of_sources.chain(self.measured.iter().map(MeasuredDemand::utilization));
        all.try_fold(Ratio::ZERO, Ratio::add_ceil)
    }

    fn measured_ns(&self, window_ns: u64) -> Option<u64> {
        self.measured.iter().try_fold(0_u64, |sum, it| sum.checked_add(it.demand_ns(window_ns)?))
    }

    /// Returns the longest busy interval.
    fn busy_ns(&self, steps: &mut usize) -> Option<u64> {
        let blocking = self.sources.iter().map(|it| it.blocking.ns()).max().unwrap_or_default();
        let once = self.once_ns.checked_add(blocking)?;
        let mut busy = 1;
        loop {
            *steps = steps.checked_sub(self.width())?;
            let mut next = once.checked_add(self.measured_ns(busy)?)?;
            for it in self.sources {
                next = next.checked_add(it.source.jobs_ns(busy)?)?;
            }
            if next <= busy {
                return Some(busy);
            }
            busy = next;
        }
    }

    /// Returns the latest instant before `end_ns` at which a job can be due.
    fn due_before(&self, end_ns: u64) -> Option<u64> {
        let latest = end_ns.checked_sub(1)?;
        let of_source = |it: &EdfSource| {
            let first = it.first_due_ns();
            let period = it.source.period.ns();
            (first <= latest).then(|| first + (latest - first) / period * period)
        };
        self.sources.iter().filter_map(of_source).max()
    }

    /// Returns the demand that can be due at `at_ns`, including all delays.
    fn demand_ns(&self, at_ns: u64) -> Option<u64> {
        let mut sum = self.once_ns.checked_add(self.measured_ns(at_ns)?)?;
        let mut blocking = 0;
        for it in self.sources {
            let reach = at_ns.checked_add(it.source.jitter.ns())?;
            let Some(slack) = reach.checked_sub(it.deadline.ns()) else { continue };
            let jobs = slack / it.source.period.ns() + 1;
            sum = sum.checked_add(jobs.checked_mul(it.source.execution.ns())?)?;
            blocking = blocking.max(it.blocking.ns());
        }
        sum.checked_add(blocking)
    }
}

impl EdfSource {
    /// Returns the least time from a job's release to its deadline: the deadline minus the jitter.
    fn first_due_ns(&self) -> u64 {
        // If jitter can use up the whole deadline, the job is due at its release, and misses it.
        self.deadline.ns().saturating_sub(self.source.jitter.ns())
    }
}

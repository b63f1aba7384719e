// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts the requests that sporadic tasks can release in a window, one term per kind of task.
//!
//! Bounds of dual-queue FIFO depend on a task only through (e, p), and a workload has few different
//! pairs. An analysis therefore works on kinds with a count, and costs the same for 10 identical
//! cameras as for 1,000.

use std::collections::BTreeMap;

use crate::SporadicTask;
use crate::dqf::totals::Totals;

#[cfg(test)]
thread_local! {
    /// The number of calls of [`Demand::new`], each of which sorts all tasks.
    pub(crate) static BUILT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Tasks with equal (e, p).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) period_ns: u64,
    /// e: requests of one job.
    pub(crate) requests: u64,
    /// The number of tasks of this kind.
    pub(crate) count: u64,
    /// The rank of e among the different e of the tasks, 0 for the smallest.
    pub(crate) rank: usize,
}

impl Kind {
    /// Returns the requests that all tasks of the kind release together.
    pub(crate) fn requests_sum(&self) -> u64 {
        self.requests * self.count
    }

    /// Returns the jobs that one task can release in a closed window: floor(delta / p) + 1.
    ///
    /// Correction to 9.2.5.6, which prints the ceiling: a closed window of length 0 contains a
    /// release.
    pub(crate) fn jobs_closed(&self, delta_ns: u64) -> u64 {
        delta_ns / self.period_ns + 1
    }

    /// Returns theta: the earliest next release of a task that has as many jobs in the carry-in as
    /// fit. Theta counts from the start of the carry-in, which takes `carry_in_ns`; no response
    /// exceeds `response_ns`.
    pub(crate) fn again_ns(&self, carry_in_ns: u64, response_ns: u64) -> u64 {
        match response_ns.checked_sub(carry_in_ns) {
            Some(spare) => self.period_ns - spare % self.period_ns,
            // Saturation is intended: a re-release beyond the horizon counts as no re-release.
            None => (carry_in_ns - response_ns).saturating_add(self.period_ns),
        }
    }

    /// Returns l_i, the jobs that one task cannot release in a closed window because its next
    /// release is not before `again_ns`.
    pub(crate) fn jobs_lost(&self, delta_ns: u64, again_ns: u64) -> u64 {
        let after = delta_ns.checked_sub(again_ns).map_or(0, |rest| self.jobs_closed(rest));
        self.jobs_closed(delta_ns) - after
    }
}

/// All tasks of a system, by kind.
#[derive(Debug, Clone)]
pub(crate) struct Demand {
    /// The kinds, those with the shortest period first.
    pub(crate) kinds: Vec<Kind>,
    /// For each index up to the number of kinds, the requests that the kinds from that index on
    /// release together.
    requests_from: Vec<u64>,
    /// The kind of each task, by task index.
    kind_of_task: Vec<usize>,
    /// The number of tasks with each e.
    tasks_by_requests: BTreeMap<u64, u64>,
    /// `sum e / p`, the requests released per ns in the long run, in units of 2^-64 and rounded
    /// down for each kind.
    rate: u128,
}

impl Demand {
    pub(crate) fn new(tasks: &[SporadicTask]) -> Self {
        #[cfg(test)]
        BUILT.set(BUILT.get() + 1);
        let key = |&index: &usize| (tasks[index].period.ns(), u64::from(tasks[index].requests));
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        order.sort_unstable_by_key(key);
        let mut kinds: Vec<Kind> = Vec::new();
        let mut kind_of_task = vec![0; tasks.len()];
        let mut tasks_by_requests = BTreeMap::new();
        for alike in order.chunk_by(|a, b| key(a) == key(b)) {
            let ((period_ns, requests), count) = (key(&alike[0]), alike.len() as u64);
            assert!(period_ns > 0 && requests > 0, "a task has a period and a request");
            for &task in alike {
                kind_of_task[task] = kinds.len();
            }
            *tasks_by_requests.entry(requests).or_default() += count;
            kinds.push(Kind { period_ns, requests, count, rank: 0 });
        }
        let ranked: Vec<u64> = tasks_by_requests.keys().copied().collect();
        for kind in &mut kinds {
            kind.rank = ranked.partition_point(|&requests| requests < kind.requests);
        }
        let mut requests_from = vec![0];
        for kind in kinds.iter().rev() {
            requests_from.push(requests_from[requests_from.len() - 1] + kind.requests_sum());
        }
        requests_from.reverse();
        let of_kind =
            |kind: &Kind| (u128::from(kind.requests_sum()) << 64) / u128::from(kind.period_ns);
        let rate = kinds.iter().map(of_kind).fold(0, u128::saturating_add);
        Self { kinds, requests_from, kind_of_task, tasks_by_requests, rate }
    }

    /// Returns one value per task, in task order, from one value per kind.
    pub(crate) fn per_task<'a, T: Copy>(
        &'a self,
        by_kind: &'a [T],
    ) -> impl Iterator<Item = T> + 'a {
        self.kind_of_task.iter().map(|&kind| by_kind[kind])
    }

    /// Returns the shortest deadline of each kind, in ns.
    pub(crate) fn limits_ns(&self, tasks: &[SporadicTask]) -> Vec<u64> {
        let mut limits = vec![u64::MAX; self.kinds.len()];
        for (task, &kind) in tasks.iter().zip(&self.kind_of_task) {
            limits[kind] = limits[kind].min(task.deadline.ns());
        }
        limits
    }

    /// Returns E: all requests that can be released together.
    pub(crate) fn requests_sum(&self) -> u64 {
        self.requests_from[0]
    }

    /// Returns the largest number of requests released in a closed window of length `delta_ns`.
    pub(crate) fn closed(&self, delta_ns: u64) -> u128 {
        self.released(|period_ns| period_ns <= delta_ns, |period_ns| delta_ns / period_ns + 1)
    }

    /// Returns the largest number of requests released in a half-open window of length `delta_ns`.
    pub(crate) fn half_open(&self, delta_ns: u64) -> u128 {
        if delta_ns == 0 {
            return 0;
        }
        self.released(|period_ns| period_ns < delta_ns, |period_ns| delta_ns.div_ceil(period_ns))
    }

    /// Returns the requests of all tasks. Each task has `jobs(p)` jobs if `is_short(p)`, which
    /// holds for all periods below some value, and one otherwise.
    fn released(&self, is_short: impl Fn(u64) -> bool, jobs: impl Fn(u64) -> u64) -> u128 {
        let short = self.kinds.partition_point(|kind| is_short(kind.period_ns));
        let of_kind =
            |kind: &Kind| u128::from(kind.requests_sum()) * u128::from(jobs(kind.period_ns));
        let once = u128::from(self.requests_from[short]);
        self.kinds[..short].iter().map(of_kind).sum::<u128>() + once
    }

    pub(crate) fn period_min_ns(&self) -> Option<u64> {
        self.kinds.first().map(|kind| kind.period_ns)
    }

    /// Returns whether full batches keep up with the tasks' long-run rate: sum e/p <= z / b(z)
    /// (9.2.2.3).
    ///
    /// Exact while the common denominator fits into 128 bits. Beyond that, each term is rounded up
    /// by less than 2^-64, so at worst a workload exactly at capacity is refused.
    pub(crate) fn is_within_capacity(&self, batch_max: u32, full_batch_ns: u64) -> bool {
        let capacity = u128::from(batch_max) << 64;
        // Saturation is intended: the largest number is more than any drive serves.
        let released = |rate: u128| rate.saturating_mul(u128::from(full_batch_ns));
        if released(self.rate) > capacity {
            return false;
        }
        // Rounding takes less than one unit from each kind.
        if released(self.rate.saturating_add(self.kinds.len() as u128)) <= capacity {
            return true;
        }
        self.capacity_exact(batch_max, full_batch_ns)
            .unwrap_or_else(|| self.released_per(full_batch_ns, 64) <= capacity)
    }

    /// Returns the requests that the tasks release per `span_ns` in the long run, `span sum e / p`,
    /// in units of `2^-bits` and rounded up for each kind.
    pub(crate) fn released_per(&self, span_ns: u64, bits: u32) -> u128 {
        let of_kind = |kind: &Kind| {
            let work = u128::from(kind.requests_sum()) * u128::from(span_ns);
            let (whole, rest) =
                (work / u128::from(kind.period_ns), work % u128::from(kind.period_ns));
            let parts = (rest << bits).div_ceil(u128::from(kind.period_ns));
            // Saturation is intended: the largest number is more than any drive serves.
            whole.saturating_mul(1 << bits).saturating_add(parts)
        };
        self.kinds.iter().map(of_kind).fold(0, u128::saturating_add)
    }

    /// Returns the exact comparison, or `None` if the common denominator does not fit into 128
    /// bits.
    fn capacity_exact(&self, batch_max: u32, full_batch_ns: u64) -> Option<bool> {
        let mut denominator: u128 = 1;
        for kind in &self.kinds {
            let period = u128::from(kind.period_ns);
            denominator = (denominator / gcd(denominator, period)).checked_mul(period)?;
        }
        let mut numerator: u128 = 0;
        for kind in &self.kinds {
            let work = u128::from(kind.requests_sum()) * u128::from(full_batch_ns);
            let scaled = work.checked_mul(denominator / u128::from(kind.period_ns))?;
            numerator = numerator.checked_add(scaled)?;
        }
        Some(numerator <= denominator.checked_mul(u128::from(batch_max))?)
    }

    /// Returns the number of tasks with each e.
    pub(crate) fn tasks_by_requests(&self) -> &BTreeMap<u64, u64> {
        &self.tasks_by_requests
    }

    /// Returns the totals, up to `max`, that whole jobs can add up to, with at most one job per
    /// task and without one task whose e is `left_out`.
    pub(crate) fn totals(&self, max: u64, left_out: Option<u64>) -> Totals {
        let mut totals = Totals::new(max);
        for (&requests, &count) in &self.tasks_by_requests {
            totals.add(requests, count - u64::from(left_out == Some(requests)));
        }
        totals
    }

    /// Returns the greatest common divisor of all e and z.
    pub(crate) fn requests_gcd(&self, batch_max: u32) -> u64 {
        let all = self.tasks_by_requests.keys().map(|&requests| u128::from(requests));
        let common = all.fold(u128::from(batch_max), gcd);
        u64::try_from(common).expect("divides a u32")
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts the requests that sporadic tasks can release in a window, one term per kind of task.
//!
//! Bounds of dual-queue FIFO depend on a task only through (e, p), and a workload has few different
//! pairs. An analysis therefore works on kinds with a count, and costs the same for 10 identical
//! cameras as for 1,000.

use std::collections::BTreeMap;

use crate::SporadicTask;

/// Tasks with equal (e, p).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) period_ns: u64,
    /// e: requests of one job.
    pub(crate) requests: u64,
    /// The number of tasks of this kind.
    pub(crate) count: u64,
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
}

/// All tasks of a system, by kind.
#[derive(Debug, Clone)]
pub(crate) struct Demand {
    pub(crate) kinds: Vec<Kind>,
    /// The kind of each task, by task index.
    kind_of_task: Vec<usize>,
}

impl Demand {
    pub(crate) fn new(tasks: &[SporadicTask]) -> Self {
        let mut kinds: Vec<Kind> = Vec::new();
        let mut index_of: BTreeMap<(u64, u32), usize> = BTreeMap::new();
        let mut kind_of_task = Vec::with_capacity(tasks.len());
        for task in tasks {
            let key = (task.period.ns(), task.requests);
            assert!(key.0 > 0 && key.1 > 0, "a task has a period and a request: {task:?}");
            let index = *index_of.entry(key).or_insert_with(|| {
                let requests = u64::from(task.requests);
                kinds.push(Kind { period_ns: key.0, requests, count: 0 });
                kinds.len() - 1
            });
            kinds[index].count += 1;
            kind_of_task.push(index);
        }
        Self { kinds, kind_of_task }
    }

    /// Returns one value per task, in task order, from one value per kind.
    pub(crate) fn per_task<'a, T: Copy>(
        &'a self,
        by_kind: &'a [T],
    ) -> impl Iterator<Item = T> + 'a {
        self.kind_of_task.iter().map(|&kind| by_kind[kind])
    }

    /// Returns the index of a task's kind.
    pub(crate) fn kind_of(&self, task: usize) -> usize {
        self.kind_of_task[task]
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
        self.kinds.iter().map(Kind::requests_sum).sum()
    }

    /// Returns the largest number of requests released in a closed window of length `delta_ns`.
    pub(crate) fn closed(&self, delta_ns: u64) -> u128 {
        let of_kind =
            |kind: &Kind| u128::from(kind.requests_sum()) * u128::from(kind.jobs_closed(delta_ns));
        self.kinds.iter().map(of_kind).sum()
    }

    /// Returns the largest number of requests released in a half-open window of length `delta_ns`.
    pub(crate) fn half_open(&self, delta_ns: u64) -> u128 {
        let of_kind = |kind: &Kind| {
            u128::from(kind.requests_sum()) * u128::from(delta_ns.div_ceil(kind.period_ns))
        };
        self.kinds.iter().map(of_kind).sum()
    }

    pub(crate) fn period_min_ns(&self) -> Option<u64> {
        self.kinds.iter().map(|kind| kind.period_ns).min()
    }

    /// Returns whether full batches keep up with the tasks' long-run rate: sum e/p <= z / b(z)
    /// (9.2.2.3).
    ///
    /// Exact while the common denominator fits into 128 bits. Beyond that, each term is rounded up
    /// by less than 2^-64, so at worst a workload exactly at capacity is refused.
    pub(crate) fn is_within_capacity(&self, batch_max: u32, full_batch_ns: u64) -> bool {
        self.capacity_exact(batch_max, full_batch_ns).unwrap_or_else(|| {
            let term = |kind: &Kind| {
                let work = u128::from(kind.requests_sum()) * u128::from(full_batch_ns);
                let (whole, rest) =
                    (work / u128::from(kind.period_ns), work % u128::from(kind.period_ns));
                (whole, ((rest << 64).div_ceil(u128::from(kind.period_ns))))
            };
            let (whole, parts) = self
                .kinds
                .iter()
                .map(term)
                .fold((0_u128, 0_u128), |sum, term| (sum.0 + term.0, sum.1 + term.1));
            whole + parts.div_ceil(1 << 64) <= u128::from(batch_max)
        })
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

    /// Returns which totals whole jobs, one per task, can add up to. Index = total, 0 to E.
    pub(crate) fn subset_sums(&self) -> Vec<bool> {
        let mut tasks_by_requests: BTreeMap<u64, u64> = BTreeMap::new();
        for kind in &self.kinds {
            *tasks_by_requests.entry(kind.requests).or_default() += kind.count;
        }
        let total = usize::try_from(self.requests_sum()).expect("E is at most z here");
        let mut reachable = vec![false; total + 1];
        reachable[0] = true;
        for (requests, count) in tasks_by_requests {
            // Binary splitting: groups of 1, 2, 4, .. tasks add up to every number of tasks.
            let mut left = count;
            let mut together = 1;
            while left > 0 {
                let taken = together.min(left);
                let weight = usize::try_from(taken * requests).expect("at most E");
                for sum in (weight..=total).rev() {
                    reachable[sum] |= reachable[sum - weight];
                }
                left -= taken;
                together *= 2;
            }
        }
        reachable
    }

    /// Returns the greatest common divisor of all e and z.
    pub(crate) fn requests_gcd(&self, batch_max: u32) -> u64 {
        let all = self.kinds.iter().map(|kind| u128::from(kind.requests));
        let common = all.fold(u128::from(batch_max), gcd);
        u64::try_from(common).expect("divides a u32")
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

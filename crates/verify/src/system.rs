// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The tasks and the drive of a certificate, as integers that cannot overflow below the horizon.

use std::collections::BTreeSet;

use crate::certificate::Certificate;
use crate::refusal::Refusal;

/// The longest time for which bounds are checked, in ns: 146 years. Below it, no sum in this crate
/// overflows.
pub(crate) const HORIZON: u64 = 1 << 62;

/// Tasks on a drive.
pub(crate) struct System {
    /// Whether requests are served in the order of their release.
    pub(crate) is_fifo: bool,
    pub(crate) tasks: Vec<Task>,
    /// z, the largest number of requests in a batch.
    pub(crate) z: u128,
    /// beta, the number of requests up to which best effort fills a batch.
    pub(crate) beta: u128,
    /// b(0) to b(z).
    times: Vec<u128>,
}

/// A task: e, p, and R, the bound that Theorem 1 must prove.
pub(crate) struct Task {
    pub(crate) e: u128,
    pub(crate) p: u128,
    pub(crate) r: Option<u128>,
}

impl System {
    /// Returns the system of a certificate, if its numbers are consistent.
    pub(crate) fn of(certificate: &Certificate) -> Result<Self, Refusal> {
        let is_fifo = match certificate.policy.as_str() {
            "dqf" => true,
            "dq-edf" => false,
            policy => return Err(Refusal::Policy { policy: policy.to_owned() }),
        };
        let (z, beta) = (u128::from(certificate.batch), u128::from(certificate.best_effort_fill));
        let b = certificate.batch_ns_max.iter().map(|&ns| u128::from(ns));
        let times: Vec<u128> = std::iter::once(0).chain(b).collect();
        let has_all = times.len() as u128 == z + 1 && times.get(1).is_some_and(|&ns| ns > 0);
        let is_long = times.iter().any(|&ns| ns > HORIZON.into());
        if !has_all || is_long || !times.is_sorted() || beta > z {
            return Err(Refusal::Table { batch: certificate.batch });
        }
        let mut tasks = Vec::new();
        for task in &certificate.tasks {
            let is_empty = task.period_ns == 0 || task.requests == 0;
            if is_empty || task.period_ns > HORIZON || task.requests > u64::from(u32::MAX) {
                return Err(Refusal::Task { task: task.name.clone() });
            }
            tasks.push(Task {
                e: task.requests.into(),
                p: task.period_ns.into(),
                r: task.tight_ns.map(u128::from),
            });
        }
        Ok(Self { is_fifo, tasks, z, beta, times })
    }

    /// Returns E, the number of requests that all tasks can release together.
    pub(crate) fn sum(&self) -> u128 {
        self.tasks.iter().map(|task| task.e).sum()
    }

    /// Returns the longest time of a batch with `real_time` real-time requests, at most z; best
    /// effort can fill it up to beta.
    pub(crate) fn cost(&self, real_time: u128) -> u128 {
        self.time(real_time.max(self.beta))
    }

    /// Returns b(z).
    pub(crate) fn full(&self) -> u128 {
        self.time(self.z)
    }

    pub(crate) fn has_best_effort(&self) -> bool {
        self.beta > 0
    }

    fn time(&self, requests: u128) -> u128 {
        self.times[usize::try_from(requests).expect("at most z")]
    }

    /// Returns the sums of e over all sets of tasks, up to `most`. No set contains the task
    /// `without`.
    pub(crate) fn totals(&self, most: u128, without: Option<usize>) -> BTreeSet<u128> {
        let mut totals = BTreeSet::from([0]);
        for (index, task) in self.tasks.iter().enumerate() {
            // If `totals` already contains every number from 0 to `most`, further tasks add
            // nothing.
            if Some(index) != without && (totals.len() as u128) <= most {
                let more: Vec<u128> = totals.iter().map(|total| total + task.e).collect();
                totals.extend(more.into_iter().filter(|&total| total <= most));
            }
        }
        totals
    }

    /// Returns the number of requests that the tasks can release in a half-open window.
    pub(crate) fn half_open(&self, length: u128) -> u128 {
        self.tasks.iter().map(|task| task.e * length.div_ceil(task.p)).sum()
    }
}

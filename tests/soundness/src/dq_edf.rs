// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exhaustive adversary for dual-queue EDF: finds the true worst case of every task.
//!
//! The possible events are those of `adversary`, with another order: an idle device gets the min(z,
//! queued) requests with the earliest absolute deadlines; among equal deadlines the adversary
//! chooses. With z = 1 and beta = 1 this is one-at-a-time EDF beside endless best effort.
//!
//! Requests differ by their deadlines, so a state holds every job that has requests queued, with
//! the time left until its deadline, from which its age follows. Two observations keep the search
//! small.
//!
//! 1. A job's response time is determined when its last request is sent, because the batch can take
//!    its longest time. Requests in flight need no identity.
//! 2. Among states with the same jobs queued, dominated states are left out as in `adversary`.

use std::collections::HashMap;

use crate::adversary::WorstCase;
use crate::dual_queue::{Queue, Search, frontier};
use crate::frontier::Frontier;
use crate::small::{Rules, SmallSystem, SmallTask};

/// Returns the true worst-case response times of a system under dual-queue EDF.
///
/// # Panics
/// If the system exceeds the limits of `dual_queue`, or a deadline exceeds 10,000 ticks.
#[must_use]
pub fn worst_case(system: &SmallSystem, rules: Rules) -> WorstCase {
    assert!(system.tasks.iter().all(|task| task.deadline <= 10_000), "deadline too long");
    let jitters = system.tasks.iter().map(|task| task.jitter);
    let jitter_max = jitters.chain([rules.jitter]).max();
    assert_eq!(jitter_max, Some(0), "deadlines count from the instant at which a job is seen");
    Search::<ByDeadline>::worst_case(system.clone(), rules)
}

/// A job that has requests in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Job {
    /// The ticks until the job's deadline; negative after the deadline.
    until_due: i32,
    /// The group of equal tasks to which the job's task belongs.
    group: usize,
    /// Requests not yet sent.
    queued: u32,
}

/// Jobs in order of deadline.
#[derive(Debug, Clone, Default)]
struct ByDeadline(Vec<Job>);

impl Queue for ByDeadline {
    type Frontiers = HashMap<Vec<Job>, Frontier>;
    type Sent = Vec<Self>;

    fn frontier<'f>(&self, all: &'f mut Self::Frontiers) -> &'f mut Frontier {
        all.entry(self.0.clone()).or_insert_with(frontier)
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|job| job.queued).sum()
    }

    fn release(&mut self, group: usize, task: SmallTask, queued: u32) {
        let until_due = i32::try_from(task.deadline).expect("checked on entry");
        self.0.push(Job { until_due, group, queued });
        self.0.sort_unstable();
    }

    /// Returns the remaining queues for every order of equal deadlines.
    fn sent(&self, count: u32, mut last_sent: impl FnMut(usize, i32)) -> Vec<Self> {
        let ways = choices(&self.0, count).into_iter().map(|kept| {
            let jobs = self.0.iter().zip(kept).filter_map(|(job, queued)| {
                if queued == 0 {
                    last_sent(job.group, job.until_due);
                }
                (queued > 0).then_some(Job { queued, ..*job })
            });
            let mut jobs: Vec<Job> = jobs.collect();
            jobs.sort_unstable();
            Self(jobs)
        });
        ways.collect()
    }

    fn later(&mut self) {
        self.0.iter_mut().for_each(|job| job.until_due -= 1);
    }
}

/// Returns every way to send the `count` earliest requests of jobs in order of deadline, as the
/// number of requests that each job keeps queued.
fn choices(jobs: &[Job], count: u32) -> Vec<Vec<u32>> {
    let mut ways = vec![(Vec::new(), count)];
    for run in jobs.chunk_by(|a, b| a.until_due == b.until_due) {
        for (index, job) in run.iter().enumerate() {
            // Requests not taken from this job must be taken from the other jobs with the same
            // deadline.
            let behind: u32 = run[index + 1..].iter().map(|job| job.queued).sum();
            ways = ways.into_iter().flat_map(|way| taken_from(way, job.queued, behind)).collect();
        }
    }
    ways.into_iter().map(|(kept, _)| kept).collect()
}

fn taken_from(
    (kept, left): (Vec<u32>, u32),
    queued: u32,
    behind: u32,
) -> impl Iterator<Item = (Vec<u32>, u32)> {
    let least = left.saturating_sub(behind).min(queued);
    (least..=queued.min(left)).map(move |taken| {
        let kept = kept.iter().copied().chain([queued - taken]).collect();
        (kept, left - taken)
    })
}

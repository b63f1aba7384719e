// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiments of RTAS 2008 on the built-in Fujitsu: real-time tasks that read 256 KiB once in
//! a period, with a deadline of one period, beside 450 outstanding best-effort reads of the same
//! size, all at random places. So the workload states that no other places occur, and its proof
//! uses the times at random places, as in the paper. Best effort is served in the order of release,
//! as in the paper.
//!
//! Source: Stanovich, Baker and Wang, "Throttling On-Disk Schedulers to Meet Soft-Real-Time
//! Requirements", RTAS 2008, sections 2.3, 3.3, 3.4 and 5.

use tidegate_model::{BestEffortOrder, Duration, PolicyName};

use crate::disk::{Disk, Outcome};

/// Returns `count` tasks, their offsets spread over the period, beside the backlog.
///
/// # Panics
/// If the built-in drive is missing or was not measured for these requests.
#[must_use]
pub fn experiment(deadline: Duration, count: u32) -> Disk {
    let step_us = deadline.ns() / u64::from(count) / 1_000;
    let sources = format!(
        "absent_places = [\"both_ends\", \"clusters\", \"track\", \"sequential\", \"climbed\"]\n\
         [[task]]\nname = \"stream\"\ncount = {count}\nperiod = \"{}us\"\n\
         size = \"256KiB\"\noffset = {{ step = \"{step_us}us\" }}\n\
         [[best_effort]]\nname = \"backlog\"\noutstanding = 450\nsize = \"256KiB\"\n",
        deadline.ns() / 1_000
    );
    let mut disk = Disk::new("fujitsu-max3036rc", &sources);
    disk.workload.best_effort_order = Some(BestEffortOrder::Fifo);
    disk
}

/// Runs a policy for `jobs` jobs of each task, with every checker.
///
/// # Panics
/// If the policy breaks its own rule.
#[must_use]
pub fn run(policy: PolicyName, deadline: Duration, count: u32, jobs: u64) -> Outcome {
    experiment(deadline, count).outcome(policy, jobs)
}

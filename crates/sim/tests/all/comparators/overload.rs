// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures response times in an overload, as tasks are added one by one.
//!
//! Goal: `dqf-elastic` degrades little when plain `dqf` cannot serve the load. Method: the
//! dissertation's drive as pseudo-disk, 128 KiB, task i with a period of 300 + i ms, z = 8, 1,000
//! jobs of each task. A batch of 8 takes 103.4 ms, so `dqf` serves 23.2 requests every 300 ms,
//! enough for 24 tasks. The drive itself serves 25.6 in batches of 64 and 26 in the limit, enough
//! for 26 tasks. With more tasks every policy falls behind throughout the run, `dqf-elastic` by
//! less.

use tidegate_drive::PseudoDisk;
use tidegate_model::{Plan, PolicyName, Workload};
use tidegate_sim::{Length, SimParams, simulate};

use super::workload_on;

const JOBS: u64 = 1_000;

/// Returns tasks with these periods in ms.
pub(super) fn workload(periods_ms: impl Iterator<Item = usize>) -> Workload {
    let entry = |(index, period): (usize, usize)| {
        format!("[[task]]\nname = \"task-{index}\"\nperiod = \"{period}ms\"\nsize = \"128KiB\"\n")
    };
    let entries: Vec<String> = periods_ms.enumerate().map(entry).collect();
    workload_on("maxtor-atlas-10k-v", &entries.concat())
}

/// Returns the longest and the mean response time of all tasks, in ms.
pub(super) fn responses_ms(name: PolicyName, workload: &Workload, length: Length) -> [u64; 2] {
    let plan = Plan { batch_max: 8, ..Plan::of(workload) };
    let policy = tidegate_policy::build(name, &plan, None).unwrap();
    let drive = PseudoDisk::new(workload.depth, workload.table.clone(), 1);
    let run = simulate(&SimParams::new(workload, length), policy, drive, &mut ());
    let responses = || run.metrics.tasks().iter().map(|task| &task.responses);
    let longest = responses().filter_map(tidegate_stats::Distribution::max).max().unwrap();
    let means: u64 = responses()
        .filter_map(tidegate_stats::Distribution::mean)
        .map(tidegate_model::Duration::ns)
        .sum();
    let tasks = u64::try_from(workload.tasks.len()).unwrap();
    [longest.ns() / 1_000_000, means / tasks / 1_000_000]
}

#[test]
fn elastic_batches_keep_up_with_what_the_drive_can_serve() {
    let policies = [PolicyName::Dqf, PolicyName::DqfElastic, PolicyName::Cfq, PolicyName::Fifo];
    println!("longest and mean response in ms after {JOBS} jobs of each task");
    let mut longest = Vec::new();
    for tasks in 22..=34 {
        let workload = workload((0..tasks).map(|index| 300 + index));
        let row = policies.map(|name| responses_ms(name, &workload, Length::Jobs(JOBS)));
        println!("{tasks} {row:?}");
        longest.push((tasks, row.map(|[longest, _]| longest)));
    }
    for (tasks, [dqf, elastic, cfq, fifo]) in longest {
        match tasks {
            // No overload yet, so both runs are equal.
            ..=24 => assert_eq!(dqf, elastic, "{tasks} tasks"),
            // More tasks than batches of 8 can serve, but no more than the drive can.
            25..=26 => assert!(elastic * 5 < dqf, "{tasks} tasks: {elastic} and {dqf} ms"),
            27.. => assert!(elastic < dqf, "{tasks} tasks: {elastic} and {dqf} ms"),
        }
        assert!(elastic < cfq && dqf < fifo, "{tasks} tasks");
    }
}

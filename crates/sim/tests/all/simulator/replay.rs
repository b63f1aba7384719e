// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests that a run depends only on its seed, exactly.

use tidegate_model::{Arrivals, Bandwidth, Intensity, PolicyName, Task, Workload};
use tidegate_sim::{Length, SimParams};

use super::common::{self, Recorder, Seen, TIMES_MS, load, ms, plan, task, workload};

fn mixed_workload() -> Workload {
    let burst = Task { requests: 3, offset: ms(5), ..task("burst", 150) };
    let rate = Intensity::Rate(Bandwidth::new(100_000).unwrap());
    let loads = vec![load("closed", Intensity::Outstanding(5)), load("open", rate)];
    workload(&TIMES_MS, vec![task("a", 70), burst], loads)
}

/// Returns every policy that needs only a batch table.
fn policies() -> Vec<PolicyName> {
    tidegate_policy::available(&plan(&mixed_workload(), 4, 3))
}

fn record(name: PolicyName, seed: u64) -> Recorder {
    let mut workload = mixed_workload();
    let arrivals = Arrivals::Sporadic { extra_max: ms(20) };
    workload.tasks.iter_mut().for_each(|task| task.arrivals = arrivals);
    let params = SimParams { seed, ..SimParams::new(&workload, Length::Jobs(50)) };
    common::record(&params, name, &plan(&workload, 4, 3)).1
}

#[test]
fn same_seed_is_the_same_run() {
    for name in policies() {
        assert_eq!(record(name, 3), record(name, 3), "{name}");
    }
}

#[test]
fn another_seed_is_another_run() {
    for name in policies() {
        assert_ne!(record(name, 3), record(name, 4), "{name}");
    }
}

#[test]
fn names_rise_in_the_order_of_release_and_none_is_used_twice() {
    let recorder = record(PolicyName::Dqf, 3);
    let released = recorder.seen.iter().filter_map(|(_, seen)| match seen {
        Seen::Released(request) => Some(request.id),
        _ => None,
    });
    let names: Vec<_> = released.collect();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
}

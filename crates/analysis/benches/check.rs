// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures the time of a proof: one system for a given z, and a whole assessment with headroom.
//!
//! Periods of "different" tasks all differ, so that no two tasks are of one kind.

use tidegate_analysis::{SporadicTask, System, assess, compare, dqf, headroom};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{BatchTable, Duration, PolicyName, Workload};

fn main() {
    divan::main();
}

/// Returns an affine table: 1 ms plus 0.1 ms per request.
fn table(len: u64) -> BatchTable {
    let times: Vec<Duration> = (1..=len).map(|n| Duration::from_us(1_000 + 100 * n)).collect();
    BatchTable::new(&times).unwrap()
}

fn system(count: u64, batch_max: u32, are_different: bool) -> System {
    let task = |index: u64| {
        let period =
            Duration::from_ms(400) + Duration::from_us(if are_different { index } else { 0 });
        SporadicTask { period, requests: 1, deadline: period }
    };
    System {
        tasks: (0..count).map(task).collect(),
        table: table(u64::from(batch_max)),
        batch_max,
        best_effort_fill: 0,
    }
}

/// Measures Theorem 2, which applies because z >= E.
#[divan::bench(args = [false, true])]
fn theorem_2_of_1000_tasks(bencher: divan::Bencher, are_different: bool) {
    let system = system(1_000, 1_000, are_different);
    bencher.bench(|| dqf::tight(&system).unwrap());
}

/// Measures Theorem 1, which applies because z < E.
#[divan::bench(args = [false, true])]
fn theorem_1_of_100_tasks(bencher: divan::Bencher, are_different: bool) {
    let system = system(100, 32, are_different);
    bencher.bench(|| dqf::tight(&system).unwrap());
}

fn workload(count: u64, batch: &str, len: u64, are_different: bool) -> Workload {
    let times: Vec<String> = (1..=len).map(|n| (1_000_000 + 100_000 * n).to_string()).collect();
    let mut text = format!(
        "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [{}]\n[policy]\nname = \"dqf\"\nbatch = {batch}\n",
        times.join(",")
    );
    let different = |index: u64| {
        let period_us = 400_000 + index;
        format!("[[task]]\nname = \"t{index}\"\nperiod = \"{period_us}us\"\nsize = \"4KiB\"\n")
    };
    if are_different {
        text.extend((0..count).map(different));
    } else {
        let alike = format!("count = {count}\nperiod = \"400ms\"\nsize = \"4KiB\"\n");
        text.extend(["[[task]]\nname = \"t\"\n", &alike]);
    }
    let file = WorkloadFile::parse(&text).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { unreachable!("an inline drive") };
    file.bind(drive).unwrap()
}

fn everything(workload: &Workload) -> (tidegate_analysis::Assessment, usize) {
    let policy = PolicyName::Dqf;
    let headroom = headroom(workload, policy).map_or(0, |rooms| rooms.len());
    (assess(workload, policy), headroom + compare(workload, policy).len())
}

/// Everything that `check` computes for 1,000 tasks with z = E, comparisons included.
#[divan::bench(args = [false, true], sample_count = 10)]
fn check_1000_tasks(bencher: divan::Bencher, are_different: bool) {
    let workload = workload(1_000, "1000", 1_000, are_different);
    bencher.bench(|| everything(&workload));
}

/// Everything that `check` computes for 100 tasks with z < E.
#[divan::bench(args = [false, true], sample_count = 10)]
fn check_100_tasks_by_fixed_point(bencher: divan::Bencher, are_different: bool) {
    let workload = workload(100, "32", 32, are_different);
    bencher.bench(|| everything(&workload));
}

/// Everything that `check` computes for 100 tasks, with z chosen by the analysis.
#[divan::bench(args = [false, true], sample_count = 3)]
fn check_100_tasks_auto(bencher: divan::Bencher, are_different: bool) {
    let workload = workload(100, "\"auto\"", 64, are_different);
    bencher.bench(|| everything(&workload));
}

/// 1,000 different tasks on a drive of 64 slots, z chosen by the analysis: the case that the budget
/// exists for.
#[divan::bench(args = [PolicyName::Dqf, PolicyName::DqEdf, PolicyName::GatedDrain], sample_count = 2)]
fn check_1000_tasks_auto(bencher: divan::Bencher, policy: PolicyName) {
    let workload = workload(1_000, "\"auto\"", 64, true);
    bencher.bench(|| (assess(&workload, policy), compare(&workload, policy).len()));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures simulated requests per second: the dissertation's 16 tasks of 300 ms on its drive as a
//! pseudo-disk, under dual-queue FIFO. Divan counts requests and allocations; a long run makes as
//! many allocations as a short one.

use divan::Bencher;
use divan::counter::ItemsCount;
use tidegate_drive::{PseudoDisk, builtin};
use tidegate_model::{
    BatchTable, BestEffort, Bytes, Duration, Intensity, Op, Plan, Task, Workload,
};
use tidegate_policy::Dqf;
use tidegate_sim::{Length, SimParams, SimRun, simulate};

const SIZE: Bytes = Bytes::from_kib(128);
const SEED: u64 = 1;

/// Counts allocations, to show that a longer run takes no more memory.
#[global_allocator]
static ALLOCATOR: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

fn table() -> (u32, BatchTable) {
    let file = builtin::load("maxtor-atlas-10k-v").expect("a built-in drive");
    let table = tidegate_drive::measured_table(&file, Op::Read, SIZE).expect("it was measured");
    (file.depth, table.table.clone())
}

fn task(number: u32) -> Task {
    Task::periodic(format!("camera-{number}"), Duration::from_ms(300), SIZE)
}

fn backup(outstanding: u32) -> BestEffort {
    BestEffort::reads("backup", Intensity::Outstanding(outstanding), SIZE)
}

fn workload(best_effort: Vec<BestEffort>) -> Workload {
    let (depth, table) = table();
    Workload {
        tasks: (1..=16).map(task).collect(),
        best_effort,
        ..Workload::new("maxtor-atlas-10k-v", depth, table)
    }
}

fn run(workload: &Workload, best_effort_fill: u32, jobs: u64) -> SimRun {
    let policy = Dqf::new(16, best_effort_fill, Plan::QUEUED_MAX_DEFAULT);
    let drive = PseudoDisk::new(workload.depth, workload.table.clone(), SEED);
    let params = SimParams { seed: SEED, ..SimParams::new(workload, Length::Jobs(jobs)) };
    simulate(&params, policy, drive, &mut ())
}

fn bench(bencher: Bencher, workload: &Workload, best_effort_fill: u32, jobs: u64) {
    let metrics = run(workload, best_effort_fill, jobs).metrics;
    let completed = [metrics.real_time(), metrics.best_effort()].map(|total| total.completed);
    let requests: u64 = completed.iter().map(|volume| volume.requests).sum();
    bencher
        .counter(ItemsCount::new(requests))
        .bench(|| run(workload, divan::black_box(best_effort_fill), jobs));
}

/// Runs the tasks alone, for `jobs` jobs each.
#[divan::bench(args = [2_000, 20_000])]
fn tasks(bencher: Bencher, jobs: u64) {
    bench(bencher, &workload(Vec::new()), 0, jobs);
}

/// Runs the tasks, and best effort with 450 outstanding requests that fills batches up to 8.
#[divan::bench(args = [2_000, 20_000])]
fn tasks_and_best_effort(bencher: Bencher, jobs: u64) {
    bench(bencher, &workload(vec![backup(450)]), 8, jobs);
}

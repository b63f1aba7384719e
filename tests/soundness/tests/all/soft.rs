// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Soft guarantees hold as often as stated: the policy runs in the simulator on drives that exceed
//! their soft table with a known probability, for many jobs, and the test counts late jobs.

use tidegate_analysis::{SoftPromise, assess, soft_promise};
use tidegate_drive::{BatchTimes, Mix, SpacedDrive};
use tidegate_model::{Arrivals, BatchChoice, BatchTable, Duration, PolicyName, Workload};
use tidegate_soundness::generate;
use tidegate_soundness::trial::Trial;
use tidegate_soundness::workloads::{self, Load};

const SEED: u64 = 20_261_124;
/// The probability that a batch takes the longest time of the hard table, in parts per billion: one
/// batch in 200.
const EXCEEDANCE_PPB: u64 = 5_000_000;
/// A probability of one, in parts per billion.
const WHOLE_PPB: u64 = 1_000_000_000;

/// A device that seldom takes its longest time.
struct Seldom {
    hard: BatchTable,
    usual: BatchTable,
}

impl BatchTimes for Seldom {
    fn batch_max(&self) -> u32 {
        self.hard.batch_max()
    }

    fn batch_time(&self, mix: Mix, draw: u64) -> Duration {
        let is_long = draw % WHOLE_PPB < EXCEEDANCE_PPB;
        if is_long { self.hard.time_max(mix.total()) } else { self.usual.time_max(mix.total()) }
    }
}

fn table(times: impl Iterator<Item = Duration>) -> BatchTable {
    BatchTable::new(&times.collect::<Vec<_>>()).expect("no entry is zero")
}

/// Returns the misses of every task in `jobs` jobs, with the guaranteed time as the deadline.
fn late(
    workload: &Workload,
    usual: BatchTable,
    promise: SoftPromise,
    jobs: u64,
    seed: u64,
) -> Vec<u64> {
    let releases = Arrivals::Periodic;
    let mut trial = Trial::new(seed, PolicyName::Dqf, workload.clone(), releases, jobs);
    let mut promised = workload.clone();
    for task in &mut promised.tasks {
        task.deadline = promise.response_max;
    }
    trial.deeds = Some(promised);
    let times = Seldom { hard: workload.table.clone(), usual };
    let drive = SpacedDrive::with_times(workload.depth, times, seed);
    let run = trial.run(trial.policy(), drive, &mut ());
    run.metrics.tasks().iter().map(|task| task.misses).collect()
}

/// Returns whether the late jobs exceed the guarantee by more than five standard deviations; the
/// margin is needed because late jobs occur together.
fn is_broken(late: u64, jobs: u64, miss_ppb_max: u64) -> bool {
    let allowed = jobs * miss_ppb_max / WHOLE_PPB;
    late > allowed + 5 * allowed.isqrt() + 5
}

/// Returns six tasks of one request, a millisecond apart. Each is served in nearly no time except
/// for one batch in 200, which delays the last task whichever task started it.
fn staggered() -> (Workload, BatchTable) {
    let random = &mut generate::generator(SEED, 0);
    let template = workloads::workload(random, PolicyName::Dqf, Load::None).tasks[0].clone();
    let hard = table((1..=6).map(|_| Duration::from_ms(40)));
    let task = |index: u32| tidegate_model::Task {
        name: format!("task-{index}"),
        entry: index,
        period: Duration::from_ms(100),
        deadline: Duration::from_ms(100),
        requests: 1,
        offset: Duration::from_ms(u64::from(index)),
        ..template.clone()
    };
    let tasks = (0..6).map(task).collect();
    let batch = BatchChoice::Fixed(6);
    (
        Workload { tasks, batch, ..Workload::new("seldom", 6, hard) },
        table((1..=6).map(Duration::from_ms)),
    )
}

/// Goal: the guarantee holds where a long batch delays the most jobs, and there allows less than
/// twice as many late jobs as occur. Canaries: a promise with a tenth of the probability, and one
/// with 2 epsilon, as if only two batches counted.
#[test]
fn the_promise_holds_where_it_is_hardest_to_keep() {
    let (workload, soft) = staggered();
    let assessment = assess(&workload, PolicyName::Dqf);
    let promise = soft_promise(&workload, &assessment, &soft, EXCEEDANCE_PPB).expect("bounded");
    assert_eq!(promise.response_max, Duration::from_ms(6), "b(y) + b(6 - y)");
    assert_eq!(promise.miss_ppb_max, 6 * EXCEEDANCE_PPB, "one leader of each task");
    let jobs = 10_000;
    let usual = table((1..=6).map(|_| Duration::from_us(10)));
    let late = late(&workload, usual, promise, jobs, 1);
    println!(
        "late of {jobs}: {late:?}, at most {} allowed",
        jobs * promise.miss_ppb_max / WHOLE_PPB
    );
    assert!(late.iter().all(|&late| !is_broken(late, jobs, promise.miss_ppb_max)), "{late:?}");
    assert!(
        late[5] * 2 > jobs * promise.miss_ppb_max / WHOLE_PPB,
        "the scenario is too mild: {late:?}"
    );
    assert!(is_broken(late[5], jobs, promise.miss_ppb_max / 10), "a tenth survived: {late:?}");
    assert!(is_broken(late[5], jobs, 2 * EXCEEDANCE_PPB), "2 epsilon survived: {late:?}");
}

/// Tests random workloads with and without best effort on a drive that is usually at its soft
/// table.
#[test]
fn promises_hold_on_random_workloads() {
    let (mut promised, jobs) = (0, 400);
    for number in 0..120 {
        let load = [Load::None, Load::Outstanding][usize::from(number % 2 == 1)];
        let random = &mut generate::generator(SEED + 1, number);
        let mut workload = workloads::workload(random, PolicyName::Dqf, load);
        let soft = workload.table.clone();
        // Half of the hard tables keep the responses within the periods, half do not.
        let factor = 1 + number / 2 % 2;
        let slower = |requests| soft.time_max(requests) * factor + Duration::from_ns(1);
        workload.table = table((1..=soft.batch_max()).map(slower));
        let assessment = assess(&workload, PolicyName::Dqf);
        let Some(promise) = soft_promise(&workload, &assessment, &soft, EXCEEDANCE_PPB) else {
            continue;
        };
        promised += 1;
        let late = late(&workload, soft, promise, jobs, number);
        let is_kept = late.iter().all(|&late| !is_broken(late, jobs, promise.miss_ppb_max));
        assert!(is_kept, "number {number}: {late:?} of {jobs}, {promise:?}");
    }
    println!("{promised} workloads with a promise");
    assert!(promised >= 30, "only {promised} workloads");
}

/// If a task waits for its own jobs, or no hard bound exists, there is no guarantee.
#[test]
fn without_its_assumptions_nothing_is_promised() {
    let (workload, soft) = staggered();
    let mut waiting = workload.clone();
    waiting.tasks[0].outstanding_max = Some(1);
    let overloaded =
        Workload { table: table((1..=6).map(|_| Duration::from_ms(4_000))), ..workload };
    for workload in [waiting, overloaded] {
        let assessment = assess(&workload, PolicyName::Dqf);
        assert_eq!(soft_promise(&workload, &assessment, &soft, EXCEEDANCE_PPB), None);
    }
}

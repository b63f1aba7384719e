// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: no deadline is missed if every batch, drain or round is as slow as the verdict tolerates
//! (`docs/theory/tolerance.md` section 27). Method: the policies' own code on random workloads,
//! with every checker, on drives that are slower by exactly the tolerance. Canaries: drives that
//! are slower than that.

use std::collections::VecDeque;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_analysis::{Tolerance, tolerance};
use tidegate_drive::{Completion, Drive, PseudoDisk};
use tidegate_model::{
    Arrivals, BatchTable, Duration, Outcome, PolicyName, Request, RequestId, Slowdown, Time,
    Workload,
};
use tidegate_soundness::at_tolerance::{AtTolerance, misses};
use tidegate_soundness::black_box::{BlackBox, CompletionStrategy};
use tidegate_soundness::drain_system::{adaptive_system, gated_system};
use tidegate_soundness::priority_box::{PriorityBox, leaning_on_priority};
use tidegate_soundness::trial::Trial;
use tidegate_soundness::workloads::{self, Load};
use tidegate_soundness::{drains, generate};

const SEED: u64 = 20_261_128;
const TRIALS: u64 = 60;
const JOBS: u64 = 20;
const IN_BATCHES: [PolicyName; 6] = [
    PolicyName::Fifo,
    PolicyName::Edf,
    PolicyName::ScanEdf,
    PolicyName::Dqf,
    PolicyName::DqfElastic,
    PolicyName::DqEdf,
];

/// Gives a workload the drive contract that a policy needs.
type Lean = fn(&mut Pcg64, Workload) -> Workload;

/// Returns a random workload under this policy, and what its verdict tolerates, if it is proven.
fn proven(
    number: u64,
    policy: PolicyName,
    lean: Lean,
    margin_ppm: u32,
) -> Option<(Trial, Tolerance)> {
    let random = &mut generate::generator(SEED, number);
    let workload = workloads::workload(random, policy, Load::numbered(number));
    let workload = Workload { margin_ppm, ..lean(random, workload) };
    let releases = workloads::releases(random, &workload);
    let trial = Trial::new(number, policy, workload, releases, JOBS);
    let tolerance = tolerance(&trial.workload, &trial.assessment)?;
    Some((trial, tolerance))
}

/// Leaves a workload as it is: its batch table is the contract.
fn on_batches(_: &mut Pcg64, workload: Workload) -> Workload {
    workload
}

/// Returns the pseudo-disk with every batch slower by `slowdown`.
fn slow_disk(trial: &Trial, slowdown: Slowdown) -> PseudoDisk {
    let Workload { depth, table, .. } = &trial.workload;
    PseudoDisk::new(*depth, slowdown.of_table(table), trial.number)
}

/// Attacks the tolerance of a policy that sends batches, with every checker within it.
fn attack_batches(policy: PolicyName) {
    let mut attacked = AtTolerance::of(policy.name());
    for number in 0..TRIALS {
        let margin_ppm = if number % 3 == 0 { 50_000 } else { 0 };
        let found = proven(number, policy, on_batches, margin_ppm);
        let Some((trial, tolerance)) = found else { continue };
        attacked.within(&trial, &tolerance, |slowdown| {
            misses(&trial.checked_run(slow_disk(&trial, slowdown), ()).0)
        });
        attacked.beyond(&tolerance, |slowdown| {
            misses(&trial.run(trial.policy(), slow_disk(&trial, slowdown), &mut ()))
        });
    }
    attacked.conclude(16);
}

#[test]
fn slow_batches_miss_nothing_within_the_tolerance() {
    std::thread::scope(|scope| {
        for policy in IN_BATCHES {
            scope.spawn(move || attack_batches(policy));
        }
    });
}

/// Returns the drain table as the black box needs it: by number of requests, up to the depth.
fn of_box(drain: &BatchTable, depth: u32) -> Vec<Duration> {
    (0..=depth).map(|count| drain.time_max(count.min(drain.batch_max()))).collect()
}

/// The strategies that complete no request 1 ns after a dispatch. These policies answer each
/// completion with another best-effort request, which would be millions of requests before a job is
/// due.
const STRATEGIES: [CompletionStrategy; 3] =
    [CompletionStrategy::Burst, CompletionStrategy::Random, CompletionStrategy::LateTrickle];

/// Runs the trial on the drive that keeps this table and nothing else, with each strategy; returns
/// the sum of the missed deadlines.
fn misses_on_box(trial: &Trial, drain: &BatchTable) -> u64 {
    let of = |strategy| {
        let random = generate::generator(SEED + 1, trial.number);
        let drive = BlackBox::new(of_box(drain, trial.workload.depth), strategy, random);
        misses(&trial.run(trial.policy(), drive, &mut ()))
    };
    STRATEGIES.into_iter().map(of).sum()
}

#[test]
fn slow_drains_miss_nothing_within_the_tolerance() {
    for policy in [PolicyName::RtioDrain, PolicyName::RtioLimit] {
        let mut attacked = AtTolerance::of(policy.name());
        for number in 0..TRIALS {
            let found = proven(number, policy, drains::leaning_on_drains, 0);
            let Some((trial, tolerance)) = found else { continue };
            let drain = trial.workload.contracts.drain.clone().expect("it leans on drains");
            attacked.attack(&trial, &tolerance, |slowdown| {
                misses_on_box(&trial, &slowdown.of_table(&drain))
            });
        }
        attacked.conclude(40);
    }
}

#[test]
fn slow_rounds_with_priority_miss_nothing_within_the_tolerance() {
    let mut attacked = AtTolerance::of(PolicyName::RtioPriority.name());
    for number in 0..TRIALS {
        let found = proven(number, PolicyName::RtioPriority, leaning_on_priority, 0);
        let Some((trial, tolerance)) = found else { continue };
        let priority = trial.workload.contracts.priority.clone().expect("it leans on priority");
        attacked.attack(&trial, &tolerance, |slowdown| {
            let random = generate::generator(SEED + 2, number);
            let drive: Box<dyn Drive> =
                Box::new(PriorityBox::new(slowdown.of_table(&priority), random));
            misses(&trial.run(trial.policy(), drive, &mut ()))
        });
    }
    attacked.conclude(41);
}

/// A drive that completes every request a constant time after its dispatch: it keeps its starvation
/// bound and nothing else.
struct Waits {
    wait: Duration,
    held: VecDeque<(Time, RequestId)>,
}

impl Drive for Waits {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        self.held.extend(batch.iter().map(|request| (now + self.wait, request.id)));
    }

    fn flush(&mut self, _now: Time, _id: RequestId) {
        unreachable!("these tests send no flush");
    }

    fn next_event(&self) -> Option<Time> {
        self.held.front().map(|(at, _)| *at)
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        while let Some((at, id)) = self.held.pop_front_if(|(at, _)| *at <= now) {
            out.push(Completion { id, at, outcome: Outcome::Done });
        }
    }
}

/// Gives a workload a starvation bound, on a drive with room for all its tasks at the same time,
/// and deadlines above that bound, some only by 1 ns.
fn leaning_on_starvation(random: &mut Pcg64, mut workload: Workload) -> Workload {
    let longest = workload.table.time_max(workload.table.batch_max());
    let wait = longest * random.random_range(1..=5);
    let depth = workload.depth;
    workloads::keep_what_fits(&mut workload, depth);
    workloads::release_about_every(random, &mut workload, wait.ns() + 1);
    workload.contracts.starvation_max = Some(wait);
    workload
}

#[test]
fn slow_waits_miss_nothing_within_the_tolerance() {
    let mut attacked = AtTolerance::of(PolicyName::Rtio.name());
    for number in 0..TRIALS {
        let found = proven(number, PolicyName::Rtio, leaning_on_starvation, 0);
        let Some((trial, tolerance)) = found else { continue };
        let wait = trial.workload.contracts.starvation_max.expect("it leans on it");
        attacked.attack(&trial, &tolerance, |slowdown| {
            let drive = Waits { wait: slowdown.of_time(wait), held: VecDeque::new() };
            misses(&trial.run(trial.policy(), drive, &mut ()))
        });
    }
    attacked.conclude(21);
}

/// Without a margin, policies that spend all slack tolerate nothing; with a margin, they tolerate
/// the margin.
#[test]
fn policies_that_spend_all_slack_tolerate_their_margin() {
    const MARGIN_PPM: u32 = 300_000;
    let margin = Slowdown::by_ppm(MARGIN_PPM.into());
    for policy in [PolicyName::GatedDrain, PolicyName::AdaptiveDrain] {
        let is_gated = policy == PolicyName::GatedDrain;
        let (mut runs, mut is_caught) = (0, false);
        for number in 0..TRIALS {
            let random = &mut generate::generator(SEED + 3, number);
            let mut system = if is_gated { gated_system(random) } else { adaptive_system(random) };
            for task in &mut system.tasks {
                task.deadline *= 2;
                task.period *= 2;
            }
            let without = system.workload();
            let workload = Workload { margin_ppm: MARGIN_PPM, ..without.clone() };
            let trial = |workload| Trial::new(number, policy, workload, Arrivals::Periodic, JOBS);
            let (plain, planned) = (trial(without), trial(workload));
            let drain = planned.workload.contracts.drain.clone().expect("the system has it");
            if let Some(found) = tolerance(&plain.workload, &plain.assessment) {
                assert_eq!((found.added, found.factor_ppm), (Duration::ZERO, 0));
                assert!(found.spent.is_some() && found.beyond_plan.is_zero());
                let slow = margin.of_table(&drain);
                is_caught = is_caught || misses_on_box(&plain, &slow) > 0;
            }
            let Some(found) = tolerance(&planned.workload, &planned.assessment) else { continue };
            assert_eq!(found.factor_ppm, u64::from(MARGIN_PPM));
            assert_eq!(misses_on_box(&planned, &margin.of_table(&drain)), 0, "{system:?}");
            runs += 1;
        }
        println!("{policy}: {runs} systems with a margin");
        assert!(runs > 40 && is_caught, "{policy}: {runs} {is_caught}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a verdict tolerates as much as it says, and no more where its bound is exact
//! (`docs/theory/tolerance.md` section 27). Method: an adversary that searches all behaviour of
//! small systems, on a drive that is slower by the tolerance, and by 1 ns more. A tick is 1 ns.

use rand::RngExt;
use tidegate_analysis::{Answer, Tolerance, assess, tolerance};
use tidegate_model::{
    BatchChoice, BestEffort, Bytes, DispatchMode, Duration, Intensity, PolicyName, Slowdown, Task,
    Workload,
};
use tidegate_soundness::adversary::{self, Extent, WorstCase};
use tidegate_soundness::generate::{self, Size};
use tidegate_soundness::small::{Rules, SmallSystem, SmallTask};
use tidegate_soundness::{dq_edf, edf};

const SEED: u64 = 20_261_127;
const SIZE: Bytes = Bytes::from_kib(4);
const TICK: Duration = Duration::from_ns(1);

/// Returns the workload of a small system, with its z.
fn workload(system: &SmallSystem, has_best_effort: bool) -> Workload {
    let analysed = system.to_analysis(TICK);
    let task = |(entry, task): (u32, &SmallTask)| Task {
        entry,
        deadline: Duration::from_ns(task.deadline.into()),
        requests: task.requests,
        ..Task::periodic(format!("task-{entry}"), TICK * u64::from(task.period), SIZE)
    };
    let load = BestEffort::reads("load", Intensity::Outstanding(8), SIZE);
    Workload {
        tasks: (0..).zip(&system.tasks).map(task).collect(),
        best_effort: if has_best_effort { vec![load] } else { Vec::new() },
        batch: BatchChoice::Fixed(system.batch_max),
        ..Workload::new("small", analysed.table.batch_max(), analysed.table)
    }
}

/// Returns the system on a drive whose batches take up to this much longer.
fn slowed(system: &SmallSystem, slowdown: Slowdown) -> SmallSystem {
    let mut slower = system.clone();
    for time in &mut slower.table[1..] {
        let longer = slowdown.of_time(Duration::from_ns((*time).into()));
        *time = u32::try_from(longer.ns()).expect("a small time");
    }
    slower
}

/// A random system with random deadlines and the fill of its plan, and its tolerance.
struct Case {
    system: SmallSystem,
    tolerance: Tolerance,
}

/// Returns the system with this number if its deadlines are proven.
fn case(policy: PolicyName, seed: u64, number: u64, has_best_effort: bool) -> Option<Case> {
    let random = &mut generate::generator(seed, number);
    let mut system = generate::system(random, Size::SMALLER);
    for task in &mut system.tasks {
        // The deadline is long enough to be proven often, and at most the period, so that one job
        // is pending.
        task.period += random.random_range(0..12);
        task.deadline = random.random_range(task.period.div_ceil(2)..=task.period);
    }
    if policy.facts().dispatch == DispatchMode::OneAtATime {
        system = system.with_batch_max(1);
    }
    let workload = workload(&system, has_best_effort);
    let assessment = assess(&workload, policy);
    (assessment.answer == Answer::Proven).then(|| {
        let tolerance = tolerance(&workload, &assessment).expect("a proof and a task");
        let fill = assessment.best_effort_fill;
        Case { system: system.with_best_effort_fill(fill), tolerance }
    })
}

/// A search for the true worst case.
type Adversary = fn(&SmallSystem, Rules) -> WorstCase;

/// Returns whether the adversary misses a deadline; `None` if the system is too large to tell.
fn misses(adversary: Adversary, system: &SmallSystem) -> Option<bool> {
    let found = adversary(system, Rules::REAL);
    let late = found.responses.iter().zip(&system.tasks).any(|(&took, task)| took > task.deadline);
    match found.extent {
        Extent::Whole => Some(late),
        Extent::BacklogUnbounded => Some(true),
        Extent::TooManyStates => late.then_some(true),
    }
}

/// The systems of a policy, attacked at their tolerance and beyond it.
#[derive(Debug, Default)]
struct Count {
    attacked: u32,
    tolerant: u32,
    missed_beyond: u32,
    beyond: u32,
}

fn attack(policy: PolicyName, adversary: Adversary, seed: u64, has_best_effort: bool) -> Count {
    const SYSTEMS: u64 = 500;
    let mut count = Count::default();
    for number in 0..SYSTEMS {
        let Some(Case { system, tolerance }) = case(policy, seed, number, has_best_effort) else {
            continue;
        };
        let name = || format!("{policy} number {number}: {system}, {tolerance:?}");
        let at = slowed(&system, Slowdown::by(tolerance.added));
        let Some(is_missed) = misses(adversary, &at) else { continue };
        assert!(!is_missed, "a deadline is missed at the tolerance: {}", name());
        let at_factor = slowed(&system, Slowdown::by_ppm(tolerance.factor_ppm));
        assert_ne!(misses(adversary, &at_factor), Some(true), "at the factor: {}", name());
        count.attacked += 1;
        count.tolerant += u32::from(!tolerance.added.is_zero());
        let beyond = slowed(&system, Slowdown::by(tolerance.added + TICK));
        if let Some(is_missed) = misses(adversary, &beyond) {
            count.beyond += 1;
            count.missed_beyond += u32::from(is_missed);
        }
    }
    println!("{policy}, best effort {has_best_effort}: {count:?}");
    count
}

/// The bounds of FIFO and EDF, which serve one request at a time, are exact: if the drive is 1 ns
/// slower than the tolerance, an adversary finds a missed deadline.
#[test]
fn one_at_a_time_tolerates_all_that_it_says_and_not_a_nanosecond_more() {
    let adversaries: [(PolicyName, Adversary); 2] =
        [(PolicyName::Fifo, adversary::worst_case), (PolicyName::Edf, edf::worst_case)];
    for (policy, adversary) in adversaries {
        let count = attack(policy, adversary, SEED, false);
        assert!(count.attacked > 100 && count.tolerant > 80, "{policy}: {count:?}");
        assert_eq!(count.missed_beyond, count.beyond, "{policy} tolerates more than it says");
    }
}

/// For batches the bound may be larger than the true worst case; it is exact for most systems.
#[test]
fn batches_tolerate_what_they_say() {
    let adversaries: [(PolicyName, Adversary, bool); 3] = [
        (PolicyName::Dqf, adversary::worst_case, false),
        (PolicyName::Dqf, adversary::worst_case, true),
        (PolicyName::DqEdf, dq_edf::worst_case, false),
    ];
    for (policy, adversary, has_best_effort) in adversaries {
        let count = attack(policy, adversary, SEED + 1, has_best_effort);
        assert!(count.attacked > 100 && count.tolerant > 40, "{policy}: {count:?}");
        assert!(count.missed_beyond * 2 > count.beyond, "{policy}: {count:?}");
    }
}

/// Computed by hand: two tasks of one request each, one at a time, b(1) = 10 ns, deadlines of 25
/// ns. A job waits for one other at most: R = 20 ns, so each request may take 12 ns, 20 % more.
#[test]
fn two_requests_share_the_slack() {
    let task = SmallTask { requests: 1, period: 25, deadline: 25, jitter: 0 };
    let system =
        SmallSystem { tasks: vec![task; 2], table: vec![0, 10], batch_max: 1, best_effort_fill: 0 };
    let workload = workload(&system, false);
    for policy in [PolicyName::Fifo, PolicyName::Edf, PolicyName::Dqf] {
        let assessment = assess(&workload, policy);
        let found = tolerance(&workload, &assessment).expect("proven");
        assert_eq!((found.added.ns(), found.beyond_plan.ns()), (2, 2), "{policy}");
        // 10 ns become 12 ns for every factor above 10 % and up to 20 %.
        assert_eq!(found.factor_ppm, 200_000, "{policy}");
    }
}

/// The plan includes a margin: the bound contains it, and the tolerance is measured from the
/// drive's table. 10 % make 11 ns, R = 22 ns; 1 ns more is left.
#[test]
fn a_margin_is_part_of_the_tolerance() {
    let task = SmallTask { requests: 1, period: 25, deadline: 25, jitter: 0 };
    let system =
        SmallSystem { tasks: vec![task; 2], table: vec![0, 10], batch_max: 1, best_effort_fill: 0 };
    let workload = Workload { margin_ppm: 100_000, ..workload(&system, false) };
    let assessment = assess(&workload, PolicyName::Edf);
    let bounds = assessment.tasks.iter().filter_map(|task| task.response_max);
    assert!(bounds.clone().all(|(bound, _)| bound.ns() == 22) && bounds.count() == 2);
    let found = tolerance(&workload, &assessment).expect("proven");
    assert_eq!((found.added.ns(), found.beyond_plan.ns()), (2, 1));
    let plan = assessment.tolerant_plan(&workload);
    let times = [&plan.limits.measured, &plan.limits.tolerated];
    let times = times.map(|times| times.batches.table.time_max(1).ns());
    assert_eq!((times, plan.table.time_max(1).ns()), ([10, 12], 11));
}

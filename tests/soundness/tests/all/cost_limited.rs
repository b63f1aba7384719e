// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The bound for batches limited by cost holds: in all schedules of small systems, and for the
//! policy in the simulator on a drive that takes A plus the cost of each request.

use rand::RngExt;
use tidegate_analysis::cost_limited::{self, CostLimitedSystem};
use tidegate_analysis::heterogeneous::{self, MixedSystem, MixedTask};
use tidegate_analysis::{SporadicTask, Verdict, assess, tolerance};
use tidegate_model::{BatchChoice, Duration, Op, PolicyName, RequestCharges};
use tidegate_soundness::at_tolerance::{AtTolerance, misses};
use tidegate_soundness::ratio::Ratios;
use tidegate_soundness::trial::{Closeness, Trial, assert_caught};
use tidegate_soundness::{cost_limited as search, generate, mixed};

const SEED: u64 = 20_261_121;

fn bound_ns(system: &CostLimitedSystem) -> Option<u64> {
    let verdicts = cost_limited::responses(system);
    verdicts.first().copied().and_then(Verdict::bound).map(Duration::ns)
}

/// Returns a small system with periods near its bound, the bound, and whether batches may be cut.
fn case(number: u64) -> Option<(CostLimitedSystem, u64, bool)> {
    let random = &mut generate::generator(SEED, number);
    let mut system = search::system(random, number % 2 == 1);
    let alone_ns = bound_ns(&system).expect("periods are out of reach");
    search::set_periods(&mut system, alone_ns, random);
    let bound = bound_ns(&system).filter(|&bound| bound <= 26)?;
    let requests: u32 = system.tasks.iter().map(|mixed| mixed.task.requests).sum();
    let is_cut =
        search::costs_sum(&system.tasks) > system.cost_max.ns() || requests > system.batch_max;
    Some((system, bound, is_cut))
}

const STATES_MAX: usize = 15_000;

/// Goal: no schedule of a small system exceeds the bound, and if one batch takes all queued
/// requests the bound is reached. Method: all schedules.
#[test]
fn no_schedule_exceeds_the_bound_for_batches_limited_by_cost() {
    let (mut all, mut cut) = (Ratios::default(), Ratios::default());
    for number in 0..800 {
        let Some((system, bound, is_cut)) = case(number) else { continue };
        let Some(longest) = search::longest_response(&system, STATES_MAX) else { continue };
        assert!(longest <= bound, "number {number}: {longest} > {bound} in {system:#?}");
        assert!(is_cut || longest == bound, "number {number}: {longest} < {bound}: {system:#?}");
        all.record(Some(bound), longest);
        if is_cut {
            cut.record(Some(bound), longest);
        }
    }
    println!("{}\n| all | cost | {all}\n| batches cut | cost | {cut}", Ratios::heading());
    let (searched, cut, reached) = (all.bounded(), cut.bounded(), cut.exact());
    assert!(searched >= 150 && cut >= 80 && reached >= 50, "too few: {searched}, {cut}, {reached}");
}

/// Computed by hand: three requests of 3 and one of 1, A = 1, Z = 5. The request of 1 is in flight
/// when the others are released. Each of them is sent alone, because two cost more than Z: four
/// batches, 4 A + 10. Batches of cost Z would be three.
#[test]
fn a_batch_that_the_next_request_does_not_fit_in_is_not_full() {
    let task = |requests: u32, cost_ns: u64| {
        let period = Duration::from_ns(30);
        let task = SporadicTask { period, requests, deadline: period };
        MixedTask { task, request_max: Duration::from_ns(cost_ns), op: Op::Read }
    };
    let system = CostLimitedSystem {
        tasks: vec![task(3, 3), task(1, 1)],
        positioning_max: Duration::from_ns(1),
        batch_max: 4,
        cost_max: Duration::from_ns(5),
        best_effort_fill: Duration::ZERO,
    };
    assert_eq!(bound_ns(&system), Some(14));
    assert_eq!(search::longest_response(&system, 500_000), Some(14));
}

/// Canaries: each bound omits a possible delay.
#[test]
fn bounds_that_forget_something_are_caught() {
    let caught = |wrong: fn(&CostLimitedSystem, u64) -> u64| {
        (0..1_500).find(|&number| {
            case(number).filter(|&(_, _, is_cut)| is_cut).is_some_and(|(system, bound, _)| {
                let longest = search::longest_response(&system, STATES_MAX);
                longest.is_some_and(|longest| longest > wrong(&system, bound))
            })
        })
    };
    let one_less = |system: &CostLimitedSystem, bound: u64| bound - system.positioning_max.ns();
    println!("one A less: caught by {}", caught(one_less).expect("each batch has its A"));
    // This bound counts batches as if only cost limited them, not the number of requests.
    let by_cost_alone = |system: &CostLimitedSystem, bound: u64| {
        let many = CostLimitedSystem { batch_max: u32::MAX, ..system.clone() };
        bound_ns(&many).unwrap_or(u64::MAX).min(bound)
    };
    println!("count: caught by {}", caught(by_cost_alone).expect("z cuts batches too"));
    let no_best_effort = |system: &CostLimitedSystem, bound: u64| {
        let alone = CostLimitedSystem { best_effort_fill: Duration::ZERO, ..system.clone() };
        bound_ns(&alone).unwrap_or(u64::MAX).min(bound)
    };
    println!("best effort: caught by {}", caught(no_best_effort).expect("best effort delays"));
}

/// Goal: if all requests fit into one batch and there is no best effort, the bound equals the bound
/// for batches that are limited by count, which is Theorem 2 by cost.
#[test]
fn a_limit_that_never_cuts_gives_theorem_2_by_cost() {
    let mut compared = 0;
    for number in 0..2_000 {
        let random = &mut generate::generator(SEED + 1, number);
        let mut system = search::system(random, false);
        let sum = search::costs_sum(&system.tasks);
        system.cost_max = Duration::from_ns(sum);
        system.batch_max = 16;
        let by_count = MixedSystem {
            tasks: system.tasks.clone(),
            positioning_max: system.positioning_max,
            switch_max: Duration::ZERO,
            best_effort_max: Duration::ZERO,
            best_effort_ops: Vec::new(),
            known_max: None,
            batch_max: 16,
            best_effort_fill: 0,
        };
        assert_eq!(cost_limited::responses(&system), heterogeneous::responses(&by_count));
        compared += 1;
    }
    assert_eq!(compared, 2_000);
}

/// Returns a random workload with a limit by cost, on a drive that holds more or fewer requests
/// than all tasks release at the same time.
fn trial(number: u64) -> Trial {
    let mut workload = mixed::workload(SEED + 2, number);
    let random = &mut generate::generator(SEED + 3, number);
    let charges = RequestCharges::of_workload(&workload).expect("it has costs");
    let of_tasks = workload.tasks.iter().map(|task| (task.op, task.size));
    let kinds = of_tasks.chain(workload.best_effort.iter().map(|load| (load.op, load.size)));
    let charge = |(op, size)| charges.of_request(op, size).expect("a known kind").ns();
    let costliest = kinds.map(charge).max().expect("a task");
    let limit = costliest + random.random_range(0..=costliest * 8);
    workload.parameters.dqf.batch_cost = Some(Duration::from_ns(limit));
    workload.batch = BatchChoice::Auto;
    // Periods of at most about twice the bound: longer ones prove little.
    let wide = Duration::from_ns(1 << 50);
    workload.tasks.iter_mut().for_each(|task| (task.period, task.deadline) = (wide, wide));
    workload.tasks.iter_mut().for_each(|task| task.offset = Duration::ZERO);
    let loads = std::mem::take(&mut workload.best_effort);
    let alone = assess(&workload, PolicyName::Dqf).tasks[0].bounds.mixed.expect("long periods");
    workload.best_effort = loads;
    for task in &mut workload.tasks {
        let period_ns = alone.ns() + 1 + alone.ns() * random.random_range(0..=20) / 10;
        (task.period, task.deadline) = (Duration::from_ns(period_ns), Duration::from_ns(period_ns));
        task.offset = Duration::from_ns(random.random_range(0..period_ns));
    }
    mixed::trial(SEED, number, workload)
}

#[test]
fn no_response_in_the_simulator_exceeds_the_bound() {
    let mut closeness = Closeness::default();
    let (mut bounded, mut filled) = (0, 0);
    for trial in (0..400).map(trial) {
        let (run, ()) = trial.checked_run(mixed::cost_drive(&trial, 1), ());
        closeness.note(&trial, &run);
        bounded += u64::from(trial.is_bounded_throughout());
        filled += u64::from(trial.assessment.best_effort_fill > 0);
    }
    closeness.conclude("dqf limited by cost", 200);
    println!("{bounded} workloads with a bound, {filled} of them with best effort in batches");
    assert!(bounded >= 200 && filled >= 50, "only {bounded} with a bound, {filled} filled");
}

/// Goal: no deadline is missed on a drive as slow as the verdict tolerates, and the tolerance is
/// above 0; a drive that is slower by twice as much is caught. Method: deadlines between the bound
/// and the period.
#[test]
fn slow_batches_within_costs_miss_nothing_within_the_tolerance() {
    let mut attacked = AtTolerance::of("dqf limited by cost");
    for mut trial in (0..200).map(trial) {
        let bounds: Option<Vec<_>> =
            trial.assessment.tasks.iter().map(|task| Some(task.response_max?.0)).collect();
        let Some(longest) = bounds.and_then(|it| it.into_iter().max()) else { continue };
        for task in &mut trial.workload.tasks {
            task.deadline = Duration::from_ns(u64::midpoint(longest.ns(), task.period.ns()));
        }
        trial.assess_anew();
        let Some(found) = tolerance(&trial.workload, &trial.assessment) else { continue };
        attacked.attack(&trial, &found, |slowdown| {
            misses(&trial.run(trial.policy(), mixed::slow_cost_drive(&trial, slowdown), &mut ()))
        });
    }
    attacked.conclude(120);
}

/// Canary: a drive that positions more than once is caught.
#[test]
fn a_drive_that_positions_more_than_once_is_caught() {
    assert_caught("a slow drive", (0..200).map(trial), |trial| {
        trial.checked_run(mixed::cost_drive(trial, 4), ()).0
    });
}

/// Canary: a policy that charges each request a quarter of its cost is caught.
#[test]
fn a_policy_that_charges_too_little_is_caught() {
    assert_caught("a policy that charges too little", (0..200).map(trial), |trial| {
        let mut costs = trial.workload.contracts.costs.clone().expect("it has costs");
        for request in &mut costs.requests {
            request.time_max = Duration::from_ns(request.time_max.ns() / 4);
        }
        if let Some(cost) = &mut trial.plan.batch_cost {
            cost.charges = RequestCharges::of(&costs, None);
        }
        trial.checked_run(mixed::cost_drive(trial, 1), ()).0
    });
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The bound by costs holds: in random schedules of small systems, and for the policy in the
//! simulator on a drive that takes A plus the cost of each request.

use tidegate_analysis::Verdict;
use tidegate_analysis::heterogeneous::{self, MixedSystem};
use tidegate_model::Duration;
use tidegate_soundness::trial::{Closeness, Trial, assert_caught};
use tidegate_soundness::{generate, mixed};

const SEED: u64 = 20_261_123;

fn bound_ns(system: &MixedSystem) -> Option<u64> {
    let verdicts = heterogeneous::responses(system);
    verdicts.first().copied().and_then(Verdict::bound).map(Duration::ns)
}

/// Returns the longest response that the adversary found. If E <= z, it also tries every set of
/// tasks as the first batch.
fn attacked(system: &MixedSystem, number: u64) -> u64 {
    let random = &mut generate::generator(SEED, number + 1_000_000);
    let by_chance = mixed::attack(system, random, 600).into_iter().max().unwrap_or(0);
    let is_one_batch = mixed::requests_sum(system) <= system.batch_max;
    if is_one_batch { by_chance.max(mixed::attack_behind_sets(system, random)) } else { by_chance }
}

#[test]
fn no_schedule_of_a_small_system_exceeds_the_bound_by_costs() {
    let (mut bounded, mut one_batch, mut reached) = ([0; 2], 0, 0);
    for number in 0..4_000 {
        let system = mixed::system(&mut generate::generator(SEED, number));
        let Some(bound) = bound_ns(&system) else { continue };
        let found = attacked(&system, number);
        assert!(found <= bound, "number {number}: {found} > {bound} in {system:#?}");
        let is_one_batch = mixed::requests_sum(&system) <= system.batch_max;
        bounded[usize::from(is_one_batch)] += 1;
        if is_one_batch && system.switch_max.is_zero() && system.best_effort_fill == 0 {
            one_batch += 1;
            reached += u32::from(found == bound);
        }
    }
    println!(
        "E > z: {}, E <= z: {} systems; {reached} of {one_batch} reached",
        bounded[0], bounded[1]
    );
    assert!(bounded[0] >= 200 && bounded[1] >= 800, "too few systems: {bounded:?}");
    assert_eq!(reached, one_batch, "for E <= z, no switches and no best effort the bound is exact");
}

/// Goal: the closed form covers every choice of the tasks in flight and of the tasks in the next
/// batch. It equals the maximum over these choices if best effort costs no more than any request.
#[test]
fn the_closed_form_covers_all_sets() {
    let (mut compared, mut exact) = (0, 0);
    for number in 0..4_000 {
        let system = mixed::system(&mut generate::generator(SEED + 1, number));
        let system = MixedSystem { switch_max: Duration::ZERO, ..system };
        let is_one_batch = mixed::requests_sum(&system) <= system.batch_max;
        let Some(bound) = bound_ns(&system).filter(|_| is_one_batch) else { continue };
        let sets = 0..1_u32 << system.tasks.len();
        let longest = sets.clone().flat_map(|first| {
            // The next batch holds the job, which is not in flight.
            let next = sets.clone().filter(move |next| next & first == 0 && *next != 0);
            let system = &system;
            next.map(move |next| cost_of(system, first) + cost_of(system, next))
        });
        let longest = longest.max().expect("a task");
        assert!(longest <= bound, "number {number}: {longest} > {bound} in {system:#?}");
        let is_cheap = system.tasks.iter().all(|task| task.request_max >= system.best_effort_max);
        if is_cheap || system.best_effort_fill == 0 {
            assert_eq!(longest, bound, "number {number}: {system:#?}");
            exact += 1;
        }
        compared += 1;
    }
    println!("{compared} systems, {exact} of them exact");
    assert!(compared >= 800 && exact >= 200, "only {compared} systems, {exact} exact");
}

/// Returns the time of a batch of these tasks' jobs, filled with best effort.
fn cost_of(system: &MixedSystem, set: u32) -> u64 {
    let chosen = system.tasks.iter().enumerate().filter(|(task, _)| set & (1 << task) != 0);
    let (requests, ns) = chosen.fold((0, 0), |(requests, ns), (_, mixed)| {
        let own = u64::from(mixed.task.requests);
        (requests + own, ns + own * mixed.request_max.ns())
    });
    let fill = u64::from(system.best_effort_fill);
    let filled = fill.saturating_sub(requests) * system.best_effort_max.ns();
    let is_sent = requests > 0 || fill > 0;
    ns + filled + if is_sent { system.positioning_max.ns() } else { 0 }
}

/// Canaries: bounds are caught that count A once instead of twice, omit one fill of best effort, or
/// assume that the next batch always holds all other tasks.
#[test]
fn bounds_that_forget_something_are_caught() {
    let caught = |wrong: fn(&MixedSystem, u64) -> Option<u64>| {
        (0..4_000).find(|&number| {
            let system = mixed::system(&mut generate::generator(SEED, number));
            let promised = bound_ns(&system).and_then(|bound| wrong(&system, bound));
            promised.is_some_and(|promised| attacked(&system, number) > promised)
        })
    };
    let once = |system: &MixedSystem, bound: u64| Some(bound - system.positioning_max.ns());
    println!("A once: caught by {}", caught(once).expect("A must be counted twice"));
    let alone = |system: &MixedSystem, bound: u64| {
        let is_filled = system.best_effort_fill > 0;
        let fill = u64::from(system.best_effort_fill) * system.best_effort_max.ns();
        is_filled.then(|| bound - fill)
    };
    println!("best effort: caught by {}", caught(alone).expect("best effort must be counted"));
    // Theorem 3's form: the next batch holds all other tasks.
    let all_others = |system: &MixedSystem, _: u64| {
        let is_one_batch = mixed::requests_sum(system) <= system.batch_max;
        let all = (1_u32 << system.tasks.len()) - 1;
        let behind = |set: u32| cost_of(system, set) + cost_of(system, all & !set);
        is_one_batch.then(|| (0..all).map(behind).max())?
    };
    println!("all others: caught by {}", caught(all_others).expect("tasks need not release"));
}

fn trial(number: u64) -> Trial {
    mixed::trial(SEED, number, mixed::workload(SEED + 2, number))
}

#[test]
fn no_response_in_the_simulator_exceeds_the_bound_by_costs() {
    let mut closeness = Closeness::default();
    for trial in (0..400).map(trial) {
        let (run, ()) = trial.checked_run(mixed::cost_drive(&trial, 1), ());
        closeness.note(&trial, &run);
    }
    closeness.conclude("dqf by costs", 50);
}

/// Canary: a drive that positions more than twice is caught.
#[test]
fn a_drive_that_positions_twice_is_caught() {
    assert_caught("a slow drive", (0..200).map(trial), |trial| {
        trial.run(trial.policy(), mixed::cost_drive(trial, 4), &mut ())
    });
}

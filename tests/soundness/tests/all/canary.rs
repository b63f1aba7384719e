// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Canaries: the harness can fail. Bounds that are wrong on purpose are caught by the same search,
//! the same systems and the same comparison as the bounds of `analysis`.

use tidegate_soundness::attack::assert_caught;
use tidegate_soundness::generate::{self, Size};
use tidegate_soundness::harness::{self, Bound};
use tidegate_soundness::{SmallSystem, adversary, busy_interval, edf, optimistic};

const SEED: u64 = 20_261_121;
/// The maximum number of systems on which each bound is tried.
const SYSTEMS: u64 = 2_000;

fn dqf_system(number: u64) -> SmallSystem {
    generate::system(&mut generate::generator(SEED, number), Size::SMALL)
}

/// Returns a system whose best-effort fill varies with the number.
fn best_effort_system(number: u64) -> SmallSystem {
    let system = dqf_system(number);
    let fill = 1 + u32::try_from(number % 5).expect("small") % system.batch_max;
    system.with_best_effort_fill(fill)
}

/// Returns a system whose periods are one tick longer than the (wrong) bound of
/// `released_together`.
fn edge_system(number: u64) -> SmallSystem {
    harness::with_periods_near(optimistic::released_together, dqf_system(number), 1)
}

fn edf_system(number: u64) -> SmallSystem {
    let random = &mut generate::generator(SEED, number);
    let system = generate::system(random, Size::SMALLER).with_batch_max(1);
    generate::with_random_deadlines(random, system)
}

/// Each bound omits a cause of delay of dual-queue FIFO, or a condition.
#[test]
fn bounds_of_dual_queue_fifo_that_omit_something_are_caught() {
    type Draw = fn(u64) -> SmallSystem;
    let canaries: [(&str, Bound, Draw); 8] = [
        ("no carry-in", optimistic::no_carry_in, dqf_system),
        ("whatever the periods", optimistic::whatever_the_periods, dqf_system),
        ("R <= p", optimistic::response_up_to_the_period, dqf_system),
        ("released together", optimistic::released_together, edge_system),
        ("best effort for free", optimistic::best_effort_for_free, best_effort_system),
        ("no pure best effort", optimistic::no_pure_best_effort, best_effort_system),
        ("b(S_cin) = 0", optimistic::busy_interval_of_an_idle_device, dqf_system),
        ("fluid", optimistic::fluid, dqf_system),
    ];
    for (name, bound, draw) in canaries {
        assert_caught(name, bound, (0..SYSTEMS).map(draw), adversary::worst_case);
    }
}

#[test]
fn edf_without_blocking_is_caught() {
    let bound = optimistic::edf_without_blocking;
    let systems = (0..SYSTEMS).map(edf_system);
    assert_caught("EDF without blocking", bound, systems, edf::worst_case);
}

/// Canary: the bound of EDF, which ignores windows, is too low if deadlines in one window count as
/// equal.
#[test]
fn windows_of_deadlines_that_a_bound_ignores_are_caught() {
    let systems = (0..SYSTEMS).map(edf_system);
    let search = edf::worst_case_in_windows_of_a_request;
    assert_caught("EDF, served in windows", tidegate_analysis::edf::responses, systems, search);
}

/// Returns the number of requests released in a window of `length`: for each task,
/// `count(length, period)` jobs times the requests of a job.
fn released(system: &SmallSystem, length: u32, count: fn(u32, u32) -> u32) -> u32 {
    system.tasks.iter().map(|task| count(length, task.period) * task.requests).sum()
}

/// Lemma 9.2.4 with b(S_cin) = b(z): the least x with `sum count(x b(z), p_i) e_i <= x z`.
fn batches_bound(system: &SmallSystem, count: fn(u32, u32) -> u32) -> Option<u32> {
    let full = system.table[system.batch_max as usize];
    (1..200).find(|&x| released(system, x * full, count) <= x * system.batch_max)
}

/// As a statement on L, Lemma 9.2.4 is false with the printed ceil and holds with floor + 1, in the
/// same search over the same systems.
#[test]
fn lemma_9_2_4_as_a_statement_on_l_is_caught() {
    let ceil: fn(u32, u32) -> u32 = |length, period| length.div_ceil(period);
    let closed: fn(u32, u32) -> u32 = |length, period| length / period + 1;
    let (mut compared, mut broken) = (0, 0);
    for number in 0..600 {
        let random = &mut generate::generator(SEED + 1, number);
        let system = generate::system(random, Size::SMALLER);
        let Some(truth) = busy_interval::batches_max(&system) else { continue };
        let (Some(printed), corrected) =
            (batches_bound(&system, ceil), batches_bound(&system, closed))
        else {
            continue;
        };
        compared += 1;
        broken += usize::from(truth > printed);
        if let Some(corrected) = corrected {
            assert!(truth <= corrected, "L = {truth} > {corrected} with floor + 1 in {system}");
        }
    }
    println!("Lemma 9.2.4 on L: {broken} of {compared} systems violate it as printed");
    assert!(broken > 0, "the printed lemma survived: the harness is broken");
}

/// Lemma 9.2.5 says L <= floor(E / z) + 1 if the shortest period is at least (floor(E / z) + 1)
/// b(z). It holds only if the period is above this value.
#[test]
fn lemma_9_2_5_with_equality_is_caught() {
    let (mut equal, mut above, mut broken) = (0, 0, 0);
    for number in 0..2_000 {
        let random = &mut generate::generator(SEED + 2, number);
        let system = generate::system(random, Size::SMALLER);
        let batches = system.requests_sum() / system.batch_max + 1;
        let interval = batches * system.table[system.batch_max as usize];
        let period_min = system.tasks.iter().map(|task| task.period).min().expect("a task");
        if period_min < interval {
            continue;
        }
        let Some(truth) = busy_interval::batches_max(&system) else { continue };
        if period_min > interval {
            above += 1;
            assert!(truth <= batches, "L = {truth} > {batches} in {system}");
        } else {
            equal += 1;
            broken += usize::from(truth > batches);
        }
    }
    println!("Lemma 9.2.5: {broken} of {equal} systems with equality, none of {above} above");
    assert!(broken > 0, "the printed hypothesis survived: the harness is broken");
}

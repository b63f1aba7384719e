// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the load tests and the bounds with a processor that is simulated tick by tick.

use tidegate_cpu_analysis::{DemandBound, Source, load_test, response};
use tidegate_model::{Duration, Random};

use super::generate::{Ticks, level, tasks};
use super::tick::{Order, periodic, run, window_max};

/// The number of task sets, and how many of them each test accepts.
#[derive(Debug, Default)]
struct Accepted {
    sets: u32,
    exact: u32,
    refined: u32,
    ceil: u32,
    hyperbolic: u32,
}

fn is_accepted(tasks: &[Ticks], bound: DemandBound) -> bool {
    (0..tasks.len()).all(|index| {
        let deadline = Duration::from_ns(tasks[index].deadline);
        let load = load_test(&level(tasks, index), &tasks[index].source(), deadline, bound);
        load.unwrap().is_met()
    })
}

/// Returns the responses computed by the analysis; `None` if a deadline is exceeded.
fn responses(tasks: &[Ticks]) -> Option<Vec<u64>> {
    let of_task = |index: usize| {
        let bound = response(&level(tasks, index), &tasks[index].source()).bound()?;
        (bound.ns() <= tasks[index].deadline).then_some(bound.ns())
    };
    (0..tasks.len()).map(of_task).collect()
}

/// Goal: the refined test accepts every set that the ceiling or the hyperbolic test accepts, and
/// the exact test accepts every set that the refined test accepts. The exact test is exact: after a
/// synchronous release, an accepted set has the computed responses, and a rejected set misses a
/// deadline.
#[test]
fn tests_are_nested_and_the_exact_one_is_exact() {
    let mut random = Random::new(5, 1);
    let mut accepted = Accepted::default();
    for _ in 0..40_000 {
        let tasks = tasks(&mut random);
        let [ceil, refined, hyperbolic] = DemandBound::ALL.map(|bound| is_accepted(&tasks, bound));
        let exact = responses(&tasks);
        assert!(refined || !(ceil || hyperbolic), "{tasks:?}");
        assert!(exact.is_some() || !refined, "{tasks:?}");
        // Deadlines are within periods, so a missed deadline shows in the first busy interval.
        let together = vec![0; tasks.len()];
        let ticks = 80;
        let seen = run(&tasks, &periodic(&tasks, &together, ticks), Order::Listed, ticks);
        match &exact {
            Some(responses) => assert_eq!(seen.responses, *responses, "{tasks:?}"),
            None => assert!(seen.is_missed(&tasks), "{tasks:?}"),
        }
        accepted.sets += 1;
        accepted.exact += u32::from(exact.is_some());
        accepted.refined += u32::from(refined);
        accepted.ceil += u32::from(ceil);
        accepted.hyperbolic += u32::from(hyperbolic);
    }
    println!("{accepted:?}");
    let Accepted { sets, exact, refined, ceil, hyperbolic } = accepted;
    assert!(
        sets > exact && exact > refined && refined > ceil && ceil > hyperbolic && hyperbolic > 0
    );
}

/// No response exceeds the bound, with sporadic arrivals, offsets, and jobs in between.
#[test]
fn no_pattern_of_arrivals_exceeds_the_bound() {
    let mut random = Random::new(6, 1);
    let mut tight = 0;
    for _ in 0..6_000 {
        let tasks = tasks(&mut random);
        let Some(bounds) = responses(&tasks) else { continue };
        let ticks = 160;
        let mut releases = Vec::new();
        for task in &tasks {
            let mut at = random.below(task.period);
            let mut of_task = Vec::new();
            while at < ticks {
                of_task.push(at);
                at += task.period + random.below(2) * random.below(4);
            }
            releases.push(of_task);
        }
        let seen = run(&tasks, &releases, Order::Listed, ticks);
        for (response, bound) in seen.responses.iter().zip(&bounds) {
            assert!(response <= bound, "{tasks:?} {releases:?}");
        }
        tight += usize::from(seen.responses == bounds);
    }
    assert!(tight > 500, "the worst case is often met: {tight}");
}

/// Canary: a bound that counts only whole periods is detected.
#[test]
fn rounding_down_is_caught() {
    let mut random = Random::new(5, 1);
    let broken = |tasks: &[Ticks], index: usize| {
        let mut response = tasks[index].execution;
        for _ in 0..100 {
            let jobs = |task: &Ticks| (response / task.period).max(1) * task.execution;
            response = tasks[index].execution + tasks[..index].iter().map(jobs).sum::<u64>();
        }
        response
    };
    let caught = (0..1_000).filter(|_| {
        let tasks = tasks(&mut random);
        let ticks = 80;
        let releases = periodic(&tasks, &vec![0; tasks.len()], ticks);
        let seen = run(&tasks, &releases, Order::Listed, ticks);
        (0..tasks.len()).any(|index| seen.responses[index] > broken(&tasks, index))
    });
    assert!(caught.count() > 50);
}

/// Canary, and the caveat of 5.3.0.5: for a task that can be delayed, the refined bound does not
/// apply to arbitrary windows. With e = 4, p = 10 it executes in [6, 10) and [10, 14): 8 in a
/// window of 8. From the critical instant on, the bound is correct.
#[test]
fn refined_bound_on_arbitrary_windows_is_caught() {
    let above = Ticks { execution: 6, period: 20, deadline: 20 };
    let delayed = Ticks { execution: 4, period: 10, deadline: 10 };
    let tasks = [above, delayed];
    let seen = run(&tasks, &periodic(&tasks, &[0, 0], 40), Order::Listed, 40);
    let refined = |window: u64| {
        let demand = delayed.source().demand(DemandBound::Refined, Duration::from_ns(window));
        usize::try_from(demand.unwrap().ceil().unwrap()).unwrap()
    };
    assert_eq!((window_max(&seen, 1, 8), refined(8)), (8, 4));
    for window in 1..=40 {
        let executed = seen.ran[..window].iter().filter(|it| **it == Some(1)).count();
        assert!(executed <= refined(u64::try_from(window).unwrap()));
    }
    // The execution of a task that is served immediately stays below the bound in every window.
    for window in 1..=40 {
        let bound = Source::new(Duration::from_ns(6), Duration::from_ns(20))
            .demand(DemandBound::Refined, Duration::from_ns(window));
        let executed = window_max(&seen, 0, usize::try_from(window).unwrap());
        assert!(u128::try_from(executed).unwrap() <= bound.unwrap().ceil().unwrap());
    }
}

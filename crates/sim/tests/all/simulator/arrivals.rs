// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Arrivals of tasks, and the jitter between a job's arrival and its release.

use tidegate_model::{Arrivals, Duration, PolicyName, Request, Task, Time, Workload};
use tidegate_sim::{Length, SimParams};

use super::common::{Seen, TIMES_MS, at, ms, plan, record, task, workload};

/// Returns the requests of each task with the instants at which the policy saw them.
fn released(workload: &Workload, seed: u64, jobs: u64) -> Vec<Vec<(Time, Request)>> {
    let params = SimParams { seed, ..SimParams::new(workload, Length::Jobs(jobs)) };
    let (_, recorder) = record(&params, PolicyName::Dqf, &plan(workload, 4, 0));
    let mut all = vec![Vec::new(); workload.tasks.len()];
    for (seen_at, seen) in recorder.seen {
        if let Seen::Released(request) = seen {
            all[request.task.index()].push((seen_at, request));
        }
    }
    all
}

fn gaps(instants: impl Iterator<Item = Time> + Clone) -> Vec<Duration> {
    instants.clone().skip(1).zip(instants).map(|(next, last)| next - last).collect()
}

/// Goal: jobs arrive once per period, and the policy sees each up to J later, as close together as
/// p - J and due as much later. Method: a long run.
#[test]
fn jitter_delays_a_job_and_its_deadline_at_the_policy_and_not_its_arrival() {
    let late = Task { jitter: ms(15), deadline: ms(30), ..task("late", 40) };
    let workload = workload(&TIMES_MS, vec![late, task("punctual", 40)], Vec::new());
    let all = released(&workload, 1, 500);
    for (number, (seen_at, request)) in (0_u64..).zip(&all[0]) {
        assert_eq!(request.released, at(40 * number), "it arrives once per period");
        assert!(*seen_at >= request.released && *seen_at - request.released <= ms(15));
        assert_eq!(request.eligible, *seen_at);
        assert_eq!(request.due, Some(*seen_at + ms(15)), "30 ms from the arrival, without 15 ms");
    }
    let gaps = gaps(all[0].iter().map(|&(seen_at, _)| seen_at));
    assert_eq!(gaps.iter().min(), Some(&ms(25)), "as close together as allowed");
    assert_eq!(gaps.iter().max(), Some(&ms(55)));
    for (number, (seen_at, request)) in (0_u64..).zip(&all[1]) {
        assert_eq!((*seen_at, request.released), (at(40 * number), at(40 * number)));
    }
}

/// Goal: bunched tasks keep their periods, meet, and use all of their jitter. Method: three tasks of
/// different periods.
#[test]
fn bunched_tasks_meet_and_keep_their_periods() {
    let bunched = |name: &str, period: u64, jitter: u64| Task {
        arrivals: Arrivals::Bunched,
        jitter: ms(jitter),
        ..task(name, period)
    };
    let tasks = vec![bunched("a", 40, 0), bunched("b", 40, 30), bunched("c", 110, 5)];
    let workload = workload(&TIMES_MS, tasks, Vec::new());
    let all = released(&workload, 3, 300);
    let (mut together, mut just_after) = (0, 0);
    for (index, (task, requests)) in workload.tasks.iter().zip(&all).enumerate() {
        let arrivals = gaps(requests.iter().map(|(_, request)| request.released));
        assert!(arrivals.iter().all(|&gap| gap >= task.period), "{}", task.name);
        assert!(arrivals.contains(&task.period), "{}: never as early as allowed", task.name);
        assert!(arrivals.iter().any(|&gap| gap > task.period), "{}: never silent", task.name);
        let seen = gaps(requests.iter().map(|&(seen_at, _)| seen_at));
        assert_eq!(seen.iter().min(), Some(&(task.period - task.jitter)), "{}", task.name);
        for &(seen_at, _) in all[..index].iter().flatten() {
            let lag = |other: Time| other.ns().checked_sub(seen_at.ns());
            together += requests.iter().filter(|(it, _)| lag(*it) == Some(0)).count();
            just_after += requests.iter().filter(|(it, _)| lag(*it) == Some(1)).count();
        }
    }
    assert!(together > 20 && just_after > 10, "{together} at one instant, {just_after} just after");
    assert_eq!(all, released(&workload, 3, 300), "the seed fixes them");
    assert_ne!(all, released(&workload, 4, 300));
}

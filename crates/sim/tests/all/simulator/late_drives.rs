// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A drive that takes longer than its table says.
//!
//! Goal: best effort yields, real time gains by that and never loses, and no checker reports
//! idling. Method: a pseudo-disk whose batches take 1.5 times the plan's times.

use tidegate_drive::PseudoDisk;
use tidegate_model::{Duration, Intensity, Plan, PolicyName, Workload};
use tidegate_policy::{Dqf, Policy};
use tidegate_sim::checkers::{Checker, Checkers, Served, WorkConservation};
use tidegate_sim::{Length, Observer, SimParams, SimRun, simulate};

use super::common::{TIMES_MS, load, plan, table, task, workload};

const POLICIES: [PolicyName; 3] = [PolicyName::Dqf, PolicyName::DqfElastic, PolicyName::DqEdf];

fn busy() -> (Workload, Plan) {
    let tasks = vec![task("a", 60), task("b", 75), task("c", 90)];
    let workload = workload(&TIMES_MS, tasks, vec![load("backup", Intensity::Outstanding(6))]);
    let plan = plan(&workload, 3, 2);
    (workload, plan)
}

/// Runs a policy on a drive whose batches take `percent` of the table's times.
fn run(policy: impl Policy, percent: u64, observer: &mut impl Observer) -> SimRun {
    let (workload, _) = busy();
    let times = TIMES_MS.map(|time_ms| time_ms * percent / 100);
    let drive = PseudoDisk::new(workload.depth, table(&times), 1);
    simulate(&SimParams::new(&workload, Length::Jobs(200)), policy, drive, observer)
}

fn longest(run: &SimRun) -> Duration {
    run.metrics.tasks().iter().filter_map(|task| task.responses.max()).max().unwrap()
}

fn best_effort(run: &SimRun) -> u64 {
    run.metrics.best_effort().completed.requests
}

#[test]
fn best_effort_pays_for_a_late_drive_and_nobody_takes_it_for_idling() {
    let (_, plan) = busy();
    for name in POLICIES {
        let (policy, mut checkers) = Checkers::watching(name, &plan, None).unwrap();
        let paying = run(policy, 150, &mut checkers);
        assert_eq!(checkers.violations(), [], "{name}");
        // The strict checker reports the waiting; the policy's own checker allows it.
        let mut strict = WorkConservation::new(1, Served::All);
        run(tidegate_policy::build(name, &plan, None).unwrap(), 150, &mut strict);
        assert!(strict.log().count() > 0, "{name}");
        assert!(best_effort(&paying) > 0, "{name}");
        assert_eq!(paying.real_time_left, 0, "{name}");
    }
}

#[test]
fn real_time_does_not_respond_later_when_best_effort_pays() {
    let (_, plan) = busy();
    let careless = || Dqf::new(plan.batch_max, plan.best_effort_fill, plan.queued_max);
    let (paying, not_paying) = (run(Dqf::of(&plan), 150, &mut ()), run(careless(), 150, &mut ()));
    println!("{} and {}", longest(&paying), longest(&not_paying));
    assert!(longest(&paying) <= longest(&not_paying));
    assert!(best_effort(&paying) < best_effort(&not_paying));
    // On a drive that stays within its table, best effort yields nothing.
    assert_eq!(run(Dqf::of(&plan), 100, &mut ()), run(careless(), 100, &mut ()));
}

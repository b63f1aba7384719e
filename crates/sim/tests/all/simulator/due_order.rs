// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Policies by deadline run without a violation; broken ones are caught.

use tidegate_model::parameters::GroupEdfParams;
use tidegate_model::{Intensity, Plan, PolicyName, Workload};
use tidegate_policy::{DqEdf, Dqf, Edf, Fifo, GroupEdf, Policy};
use tidegate_sim::checkers::Breach;

use super::common::{self, TIMES_MS, assert_found, assert_only, load, ms, plan, task, workload};

const BATCH_MAX: u32 = 3;
const FILL: u32 = 2;

/// Returns tasks whose deadlines run against the order of release: the last of five tasks is the
/// most urgent.
fn mixed_workload() -> Workload {
    let mut tasks: Vec<_> = (0..5).map(|_| task("task", 150)).collect();
    for (task, deadline) in tasks.iter_mut().zip([140, 120, 100, 80, 60]) {
        task.deadline = ms(deadline);
    }
    workload(&TIMES_MS, tasks, vec![load("backup", Intensity::Outstanding(6))])
}

/// Returns the breaches that the checkers of `name` find in `canary`, or in the policy itself.
fn breaches_of(name: PolicyName, canary: Option<Box<dyn Policy>>) -> Vec<Breach> {
    let workload = mixed_workload();
    let plan = plan(&workload, BATCH_MAX, FILL);
    let policy = canary.unwrap_or_else(|| tidegate_policy::build(name, &plan, None).unwrap());
    common::breaches_of(&workload, (name, &plan), policy, 30)
}

#[test]
fn policies_by_deadline_are_not_accused() {
    for name in [PolicyName::Edf, PolicyName::ScanEdf, PolicyName::GroupEdf, PolicyName::DqEdf] {
        assert_eq!(breaches_of(name, None), [], "{name}");
    }
}

fn is_later(breach: &Breach) -> bool {
    matches!(breach, Breach::LaterDueFirst { .. })
}

#[test]
fn policy_that_serves_the_oldest_first_is_caught() {
    for name in [PolicyName::Edf, PolicyName::ScanEdf, PolicyName::GroupEdf] {
        assert_found(name, &breaches_of(name, Some(Box::new(Fifo::new(1_000)))), is_later);
    }
    let dqf = Dqf::new(BATCH_MAX, FILL, 1_000);
    assert_found("dqf", &breaches_of(PolicyName::DqEdf, Some(Box::new(dqf))), is_later);
}

/// `scan-edf` is caught if its windows are wider than the checker's, and is not caught if they are
/// equal.
#[test]
fn wider_windows_of_deadlines_are_caught() {
    let workload = mixed_workload();
    let with = |window_ms| {
        let mut plan = plan(&workload, BATCH_MAX, FILL);
        plan.parameters.scan_edf.window = ms(window_ms);
        plan
    };
    let name = PolicyName::ScanEdf;
    let found = |checked: &Plan, followed: &Plan| {
        let policy = tidegate_policy::build(name, followed, None).unwrap();
        common::breaches_of(&workload, (name, checked), policy, 30)
    };
    assert_eq!(found(&with(50), &with(50)), []);
    assert_only(name, &found(&with(0), &with(50)), is_later);
    assert_only(name, &found(&with(50), &with(90)), is_later);
}

/// Earliest deadline first ignores size and place inside a group; a group that spans a whole
/// deadline holds requests of later groups.
#[test]
fn other_groups_of_near_deadlines_are_caught() {
    let name = PolicyName::GroupEdf;
    let out_of_order = |breach: &Breach| matches!(breach, Breach::OutOfGroupOrder { .. });
    assert_only("edf", &breaches_of(name, Some(Box::new(Edf::new(1_000)))), out_of_order);
    let parameters = GroupEdfParams { group_ppm: 1_000_000, ..GroupEdfParams::default() };
    let wider = GroupEdf::new(parameters, &mixed_workload().tasks, 1_000);
    let breaches = breaches_of(name, Some(Box::new(wider)));
    assert_found("wider", &breaches, is_later);
    assert_only("wider", &breaches, |breach| is_later(breach) || out_of_order(breach));
}

#[test]
fn batch_by_deadline_beyond_the_plan_is_caught() {
    for (batch_max, fill) in [(BATCH_MAX + 1, FILL), (BATCH_MAX, FILL + 1)] {
        let canary = Box::new(DqEdf::new(batch_max, fill, 1_000));
        assert_only("dq-edf", &breaches_of(PolicyName::DqEdf, Some(canary)), |breach| {
            matches!(breach, Breach::BatchTooLarge { .. })
        });
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Policies by deadline run without a violation; broken ones are caught.

use tidegate_drive::PseudoDisk;
use tidegate_model::{Intensity, PolicyName, Workload};
use tidegate_policy::{Dqf, Fifo, Policy};
use tidegate_sim::checkers::{Breach, Checkers};
use tidegate_sim::{Length, SimParams, simulate};

use crate::common::{TIMES_MS, load, ms, plan, task, workload};

const BATCH_MAX: u32 = 3;
const FILL: u32 = 2;

/// Deadlines against the order of release: the last of five tasks is the most urgent.
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
    let mut checkers = Checkers::of_policy(name, &plan);
    let policy = canary.unwrap_or_else(|| tidegate_policy::build(name, &plan, None).unwrap());
    let drive = PseudoDisk::new(workload.depth, workload.table.clone(), 1);
    simulate(&SimParams::new(&workload, Length::Jobs(30)), policy, drive, &mut checkers);
    checkers.violations().into_iter().map(|violation| violation.breach).collect()
}

#[test]
fn policies_by_deadline_are_not_accused() {
    for name in [PolicyName::Edf, PolicyName::ScanEdf, PolicyName::GroupEdf, PolicyName::DqEdf] {
        assert_eq!(breaches_of(name, None), [], "{name}");
    }
}

#[test]
fn policy_that_serves_the_oldest_first_is_caught() {
    let dqf = Dqf::new(BATCH_MAX, FILL, 1_000);
    let canaries: [(PolicyName, Box<dyn Policy>); 3] = [
        (PolicyName::Edf, Box::new(Fifo::new(1_000))),
        (PolicyName::ScanEdf, Box::new(Fifo::new(1_000))),
        (PolicyName::DqEdf, Box::new(dqf)),
    ];
    for (name, canary) in canaries {
        let breaches = breaches_of(name, Some(canary));
        let later = |breach: &Breach| matches!(breach, Breach::LaterDueFirst { .. });
        assert!(breaches.iter().any(later), "{name}: {breaches:?}");
    }
}

#[test]
fn batch_by_deadline_beyond_the_plan_is_caught() {
    let too_large = |breach: &Breach| matches!(breach, Breach::BatchTooLarge { .. });
    for (batch_max, fill) in [(BATCH_MAX + 1, FILL), (BATCH_MAX, FILL + 1)] {
        let canary = Box::new(tidegate_policy::DqEdf::new(batch_max, fill, 1_000));
        let breaches = breaches_of(PolicyName::DqEdf, Some(canary));
        assert!(!breaches.is_empty() && breaches.iter().all(too_large), "{breaches:?}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Batches limited by cost under their checkers. The policy has no violation on a drive that keeps
//! its costs and on one that does not; policies with other limits are caught.

use tidegate_drive::PseudoDisk;
use tidegate_model::cost::{CostModel, RequestCost};
use tidegate_model::{BatchCost, Bytes, Intensity, Op, Plan, PolicyName, RequestCharges, Workload};
use tidegate_policy::Dqf;
use tidegate_sim::checkers::{Breach, Checkers};
use tidegate_sim::{Length, SimParams, simulate};

use crate::common::{TIMES_MS, load, ms, plan, task, workload};

/// 1 ms for 4 KiB, 5 ms for 128 KiB, 5 ms for each batch; within b.
fn costs() -> CostModel {
    let read = |kib: u64, time_ms: u64| RequestCost {
        op: Op::Read,
        size: Bytes::from_kib(kib),
        time_max: ms(time_ms),
    };
    CostModel {
        positioning_max: ms(5),
        requests: vec![read(4, 1), read(128, 5)],
        switch_max: None,
        fua_max: None,
        batch_max: None,
        how: None,
        samples: None,
    }
}

/// Tasks of 1, 5, 1, 1, 5 and 1 ms released together, beside small best-effort requests.
fn busy() -> Workload {
    let mut tasks: Vec<_> = (0..6).map(|_| task("small", 60)).collect();
    for task in tasks.iter_mut().skip(1).step_by(3) {
        task.size = Bytes::from_kib(128);
    }
    let mut workload = workload(&TIMES_MS, tasks, vec![load("backup", Intensity::Outstanding(6))]);
    workload.contracts.costs = Some(costs());
    workload
}

/// Returns a plan with Z and F in milliseconds.
fn limited(cost_ms: u64, fill_ms: u64) -> Plan {
    let batch_cost = BatchCost {
        cost_max: ms(cost_ms),
        best_effort_fill: ms(fill_ms),
        charges: RequestCharges::of(&costs(), None),
    };
    Plan { batch_cost: Some(batch_cost), ..plan(&busy(), 4, 4) }
}

/// Returns the breaches that the checkers for Z = 6 ms and F = 3 ms find in the policy of another
/// plan, on a drive whose positioning takes `slower_ms` longer than stated.
fn breaches(policy_plan: &Plan, slower_ms: u64) -> Vec<Breach> {
    let workload = busy();
    let mut checkers = Checkers::of_policy(PolicyName::Dqf, &limited(6, 3));
    let slow = CostModel { positioning_max: ms(5 + slower_ms), ..costs() };
    let (depth, table) = (workload.depth, workload.table.clone());
    let drive = PseudoDisk::with_costs(depth, table, Some(slow), 1);
    let params = SimParams::new(&workload, Length::Jobs(50));
    simulate(&params, Dqf::of(policy_plan), drive, &mut checkers);
    checkers.violations().into_iter().map(|violation| violation.breach).collect()
}

#[test]
fn the_policy_is_not_accused() {
    assert_eq!(breaches(&limited(6, 3), 0), []);
    assert_eq!(breaches(&limited(6, 3), 3), [], "best effort yields on a slow drive");
}

#[test]
fn a_policy_that_lets_batches_cost_more_is_caught() {
    let is_too_dear =
        |breach: &Breach| matches!(breach, Breach::BatchTooDear { cost_ns_max: 6_000_000, .. });
    let by_count = Plan { batch_cost: None, ..limited(6, 3) };
    for other in [limited(8, 3), by_count] {
        let breaches = breaches(&other, 0);
        assert!(breaches.iter().any(is_too_dear), "{breaches:?}");
    }
}

#[test]
fn a_policy_that_cuts_batches_short_is_caught() {
    let breaches = breaches(&limited(5, 3), 0);
    let is_short = |breach: &Breach| matches!(breach, Breach::BatchCutShort { .. });
    assert!(breaches.iter().any(is_short), "{breaches:?}");
}

#[test]
fn a_policy_that_fills_beyond_its_cost_is_caught() {
    let breaches = breaches(&limited(6, 4), 0);
    let is_overfilled =
        |breach: &Breach| matches!(breach, Breach::BatchTooDear { cost_ns_max: 3_000_000, .. });
    assert!(breaches.iter().any(is_overfilled), "{breaches:?}");
}

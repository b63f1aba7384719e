// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Batches limited by cost under their checkers. The policy has no violation on a drive that keeps
//! its costs and on one that does not; policies with other limits are caught.

use tidegate_drive::PseudoDisk;
use tidegate_model::cost::{CostModel, RequestCost};
use tidegate_model::{
    BatchCost, Bytes, Class, Intensity, Op, Outcome, Plan, PolicyName, Request, RequestCharges,
    Workload,
};
use tidegate_policy::Dqf;
use tidegate_sim::Observer as _;
use tidegate_sim::checkers::{Breach, Served, WorkConservation};

use super::common::{
    TIMES_MS, assert_found, at, breaches_on, found, load, ms, plan, request, table, task, workload,
};

/// Returns costs of 1 ms for a read of 4 KiB, 5 ms for 128 KiB, and 5 ms for each batch; they are
/// within b.
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

/// Returns tasks with requests of 1, 5, 1, 1, 5 and 1 ms that are released together, beside small
/// best-effort requests.
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
    let slow = CostModel { positioning_max: ms(5 + slower_ms), ..costs() };
    let (depth, table) = (workload.depth, workload.table.clone());
    let drive = PseudoDisk::with_costs(depth, table, Some(slow), 1);
    let promised = (PolicyName::Dqf, &limited(6, 3));
    breaches_on(drive, &workload, promised, Dqf::of(policy_plan), 50)
}

#[test]
fn the_policy_is_not_accused() {
    assert_eq!(breaches(&limited(6, 3), 0), []);
    assert_eq!(breaches(&limited(6, 3), 3), [], "best effort yields on a slow drive");
}

#[test]
fn policies_with_other_limits_are_caught() {
    let is_too_dear = |breach: &Breach, limit_ms: u64| match *breach {
        Breach::BatchTooDear { cost_ns_max, .. } => cost_ns_max == limit_ms * 1_000_000,
        _ => false,
    };
    let by_count = Plan { batch_cost: None, ..limited(6, 3) };
    for (case, other) in [("Z of 8 ms", limited(8, 3)), ("no Z", by_count)] {
        assert_found(case, &breaches(&other, 0), |breach| is_too_dear(breach, 6));
    }
    let overfilled = breaches(&limited(6, 4), 0);
    assert_found("F of 4 ms", &overfilled, |breach| is_too_dear(breach, 3));
    let cut_short = breaches(&limited(5, 3), 0);
    let is_short = |breach: &Breach| matches!(breach, Breach::BatchCutShort { .. });
    assert_found("Z of 5 ms", &cut_short, is_short);
}

/// A batch of one read of 4 KiB takes 6 ms at most: 5 ms to position and 1 ms for the read. Idling
/// is allowed only after a batch that took longer.
#[test]
fn idling_after_a_batch_within_its_cost_is_caught() {
    let small = |id| Request { size: Bytes::from_kib(4), ..request(id, 0, Class::BestEffort) };
    let after = |ended_ms| {
        let checker = WorkConservation::new(1, Served::All).with_overruns(table(&TIMES_MS));
        let mut checker = checker.with_costs(limited(6, 3).batch_cost);
        checker.released(at(0), &small(0));
        checker.released(at(0), &small(1));
        checker.dispatched(at(0), &[small(0)]);
        checker.completed(at(ended_ms), &small(0), Outcome::Done);
        checker.settled(at(ended_ms));
        found(&checker)
    };
    assert_eq!(after(7), [], "a millisecond late");
    assert_eq!(after(6), [Breach::RoomUnused { queued_count: 1, in_flight_count: 0 }]);
}

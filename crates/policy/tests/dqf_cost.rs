// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: dual-queue FIFO with batches limited by cost forms the right batches, fills them, and
//! notices when they are late. Method: driven by hand. A read of 4 KiB costs 1 ms, a read of 1 MiB
//! 10 ms, and each batch another 5 ms; writes have no known cost. Unless stated otherwise, Z is 12
//! ms, F 10 ms and z 8.

#[path = "common/plain.rs"]
mod plain;

use plain::{at, complete, request};
use tidegate_model::cost::{CostModel, RequestCost};
use tidegate_model::{
    BatchCost, BatchTable, Bytes, Class, Duration, Op, Plan, Request, RequestCharges, RequestId,
    Time, Workload,
};
use tidegate_policy::{Decision, DqEdf, Dqf, DqfElastic, Event, Policy};

const HARD: Class = Class::Hard;
const BEST_EFFORT: Class = Class::BestEffort;

fn charges() -> RequestCharges {
    let read = |kib: u64, ms: u64| RequestCost {
        op: Op::Read,
        size: Bytes::from_kib(kib),
        time_max: Duration::from_ms(ms),
    };
    let costs = CostModel {
        positioning_max: Duration::from_ms(5),
        requests: vec![read(4, 1), read(1024, 10)],
        switch_max: None,
        fua_max: None,
        batch_max: None,
        how: None,
        samples: None,
    };
    RequestCharges::of(&costs, None)
}

/// Returns a plan with z = 8 and b(n) = 15 n ms.
fn plan(batch_cost: Option<(u64, u64)>) -> Plan {
    let times: Vec<Duration> = (1..=8).map(|n| Duration::from_ms(15 * n)).collect();
    let workload = Workload::new("test", 8, BatchTable::new(&times).unwrap());
    let batch_cost = batch_cost.map(|(cost_ms, fill_ms)| BatchCost {
        cost_max: Duration::from_ms(cost_ms),
        best_effort_fill: Duration::from_ms(fill_ms),
        charges: charges(),
    });
    Plan { best_effort_fill: 8, batch_cost, ..Plan::of(&workload) }
}

fn policy() -> Dqf {
    Dqf::of(&plan(Some((12, 10))))
}

/// Releases requests with these ids and sizes.
fn release(policy: &mut impl Policy, class: Class, requests: &[(u64, u64)]) {
    for &(id, kib) in requests {
        let request = Request { size: Bytes::from_kib(kib), ..request(id, class) };
        policy.observe(at(0), Event::Release(request)).unwrap();
    }
}

/// Returns all dispatches of one round of `decide`: one batch.
fn round(policy: &mut impl Policy, now: Time) -> Vec<u64> {
    let mut batch = Vec::new();
    while let Decision::Dispatch { id, .. } = policy.decide(now) {
        batch.push(id.0);
    }
    batch
}

#[test]
fn a_batch_is_the_longest_prefix_within_its_cost() {
    let mut policy = policy();
    // 1 + 10 + 1 is Z: the next request does not fit.
    release(&mut policy, HARD, &[(1, 4), (2, 1024), (3, 4), (4, 4), (5, 1024), (6, 1024)]);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3]);
    complete(&mut policy, at(1), [1, 2, 3]);
    assert_eq!(round(&mut policy, at(1)), [4, 5]);
    complete(&mut policy, at(2), [4, 5]);
    assert_eq!(round(&mut policy, at(2)), [6]);
}

#[test]
fn nothing_overtakes_what_does_not_fit() {
    let mut policy = policy();
    release(&mut policy, HARD, &[(1, 1024), (2, 1024), (3, 4)]);
    assert_eq!(round(&mut policy, at(0)), [1], "the small one waits behind the large one");
}

#[test]
fn z_still_limits_the_count() {
    let mut policy = policy();
    let small: Vec<(u64, u64)> = (1..=10).map(|id| (id, 4)).collect();
    release(&mut policy, HARD, &small);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn one_request_goes_whatever_it_costs() {
    let mut policy = Dqf::of(&plan(Some((8, 0))));
    release(&mut policy, HARD, &[(1, 1024), (2, 4)]);
    assert_eq!(round(&mut policy, at(0)), [1]);
}

/// A request larger than every known size fills a batch, because its cost is unknown.
#[test]
fn a_request_of_unknown_cost_goes_alone() {
    let mut policy = policy();
    release(&mut policy, HARD, &[(1, 2048), (2, 4)]);
    assert_eq!(round(&mut policy, at(0)), [1]);
}

/// A size between two known sizes costs as much as the larger one.
#[test]
fn a_size_between_costs_as_the_next_larger() {
    let mut policy = policy();
    release(&mut policy, HARD, &[(1, 8), (2, 8)]);
    assert_eq!(round(&mut policy, at(0)), [1]);
}

#[test]
fn best_effort_fills_up_to_its_cost() {
    let mut policy = policy();
    // 3 of 10 ms are taken: seven of the ten small requests fit.
    let small: Vec<(u64, u64)> = (101..=110).map(|id| (id, 4)).collect();
    release(&mut policy, BEST_EFFORT, &small);
    release(&mut policy, HARD, &[(1, 4), (2, 4), (3, 4)]);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3, 101, 102, 103, 104, 105], "z is 8");
    complete(&mut policy, at(1), [1, 2, 3, 101, 102, 103, 104, 105]);
    assert_eq!(round(&mut policy, at(1)), [106, 107, 108, 109, 110]);
}

#[test]
fn a_batch_that_costs_the_fill_carries_no_best_effort() {
    let mut policy = policy();
    release(&mut policy, BEST_EFFORT, &[(101, 4)]);
    release(&mut policy, HARD, &[(1, 1024)]);
    assert_eq!(round(&mut policy, at(0)), [1]);
    complete(&mut policy, at(1), [1]);
    assert_eq!(round(&mut policy, at(1)), [101]);
}

/// A large best-effort request waits for a batch with room, and no other best effort overtakes it.
#[test]
fn best_effort_keeps_its_order() {
    let mut policy = policy();
    release(&mut policy, BEST_EFFORT, &[(101, 1024), (102, 4)]);
    release(&mut policy, HARD, &[(1, 4)]);
    assert_eq!(round(&mut policy, at(0)), [1]);
    complete(&mut policy, at(1), [1]);
    assert_eq!(round(&mut policy, at(1)), [101]);
}

/// Goal: a batch that leaves real-time requests waiting holds no best effort. Method: a batch cut
/// at a cost of 1 ms leaves 9 ms of F.
#[test]
fn a_batch_that_leaves_a_task_waiting_carries_no_best_effort() {
    let mut policy = Dqf::of(&plan(Some((10, 10))));
    release(&mut policy, BEST_EFFORT, &[(101, 4)]);
    release(&mut policy, HARD, &[(1, 4), (2, 1024)]);
    assert_eq!(round(&mut policy, at(0)), [1]);
}

#[test]
fn what_is_cancelled_costs_nothing() {
    let mut policy = policy();
    release(&mut policy, HARD, &[(1, 4), (2, 1024), (3, 1024)]);
    policy.observe(at(0), Event::Cancel(RequestId(2))).unwrap();
    assert_eq!(round(&mut policy, at(0)), [1, 3]);
}

/// Goal: a new plan charges queued requests anew, and may start or stop limiting costs.
#[test]
fn a_new_plan_limits_what_is_already_queued() {
    let mut policy = Dqf::of(&plan(None));
    release(&mut policy, HARD, &(1..=12).map(|id| (id, 1024)).collect::<Vec<_>>());
    let reconfigure = |policy: &mut Dqf, plan: Plan| {
        policy.observe(at(1), Event::Reconfigure(Box::new(plan))).unwrap();
    };
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3, 4, 5, 6, 7, 8], "by count");
    reconfigure(&mut policy, plan(Some((12, 0))));
    complete(&mut policy, at(1), 1..=8);
    assert_eq!(round(&mut policy, at(1)), [9]);
    reconfigure(&mut policy, plan(Some((20, 0))));
    complete(&mut policy, at(2), [9]);
    assert_eq!(round(&mut policy, at(2)), [10, 11]);
    reconfigure(&mut policy, plan(None));
    complete(&mut policy, at(3), [10, 11]);
    assert_eq!(round(&mut policy, at(3)), [12]);
}

/// Two requests of 1 ms each and A make 7 ms, where b(2) is 30 ms. The batch is 3 ms late, so best
/// effort waits for 3 ms.
#[test]
fn a_batch_is_late_by_its_costs() {
    let mut policy = policy();
    release(&mut policy, HARD, &[(1, 4), (2, 4)]);
    assert_eq!(round(&mut policy, at(0)), [1, 2]);
    release(&mut policy, BEST_EFFORT, &[(101, 4)]);
    complete(&mut policy, at(10), [1, 2]);
    assert_eq!(policy.decide(at(10)), Decision::NotBefore(at(13)));
    assert_eq!(round(&mut policy, at(13)), [101]);
    // A and 1 ms: on time.
    release(&mut policy, BEST_EFFORT, &[(102, 4)]);
    complete(&mut policy, at(19), [101]);
    assert_eq!(round(&mut policy, at(19)), [102]);
}

/// Cost limits the batches of `dqf` only: `dqf-elastic` and `dq-edf` are proved by count, whatever
/// the plan says.
#[test]
fn other_dual_queue_policies_batch_by_count() {
    let limited = plan(Some((12, 10)));
    let all: Vec<(u64, u64)> = (0..5).map(|id| (id, 1024)).collect();
    let batch = |mut policy: Box<dyn Policy>| {
        policy.observe(at(0), Event::Reconfigure(Box::new(limited.clone()))).unwrap();
        release(&mut policy, HARD, &all);
        round(&mut policy, at(0))
    };
    assert_eq!(batch(Box::new(DqfElastic::new(&limited))), [0, 1, 2, 3, 4]);
    assert_eq!(batch(Box::new(DqEdf::of(&limited))), [0, 1, 2, 3, 4]);
    assert_eq!(batch(Box::new(Dqf::of(&limited))), [0]);
}

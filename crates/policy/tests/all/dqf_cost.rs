// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: dual-queue FIFO with batches limited by cost forms the right batches, fills them, and
//! notices when they are late. Method: driven by hand. A read of 4 KiB costs 1 ms, a read of 1 MiB
//! 10 ms, and each batch another 5 ms; writes have no known cost. Unless stated otherwise, Z is
//! 12 ms, F 10 ms and z 8.

use crate::common::plain::at;
use crate::common::script::play;
use tidegate_model::cost::{CostModel, RequestCost};
use tidegate_model::{BatchCost, BatchTable, Bytes, Duration, Op, Plan, RequestCharges, Workload};
use tidegate_policy::{DqEdf, Dqf, DqfElastic, Event, Policy};

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

#[test]
fn a_batch_is_the_longest_prefix_within_its_cost() {
    play(
        &mut policy(),
        // 1 + 10 + 1 is Z: the next request does not fit.
        "0: hard 1 kib 4, hard 2 kib 1024, hard 3 4 kib 4, hard 5 6 kib 1024, sends 1 2 3
         1: done 1 2 3, sends 4 5
         2: done 4 5, sends 6",
    );
}

/// The small request waits behind the large one.
#[test]
fn nothing_overtakes_what_does_not_fit() {
    play(&mut policy(), "0: hard 1 2 kib 1024, hard 3 kib 4, sends 1");
}

#[test]
fn z_still_limits_the_count() {
    play(&mut policy(), "0: hard 1..=10 kib 4, sends 1..=8");
}

/// A request that costs more than Z is sent alone. So is a request larger than every known size:
/// its cost is unknown, so it fills a batch.
#[test]
fn one_request_goes_whatever_it_costs() {
    play(&mut Dqf::of(&plan(Some((8, 0)))), "0: hard 1 kib 1024, hard 2 kib 4, sends 1");
    play(&mut policy(), "0: hard 1 kib 2048, hard 2 kib 4, sends 1");
}

/// A size between two known sizes costs as much as the larger one.
#[test]
fn a_size_between_costs_as_the_next_larger() {
    play(&mut policy(), "0: hard 1 2 kib 8, sends 1");
}

/// 3 of 10 ms are taken: by cost, seven of the ten small requests fit, but by count (z = 8) only
/// five.
#[test]
fn best_effort_fills_up_to_its_cost() {
    play(
        &mut policy(),
        "0: best-effort 101..=110 kib 4, hard 1 2 3 kib 4, sends 1 2 3 101..=105
         1: done 1 2 3 101..=105, sends 106..=110",
    );
}

#[test]
fn a_batch_that_costs_the_fill_carries_no_best_effort() {
    play(
        &mut policy(),
        "0: best-effort 101 kib 4, hard 1 kib 1024, sends 1
         1: done 1, sends 101",
    );
}

/// A large best-effort request waits for a batch with room, and no other best effort overtakes it.
#[test]
fn best_effort_keeps_its_order() {
    play(
        &mut policy(),
        "0: best-effort 101 kib 1024, best-effort 102 kib 4, hard 1 kib 4, sends 1
         1: done 1, sends 101",
    );
}

/// Goal: a batch that leaves real-time requests waiting holds no best effort. Method: a batch cut
/// at a cost of 1 ms leaves 9 ms of F.
#[test]
fn a_batch_that_leaves_a_task_waiting_carries_no_best_effort() {
    play(
        &mut Dqf::of(&plan(Some((10, 10)))),
        "0: best-effort 101 kib 4, hard 1 kib 4, hard 2 kib 1024, sends 1",
    );
}

#[test]
fn what_is_cancelled_costs_nothing() {
    play(&mut policy(), "0: hard 1 kib 4, hard 2 3 kib 1024, cancel 2, sends 1 3");
}

/// Goal: a new plan recomputes the charges of queued requests, and may start or stop limiting
/// costs.
#[test]
fn a_new_plan_limits_what_is_already_queued() {
    let mut policy = Dqf::of(&plan(None));
    play(&mut policy, "0: hard 1..=12 kib 1024, sends 1..=8"); // by count
    for (batch_cost, script) in [
        (Some((12, 0)), "1: done 1..=8, sends 9"),
        (Some((20, 0)), "2: done 9, sends 10 11"),
        (None, "3: done 10 11, sends 12"),
    ] {
        policy.observe(at(1), Event::Reconfigure(Box::new(plan(batch_cost)))).unwrap();
        play(&mut policy, script);
    }
}

/// Two requests of 1 ms each and A make 7 ms, where b(2) is 30 ms. The batch is 3 ms late, so best
/// effort waits for 3 ms.
#[test]
fn a_batch_is_late_by_its_costs() {
    play(
        &mut policy(),
        "0: hard 1 2 kib 4, sends 1 2, best-effort 101 kib 4
         10: done 1 2, not-before 13
         13: sends 101, best-effort 102 kib 4
         19: done 101, sends 102    // A and 1 ms: on time",
    );
}

/// Cost limits the batches of `dqf` only: `dqf-elastic` and `dq-edf` are proved by count, whatever
/// the plan says.
#[test]
fn other_dual_queue_policies_batch_by_count() {
    let limited = plan(Some((12, 10)));
    let policies: [(Box<dyn Policy>, &str); 3] = [
        (Box::new(DqfElastic::new(&limited)), "0..=4"),
        (Box::new(DqEdf::of(&limited)), "0..=4"),
        (Box::new(Dqf::of(&limited)), "0"),
    ];
    for (mut policy, batch) in policies {
        policy.observe(at(0), Event::Reconfigure(Box::new(limited.clone()))).unwrap();
        play(&mut policy, &format!("0: hard 0..=4 kib 1024, sends {batch}"));
    }
}

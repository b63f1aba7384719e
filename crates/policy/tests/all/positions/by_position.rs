// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the policies that order by position serve requests in the right order. Method: driven by
//! hand.

use tidegate_model::{
    AccessTime, BatchTable, BestEffortOrder, Class, Duration, Lba, Plan, PolicyName, Request,
    RequestId, Target, Time, Workload,
};
use tidegate_policy::{BuildError, ByPosition, Decision, Event, Full, Policy, Rule, Satf};

use crate::common::plain::{at, complete, request};

/// A disk whose cylinders have a thousand sectors each, and whose heads cross one cylinder in a
/// millisecond; the angle is the sector's number on its cylinder.
#[derive(Debug)]
struct Cylinders {
    heads_at: u32,
}

impl AccessTime for Cylinders {
    fn target(&self, request: &Request) -> Target {
        let (start, sectors) = (request.start, request.size.sectors_ceil());
        let cylinder = u32::try_from(start.get() / 1_000).unwrap();
        let angle = start.get() % 1_000;
        Target { start, sectors, op: request.op, cylinder, head: 0, angle, span: sectors }
    }
    fn advance(&mut self, _now: Time) {}
    fn access(&self, target: &Target) -> Duration {
        let seek = Duration::from_ms(u64::from(target.cylinder.abs_diff(self.heads_at)));
        seek + Duration::from_us(target.angle)
    }
    fn service(&self, target: &Target) -> Option<Duration> {
        Some(self.access(target) + Duration::from_ms(1))
    }
    fn dispatched(&mut self, _now: Time, target: &Target) {
        self.heads_at = target.cylinder;
    }
    fn completed(&mut self, _now: Time, _target: &Target) {}
}

fn disk() -> Box<dyn AccessTime> {
    Box::new(Cylinders { heads_at: 0 })
}

fn release_at(policy: &mut impl Policy, id: u64, start: u64) -> Result<(), Full> {
    let request = Request { start: Lba::new(start), ..request(id, Class::BestEffort) };
    policy.observe(at(0), Event::Release(request))
}

/// Serves every queued request and returns the order.
fn served(policy: &mut impl Policy) -> Vec<u64> {
    let mut order = Vec::new();
    while let Decision::Dispatch { id, .. } = policy.decide(at(0)) {
        assert_eq!(policy.decide(at(0)), Decision::AwaitEvent, "one at a time");
        complete(policy, at(0), [id.0]);
        order.push(id.0);
    }
    order
}

/// Returns the order of requests 1, 2, .. at these positions.
fn order_of(mut policy: impl Policy, starts: &[u64]) -> Vec<u64> {
    for (id, &start) in (1..).zip(starts) {
        release_at(&mut policy, id, start).unwrap();
    }
    served(&mut policy)
}

fn by(rule: Rule) -> ByPosition {
    ByPosition::new(rule, Some(disk()), 64)
}

/// The first sectors of requests 1 to 5, on cylinders 5, 9, 4, 1 and 5.
const STARTS: [u64; 5] = [5_000, 9_000, 4_000, 1_000, 5_500];

#[test]
fn sstf_serves_the_nearest_first_and_of_one_cylinder_the_oldest() {
    assert_eq!(order_of(by(Rule::Nearest), &STARTS), [4, 3, 1, 5, 2]);
}

/// When no request is ahead, SCAN turns and C-LOOK continues from the lowest.
#[test]
fn sweeps_end_where_nothing_is_ahead() {
    for (rule, order) in [(Rule::BothWays, [3, 5, 2, 4]), (Rule::OneWay, [3, 5, 4, 2])] {
        let mut policy = by(rule);
        release_at(&mut policy, 1, 5_000).unwrap();
        assert_eq!(served(&mut policy), [1]);
        for (id, start) in [(2, 4_000), (3, 7_000), (4, 1_000), (5, 9_000)] {
            release_at(&mut policy, id, start).unwrap();
        }
        assert_eq!(served(&mut policy), order);
    }
}

/// Goal: without a model a position is a sector number, and after a request the heads are at its
/// last sector's end: the request that continues there is nearest.
#[test]
fn without_a_model_sectors_count() {
    let starts = [1_000, 900 + 256, 900];
    assert_eq!(order_of(ByPosition::new(Rule::Nearest, None, 8), &starts), [3, 2, 1]);
    assert_eq!(order_of(ByPosition::new(Rule::OneWay, None, 8), &[999, 5_000, 2_000]), [1, 3, 2]);
}

#[test]
fn satf_serves_what_is_reached_first() {
    let policy = Satf::new(disk(), 8);
    // The requests are reached on cylinder 1 after 1.9 ms, on cylinder 2 after 2.1 ms, and on
    // cylinder 1 after 1.1 ms.
    assert_eq!(order_of(policy, &[1_900, 2_100, 1_100]), [3, 1, 2]);
}

/// Goal: a full queue refuses and loses nothing; cancelled requests are forgotten.
#[test]
fn queues_are_bounded_and_cancelled_requests_are_forgotten() {
    fn check(mut policy: impl Policy) {
        for id in 1..=3 {
            release_at(&mut policy, id, id * 1_000).unwrap();
        }
        assert_eq!(release_at(&mut policy, 4, 0), Err(Full));
        policy.observe(at(0), Event::Cancel(RequestId(2))).unwrap();
        policy.observe(at(0), Event::Cancel(RequestId(77))).unwrap();
        assert_eq!(served(&mut policy), [1, 3]);
    }
    for rule in [Rule::Nearest, Rule::BothWays, Rule::OneWay] {
        check(ByPosition::new(rule, Some(disk()), 3));
    }
    check(Satf::new(disk(), 3));
}

#[test]
fn policies_that_need_a_model_say_so() {
    let table = BatchTable::new(&[Duration::from_ms(10)]).unwrap();
    let plan = Plan::of(&Workload::new("test", 1, table));
    for policy in [PolicyName::Satf, PolicyName::Das] {
        let refused = tidegate_policy::build(policy, &plan, None).err();
        assert_eq!(refused, Some(BuildError::AccessTimeUnknown { policy }));
        assert!(tidegate_policy::build(policy, &plan, Some(disk())).is_ok());
    }
    for policy in [PolicyName::Sstf, PolicyName::Scan, PolicyName::CLook] {
        assert!(tidegate_policy::build(policy, &plan, None).is_ok());
    }
}

/// Returns the plan of a drive with a depth of 4 that drains as fast as it serves batches.
fn ordered(order: BestEffortOrder) -> Plan {
    let table = BatchTable::new(&[1, 2, 3, 4].map(Duration::from_ms)).unwrap();
    let workload = Workload::new("test", 4, table.clone());
    let mut plan = Plan { best_effort_order: order, ..Plan::of(&workload) };
    (plan.best_effort_fill, plan.contracts.drain) = (4, Some(table));
    plan
}

/// The policies that serve best effort in an order of its own.
fn in_order() -> impl Iterator<Item = PolicyName> {
    PolicyName::ALL.into_iter().filter(|name| name.facts().best_effort.has_order())
}

/// Serves every queued request, however many at a time, and returns the order.
fn drained(policy: &mut Box<dyn Policy>) -> Vec<u64> {
    let (mut order, mut round) = (Vec::new(), Vec::new());
    loop {
        match policy.decide(at(0)) {
            Decision::Dispatch { id, .. } => round.push(id.0),
            _ if round.is_empty() => return order,
            _ => {
                complete(policy, at(0), round.iter().copied());
                order.append(&mut round);
            }
        }
    }
}

/// Goal: each order is the same in every policy that holds best effort back. Method: five requests
/// are queued at the same time.
#[test]
fn every_policy_serves_best_effort_in_its_order() {
    let orders = [
        (BestEffortOrder::Fifo, [1, 2, 3, 4, 5]),
        (BestEffortOrder::Elevator, [4, 3, 1, 5, 2]),
        (BestEffortOrder::Nearest, [4, 3, 1, 5, 2]),
    ];
    for name in in_order() {
        for (order, expected) in orders {
            let mut policy = tidegate_policy::build(name, &ordered(order), None).unwrap();
            for (id, start) in (1..).zip(STARTS) {
                release_at(&mut policy, id, start).unwrap();
            }
            assert_eq!(drained(&mut policy), expected, "{name}, {order}");
        }
        // The requests are reached on cylinder 1 after 1.9 ms, on cylinder 2 after 2.1 ms, and on
        // cylinder 1 after 1.1 ms.
        let mut policy =
            tidegate_policy::build(name, &ordered(BestEffortOrder::Satf), Some(disk())).unwrap();
        for (id, start) in [(1, 1_900), (2, 2_100), (3, 1_100)] {
            release_at(&mut policy, id, start).unwrap();
        }
        assert_eq!(drained(&mut policy), [3, 1, 2], "{name}");
    }
}

#[test]
fn order_by_access_time_needs_a_model() {
    for name in in_order() {
        let built = tidegate_policy::build(name, &ordered(BestEffortOrder::Satf), None);
        assert!(matches!(built, Err(BuildError::OrderUnknown { .. })), "{name}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Orders of best effort: an adversary reaches the bound on waiting and never exceeds it, and an
//! order other than the promised one is caught.

use proptest::prelude::*;
use tidegate_model::{
    BestEffortOrder, Class, Intensity, Lba, Outcome, Plan, PolicyName, Request, RequestId, Task,
    Workload,
};
use tidegate_policy::{Decision, Event, Policy};
use tidegate_sim::checkers::Breach;
use tidegate_sim::{Length, SimParams};

use super::common::{
    self, SIZE, TIMES_MS, assert_found, at, breaches, disk, load, ms, plan, task, workload,
};

/// Policies whose best effort has an order, and which need no drain times.
const NAMES: [PolicyName; 7] = [
    PolicyName::Edf,
    PolicyName::Dqf,
    PolicyName::DqfElastic,
    PolicyName::DqEdf,
    PolicyName::Rtio,
    PolicyName::RtioLimit,
    PolicyName::RtioPriority,
];

fn ordered(workload: &Workload, order: BestEffortOrder) -> Plan {
    Plan { best_effort_order: order, best_effort_depth: 2, ..plan(workload, 3, 2) }
}

/// Best effort that a policy serves one at a time, and the number of requests served.
struct Served {
    policy: Box<dyn Policy>,
    next_id: u64,
    count: u64,
}

impl Served {
    fn new(order: BestEffortOrder) -> Self {
        let workload = workload(&TIMES_MS, vec![], vec![load("all", Intensity::Outstanding(1))]);
        let plan = ordered(&workload, order);
        let policy = tidegate_policy::build(PolicyName::Edf, &plan, None).unwrap();
        Self { policy, next_id: 0, count: 0 }
    }

    fn release(&mut self, sector: u64) -> RequestId {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        let plain = Request::plain(id, Class::BestEffort, SIZE);
        let request = Request { start: Lba::new(sector), ..plain };
        self.policy.observe(at(0), Event::Release(request)).unwrap();
        id
    }

    fn serve(&mut self) -> RequestId {
        let Decision::Dispatch { id, .. } = self.policy.decide(at(0)) else { panic!("queued") };
        self.policy.observe(at(0), Event::Complete { id, outcome: Outcome::Done }).unwrap();
        self.count += 1;
        id
    }
}

/// Goal: the bound on waiting is exact. Method: the adversary of `docs/theory/draining.md` section
/// 29. With Q requests always queued, it lets the victim arrive just behind the heads and just
/// below the end of the next sweep, and sends every newcomer ahead of it.
#[test]
fn adversary_reaches_the_elevators_bound() {
    for queued in [1_u64, 2, 3, 10] {
        let mut served = Served::new(BestEffortOrder::Elevator);
        served.release(10_000);
        for _ in 1..queued {
            served.release(20_000);
        }
        served.serve();
        let victim = served.release(9_000);
        let before = served.count;
        let mut newcomers = 0;
        while served.serve() != victim {
            // A newcomer joins the running sweep while newcomers are allowed; later newcomers lie
            // below the victim.
            served.release(if newcomers < queued { 20_000 } else { 100 });
            newcomers += 1;
        }
        let overtaken_by = served.count - before - 1;
        let bound = BestEffortOrder::Elevator.overtaken_max(queued).unwrap();
        assert_eq!(overtaken_by, bound, "{queued} queued");
    }
}

proptest! {
    /// Goal: no request waits for more others than the bound says, whatever arrives. Method: random
    /// arrivals at few positions, so that many are equal.
    #[test]
    fn elevators_never_exceed_the_bound(
        arrivals in prop::collection::vec((0_u64..6, 0_u64..40), 1..300),
    ) {
        let mut served = Served::new(BestEffortOrder::Elevator);
        let mut waiting = std::collections::BTreeMap::new();
        let mut most = 0;
        for (count, sector) in arrivals {
            for extra in 0..count % 3 {
                waiting.insert(served.release((sector * 7 + extra * 13) % 40), served.count);
            }
            most = most.max(waiting.len() as u64);
            if count < 5 && !waiting.is_empty() {
                let before = waiting.remove(&served.serve()).unwrap();
                let bound = BestEffortOrder::Elevator.overtaken_max(most).unwrap();
                prop_assert!(served.count - 1 - before <= bound);
            }
        }
    }
}

/// A busy workload: best effort is always queued, and real time is due often.
fn busy() -> Workload {
    let offset = |number: u64| Task { offset: ms(7 * number), ..task("task", 200) };
    workload(&TIMES_MS, (0..3).map(offset).collect(), vec![load("all", Intensity::Outstanding(30))])
}

#[test]
fn each_order_keeps_its_promises_and_no_other_orders() {
    let workload = busy();
    let orders = [BestEffortOrder::Fifo, BestEffortOrder::Elevator, BestEffortOrder::Nearest];
    for name in NAMES {
        for promised in orders {
            for order in orders {
                let policy = tidegate_policy::build(name, &ordered(&workload, order), None);
                let promise = (name, &ordered(&workload, promised));
                let found = common::breaches_of(&workload, promise, policy.unwrap(), 50);
                let case = format!("{name}, {order} as {promised}");
                if order == promised {
                    assert_eq!(found, [], "{case}");
                } else {
                    let is_order = |breach: &Breach| {
                        matches!(breach, Breach::OutOfPosition { .. } | Breach::Overtaken { .. })
                    };
                    assert_found(case, &found, is_order);
                }
            }
        }
    }
}

/// Goal: an order that starves is caught where waiting is bounded. Method: two loads; one, at the
/// beginning of the drive, keeps the heads there.
#[test]
fn starving_order_is_caught() {
    let workload = busy();
    for name in NAMES {
        let nearest = ordered(&workload, BestEffortOrder::Nearest);
        let policy = tidegate_policy::build(name, &nearest, None).unwrap();
        let promise = ordered(&workload, BestEffortOrder::Elevator);
        let mut checkers = tidegate_sim::checkers::Checkers::default();
        checkers.add(tidegate_sim::checkers::BoundedWait::new(
            promise.best_effort_order,
            promise.queued_max,
        ));
        let params = SimParams::new(&workload, Length::Jobs(400));
        tidegate_sim::simulate(&params, policy, disk(&workload), &mut checkers);
        let starved = |breach: &Breach| matches!(breach, Breach::WaitedTooLong { .. });
        assert_found(name, &breaches(&checkers), starved);
    }
}

/// Goal: a policy that asks an empty queue does not end the sweep. Method: the queue runs empty
/// between sparse arrivals, some of them ahead of the last request.
#[test]
fn empty_queue_ends_no_sweep() {
    let mut served = Served::new(BestEffortOrder::Elevator);
    for sector in [100, 200] {
        served.release(sector);
    }
    served.serve();
    served.serve();
    assert_eq!(served.policy.decide(at(0)), Decision::AwaitEvent);
    let [below, above] = [50, 300].map(|sector| served.release(sector));
    assert_eq!([served.serve(), served.serve()], [above, below]);
}

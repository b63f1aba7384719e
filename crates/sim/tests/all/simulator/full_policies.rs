// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Policies with a full queue: the host holds the refused requests, in order, with their release.

use tidegate_drive::builtin;
use tidegate_model::{Class, Intensity, Outcome, Plan, PolicyName, Request, Task};
use tidegate_policy::{Decision, Event, Policy};
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{Length, SimParams};

use super::common::{Recorder, TIMES_MS, at, load, ms, plan, request, run, table, task, workload};

/// Goal: a small queue in the policy does not change the order or the times of service of FIFO
/// policies. Method: the same overload with room for one request and for all, real time and best
/// effort mixed.
#[test]
fn fifo_order_does_not_depend_on_the_room_in_the_policy() {
    let burst = Task { requests: 7, offset: ms(3), ..task("burst", 60) };
    let loads = vec![load("backup", Intensity::Outstanding(9))];
    let workload = workload(&TIMES_MS, vec![task("a", 20), burst], loads);
    let params = SimParams::new(&workload, Length::Jobs(20));
    for name in [PolicyName::Fifo, PolicyName::Noop] {
        let completions = |queued_max| {
            let plan = Plan { queued_max, ..plan(&workload, 4, 4) };
            let mut watch = (Recorder::default(), Checkers::of_policy(name, &plan));
            let run = run(&params, name, &plan, &mut watch);
            assert_eq!(watch.1.violations(), [], "{name} with room for {queued_max}");
            assert_eq!(run.real_time_left, 0);
            watch.0.completions()
        };
        let expected = completions(Plan::QUEUED_MAX_DEFAULT);
        assert_eq!(completions(1), expected, "{name}");
        assert_eq!(completions(5), expected, "{name}");
    }
}

/// Best effort that fills its queue takes no room from real time.
#[test]
fn full_best_effort_queue_does_not_hold_up_real_time() {
    let loads = vec![load("backup", Intensity::Outstanding(50))];
    let workload = workload(&TIMES_MS, vec![task("a", 100), task("b", 100)], loads);
    let params = SimParams::new(&workload, Length::Jobs(20));
    let plan = Plan { queued_max: 2, ..plan(&workload, 4, 2) };
    let mut checkers = Checkers::of_policy(PolicyName::Dqf, &plan);
    let run = run(&params, PolicyName::Dqf, &plan, &mut checkers);
    assert_eq!(checkers.violations(), []);
    for task in run.metrics.tasks() {
        assert_eq!((task.jobs(), task.misses), (20, 0));
        // A batch of two may be in service, and the tasks' batch holds two requests: b(2) + b(2).
        assert!(task.responses.max().unwrap() <= ms(32));
    }
}

/// Returns the number of requests of a class that a policy takes, at most 20.
fn taken(policy: &mut dyn Policy, ids: &mut impl Iterator<Item = u64>, class: Class) -> usize {
    let due = (class == Class::Hard).then_some(at(1_000));
    let mut offer = |id| {
        let request = Request { due, ..request(id, 0, class) };
        policy.observe(at(0), Event::Release(request)).is_ok()
    };
    ids.take(20).take_while(|&id| offer(id)).count()
}

/// Returns the plan with room for `queued_max` requests of each class, on a drive with drain times.
fn bounded(queued_max: u32) -> Plan {
    let mut workload = workload(&TIMES_MS, vec![task("a", 20)], Vec::new());
    workload.contracts.drain = Some(table(&TIMES_MS));
    Plan { queued_max, ..plan(&workload, 4, 2) }
}

/// Builds a policy for this plan, on a drive whose access times are known.
fn built(name: PolicyName, plan: &Plan) -> Box<dyn Policy> {
    let file = builtin::load("fujitsu-max3036rc").unwrap();
    tidegate_policy::build(name, plan, tidegate_drive::access_time(&file)).unwrap()
}

/// Goal: a request that leaves the queue makes room for one, and for no more.
#[test]
fn dispatched_requests_make_room_for_as_many() {
    for name in PolicyName::ALL {
        for class in [Class::Hard, Class::BestEffort] {
            let mut policy = built(name, &bounded(3));
            let mut ids = 0..;
            taken(&mut *policy, &mut ids, class);
            let mut served = 0;
            for round in 1..40 {
                let now = at(10 * round);
                let mut sent = Vec::new();
                while let Decision::Dispatch { id, .. } = policy.decide(now) {
                    sent.push(id);
                }
                for &id in &sent {
                    let event = Event::Complete { id, outcome: Outcome::Done };
                    policy.observe(now, event).unwrap();
                }
                assert_eq!(taken(&mut *policy, &mut ids, class), sent.len(), "{name}, {class:?}");
                served += sent.len();
            }
            assert!(served > 3, "{name}, {class:?}: {served} served");
        }
    }
}

/// Goal: a new bound on the queue applies immediately, even if more requests are queued than it
/// allows, and no request is lost. Method: nothing is dispatched, so each policy takes as many
/// requests as the bound has grown.
#[test]
fn new_bound_on_the_queue_holds_at_once() {
    for name in PolicyName::ALL {
        for class in [Class::Hard, Class::BestEffort] {
            let mut policy = built(name, &bounded(3));
            let mut ids = 0..;
            let mut found = vec![taken(&mut *policy, &mut ids, class)];
            for queued_max in [1, 5, 4, 6] {
                let plan = Box::new(bounded(queued_max));
                policy.observe(at(0), Event::Reconfigure(plan)).unwrap();
                found.push(taken(&mut *policy, &mut ids, class));
            }
            assert_eq!(found, [3, 0, 2, 0, 1], "{name}, {class:?}");
        }
    }
}

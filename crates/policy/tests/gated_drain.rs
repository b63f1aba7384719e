// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `gated-drain` follows its conditions. Method: driven by hand; drain(q) = 12 + 11 q ms on a
//! drive of 8.

mod common;
mod drain_support;

use common::{at, complete, release, request, round};
use drain_support::{plan, real_time, task};
use tidegate_model::{Class, Duration, Plan, Request, RequestId, TaskIndex};
use tidegate_policy::{Decision, Event, Full, GatedDrain, Policy};

const BE: Class = Class::BestEffort;

/// Returns a policy for two tasks: W = drain(1) + drain(1) = 46 ms.
fn two(period_ms: u64, deadline_ms: u64) -> GatedDrain {
    GatedDrain::new(&plan(vec![task(period_ms, deadline_ms, 1), task(period_ms, deadline_ms, 1)]))
}

/// While both tasks may release: drain(k) + drain(2) <= 80 while k <= 3.
#[test]
fn best_effort_leaves_time_for_the_fallback_plan() {
    let mut policy = two(200, 80);
    release(&mut policy, at(0), BE, 1..=8);
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3]);
    for now in 1..300 {
        assert_eq!(policy.decide(at(now)), Decision::AwaitEvent, "time alone opens nothing");
    }
}

/// A task that pauses may release at any time. If 2 drain(1) = 46 ms exceed its deadline, best
/// effort waits as long as the pause lasts, as `check` says. With a deadline of 46 ms best effort
/// is sent.
#[test]
fn a_pause_stops_best_effort_where_the_deadline_is_short() {
    for (deadline_ms, flows) in [(45, false), (46, true)] {
        let mut policy = GatedDrain::new(&plan(vec![task(200, deadline_ms, 1)]));
        real_time(&mut policy, at(0), 20, 0, deadline_ms);
        assert_eq!(round(&mut policy, at(0)), [20]);
        complete(&mut policy, at(5), [20]);
        release(&mut policy, at(300), BE, 1..=8);
        assert_eq!(!round(&mut policy, at(300)).is_empty(), flows, "{deadline_ms} ms");
        assert!(round(&mut policy, at(9_000)).is_empty(), "time alone opens nothing");
    }
}

/// The first task is due at 81. At 20 `t + drain(4) = 76` fits, with the second being sent. At 26
/// it does not, and the second waits for the drive to be empty, and best effort with it.
#[test]
fn a_second_task_joins_only_if_the_first_can_bear_it() {
    for (now, joins) in [(20, vec![21]), (26, vec![])] {
        let mut policy = two(200, 80);
        release(&mut policy, at(0), BE, 1..=8);
        round(&mut policy, at(0));
        real_time(&mut policy, at(1), 20, 0, 80);
        assert_eq!(round(&mut policy, at(1)), [20]);
        complete(&mut policy, at(now), [1]);
        real_time(&mut policy, at(now), 21, 1, 80);
        assert_eq!(round(&mut policy, at(now)), joins, "at {now} ms");
        complete(&mut policy, at(40), [2, 3, 20]);
        if joins.is_empty() {
            assert_eq!(round(&mut policy, at(40))[0], 21);
        }
    }
}

/// Goal: with deadline = period, a unit that is released at the instant at which the drive empties
/// is not sent too early. Method: the first task, due at 46, waits for a drive that is empty at 23.
/// The second, served until then, releases again at 23. Together they would take drain(2) = 34,
/// until 57.
#[test]
fn an_empty_drive_gets_only_what_keeps_every_deadline() {
    let mut policy = GatedDrain::new(&plan(vec![task(46, 46, 1), task(23, 23, 1)]));
    real_time(&mut policy, at(0), 1, 1, 23);
    assert_eq!(round(&mut policy, at(0)), [1]);
    real_time(&mut policy, at(1), 2, 0, 45);
    assert_eq!(round(&mut policy, at(1)), []);
    complete(&mut policy, at(23), [1]);
    real_time(&mut policy, at(23), 3, 1, 46);
    assert_eq!(round(&mut policy, at(23)), [2]);
}

/// All three requests of a job are sent together, although one alone would not be allowed.
#[test]
fn units_that_wait_together_go_together() {
    let mut policy = GatedDrain::new(&plan(vec![task(200, 70, 3)]));
    for id in 1..=3 {
        real_time(&mut policy, at(0), id, 0, 70);
    }
    assert_eq!(round(&mut policy, at(0)), [1, 2, 3]);
}

/// A task whose units are all pending waits for one of them; other tasks are unaffected.
#[test]
fn what_is_beyond_a_contract_waits_for_a_unit_of_its_own_task() {
    let mut policy = two(200, 100);
    for id in 1..=4 {
        real_time(&mut policy, at(0), id, 0, 100);
    }
    real_time(&mut policy, at(0), 9, 1, 100);
    assert_eq!(round(&mut policy, at(0)), [1, 9]);
    complete(&mut policy, at(5), [1]);
    assert_eq!(round(&mut policy, at(5)), [2]);
    policy.observe(at(6), Event::Cancel(RequestId(3))).unwrap();
    complete(&mut policy, at(7), [2]);
    assert_eq!(round(&mut policy, at(7)), [4]);
}

/// Requests of a task outside the plan are sent before best effort and under the same conditions.
#[test]
fn an_unknown_task_is_served_without_a_promise() {
    let mut policy = two(200, 80);
    release(&mut policy, at(0), BE, 1..=8);
    real_time(&mut policy, at(0), 20, 7, 10);
    assert_eq!(round(&mut policy, at(0)), [20, 1, 2]);
}

/// A request without a deadline is due its task's deadline after its release.
#[test]
fn a_request_without_due_has_that_of_its_task() {
    let released = |due| {
        let mut policy = GatedDrain::new(&plan(vec![task(200, 80, 1)]));
        let request =
            Request { task: TaskIndex(0), due, released: at(0), ..request(20, Class::Soft) };
        policy.observe(at(0), Event::Release(request)).unwrap();
        release(&mut policy, at(0), BE, 1..=8);
        round(&mut policy, at(0))
    };
    assert_eq!(released(None), released(Some(at(80))));
    assert_ne!(released(None), released(Some(at(200))));
}

#[test]
fn hopeless_deadlines_are_served_all_the_same() {
    let mut policy = two(20, 20);
    real_time(&mut policy, at(0), 1, 0, 20);
    real_time(&mut policy, at(0), 2, 1, 20);
    assert_eq!(round(&mut policy, at(0)), [1, 2]);
}

#[test]
fn only_what_conforms_is_never_refused() {
    let tasks = vec![task(200, 80, 1), task(200, 80, 1)];
    let mut policy = GatedDrain::new(&Plan { queued_max: 1, ..plan(tasks) });
    real_time(&mut policy, at(0), 1, 0, 80);
    let excess = Request { task: TaskIndex(0), ..request(2, Class::Hard) };
    assert_eq!(policy.observe(at(0), Event::Release(excess)), Err(Full));
    real_time(&mut policy, at(0), 3, 1, 80);
    release(&mut policy, at(0), BE, [4]);
    assert_eq!(policy.observe(at(0), Event::Release(request(5, BE))), Err(Full));
}

/// A new plan loses nothing: no waiting request, no request on the drive, no excess request.
#[test]
fn a_new_plan_keeps_every_request() {
    let mut policy = two(200, 80);
    release(&mut policy, at(0), BE, 1..=4);
    real_time(&mut policy, at(0), 20, 0, 80);
    real_time(&mut policy, at(0), 21, 0, 80);
    assert_eq!(round(&mut policy, at(0)), [20, 1, 2, 3]);
    let smaller = Plan { queued_max: 1, ..plan(vec![task(400, 400, 1)]) };
    policy.observe(at(1), Event::Reconfigure(Box::new(smaller))).unwrap();
    assert_eq!(round(&mut policy, at(1)), [4]);
    complete(&mut policy, at(2), [20, 1, 2, 3, 4]);
    assert_eq!(round(&mut policy, at(2)), [21]);
    let none = plan(vec![]);
    policy.observe(at(3), Event::Reconfigure(Box::new(none))).unwrap();
    complete(&mut policy, at(4), [21]);
    real_time(&mut policy, at(4), 30, 0, 80);
    assert_eq!(round(&mut policy, at(4)), [30]);
}

/// A deadline beyond the end of time constrains nothing and never overflows.
#[test]
fn the_end_of_time_is_survived() {
    let mut far = task(1, 1, 1);
    (far.period, far.deadline) = (Duration::MAX, Duration::MAX);
    let mut policy = GatedDrain::new(&plan(vec![far]));
    release(&mut policy, at(1), BE, 1..=3);
    let request = Request { released: at(1), eligible: at(1), ..request(9, Class::Hard) };
    policy.observe(at(1), Event::Release(request)).unwrap();
    assert_eq!(round(&mut policy, at(1)), [9, 1, 2, 3]);
}

#[test]
#[should_panic(expected = "not in flight")]
fn a_completion_out_of_nothing_is_a_broken_host() {
    complete(&mut two(200, 80), at(0), [1]);
}

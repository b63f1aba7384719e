// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `gated-drain` follows its conditions. Method: driven by hand; drain(q) = 12 + 11 q ms on a
//! drive of 8.

use crate::common::plain::{at, complete, request};
use crate::common::script::{play, round};
use crate::drain_support::{plan, task};
use tidegate_model::{Class, Duration, Plan, Request};
use tidegate_policy::{Decision, Event, GatedDrain, Policy};

/// Returns a policy for two tasks: W = drain(1) + drain(1) = 46 ms.
fn two(period_ms: u64, deadline_ms: u64) -> GatedDrain {
    GatedDrain::new(&plan(vec![task(period_ms, deadline_ms, 1), task(period_ms, deadline_ms, 1)]))
}

/// Both tasks may release at any time, and drain(k) + drain(2) <= 80 holds up to k = 3.
#[test]
fn best_effort_leaves_time_for_the_fallback_plan() {
    let mut policy = two(200, 80);
    play(&mut policy, "0: best-effort 1..=8, sends 1 2 3");
    for now in 1..300 {
        assert_eq!(policy.decide(at(now)), Decision::AwaitEvent, "time alone opens nothing");
    }
}

/// The conditions allow 3 best-effort requests. A new plan can allow fewer than are on the drive.
#[test]
fn best_effort_stays_within_the_depth_of_the_plan() {
    let with = |best_effort_depth| {
        let tasks = vec![task(200, 80, 1), task(200, 80, 1)];
        Plan { best_effort_depth, ..plan(tasks) }
    };
    let mut policy = GatedDrain::new(&with(2));
    play(
        &mut policy,
        "0: best-effort 1..=8, sends 1 2
         30: done 1, sends 3",
    );
    policy.observe(at(30), Event::Reconfigure(Box::new(with(1)))).unwrap();
    play(
        &mut policy,
        "31: done 2, sends nothing
         32: done 3, sends 4
         33: hard 20 within 80, sends 20",
    );
}

/// A task that pauses may release at any time. If 2 drain(1) = 46 ms exceed its deadline, best
/// effort waits as long as the pause lasts, as `check` says. With a deadline of 46 ms best effort
/// is sent. Time alone opens nothing.
#[test]
fn a_pause_stops_best_effort_where_the_deadline_is_short() {
    for (deadline_ms, flows) in [(45, false), (46, true)] {
        let mut policy = GatedDrain::new(&plan(vec![task(200, deadline_ms, 1)]));
        play(
            &mut policy,
            &format!(
                "0: hard 20 within {deadline_ms}, sends 20
                 5: done 20
                 300: best-effort 1..=8"
            ),
        );
        assert_eq!(!round(&mut policy, at(300)).is_empty(), flows, "{deadline_ms} ms");
        play(&mut policy, "9_000: sends nothing");
    }
}

/// The first task is due at 81. At 20 the request of the second may join: `t + drain(4) = 76`. At
/// 26 it may not, so it and best effort wait until the drive is empty.
#[test]
fn a_second_task_joins_only_if_the_first_can_bear_it() {
    for (now, sends) in [(20, "21"), (26, "nothing")] {
        let mut policy = two(200, 80);
        play(
            &mut policy,
            &format!(
                "0: best-effort 1..=8, sends 1 2 3
                 1: hard 20 within 80, sends 20
                 {now}: done 1, hard 21 of 1 within 80, sends {sends}
                 40: done 2 3 20"
            ),
        );
        if sends == "nothing" {
            assert_eq!(round(&mut policy, at(40))[0], 21);
        }
    }
}

/// Goal: of two waiting units only the first joins, if adding both would make the unit on the drive
/// miss its deadline. Method: from 1 ms, drain(2) = 34 ms ends at 35 ms, before the deadline at 40
/// ms; drain(3) = 45 ms would end at 46 ms.
#[test]
fn first_of_two_waiting_units_joins_alone() {
    play(
        &mut GatedDrain::new(&plan(vec![task(400, 40, 1), task(400, 150, 1), task(400, 300, 1)])),
        "0: hard 1 within 40, sends 1
         1: hard 2 of 1 within 150, hard 3 of 2 within 300, sends 2",
    );
}

/// Goal: with deadline = period, a unit that is released at the instant at which the drive empties
/// is not sent too early. Method: the first task, due at 46, waits for a drive that is empty at 23.
/// The second, served until then, releases again at 23. Together they would take drain(2) = 34,
/// until 57.
#[test]
fn an_empty_drive_gets_only_what_keeps_every_deadline() {
    play(
        &mut GatedDrain::new(&plan(vec![task(46, 46, 1), task(23, 23, 1)])),
        "0: hard 1 of 1 within 23, sends 1
         1: hard 2 within 45, sends nothing
         23: done 1, hard 3 of 1 within 46, sends 2",
    );
}

/// All three requests of a job are sent together, although one alone would not be allowed.
#[test]
fn units_that_wait_together_go_together() {
    let mut policy = GatedDrain::new(&plan(vec![task(200, 70, 3)]));
    play(&mut policy, "0: hard 1 2 3 within 70, sends 1 2 3");
}

/// A task whose units are all pending waits for one of them; other tasks are unaffected.
#[test]
fn what_is_beyond_a_contract_waits_for_a_unit_of_its_own_task() {
    play(
        &mut two(200, 100),
        "0: hard 1..=4 within 100, hard 9 of 1 within 100, sends 1 9
         5: done 1, sends 2
         6: cancel 3
         7: done 2, sends 4",
    );
}

/// Requests of a task outside the plan are sent before best effort and under the same conditions.
#[test]
fn an_unknown_task_is_served_without_a_promise() {
    play(&mut two(200, 80), "0: best-effort 1..=8, hard 20 of 7 within 10, sends 20 1 2");
}

/// A request without a deadline is due its task's deadline after its release.
#[test]
fn a_request_without_due_has_that_of_its_task() {
    let released = |soft: &str| {
        let mut policy = GatedDrain::new(&plan(vec![task(200, 80, 1)]));
        play(&mut policy, &format!("0: {soft}, best-effort 1..=8"));
        round(&mut policy, at(0))
    };
    assert_eq!(released("soft 20"), released("soft 20 due 80"));
    assert_ne!(released("soft 20"), released("soft 20 due 200"));
}

#[test]
fn hopeless_deadlines_are_served_all_the_same() {
    play(&mut two(20, 20), "0: hard 1 within 20, hard 2 of 1 within 20, sends 1 2");
}

#[test]
fn only_what_conforms_is_never_refused() {
    let tasks = vec![task(200, 80, 1), task(200, 80, 1)];
    play(
        &mut GatedDrain::new(&Plan { queued_max: 1, ..plan(tasks) }),
        "0: hard 1 within 80, refuses hard 2, hard 3 of 1 within 80
         0: best-effort 4, refuses best-effort 5",
    );
}

/// A new plan loses nothing: no waiting request, no request on the drive, no excess request.
#[test]
fn a_new_plan_keeps_every_request() {
    let mut policy = two(200, 80);
    play(&mut policy, "0: best-effort 1..=4, hard 20 21 within 80, sends 20 1 2 3");
    let smaller = Plan { queued_max: 1, ..plan(vec![task(400, 400, 1)]) };
    policy.observe(at(1), Event::Reconfigure(Box::new(smaller))).unwrap();
    play(
        &mut policy,
        "1: sends 4
         2: done 20 1 2 3 4, sends 21",
    );
    policy.observe(at(3), Event::Reconfigure(Box::new(plan(vec![])))).unwrap();
    play(&mut policy, "4: done 21, hard 30 within 80, sends 30");
}

/// A deadline beyond the end of time constrains nothing and never overflows.
#[test]
fn the_end_of_time_is_survived() {
    let mut far = task(1, 1, 1);
    (far.period, far.deadline) = (Duration::MAX, Duration::MAX);
    let mut policy = GatedDrain::new(&plan(vec![far]));
    play(&mut policy, "1: best-effort 1..=3");
    let request = Request { released: at(1), eligible: at(1), ..request(9, Class::Hard) };
    policy.observe(at(1), Event::Release(request)).unwrap();
    play(&mut policy, "1: sends 9 1 2 3");
}

#[test]
#[should_panic(expected = "not in flight")]
fn a_completion_out_of_nothing_is_a_broken_host() {
    complete(&mut two(200, 80), at(0), [1]);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the dynamic active subset sends requests by access time while every deadline stays
//! feasible. Method: driven by hand. C is 10 ms. A request's first sector defines the model's
//! prediction: below 1,000 it is the service time in milliseconds. From 1,000 on, the sector less
//! 1,000 is the millisecond of completion, whenever the request is sent before, as for a request
//! that waits for the platter.

use tidegate_model::{
    AccessTime, BatchTable, Class, Duration, Lba, Op, Plan, RegulatorName, Request, RequestId,
    Target, Task, Time, Workload,
};
use tidegate_policy::{Das, Decision, Event, Policy, Tag};

use crate::common::plain::{at, complete, request};
use crate::common::script::play;

#[derive(Debug)]
struct Told {
    now: Time,
}

impl AccessTime for Told {
    fn target(&self, request: &Request) -> Target {
        let start = request.start;
        Target { start, sectors: 8, op: Op::Read, cylinder: 0, head: 0, angle: 0, span: 0 }
    }
    fn advance(&mut self, now: Time) {
        self.now = now;
    }
    fn access(&self, target: &Target) -> Duration {
        match target.start.get() {
            complete @ 1_000.. => at(complete - 1_000).since(self.now),
            takes => Duration::from_ms(takes),
        }
    }
    fn service(&self, target: &Target) -> Option<Duration> {
        Some(self.access(target))
    }
    fn dispatched(&mut self, _now: Time, _target: &Target) {}
    fn completed(&mut self, _now: Time, _target: &Target) {}
}

fn task(period_ms: u64, deadline_ms: u64) -> Task {
    crate::common::task::task(period_ms, deadline_ms, 1)
}

fn plan(tasks: Vec<Task>, margin: Duration) -> Plan {
    let table = BatchTable::new(&[Duration::from_ms(10)]).unwrap();
    let mut plan = Plan::of(&Workload { tasks, ..Workload::new("test", 1, table) });
    plan.active_subset.excess_max = margin;
    plan
}

fn das(tasks: Vec<Task>) -> Das {
    Das::new(&plan(tasks, Duration::ZERO), Box::new(Told { now: Time::ZERO }))
}

#[test]
fn without_tasks_the_nearest_goes_first() {
    play(
        &mut das(vec![]),
        "0: best-effort 1 from 7, best-effort 2 from 3, best-effort 3 from 5, sends 2, awaits
         3: done 2, sends 3",
    );
}

/// Goal: best effort is sent before a waiting request while that request can still wait.
#[test]
fn a_waiting_request_yields_until_its_deadline_forbids_it() {
    play(
        &mut das(vec![task(60, 30)]),
        // Best effort that completes at 24 would leave 6 ms of the 10 ms that the other request may
        // take.
        "0: hard 1 within 30 from 9 optional, best-effort 2..=5 from 6, sends 2
         6: done 2, sends 3
         12: done 3, sends 4
         18: done 4, sends 1",
    );
}

/// Goal: a near request of a task is served before an older one.
#[test]
fn a_near_request_of_a_task_goes_first_and_the_oldest_if_need_be() {
    let tasks = || vec![task(60, 30), task(60, 30)];
    play(
        &mut das(tasks()),
        "0: hard 1 within 30 from 9 optional, hard 2 of 1 within 30 from 2 optional, sends 2",
    );
    play(
        &mut das(tasks()),
        "0: hard 1 within 30 from 9 optional
         15: hard 2 of 1 within 30 from 6 optional, sends 1    // 21 + 10 is beyond 30",
    );
}

/// Goal: unreleased jobs count. Method: two tasks of 20 ms, both served. The next jobs are released
/// at 20, and both need up to 10 of their 20 ms: at 20 the drive must be free.
#[test]
fn best_effort_leaves_room_for_jobs_that_may_come() {
    play(
        &mut das(vec![task(20, 20), task(20, 20)]),
        // A completion at 24 is 4 ms too late for releases at 20: the last request must wait until
        // releases are at 24 or later.
        "0: hard 100 within 20 from 5 optional, sends 100
         5: done 100, hard 101 of 1 released 0 within 20 from 5 optional, sends 101
         10: done 101, best-effort 1 2 from 9, sends 1
         15: done 1, not-before 24",
    );
}

#[test]
fn tasks_of_a_new_plan_are_expected_at_once() {
    let mut policy = das(vec![]);
    let two = plan(vec![task(20, 20), task(20, 20)], Duration::ZERO);
    policy.observe(at(0), Event::Reconfigure(Box::new(two))).unwrap();
    play(&mut policy, "0: best-effort 1 from 5, sends nothing");
}

/// Goal: the gate opens by time alone. Method: tasks that never released leave 5 ms from now on. A
/// request that the platter delivers at 32, whenever it is sent, may be sent at 27.
#[test]
fn gate_opens_when_the_platter_has_come_near() {
    play(
        &mut das(vec![task(25, 25), task(25, 25)]),
        "0: best-effort 1 from 1_032
         22: not-before 27
         26: not-before 27
         27: sends 1",
    );
}

/// Goal: the margin counts in full, even where the sum exceeds C: the policy never believes less
/// than the model expects.
#[test]
fn margin_is_added_to_what_the_model_says_even_beyond_c() {
    for (margin_ms, sends) in [
        (0, "14: sends 2"), // 14 + 6 + 10 = 30
        (1, "14: sends 1"),
        (5, "9: sends 2"), // 9 + 6 + 5 + 10 = 30
        (5, "10: sends 1"),
        (1_000, "0: sends 1"),
    ] {
        let plan = plan(vec![task(60, 30)], Duration::from_ms(margin_ms));
        let mut policy = Das::new(&plan, Box::new(Told { now: Time::ZERO }));
        play(&mut policy, "0: hard 1 within 30 from 9 optional, best-effort 2 from 6");
        play(&mut policy, sends);
    }
}

fn half(period_ms: u64, deadline_ms: u64) -> Task {
    Task { quality_ppm: 500_000, ..task(period_ms, deadline_ms) }
}

/// Goal: if half of a task's jobs must be served, every other job is excused: it yields to
/// everything, and is dropped when it would be late.
#[test]
fn excused_job_yields_and_is_dropped_when_it_would_be_late() {
    play(
        &mut das(vec![half(20, 20)]),
        "0: hard 1 within 20 from 9 optional, sends 1
         9: done 1
         20: hard 2 within 20 from 9 optional, best-effort 11 12 from 8, sends 11
         28: done 11, sends 12
         36: done 12, drops 2, awaits
         40: hard 3 within 20 from 9 optional, best-effort 13 from 8, sends 13
         48: done 13, best-effort 14 from 8, sends 3    // the earned job is spent: not excused",
    );
}

/// If the job at 20 counted, the drive would have to be free at 30.
#[test]
fn excused_job_holds_no_best_effort_back() {
    play(
        &mut das(vec![half(20, 20)]),
        "0: hard 1 within 20 from 9 optional, sends 1
         9: done 1
         15: best-effort 2 from 19, sends 2",
    );
}

/// Job 2 could have been dropped but was served, so job 3 may be dropped.
#[test]
fn excused_job_that_is_served_stays_earned() {
    play(
        &mut das(vec![half(20, 20)]),
        "0: hard 1 within 20 from 9 optional, sends 1
         9: done 1
         20: hard 2 within 20 from 9 optional, sends 2
         29: done 2
         40: hard 3 within 20 from 9 optional
         52: drops 3",
    );
}

/// Goal: a job of two requests is never dropped, whatever its quality. Method: both requests are
/// late, and the older one is sent.
#[test]
fn jobs_of_several_requests_are_never_dropped() {
    play(
        &mut das(vec![Task { quality_ppm: 0, requests: 2, ..task(20, 20) }]),
        "0: hard 1 within 20 from 9 optional, hard 2 within 20 from 8 optional
         50: sends 1",
    );
}

/// Goal: a drive that breaks its table causes late requests and nothing worse.
#[test]
fn overrun_leads_to_the_order_of_release() {
    play(
        &mut das(vec![task(20, 20), task(20, 20)]),
        "0: best-effort 1 from 5, not-before 5
         0: hard 2 within 20 from 9 optional, hard 3 of 1 within 20 from 4 optional
         100: sends 2
         300: done 2, sends 3
         500: done 3",
    );
}

#[test]
fn cancelled_and_refused_requests_leave_no_trace() {
    let mut policy = das(vec![task(60, 30)]);
    play(
        &mut policy,
        "0: hard 1 within 30 from 9 optional, best-effort 2 from 3
         1: cancel 1 2 3, awaits",
    );
    let smaller = Plan { queued_max: 1, ..plan(vec![], Duration::ZERO) };
    policy.observe(at(1), Event::Reconfigure(Box::new(smaller))).unwrap();
    play(&mut policy, "1: best-effort 4 from 3, refuses best-effort 5 from 1, sends 4");
}

/// Goal: with tokens, the requests of a job may reach the policy separately, and a queued request
/// does not predict the next one. Method: one request of task 0 at 0, the other at 95. Its next
/// request may be released at 100, and one of task 1 at 101, due at 131. Best effort that completes
/// at 104 would leave 27 ms for three requests. Treated as one job, task 0 would release nothing
/// before 195.
#[test]
fn torn_job_is_expected_request_by_request_behind_tokens() {
    let two = Task { requests: 2, ..task(100, 30) };
    for (regulators, expected) in [(vec![RegulatorName::TokensPerTask], 3), (vec![], 4)] {
        let plan = Plan { regulators, ..plan(vec![two.clone(), task(100, 30)], Duration::ZERO) };
        play(
            &mut Das::new(&plan, Box::new(Told { now: Time::ZERO })),
            &format!(
                "0: hard 1 within 30 from 10 optional, sends 1
                 1: hard 2 of 1 within 30 from 10 optional
                 10: done 1, sends 2
                 20: done 2
                 95: hard 3 within 30 from 10 optional, best-effort 4 from 9, sends {expected}"
            ),
        );
    }
}

/// Both units of the task wait, so no other job is expected. If one of them were free, its next job
/// at 0 would leave no time for best effort.
#[test]
fn each_waiting_request_takes_a_unit_of_its_own() {
    let two = Task { requests: 2, ..task(100, 30) };
    let regulators = vec![RegulatorName::TokensPerTask];
    let plan = Plan { regulators, ..plan(vec![two], Duration::ZERO) };
    play(
        &mut Das::new(&plan, Box::new(Told { now: Time::ZERO })),
        "0: hard 1 2 within 30 from 10 optional, best-effort 4 from 9, sends 4",
    );
}

fn sends(id: u64) -> Decision {
    Decision::Dispatch { id: RequestId(id), tag: Tag::Simple }
}

/// Goal: a request that waited for a token is a job of its own when it becomes eligible. Method:
/// two requests are released at 0, the second eligible at 100, when the first task's next job may
/// be released: the policy must not assume that the task releases nothing.
#[test]
fn jobs_count_from_when_they_become_eligible() {
    let mut policy = das(vec![half(100, 20), task(100, 18)]);
    let mut hand_over = |now: u64, id: u64| {
        let request = Request {
            released: at(0),
            eligible: at(now),
            due: Some(at(now + 20)),
            start: Lba::new(9),
            optional: true,
            ..request(id, Class::Hard)
        };
        policy.observe(at(now), Event::Release(request)).unwrap();
        let decision = policy.decide(at(now));
        if decision == sends(id) {
            complete(&mut policy, at(now + 9), [id]);
        }
        decision
    };
    // The first job must be served; it earned half of a drop, and the second job the other half. So
    // the second may be dropped: it waits like best effort for other possible releases.
    assert_eq!(hand_over(0, 1), sends(1));
    assert_ne!(hand_over(100, 2), sends(2), "excused, and the other task may come");
}

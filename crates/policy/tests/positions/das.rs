// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the dynamic active subset sends requests by access time while every deadline stays
//! feasible. Method: driven by hand. C is 10 ms. A request's first sector defines the model's
//! prediction: below 1,000 it is the service time in milliseconds. From 1,000 on it is the
//! millisecond of completion if the request is sent at least 1 ms before, like a request that waits
//! for the platter.

use tidegate_model::parameters::DasParameters;
use tidegate_model::{
    AccessTime, BatchTable, Class, Duration, Lba, Op, Plan, RegulatorName, Request, RequestId,
    Target, Task, TaskIndex, Time, Workload,
};
use tidegate_policy::{Das, Decision, Event, Policy, Tag};

use super::common::{at, complete, request};

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
    Task {
        deadline: Duration::from_ms(deadline_ms),
        ..Task::periodic("task", Duration::from_ms(period_ms), request(0, Class::Hard).size)
    }
}

fn plan(tasks: Vec<Task>, margin: Duration) -> Plan {
    let table = BatchTable::new(&[Duration::from_ms(10)]).unwrap();
    let mut plan = Plan::of(&Workload { tasks, ..Workload::new("test", 1, table) });
    plan.parameters.das = DasParameters { margin };
    plan
}

fn das(tasks: Vec<Task>) -> Das {
    Das::new(&plan(tasks, Duration::ZERO), Box::new(Told { now: Time::ZERO }))
}

/// Adds a request without a task that takes `takes` ms.
fn add(policy: &mut Das, id: u64, takes: u64) {
    let request = Request { start: Lba::new(takes), ..request(id, Class::BestEffort) };
    policy.observe(at(0), Event::Release(request)).unwrap();
}

/// Releases a request of a task at `now`.
fn release(policy: &mut Das, now: u64, (task, deadline): (u32, u64), id: u64, takes: u64) {
    let request = Request {
        task: TaskIndex(task),
        released: at(now),
        eligible: at(now),
        due: Some(at(now + deadline)),
        start: Lba::new(takes),
        optional: true,
        ..request(id, Class::Hard)
    };
    policy.observe(at(now), Event::Release(request)).unwrap();
}

fn sends(id: u64) -> Decision {
    Decision::Dispatch { id: RequestId(id), tag: Tag::Simple }
}

#[test]
fn without_tasks_the_nearest_goes_first() {
    let mut policy = das(vec![]);
    for (id, takes) in [(1, 7), (2, 3), (3, 5)] {
        add(&mut policy, id, takes);
    }
    assert_eq!(policy.decide(at(0)), sends(2));
    assert_eq!(policy.decide(at(0)), Decision::AwaitEvent, "one at a time");
    complete(&mut policy, at(3), [2]);
    assert_eq!(policy.decide(at(3)), sends(3));
}

/// Goal: best effort is sent before a waiting request while that request can still wait.
#[test]
fn a_waiting_request_yields_until_its_deadline_forbids_it() {
    let mut policy = das(vec![task(60, 30)]);
    release(&mut policy, 0, (0, 30), 1, 9);
    for id in 2..=5 {
        add(&mut policy, id, 6);
    }
    for (now, id) in [(0, 2), (6, 3), (12, 4)] {
        assert_eq!(policy.decide(at(now)), sends(id));
        complete(&mut policy, at(now + 6), [id]);
    }
    // Complete at 24, it would leave 6 ms of the 10 that the other request may take.
    assert_eq!(policy.decide(at(18)), sends(1));
}

/// Goal: a near request of a task is served before an older one.
#[test]
fn a_near_request_of_a_task_goes_first_and_the_oldest_if_need_be() {
    let tasks = || vec![task(60, 30), task(60, 30)];
    let mut policy = das(tasks());
    release(&mut policy, 0, (0, 30), 1, 9);
    release(&mut policy, 0, (1, 30), 2, 2);
    assert_eq!(policy.decide(at(0)), sends(2));
    let mut policy = das(tasks());
    release(&mut policy, 0, (0, 30), 1, 9);
    release(&mut policy, 15, (1, 30), 2, 6);
    assert_eq!(policy.decide(at(15)), sends(1), "21 + 10 is beyond 30");
}

/// Goal: unreleased jobs count. Method: two tasks of 20 ms, both served. The next jobs are released
/// at 20, and both need up to 10 of their 20 ms: at 20 the drive must be free.
#[test]
fn best_effort_leaves_room_for_jobs_that_may_come() {
    let mut policy = das(vec![task(20, 20), task(20, 20)]);
    for (index, now) in [(0_u32, 0_u64), (1, 5)] {
        let id = 100 + u64::from(index);
        release(&mut policy, 0, (index, 20), id, 5);
        assert_eq!(policy.decide(at(now)), sends(id));
        complete(&mut policy, at(now + 5), [id]);
    }
    add(&mut policy, 1, 9);
    add(&mut policy, 2, 9);
    assert_eq!(policy.decide(at(10)), sends(1));
    complete(&mut policy, at(15), [1]);
    // Complete at 24 is 4 ms too late for releases at 20: the request must wait until releases are
    // at 24 or later.
    assert_eq!(policy.decide(at(15)), Decision::NotBefore(at(24)));
}

/// Goal: the gate opens by time alone. Method: tasks that never released leave 5 ms from now on. A
/// request that the platter delivers at 32, whenever it is sent, may be sent at 27.
#[test]
fn gate_opens_when_the_platter_has_come_near() {
    let mut policy = das(vec![task(25, 25), task(25, 25)]);
    add(&mut policy, 1, 1_032);
    assert_eq!(policy.decide(at(22)), Decision::NotBefore(at(27)));
    assert_eq!(policy.decide(at(26)), Decision::NotBefore(at(27)));
    assert_eq!(policy.decide(at(27)), sends(1));
}

#[test]
fn margin_is_added_to_what_the_model_says_but_never_beyond_c() {
    let with_margin = |ms| {
        let plan = plan(vec![task(60, 30)], Duration::from_ms(ms));
        let mut policy = Das::new(&plan, Box::new(Told { now: Time::ZERO }));
        release(&mut policy, 0, (0, 30), 1, 9);
        add(&mut policy, 2, 6);
        policy
    };
    assert_eq!(with_margin(0).decide(at(14)), sends(2), "14 + 6 + 10 = 30");
    assert_eq!(with_margin(1).decide(at(14)), sends(1));
    assert_eq!(with_margin(1_000).decide(at(10)), sends(2), "10 + 10 + 10 = 30");
}

/// Goal: if half of a task's jobs must be served, every other job is excused: it yields to
/// everything, and is dropped when it would be late.
#[test]
fn excused_job_yields_and_is_dropped_when_it_would_be_late() {
    let mut policy = das(vec![Task { quality_ppm: 500_000, ..task(20, 20) }]);
    release(&mut policy, 0, (0, 20), 1, 9);
    assert_eq!(policy.decide(at(0)), sends(1));
    complete(&mut policy, at(9), [1]);
    release(&mut policy, 20, (0, 20), 2, 9);
    add(&mut policy, 11, 8);
    add(&mut policy, 12, 8);
    assert_eq!(policy.decide(at(20)), sends(11));
    complete(&mut policy, at(28), [11]);
    assert_eq!(policy.decide(at(28)), sends(12));
    complete(&mut policy, at(36), [12]);
    assert_eq!(policy.decide(at(36)), Decision::Drop(RequestId(2)));
    assert_eq!(policy.decide(at(36)), Decision::AwaitEvent);
    // The earned job is spent: the next job is not excused.
    release(&mut policy, 40, (0, 20), 3, 9);
    add(&mut policy, 13, 8);
    assert_eq!(policy.decide(at(40)), sends(13));
    complete(&mut policy, at(48), [13]);
    add(&mut policy, 14, 8);
    assert_eq!(policy.decide(at(48)), sends(3));
}

#[test]
fn excused_job_that_is_served_stays_earned() {
    let mut policy = das(vec![Task { quality_ppm: 500_000, ..task(20, 20) }]);
    for (number, now) in [(1_u64, 0_u64), (2, 20)] {
        release(&mut policy, now, (0, 20), number, 9);
        assert_eq!(policy.decide(at(now)), sends(number));
        complete(&mut policy, at(now + 9), [number]);
    }
    release(&mut policy, 40, (0, 20), 3, 9);
    assert_eq!(policy.decide(at(52)), Decision::Drop(RequestId(3)), "the second was served");
}

/// Goal: a job of two requests is never dropped, whatever its quality.
#[test]
fn jobs_of_several_requests_are_never_dropped() {
    let of_two = Task { quality_ppm: 0, requests: 2, ..task(20, 20) };
    let mut policy = das(vec![of_two]);
    release(&mut policy, 0, (0, 20), 1, 9);
    release(&mut policy, 0, (0, 20), 2, 8);
    assert_eq!(policy.decide(at(50)), sends(1), "both are late, the oldest goes");
}

/// Goal: a drive that breaks its table causes late requests and nothing worse.
#[test]
fn overrun_leads_to_the_order_of_release() {
    let mut policy = das(vec![task(20, 20), task(20, 20)]);
    add(&mut policy, 1, 5);
    assert_eq!(policy.decide(at(0)), Decision::NotBefore(at(5)));
    release(&mut policy, 0, (0, 20), 2, 9);
    release(&mut policy, 0, (1, 20), 3, 4);
    for (now, id) in [(100, 2), (300, 3)] {
        assert_eq!(policy.decide(at(now)), sends(id));
        complete(&mut policy, at(now + 200), [id]);
    }
}

#[test]
fn cancelled_and_refused_requests_leave_no_trace() {
    let mut policy = das(vec![task(60, 30)]);
    release(&mut policy, 0, (0, 30), 1, 9);
    add(&mut policy, 2, 3);
    for id in [1, 2, 3] {
        policy.observe(at(1), Event::Cancel(RequestId(id))).unwrap();
    }
    assert_eq!(policy.decide(at(1)), Decision::AwaitEvent);
    let smaller = Plan { queued_max: 1, ..plan(vec![], Duration::ZERO) };
    policy.observe(at(1), Event::Reconfigure(Box::new(smaller))).unwrap();
    add(&mut policy, 4, 3);
    let refused = Request { start: Lba::new(1), ..request(5, Class::BestEffort) };
    assert!(policy.observe(at(1), Event::Release(refused)).is_err());
    assert_eq!(policy.decide(at(1)), sends(4));
}

/// Goal: behind tokens the requests of a job may arrive separately, and a waiting one does not
/// predict the next. Method: one request of task 0 at 0, the other at 95. Its next may be released
/// at 100, and one of task 1 at 101, due at 131. Best effort complete at 104 would leave 27 ms for
/// three requests. Treated as one job, task 0 would release nothing before 195.
#[test]
fn torn_job_is_expected_request_by_request_behind_tokens() {
    let two = Task { requests: 2, ..task(100, 30) };
    for (regulators, expected) in [(vec![RegulatorName::TokensPerTask], 3), (vec![], 4)] {
        let plan = Plan { regulators, ..plan(vec![two.clone(), task(100, 30)], Duration::ZERO) };
        let mut policy = Das::new(&plan, Box::new(Told { now: Time::ZERO }));
        release(&mut policy, 0, (0, 30), 1, 10);
        assert_eq!(policy.decide(at(0)), sends(1));
        release(&mut policy, 1, (1, 30), 2, 10);
        complete(&mut policy, at(10), [1]);
        assert_eq!(policy.decide(at(10)), sends(2));
        complete(&mut policy, at(20), [2]);
        release(&mut policy, 95, (0, 30), 3, 10);
        let best_effort = Request { start: Lba::new(9), ..request(4, Class::BestEffort) };
        policy.observe(at(95), Event::Release(best_effort)).unwrap();
        assert_eq!(policy.decide(at(95)), sends(expected));
    }
}

/// Goal: a request that waited for a token is a job of its own when it becomes eligible. Method:
/// two requests are released at 0, the second eligible at 100, when the first task's next job may
/// be released: the policy must not assume that the task releases nothing.
#[test]
fn jobs_count_from_when_they_become_eligible() {
    let half = || Task { quality_ppm: 500_000, ..task(100, 20) };
    let mut policy = das(vec![half(), task(100, 18)]);
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

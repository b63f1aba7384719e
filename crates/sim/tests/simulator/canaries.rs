// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Policies that are broken on purpose: each checker must catch its canary, or the harness is
//! broken. Every canary runs under the checkers of the policy that it imitates.

use std::collections::VecDeque;

use tidegate_drive::PseudoDisk;
use tidegate_model::{
    Class, Intensity, Outcome, Plan, PolicyName, Request, RequestId, Time, Workload,
};
use tidegate_policy::{Decision, Dqf, Event, Full, Noop, Policy, Rtio, Tag};
use tidegate_sim::checkers::{Breach, Checker, Checkers, ClassOrder, ExactlyOnce, ViolationLog};
use tidegate_sim::{Length, Observer, SimParams, simulate};

use crate::common::{TIMES_MS, at, load, plan, task, workload};

const BATCH_MAX: u32 = 3;
const FILL: u32 = 2;
const BEST_EFFORT_DEPTH: u32 = 2;

fn busy_workload() -> Workload {
    let tasks = (0..5).map(|_| task("task", 60)).collect();
    workload(&TIMES_MS, tasks, vec![load("backup", Intensity::Outstanding(6))])
}

/// Returns the plan of the checkers.
fn canary_plan() -> Plan {
    let best_effort_depth = BEST_EFFORT_DEPTH;
    Plan { best_effort_depth, ..plan(&busy_workload(), BATCH_MAX, FILL) }
}

/// Returns the breaches that the checkers of `name` find in `canary`.
fn breaches_of(name: PolicyName, canary: impl Policy) -> Vec<Breach> {
    let workload = busy_workload();
    let mut checkers = Checkers::of_policy(name, &canary_plan());
    let drive = PseudoDisk::new(workload.depth, workload.table.clone(), 1);
    let params = SimParams::new(&workload, Length::Jobs(20));
    simulate(&params, canary, drive, &mut checkers);
    let violations = checkers.violations();
    assert!(checkers.violation_count() >= u64::try_from(violations.len()).unwrap());
    violations.into_iter().map(|violation| violation.breach).collect()
}

fn dqf() -> Dqf {
    Dqf::new(BATCH_MAX, FILL, 1_000)
}

/// Serves one request at a time, in the order that `next` chooses.
struct OneAtATime<F> {
    queue: VecDeque<RequestId>,
    is_busy: bool,
    next: F,
}

impl<F: FnMut(&mut VecDeque<RequestId>) -> Option<RequestId>> OneAtATime<F> {
    fn new(next: F) -> Self {
        Self { queue: VecDeque::new(), is_busy: false, next }
    }
}

impl<F: FnMut(&mut VecDeque<RequestId>) -> Option<RequestId>> Policy for OneAtATime<F> {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.queue.push_back(request.id),
            Event::Complete { .. } => self.is_busy = false,
            _ => {}
        }
        Ok(())
    }

    fn decide(&mut self, _now: Time) -> Decision {
        if self.is_busy {
            return Decision::AwaitEvent;
        }
        match (self.next)(&mut self.queue) {
            Some(id) => {
                self.is_busy = true;
                Decision::Dispatch { id, tag: Tag::Simple }
            }
            None => Decision::AwaitEvent,
        }
    }
}

#[test]
fn sound_policies_are_not_accused() {
    assert_eq!(breaches_of(PolicyName::Dqf, dqf()), []);
    assert_eq!(breaches_of(PolicyName::Noop, Noop::new(4, 1_000)), []);
    assert_eq!(breaches_of(PolicyName::Fifo, OneAtATime::new(VecDeque::pop_front)), []);
    assert_eq!(breaches_of(PolicyName::Rtio, Rtio::at_once(&canary_plan())), []);
    assert_eq!(breaches_of(PolicyName::RtioPriority, Rtio::by_priority(&canary_plan())), []);
    for name in [PolicyName::RtioDrain, PolicyName::RtioLimit] {
        assert_eq!(breaches_of(name, Rtio::draining(&canary_plan())), []);
    }
}

#[test]
fn policy_that_loses_a_request_is_caught() {
    let mut count = 0_u32;
    let canary = OneAtATime::new(|queue: &mut VecDeque<RequestId>| {
        count += 1;
        if count == 3 {
            queue.pop_front();
        }
        queue.pop_front()
    });
    let breaches = breaches_of(PolicyName::Fifo, canary);
    let lost = |breach: &Breach| matches!(breach, Breach::NeverCompleted { .. });
    assert!(breaches.iter().any(lost), "{breaches:?}");
}

#[test]
fn policy_that_idles_with_work_queued_is_caught() {
    let canary = OneAtATime::new(
        |queue: &mut VecDeque<RequestId>| {
            if queue.len() > 7 { queue.pop_front() } else { None }
        },
    );
    let breaches = breaches_of(PolicyName::Fifo, canary);
    let idle = |breach: &Breach| matches!(breach, Breach::RoomUnused { in_flight_count: 0, .. });
    assert!(breaches.iter().any(idle), "{breaches:?}");
}

#[test]
fn noop_that_leaves_room_on_the_drive_is_caught() {
    let breaches = breaches_of(PolicyName::Noop, Noop::new(3, 1_000));
    let unused = |breach: &Breach| matches!(breach, Breach::RoomUnused { in_flight_count: 3, .. });
    assert!(!breaches.is_empty() && breaches.iter().all(unused), "{breaches:?}");
}

#[test]
fn policy_that_serves_the_youngest_first_is_caught() {
    for name in [PolicyName::Noop, PolicyName::Fifo, PolicyName::Dqf] {
        let breaches = breaches_of(name, OneAtATime::new(VecDeque::pop_back));
        let overtaken = |breach: &Breach| matches!(breach, Breach::Overtaken { .. });
        assert!(breaches.iter().any(overtaken), "{name}: {breaches:?}");
    }
}

#[test]
fn batch_larger_than_planned_is_caught() {
    let breaches = breaches_of(PolicyName::Dqf, Dqf::new(BATCH_MAX + 1, FILL, 1_000));
    let too_large =
        |breach: &Breach| matches!(breach, Breach::BatchTooLarge { requests: 4, batch_max: 3, .. });
    assert!(!breaches.is_empty() && breaches.iter().all(too_large), "{breaches:?}");
}

#[test]
fn batch_filled_beyond_beta_is_caught() {
    let breaches = breaches_of(PolicyName::Dqf, Dqf::new(BATCH_MAX, FILL + 1, 1_000));
    let too_large =
        |breach: &Breach| matches!(breach, Breach::BatchTooLarge { requests: 3, batch_max: 2, .. });
    assert!(!breaches.is_empty() && breaches.iter().all(too_large), "{breaches:?}");
}

#[test]
fn dispatch_to_a_busy_drive_is_caught() {
    for name in [PolicyName::Dqf, PolicyName::Fifo] {
        let breaches = breaches_of(name, Noop::new(4, 1_000));
        let busy = |breach: &Breach| matches!(breach, Breach::DispatchedWhileBusy { .. });
        assert!(breaches.iter().any(busy), "{name}: {breaches:?}");
    }
}

/// `rtio` and `rtio-priority` send while real-time requests are on the drive; `rtio-priority` sends
/// best effort even while others wait.
#[test]
fn dispatch_beside_a_real_time_request_is_caught() {
    for name in [PolicyName::RtioDrain, PolicyName::RtioLimit] {
        let plan = canary_plan();
        let joined = |breach: &Breach| matches!(breach, Breach::RealTimeJoined { .. });
        let breaches = breaches_of(name, Rtio::at_once(&plan));
        assert!(!breaches.is_empty() && breaches.iter().all(joined), "{name}: {breaches:?}");
        let overtook = |breach: &Breach| matches!(breach, Breach::ClassOvertook { .. });
        let breaches = breaches_of(name, Rtio::by_priority(&plan));
        assert!(breaches.iter().any(joined), "{name}: {breaches:?}");
        assert!(breaches.iter().all(|it| joined(it) || overtook(it)), "{name}: {breaches:?}");
    }
}

#[test]
fn best_effort_one_deeper_than_planned_is_caught() {
    let deeper = Plan { best_effort_depth: BEST_EFFORT_DEPTH + 1, ..canary_plan() };
    for (name, canary) in [
        (PolicyName::Rtio, Rtio::at_once(&deeper)),
        (PolicyName::RtioDrain, Rtio::draining(&deeper)),
        (PolicyName::RtioLimit, Rtio::draining(&deeper)),
        (PolicyName::RtioPriority, Rtio::by_priority(&deeper)),
    ] {
        let breaches = breaches_of(name, canary);
        let too_deep = |breach: &Breach| {
            matches!(breach, Breach::BestEffortTooDeep { best_effort_count: 3, depth_max: 2 })
        };
        assert!(!breaches.is_empty() && breaches.iter().all(too_deep), "{name}: {breaches:?}");
    }
}

#[test]
fn rtio_that_serves_the_youngest_first_is_caught() {
    for name in [PolicyName::Rtio, PolicyName::RtioLimit, PolicyName::RtioPriority] {
        let breaches = breaches_of(name, OneAtATime::new(VecDeque::pop_back));
        let overtaken = |breach: &Breach| matches!(breach, Breach::Overtaken { .. });
        assert!(breaches.iter().any(overtaken), "{name}: {breaches:?}");
    }
}

/// Goal: the checker finds a lower class that is sent before a higher one. It accepts best effort
/// sent while real time waits for its round, and a class sent before requests that the policy did
/// not know. Method: events by hand.
#[test]
fn class_that_goes_before_a_higher_one_is_caught() {
    let of = |id, class| Request { class, ..request(id) };
    let [hard, late, soft] = [of(1, Class::Hard), of(2, Class::Hard), of(3, Class::Soft)];
    let best_effort = of(4, Class::BestEffort);
    let breaches = |queued_max, batch: &[Request]| {
        let mut checker = ClassOrder::new(queued_max);
        for request in [hard, late, soft, best_effort] {
            checker.released(at(0), &request);
        }
        checker.dispatched(at(1), batch);
        let found = checker.log().first().iter();
        found.map(|found| found.breach.clone()).collect::<Vec<_>>()
    };
    assert_eq!(breaches(9, &[hard, soft]), [Breach::ClassOvertook { id: soft.id }]);
    assert_eq!(breaches(9, &[soft, late, hard]), []);
    assert_eq!(breaches(9, &[best_effort]), []);
    assert_eq!(breaches(1, &[hard, soft]), []);
    let overtaken = Breach::Overtaken { id: hard.id, younger: late.id };
    assert_eq!(breaches(9, &[late]), [overtaken]);
}

/// Dispatches the first request that it saw, forever.
#[derive(Default)]
struct Repeating {
    first: Option<RequestId>,
}

impl Policy for Repeating {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        if let Event::Release(request) = event {
            self.first.get_or_insert(request.id);
        }
        Ok(())
    }

    fn decide(&mut self, _now: Time) -> Decision {
        let id = self.first.expect("asked after a release");
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

/// The host itself stops at a request that is dispatched twice.
#[test]
#[should_panic(expected = "dispatched twice")]
fn policy_that_sends_a_request_twice_is_stopped() {
    breaches_of(PolicyName::Fifo, Repeating::default());
}

fn request(id: u64) -> Request {
    let params = busy_workload().tasks.remove(0);
    Request {
        id: RequestId(id),
        task: tidegate_model::TaskIndex(0),
        class: Class::Hard,
        released: Time::ZERO,
        eligible: Time::ZERO,
        due: None,
        op: params.op,
        start: tidegate_model::Lba::new(0),
        size: params.size,
        fua: false,
        optional: false,
        tag: Tag::Simple,
    }
}

/// Goal: the checker also finds breaches that no policy can cause. Method: events by hand.
#[test]
fn stories_that_do_not_fit_are_caught() {
    let [a, b] = [request(1), request(2)];
    let mut checker = ExactlyOnce::default();
    checker.released(at(0), &a);
    checker.released(at(0), &a);
    checker.dispatched(at(1), &[a, b]);
    checker.dispatched(at(2), &[a]);
    checker.completed(at(3), &a, Outcome::Done);
    checker.completed(at(4), &a, Outcome::Done);
    checker.released(at(5), &b);
    checker.ended(at(6));
    let breaches: Vec<_> = checker.log().first().iter().map(|found| found.breach.clone()).collect();
    let expected = [
        Breach::ReleasedTwice { id: a.id },
        Breach::DispatchedUnqueued { id: b.id },
        Breach::DispatchedUnqueued { id: a.id },
        Breach::CompletedUndispatched { id: a.id },
        Breach::NeverCompleted { id: b.id },
    ];
    assert_eq!(breaches, expected);
}

#[test]
fn log_keeps_the_first_violations_and_counts_all() {
    let mut checker = ExactlyOnce::default();
    for instant in 0..1_000 {
        checker.completed(at(instant), &request(1), Outcome::Done);
    }
    let log = checker.log();
    assert_eq!((log.count(), log.first().len()), (1_000, ViolationLog::KEPT_MAX));
    assert_eq!(
        log.first()[2].to_string(),
        "at 2000000 ns: RequestId(1) completed and was not in flight"
    );
}

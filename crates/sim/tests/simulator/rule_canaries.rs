// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Canaries of the rules of draining policies and of the models of Linux schedulers: a policy that
//! breaks the rule is caught by its checker, and the policy itself is not accused of the same
//! story.

use tidegate_drive::PseudoDisk;
use tidegate_model::{
    Class, Duration, Intensity, Lba, Op, Outcome, Plan, PolicyName, Request, RequestId, TaskIndex,
    Time, Workload,
};
use tidegate_policy::{
    AdaptiveDrain, Decision, Event, Fifo, Full, GatedDrain, MqDeadline, Noop, Policy, RtioSlots,
};
use tidegate_sim::checkers::{
    Breach, Checker, Checkers, ClassDrained, Expiry, PositionLines, PositionOrder, RankOrder,
    Ranks, TimeSlices,
};
use tidegate_sim::{Length, Observer, SimParams, simulate};

use crate::common::{TIMES_MS, at, load, ms, plan, table, task, workload};

/// drain(q): with fewer best-effort requests than the drive takes, the deadlines can be kept.
const DRAIN_MS: [u64; 4] = [10, 20, 30, 40];

fn drained_workload(tasks: usize) -> Workload {
    let tasks = (0..tasks).map(|_| task("task", 60)).collect();
    let mut workload = workload(&TIMES_MS, tasks, vec![load("backup", Intensity::Outstanding(6))]);
    workload.contracts.drain = Some(table(&DRAIN_MS));
    workload
}

/// What the checkers of `name` say of a policy, which may follow another plan than they do.
fn breaches_of(workload: &Workload, name: PolicyName, policy: impl Policy) -> Vec<Breach> {
    let mut checkers = Checkers::of_policy(name, &plan(workload, 4, 0));
    let drive = PseudoDisk::new(workload.depth, workload.table.clone(), 1);
    let params = SimParams::new(workload, Length::Jobs(40));
    simulate(&params, policy, drive, &mut checkers);
    checkers.violations().into_iter().map(|violation| violation.breach).collect()
}

/// The plan of a workload whose drive is thought to be drained in no time.
fn optimist(workload: &Workload) -> Plan {
    let mut plan = plan(workload, 4, 0);
    plan.contracts.drain = Some(table(&[1, 1, 1, 1]));
    plan
}

fn is_late(breach: &Breach) -> bool {
    matches!(breach, Breach::JoinedTooLate { .. })
}

fn is_overtaking(breach: &Breach) -> bool {
    matches!(breach, Breach::ClassOvertook { .. })
}

#[test]
fn best_effort_past_the_latest_safe_instant_is_caught() {
    let one = drained_workload(1);
    let name = PolicyName::AdaptiveDrain;
    assert_eq!(breaches_of(&one, name, AdaptiveDrain::new(&plan(&one, 4, 0))), []);
    let breaches = breaches_of(&one, name, AdaptiveDrain::new(&optimist(&one)));
    assert!(!breaches.is_empty() && breaches.iter().all(is_late), "{breaches:?}");

    let three = drained_workload(3);
    let name = PolicyName::GatedDrain;
    assert_eq!(breaches_of(&three, name, GatedDrain::new(&plan(&three, 4, 0))), []);
    let breaches = breaches_of(&three, name, GatedDrain::new(&optimist(&three)));
    assert!(!breaches.is_empty() && breaches.iter().all(is_late), "{breaches:?}");
}

/// `gated-drain` for one task, beside two: it thinks of too few units.
#[test]
fn gate_that_forgets_a_task_is_caught() {
    let three = drained_workload(3);
    let forgetful = Plan { tasks: vec![task("task", 60)], ..plan(&three, 4, 0) };
    let breaches = breaches_of(&three, PolicyName::GatedDrain, GatedDrain::new(&forgetful));
    assert!(breaches.iter().any(is_late), "{breaches:?}");
}

#[test]
fn best_effort_on_a_reserved_place_is_caught() {
    let two = drained_workload(2);
    let name = PolicyName::RtioSlots;
    assert_eq!(breaches_of(&two, name, RtioSlots::new(&plan(&two, 4, 0))), []);
    let fewer = Plan { tasks: vec![task("task", 60)], ..plan(&two, 4, 0) };
    let breaches = breaches_of(&two, name, RtioSlots::new(&fewer));
    assert!(!breaches.is_empty() && breaches.iter().all(is_late), "{breaches:?}");
}

/// Says nothing for as long as the drive is empty, but at the very beginning.
struct Sleepy<P> {
    inner: P,
    in_flight: usize,
    is_awake: bool,
}

impl<P: Policy> Policy for Sleepy<P> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Complete { .. } => self.in_flight -= 1,
            // The second arrival after it fell asleep wakes it.
            Event::Release(_) => self.is_awake = !self.is_awake,
            _ => {}
        }
        self.inner.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        if self.in_flight == 0 && !self.is_awake {
            return Decision::AwaitEvent;
        }
        let decision = self.inner.decide(now);
        if matches!(decision, Decision::Dispatch { .. }) {
            self.in_flight += 1;
        }
        decision
    }
}

fn sleepy<P>(inner: P) -> Sleepy<P> {
    Sleepy { inner, in_flight: 0, is_awake: true }
}

#[test]
fn empty_drive_beside_waiting_requests_is_caught() {
    let mut two = drained_workload(2);
    two.best_effort.clear();
    two.tasks[1].offset = ms(5);
    let plan = plan(&two, 4, 0);
    let idle = |breach: &Breach| matches!(breach, Breach::RoomUnused { in_flight_count: 0, .. });
    let caught = |name, policy: Box<dyn Policy>| {
        let found = breaches_of(&two, name, sleepy(policy));
        assert!(found.iter().any(idle), "{name}: {found:?}");
    };
    caught(PolicyName::AdaptiveDrain, Box::new(AdaptiveDrain::new(&plan)));
    caught(PolicyName::GatedDrain, Box::new(GatedDrain::new(&plan)));
    caught(PolicyName::RtioSlots, Box::new(RtioSlots::new(&plan)));
    caught(PolicyName::MqDeadline, Box::new(MqDeadline::new(4, 1_000)));
}

#[test]
fn best_effort_before_real_time_is_caught() {
    let workload = drained_workload(3);
    for name in [
        PolicyName::Rtio,
        PolicyName::RtioDrain,
        PolicyName::RtioLimit,
        PolicyName::RtioSlots,
        PolicyName::AdaptiveDrain,
        PolicyName::GatedDrain,
        PolicyName::CfqGrouped,
        PolicyName::BfqStrict,
        PolicyName::MqDeadline,
        PolicyName::Cfq,
    ] {
        let breaches = breaches_of(&workload, name, Fifo::new(1_000));
        assert!(breaches.iter().any(is_overtaking), "{name}: {breaches:?}");
    }
}

/// FIFO serves the units of jobs that are due at different times in the order of their release.
#[test]
fn units_out_of_the_order_of_their_deadlines_are_caught() {
    let mut workload = drained_workload(4);
    for (task, deadline) in workload.tasks.iter_mut().zip([60, 50, 40, 30]) {
        task.deadline = ms(deadline);
    }
    let breaches = breaches_of(&workload, PolicyName::GatedDrain, Fifo::new(1_000));
    let later = |breach: &Breach| matches!(breach, Breach::LaterDueFirst { .. });
    assert!(breaches.iter().any(later), "{breaches:?}");
}

#[test]
fn linux_models_keep_their_rules_and_not_each_others() {
    let mut workload = drained_workload(3);
    workload.best_effort.push(load("scrub", Intensity::Outstanding(3)));
    let breaches = |name, policy: Box<dyn Policy>| breaches_of(&workload, name, policy);
    let built = |name| tidegate_policy::build(name, &plan(&workload, 4, 0), None).unwrap();
    let names = [
        PolicyName::Deadline,
        PolicyName::MqDeadline,
        PolicyName::Cfq,
        PolicyName::CfqGrouped,
        PolicyName::BfqStrict,
    ];
    for name in names {
        assert_eq!(breaches(name, built(name)), [], "{name}");
        for other in names.into_iter().filter(|&other| other != name) {
            assert_ne!(breaches(name, built(other)), [], "{other} as {name}");
        }
        assert_ne!(breaches(name, built(PolicyName::Noop)), [], "noop as {name}");
    }
}

#[test]
fn requests_out_of_position_are_caught() {
    let workload = drained_workload(3);
    let out_of_place = |breach: &Breach| matches!(breach, Breach::OutOfPosition { .. });
    for name in [
        PolicyName::Deadline,
        PolicyName::MqDeadline,
        PolicyName::Cfq,
        PolicyName::CfqGrouped,
        PolicyName::BfqStrict,
    ] {
        let breaches = breaches_of(&workload, name, Noop::new(4, 1_000));
        assert!(breaches.iter().any(out_of_place), "{name}: {breaches:?}");
    }
}

/// A request for a story told by hand.
fn request(id: u64, source: u32, class: Class) -> Request {
    let plain = Request::plain(RequestId(id), class, crate::common::SIZE);
    Request { task: TaskIndex(source), start: Lba::new(id), ..plain }
}

fn found(checker: &impl Checker) -> Vec<Breach> {
    checker.log().first().iter().map(|found| found.breach.clone()).collect()
}

/// Tells a checker that a request is released, sent and returned, one after the other.
fn serve(checker: &mut impl Observer, now: Time, request: &Request) {
    checker.released(now, request);
    checker.dispatched(now, &[*request]);
    checker.completed(now, request, Outcome::Done);
}

#[test]
fn ranks_are_those_of_the_policy() {
    let [hard, soft, best_effort] =
        [Class::Hard, Class::Soft, Class::BestEffort].map(|class| request(class as u64, 0, class));
    let sent = |ranks, queued_max, batch: &[Request]| {
        let mut checker = RankOrder::new(ranks, queued_max);
        for request in [hard, soft, best_effort] {
            checker.released(at(0), &request);
        }
        checker.dispatched(at(1), batch);
        found(&checker)
    };
    let overtaken = |id| vec![Breach::ClassOvertook { id }];
    assert_eq!(sent(Ranks::HardFirst, 9, &[soft]), overtaken(soft.id));
    assert_eq!(sent(Ranks::RealTimeFirst, 9, &[soft]), []);
    assert_eq!(sent(Ranks::RealTimeFirst, 9, &[hard, best_effort]), overtaken(best_effort.id));
    assert_eq!(sent(Ranks::HardFirst, 9, &[hard, best_effort]), []);
    // What the host holds, the policy does not know.
    assert_eq!(sent(Ranks::RealTimeFirst, 0, &[best_effort]), []);
}

/// A write that waits, and reads that keep passing it; and a read that has expired.
#[test]
fn expired_request_that_is_passed_again_and_again_is_caught() {
    let write = Request { op: Op::Write, ..request(0, 0, Class::Hard) };
    let passed_by = |oldest: &Request, count: u64, since: Time| {
        let mut checker = Expiry::new(1_000);
        checker.released(at(0), oldest);
        for id in 1..=count {
            serve(&mut checker, since, &request(id, 0, Class::Hard));
        }
        found(&checker)
    };
    assert_eq!(passed_by(&write, 48, at(1)), []);
    let left = |id, waiting| Breach::ExpiredLeft { id: RequestId(id), waiting: RequestId(waiting) };
    assert_eq!(passed_by(&write, 49, at(1)), [left(49, 0)]);
    let read = request(0, 0, Class::Hard);
    assert_eq!(passed_by(&read, 90, at(499)), []);
    assert_eq!(passed_by(&read, 16, at(500)), []);
    assert_eq!(passed_by(&read, 17, at(500)), [left(17, 0)]);
}

#[test]
fn classes_that_share_a_batch_may_pass_an_expired_request() {
    let mut checker = Expiry::new(1_000).of_one_class();
    checker.released(at(0), &request(0, 0, Class::Hard));
    for id in 1..40 {
        let class = if id == 1 { Class::Soft } else { Class::Hard };
        serve(&mut checker, at(500), &request(id, 0, class));
    }
    assert_eq!(found(&checker), []);
}

#[test]
fn oldest_request_may_go_out_of_position_only_when_it_has_expired() {
    let sent_at = |now| {
        let mut checker = PositionOrder::new(PositionLines::OfDirection, 9);
        let [low, middle, high] = [1, 2, 3].map(|id| request(id, 0, Class::Hard));
        serve(&mut checker, at(0), &middle);
        checker.released(at(0), &low);
        checker.released(at(1), &high);
        checker.dispatched(now, &[low]);
        found(&checker)
    };
    let expected = Breach::OutOfPosition { id: RequestId(1), expected: RequestId(3) };
    assert_eq!(sent_at(at(499)), [expected]);
    assert_eq!(sent_at(at(500)), []);
}

#[test]
fn lower_class_goes_beside_a_higher_one_only_when_it_has_aged() {
    let sent_at = |now| {
        let mut checker = ClassDrained::default();
        let [hard, low] = [request(1, 0, Class::Hard), request(2, 1, Class::BestEffort)];
        checker.released(at(0), &low);
        checker.released(at(1), &hard);
        checker.dispatched(at(1), &[hard]);
        checker.dispatched(now, &[low]);
        checker.completed(now, &hard, Outcome::Done);
        checker.released(now, &request(3, 1, Class::BestEffort));
        checker.dispatched(now, &[request(3, 1, Class::BestEffort)]);
        found(&checker)
    };
    assert_eq!(sent_at(at(9_999)), [Breach::ClassOvertook { id: RequestId(2) }]);
    assert_eq!(sent_at(at(10_000)), []);
}

/// Two best-effort sources with a slice of 40 ms each, and a task.
#[test]
fn turns_are_taken_for_a_slice_each() {
    let of = |id, source| request(id, source, Class::BestEffort);
    let story = |tell: &dyn Fn(&mut TimeSlices)| {
        let mut checker = TimeSlices::new(1_000);
        for id in 0..9 {
            checker.released(at(0), &of(id, 0));
        }
        tell(&mut checker);
        found(&checker)
    };
    let serve_at = |checker: &mut TimeSlices, ms: u64, request: Request| {
        checker.dispatched(at(ms), &[request]);
        checker.completed(at(ms), &request, Outcome::Done);
    };
    // Another waits from 10 ms on: the slice is over 40 ms after the first request since then.
    let sends_until = |last_ms: u64| {
        story(&|checker| {
            serve_at(checker, 0, of(0, 0));
            checker.released(at(10), &of(20, 1));
            serve_at(checker, 12, of(1, 0));
            serve_at(checker, last_ms, of(2, 0));
        })
    };
    assert_eq!(sends_until(51), []);
    let overdue = Breach::SliceExceeded { id: RequestId(2), waiting: TaskIndex(1) };
    assert_eq!(sends_until(52), [overdue]);
    // The drive is kept for a source with requests until its slice is over.
    let takes_over_at = |ms: u64, class| {
        let other = request(20, 1, class);
        story(&|checker| {
            serve_at(checker, 0, of(0, 0));
            checker.released(at(1), &other);
            serve_at(checker, ms, other);
        })
    };
    let taken = || Breach::TurnTaken { id: RequestId(20), kept_for: TaskIndex(0) };
    assert_eq!(takes_over_at(39, Class::BestEffort), [taken()]);
    assert_eq!(takes_over_at(39, Class::Hard), [taken()]);
    assert_eq!(takes_over_at(40, Class::BestEffort), []);
    // Beside others at most 4 at once.
    let sends_together = |has_company: bool| {
        story(&|checker| {
            if has_company {
                checker.released(at(0), &of(20, 1));
            }
            checker.dispatched(at(0), &[0, 1, 2, 3, 4].map(|id| of(id, 0)));
        })
    };
    let too_many = Breach::TooManyInFlight { in_flight_count: 5, in_flight_max: 4 };
    assert_eq!(sends_together(false), []);
    assert_eq!(sends_together(true), [too_many]);
}

#[test]
fn idle_source_keeps_the_drive_for_8_ms() {
    let takes_over_at = |ms: u64| {
        let mut checker = TimeSlices::new(1_000);
        serve(&mut checker, at(0), &request(0, 0, Class::BestEffort));
        let other = request(1, 1, Class::BestEffort);
        checker.released(at(1), &other);
        checker.dispatched(at(ms), &[other]);
        found(&checker)
    };
    let taken = Breach::TurnTaken { id: RequestId(1), kept_for: TaskIndex(0) };
    assert_eq!(takes_over_at(7), [taken]);
    assert_eq!(takes_over_at(8), []);
}

/// A task that waits since before the turn of one load was over goes before another load.
#[test]
fn turn_of_best_effort_before_a_waiting_task_is_caught() {
    let begins_at = |released: Duration| {
        let mut checker = TimeSlices::new(1_000);
        let [hard, other] = [request(1, 1, Class::Hard), request(2, 2, Class::BestEffort)];
        let mut first = request(0, 0, Class::BestEffort);
        checker.released(at(0), &other);
        if released.is_zero() {
            checker.released(at(0), &hard);
        }
        serve(&mut checker, at(0), &first);
        first.id = RequestId(3);
        serve(&mut checker, at(1), &first);
        if !released.is_zero() {
            checker.released(at(2), &hard);
        }
        checker.dispatched(at(50), &[other]);
        found(&checker)
    };
    let breaches = begins_at(Duration::ZERO);
    assert!(breaches.contains(&Breach::ClassOvertook { id: RequestId(2) }), "{breaches:?}");
    assert_eq!(begins_at(ms(2)), []);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rules of the Linux models at their limits: the checkers get events by hand, one sequence that
//! the rule just allows and one that breaks it.

use tidegate_model::{Class, Duration, Op, Outcome, Request, RequestId, TaskIndex, Time};
use tidegate_sim::Observer;
use tidegate_sim::checkers::{
    Breach, ClassDrained, Expiry, PositionOrder, PositionQueues, RankOrder, Ranks, TimeSlices,
};

use super::common::{at, found, ms, request, sent_at};

/// Reports to a checker that a request is released, sent and completed, one after the other.
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
        sent_at(at(1), RankOrder::new(ranks, queued_max), &[hard, soft, best_effort], batch)
    };
    let overtaken = |id| vec![Breach::ClassOvertook { id }];
    assert_eq!(sent(Ranks::HardFirst, 9, &[soft]), overtaken(soft.id));
    assert_eq!(sent(Ranks::RealTimeFirst, 9, &[soft]), []);
    assert_eq!(sent(Ranks::RealTimeFirst, 9, &[hard, best_effort]), overtaken(best_effort.id));
    assert_eq!(sent(Ranks::HardFirst, 9, &[hard, best_effort]), []);
    // The policy does not know the requests that the host holds.
    assert_eq!(sent(Ranks::RealTimeFirst, 0, &[best_effort]), []);
}

/// The checker catches reads that pass a waiting write too often, and requests that pass an expired
/// read too often.
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

/// While a soft request is outstanding, the checker reports nothing; afterwards it counts from
/// zero.
#[test]
fn classes_that_share_a_batch_may_pass_an_expired_request() {
    let passed_by = |first, together, alone| {
        let mut checker = Expiry::new(1_000).of_one_class();
        checker.released(at(0), &request(0, 0, Class::Hard));
        let mut ids = 1..;
        let mut pass = |checker: &mut Expiry, count| {
            for id in ids.by_ref().take(count) {
                serve(checker, at(500), &request(id, 0, Class::Hard));
            }
        };
        pass(&mut checker, first);
        let soft = request(1_000, 0, Class::Soft);
        checker.released(at(500), &soft);
        pass(&mut checker, together);
        checker.dispatched(at(500), &[soft]);
        checker.completed(at(500), &soft, Outcome::Done);
        pass(&mut checker, alone);
        found(&checker)
    };
    let left = |id| Breach::ExpiredLeft { id: RequestId(id), waiting: RequestId(0) };
    assert_eq!(passed_by(16, 40, 16), []);
    assert_eq!(passed_by(17, 0, 0), [left(17)]);
    assert_eq!(passed_by(1, 1, 17), [left(19)]);
}

#[test]
fn oldest_request_may_go_out_of_position_only_when_it_has_expired() {
    let sent_at = |now| {
        let mut checker = PositionOrder::new(PositionQueues::OfDirection, 9);
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
    // Another source waits from 10 ms on: the slice ends 40 ms after the first request since then.
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
    // The drive is kept for a source with requests until its slice ends.
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
    // While other sources wait, a source has at most 4 requests on the drive.
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

/// A task that has waited since before the end of one load's turn is served before another load.
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

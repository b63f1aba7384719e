// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests notices and the rate that they control, by hand: when it falls, when it grows, which
//! notices count.
//!
//! The policy behind the regulator is `noop` on a drive that accepts every request. Best effort
//! comes at a thousand requests per second and is served immediately, so the requests served in a
//! second are the rate.

use tidegate_model::{
    Class, Duration, Outcome, Plan, PolicyName, Request, RequestId, TaskIndex, Time,
};
use tidegate_policy::{Event, NoticeKind, Policy};

use super::by_hand::round;
use super::common::{self, request, soft_and_hard, wide_plan};

pub(crate) const SOFT: TaskIndex = TaskIndex(0);
const HARD: TaskIndex = TaskIndex(1);
pub(crate) const LOAD: u32 = 2;

/// Drives a regulator a millisecond at a time.
struct Hand {
    policy: Box<dyn Policy>,
    now_ms: u64,
    next_id: u64,
}

impl Hand {
    fn new(name: PolicyName) -> Self {
        let plan = Plan { queued_max: 5, tasks: soft_and_hard(), ..wide_plan() };
        Self { policy: tidegate_policy::build(name, &plan, None).unwrap(), now_ms: 0, next_id: 0 }
    }

    /// Returns the state after `ms` milliseconds of the load.
    fn after(name: PolicyName, ms: u64) -> Self {
        let mut hand = Self::new(name);
        hand.pass(ms);
        hand
    }

    fn now(&self) -> Time {
        common::at(self.now_ms)
    }

    fn round(&mut self) -> Vec<RequestId> {
        let now = self.now();
        round(&mut *self.policy, now).0
    }

    fn release(&mut self, request: Request) -> RequestId {
        // The queue may be full, because the load is greedy.
        let _ = self.policy.observe(self.now(), Event::Release(request));
        self.next_id += 1;
        request.id
    }

    fn complete(&mut self, id: RequestId) {
        let event = Event::Complete { id, outcome: Outcome::Done };
        self.policy.observe(self.now(), event).unwrap();
    }

    /// Lets `ms` milliseconds of the load pass and returns the number of requests served.
    fn pass(&mut self, ms: u64) -> usize {
        let mut served = 0;
        for _ in 0..ms {
            self.now_ms += 1;
            let load = request(self.next_id, LOAD, Class::BestEffort, self.now());
            self.release(load);
            let batch = self.round();
            served += batch.len();
            for id in batch {
                self.complete(id);
            }
        }
        served
    }

    /// Serves a request of a task; a late request completes after twice its deadline.
    fn serve(&mut self, task: TaskIndex, class: Class, is_late: bool) {
        let due = Some(self.now() + Duration::from_ms(4));
        let soft = Request { due, ..request(self.next_id, task.0, class, self.now()) };
        let id = self.release(soft);
        let batch = self.round();
        for other in batch.into_iter().filter(|&other| other != id) {
            self.complete(other);
        }
        self.pass(if is_late { 8 } else { 1 });
        self.complete(id);
    }

    /// Asserts how many requests the steered rate lets through in the next second.
    fn assert_rate(&mut self, expected: usize) {
        let served = self.pass(1_000);
        assert!(is_near(served, expected), "{served} instead of {expected}");
    }

    fn report(&mut self, task: TaskIndex, kind: NoticeKind) {
        self.policy.observe(self.now(), Event::Notice { task, kind }).unwrap();
    }

    /// Makes a soft task miss a deadline and report the miss.
    fn miss(&mut self) {
        self.serve(SOFT, Class::Soft, true);
        self.report(SOFT, NoticeKind::DeadlineMissed);
    }
}

pub(crate) fn is_near(served: usize, expected: usize) -> bool {
    served.abs_diff(expected) <= expected / 20 + 2
}

#[test]
fn nothing_is_limited_before_a_notice() {
    assert_eq!(Hand::new(PolicyName::Mdn).pass(2_000), 2_000);
}

#[test]
fn a_true_notice_takes_a_quarter_of_what_best_effort_achieved() {
    for name in [PolicyName::Mdn, PolicyName::MdnExtended] {
        let mut hand = Hand::after(name, 3_000);
        hand.miss();
        hand.assert_rate(750);
    }
}

#[test]
fn notices_of_one_congestion_count_once() {
    let mut hand = Hand::after(PolicyName::MdnExtended, 3_000);
    for _ in 0..4 {
        hand.miss();
        hand.pass(100);
    }
    hand.assert_rate(750);
    hand.miss();
    hand.assert_rate(562);
}

/// Notices of a source that is no task of the plan and sends soft requests without deadlines count
/// once for each time that it was active.
#[test]
fn a_stream_without_figures_is_heard_after_it_was_active() {
    const STREAM: TaskIndex = TaskIndex(3);
    for name in [PolicyName::Mdn, PolicyName::MdnExtended] {
        let mut hand = Hand::after(name, 3_000);
        let send = |hand: &mut Hand| {
            let read = request(hand.next_id, STREAM.0, Class::Soft, hand.now());
            let id = hand.release(Request { due: None, ..read });
            assert!(hand.round().contains(&id), "it waits for tokens");
            hand.complete(id);
        };
        // The stream has sent nothing, so none of its requests can be late.
        hand.report(STREAM, NoticeKind::DeadlineMissed);
        hand.assert_rate(1_000);
        send(&mut hand);
        hand.report(STREAM, NoticeKind::DeadlineMissed);
        hand.assert_rate(750);
        hand.report(STREAM, NoticeKind::DeadlineMissed);
        hand.assert_rate(750);
        send(&mut hand);
        hand.report(STREAM, NoticeKind::DeadlineMissed);
        hand.assert_rate(562);
    }
}

#[test]
fn base_form_grows_and_extended_form_waits_for_the_end_of_a_stream() {
    let mut base = Hand::after(PolicyName::Mdn, 3_000);
    let mut extended = Hand::after(PolicyName::MdnExtended, 3_000);
    for hand in [&mut base, &mut extended] {
        hand.miss();
        // The rate grows by 2/s in each second: 80/s more after 40 seconds.
        hand.pass(40_000);
    }
    let (grown, still) = (base.pass(1_000), extended.pass(1_000));
    assert!(grown.abs_diff(still + 80) <= 4, "{grown} {still}");
    extended.report(SOFT, NoticeKind::StreamEnded);
    extended.pass(40_000);
    let grown = extended.pass(1_000);
    assert!(grown.abs_diff(still + 80) <= 4, "{grown} {still}");
}

#[test]
fn best_effort_is_never_starved() {
    let mut hand = Hand::after(PolicyName::MdnExtended, 2_000);
    for _ in 0..60 {
        hand.miss();
        hand.pass(1_000);
    }
    // The rate is at its minimum of one request each second.
    let served = hand.pass(10_000);
    assert!((9..=11).contains(&served), "{served}");
}

#[test]
fn a_task_that_reports_what_it_did_not_miss_loses_its_say_for_a_while() {
    let mut hand = Hand::after(PolicyName::MdnExtended, 2_000);
    hand.serve(SOFT, Class::Soft, false);
    hand.report(SOFT, NoticeKind::DeadlineMissed);
    hand.pass(1_000);
    // The task now does miss a deadline, but its notice is ignored.
    hand.miss();
    assert_eq!(hand.pass(1_000), 1_000);
    hand.pass(9_000);
    hand.miss();
    hand.assert_rate(750);
}

#[test]
fn a_request_outstanding_past_its_due_is_a_miss() {
    let mut hand = Hand::after(PolicyName::MdnExtended, 2_000);
    let due = Some(hand.now() + Duration::from_ms(4));
    let late = Request { due, ..request(hand.next_id, SOFT.0, Class::Soft, hand.now()) };
    hand.release(late);
    for id in hand.round() {
        if id != late.id {
            hand.complete(id);
        }
    }
    hand.pass(8);
    hand.report(SOFT, NoticeKind::DeadlineMissed);
    hand.assert_rate(750);
}

#[test]
fn a_task_that_takes_more_than_its_share_is_not_heard() {
    let mut hand = Hand::after(PolicyName::MdnExtended, 2_000);
    for _ in 0..5 {
        hand.serve(SOFT, Class::Soft, true);
    }
    hand.report(SOFT, NoticeKind::DeadlineMissed);
    assert_eq!(hand.pass(1_000), 1_000);
}

#[test]
fn only_declared_soft_tasks_have_a_say() {
    let mut hand = Hand::after(PolicyName::MdnExtended, 2_000);
    hand.serve(HARD, Class::Hard, true);
    hand.report(HARD, NoticeKind::DeadlineMissed);
    hand.report(TaskIndex(LOAD), NoticeKind::DeadlineMissed);
    hand.report(TaskIndex(9), NoticeKind::DeadlineMissed);
    assert_eq!(hand.pass(1_000), 1_000);
}

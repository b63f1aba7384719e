// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests shapers with rare events: cancelled requests and new plans.
//!
//! No request is lost, no cancelled request is dispatched, no token appears without a source, and a
//! new plan takes effect at once. The policy behind the regulator is `noop` on a drive that accepts
//! every request.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tidegate_model::parameters::{BestEffortRate, Shaping, TokenRate, TokenUnit};
use tidegate_model::{
    Bytes, Class, Duration, Op, Outcome, Plan, PolicyName, Request, RequestId, TaskIndex, Time,
};
use tidegate_policy::{Event, NoticeKind, Policy};

use crate::by_hand::round;
use crate::common::{any_op, at, bytes, request, requests, shaped, soft_and_hard, task};
use crate::steering::{LOAD, SOFT, is_near};

/// Parts of a token; each nanosecond adds `per_s` parts.
const PARTS: u128 = 1_000_000_000;

/// Returns a plan with this rate for all shapers.
fn with_burst(rate: TokenRate, burst_ms: u64) -> Plan {
    let burst = Duration::from_ms(burst_ms);
    Plan { tasks: soft_and_hard(), ..shaped(rate, Shaping { burst, ..Shaping::default() }) }
}

/// Returns the same without a burst.
fn plan_of(rate: TokenRate) -> Plan {
    with_burst(rate, 0)
}

/// A shaper that is asked at each time that it names, and the times of its dispatches.
struct Hand {
    policy: Box<dyn Policy>,
    now: Time,
    wake: Option<Time>,
    sent: BTreeMap<RequestId, Time>,
}

impl Hand {
    fn new(name: PolicyName, plan: &Plan) -> Self {
        let policy = tidegate_policy::build(name, plan, None).unwrap();
        Self { policy, now: Time::ZERO, wake: None, sent: BTreeMap::new() }
    }

    /// Asks the policy once; dispatched requests complete at once.
    fn ask(&mut self) {
        let (batch, wake) = round(&mut *self.policy, self.now);
        for id in batch {
            assert_eq!(self.sent.insert(id, self.now), None, "{id:?} is dispatched twice");
            let event = Event::Complete { id, outcome: Outcome::Done };
            self.policy.observe(self.now, event).unwrap();
        }
        self.wake = wake;
    }

    fn tell(&mut self, event: Event) {
        self.policy.observe(self.now, event).unwrap();
        self.ask();
    }

    fn wait_until(&mut self, until: Time) {
        while let Some(wake) = self.wake.filter(|&wake| wake <= until) {
            self.now = wake;
            self.ask();
        }
        self.now = until;
        self.ask();
    }

    fn release(&mut self, request: Request) {
        self.tell(Event::Release(Request { released: self.now, eligible: self.now, ..request }));
    }

    /// Releases best effort of this size.
    fn release_sized(&mut self, id: u64, size: u64) {
        let request = request(id, LOAD, Class::BestEffort, self.now);
        self.release(Request { size: Bytes::new(size), ..request });
    }

    fn cancel(&mut self, id: u64) {
        self.tell(Event::Cancel(RequestId(id)));
    }

    fn reconfigure(&mut self, plan: Plan) {
        self.tell(Event::Reconfigure(Box::new(plan)));
    }

    /// Returns the ids and dispatch times in milliseconds.
    fn sent_ms(&self) -> Vec<(u64, u64)> {
        let mut sent: Vec<_> =
            self.sent.iter().map(|(id, at)| (at.ns() / 1_000_000, id.0)).collect();
        sent.sort_unstable();
        sent.into_iter().map(|(ms, id)| (id, ms)).collect()
    }
}

#[test]
fn cancelled_request_is_never_sent_and_its_tokens_serve_the_next() {
    let mut hand = Hand::new(PolicyName::TokenBucket, &plan_of(requests(10)));
    (0..4).for_each(|id| hand.release_sized(id, 512));
    hand.wait_until(at(50));
    hand.cancel(0);
    hand.cancel(2);
    hand.cancel(77);
    hand.wait_until(at(1_000));
    // Dispatched already, so it is too late to cancel.
    hand.cancel(1);
    assert_eq!(hand.sent_ms(), [(1, 100), (3, 200)]);
}

/// Goal: tokens that a large request gathered beyond the burst are not kept for later requests.
/// Method: the request is cancelled 0.9 s after it began to gather 1,000 bytes at 1,000 B/s; each
/// later request takes 100.
#[test]
fn tokens_gathered_for_a_cancelled_request_pay_for_one_request_and_no_more() {
    let mut hand = Hand::new(PolicyName::TokenBucket, &plan_of(bytes(1_000)));
    hand.release_sized(0, 1_000);
    (1..4).for_each(|id| hand.release_sized(id, 100));
    hand.wait_until(at(900));
    hand.cancel(0);
    hand.wait_until(at(2_000));
    assert_eq!(hand.sent_ms(), [(1, 900), (2, 1_000), (3, 1_100)]);
}

#[test]
fn new_rate_is_in_force_at_once_with_an_empty_bucket() {
    let mut full = plan_of(requests(10));
    full.parameters.token_bucket.shaping.burst = Duration::from_ms(1_000);
    let mut hand = Hand::new(PolicyName::TokenBucket, &full);
    hand.wait_until(at(5_000));
    // The full bucket of ten tokens is gone, because no request used them in time.
    hand.reconfigure(plan_of(requests(100)));
    (0..3).for_each(|id| hand.release_sized(id, 512));
    hand.wait_until(at(5_020));
    hand.reconfigure(plan_of(requests(1)));
    hand.wait_until(at(9_000));
    assert_eq!(hand.sent_ms(), [(0, 5_010), (1, 5_020), (2, 6_020)]);
}

/// b(1) = 10 ms: a task of one request in 20 ms leaves half of the device; two tasks of one request
/// in 25 ms leave a fifth; three leave the smallest share, a hundredth.
#[test]
fn reserve_follows_the_tasks_of_the_new_plan() {
    let mut plan = plan_of(requests(1));
    plan.parameters.token_bucket.rate = BestEffortRate::Reserve { capacity: None };
    let every = |period_ms, count| {
        let period = Duration::from_ms(period_ms);
        let tasks = vec![tidegate_model::Task { period, ..task("task", 100) }; count];
        Plan { tasks, ..plan.clone() }
    };
    let mut hand = Hand::new(PolicyName::TokenBucket, &every(20, 1));
    (0..6).for_each(|id| hand.release_sized(id, 512));
    hand.wait_until(at(40));
    hand.reconfigure(every(25, 2));
    hand.wait_until(at(140));
    hand.reconfigure(every(25, 3));
    hand.wait_until(at(5_000));
    assert_eq!(hand.sent_ms(), [(0, 20), (1, 40), (2, 90), (3, 140), (4, 1_140), (5, 2_140)]);
}

/// Goal: removing a separate rate does not let writes bypass the common rate. Method: writes wait
/// for their own rate of 1/s; in the new plan they share the rate of all best effort, in order of
/// release.
#[test]
fn writes_share_the_rate_of_all_when_their_own_is_taken_away() {
    let mut apart = plan_of(requests(10));
    apart.parameters.token_bucket.shaping.write_rate = Some(requests(1));
    let mut hand = Hand::new(PolicyName::TokenBucket, &apart);
    for id in 0..6 {
        let op = if id % 2 == 0 { Op::Write } else { Op::Read };
        hand.release(Request { op, ..request(id, LOAD, Class::BestEffort, hand.now) });
    }
    hand.wait_until(at(150));
    assert_eq!(hand.sent_ms(), [(1, 100)]);
    hand.reconfigure(plan_of(requests(10)));
    hand.wait_until(at(2_000));
    assert_eq!(hand.sent_ms(), [(1, 100), (0, 250), (2, 350), (3, 450), (4, 550), (5, 650)]);
}

/// Requests that wait for the rate of interactive tasks pass at once when this rate is removed.
#[test]
fn interactive_requests_go_when_their_rate_is_taken_away() {
    let mut held = plan_of(requests(10));
    held.parameters.token_bucket.shaping.interactive_rate = Some(requests(1));
    let mut hand = Hand::new(PolicyName::TokenBucket, &held);
    hand.release(request(0, 0, Class::Interactive, hand.now));
    hand.wait_until(at(150));
    assert_eq!(hand.sent_ms(), []);
    hand.reconfigure(plan_of(requests(10)));
    assert_eq!(hand.sent_ms(), [(0, 150)]);
}

/// Returns how many of a thousand requests a second are dispatched in the next second.
fn sent_in_a_second(hand: &mut Hand, next_id: &mut u64) -> usize {
    let before = hand.sent.len();
    for _ in 0..1_000 {
        hand.wait_until(hand.now + Duration::from_ms(1));
        hand.release_sized(*next_id, 512);
        *next_id += 1;
    }
    hand.sent.len() - before
}

/// Asserts how many requests a steered rate lets through in the next second.
fn assert_steered(hand: &mut Hand, next_id: &mut u64, expected: usize) {
    let served = sent_in_a_second(hand, next_id);
    assert!(is_near(served, expected), "{served} instead of {expected}");
}

/// Serves a soft request late and reports the miss.
fn miss(hand: &mut Hand, id: u64) {
    let late = Request { due: Some(hand.now), ..request(id, SOFT.0, Class::Soft, hand.now) };
    hand.policy.observe(hand.now, Event::Release(late)).unwrap();
    let (_, _) = round(&mut *hand.policy, hand.now);
    hand.now += Duration::from_ns(1);
    hand.tell(Event::Complete { id: late.id, outcome: Outcome::Done });
    hand.tell(Event::Notice { task: SOFT, kind: NoticeKind::DeadlineMissed });
}

#[test]
fn steered_rate_outlives_a_plan_of_its_unit_and_no_other() {
    for name in [PolicyName::Mdn, PolicyName::MdnExtended] {
        let (mut hand, mut next_id) = (Hand::new(name, &plan_of(requests(2))), 1_000_000);
        sent_in_a_second(&mut hand, &mut next_id);
        assert_eq!(sent_in_a_second(&mut hand, &mut next_id), 1_000, "{name}: no limit at first");
        miss(&mut hand, 0);
        assert_steered(&mut hand, &mut next_id, 750);
        hand.reconfigure(plan_of(requests(2)));
        assert_steered(&mut hand, &mut next_id, 750);
        // All waiting requests are dispatched, because bytes have no limit yet.
        let waiting = usize::try_from(next_id - 1_000_000).unwrap() - hand.sent.len();
        let before = hand.sent.len();
        hand.reconfigure(plan_of(bytes(4_096)));
        assert_eq!(hand.sent.len() - before, waiting, "{name}");
        assert_eq!(sent_in_a_second(&mut hand, &mut next_id), 1_000, "{name}");
    }
}

/// Requests that are cancelled while they wait never count towards the achieved rate.
#[test]
fn cancelled_best_effort_is_not_what_a_steered_rate_is_taken_from() {
    let (mut hand, mut next_id) = (Hand::new(PolicyName::MdnExtended, &plan_of(requests(2))), 1);
    sent_in_a_second(&mut hand, &mut next_id);
    sent_in_a_second(&mut hand, &mut next_id);
    miss(&mut hand, 1_000_000);
    assert_steered(&mut hand, &mut next_id, 750);
    let waiting = (1..next_id).filter(|&id| !hand.sent.contains_key(&RequestId(id)));
    let waiting: Vec<u64> = waiting.collect();
    for &id in &waiting {
        hand.cancel(id);
    }
    assert_steered(&mut hand, &mut next_id, 750);
    miss(&mut hand, 1_000_001);
    assert_steered(&mut hand, &mut next_id, 562);
    assert!(waiting.iter().all(|&id| !hand.sent.contains_key(&RequestId(id))));
}

#[derive(Debug, Clone)]
enum Step {
    Wait(u64),
    Release(Class, Op, u64),
    /// Cancels the request released this many releases before the last.
    Cancel(u64),
    Reconfigure(TokenRate, u64),
    Notice(u32, NoticeKind),
}

fn any_rate() -> impl Strategy<Value = TokenRate> {
    prop_oneof![(1_u64..200).prop_map(requests), (1_000_u64..100_000).prop_map(bytes)]
}

fn any_step() -> impl Strategy<Value = Step> {
    let classes = &[Class::BestEffort, Class::Hard, Class::Soft, Class::Interactive][..];
    let kinds = &[NoticeKind::DeadlineMissed, NoticeKind::StreamEnded][..];
    let best_effort =
        (1_u64..2_000).prop_map(|size| Step::Release(Class::BestEffort, Op::Read, size));
    let any = (prop::sample::select(classes), any_op(), 1_u64..2_000);
    prop_oneof![
        3 => (0_u64..300).prop_map(Step::Wait),
        6 => best_effort,
        2 => any.prop_map(|(class, op, size)| Step::Release(class, op, size)),
        2 => (0_u64..6).prop_map(Step::Cancel),
        1 => (any_rate(), 0_u64..300).prop_map(|(rate, burst)| Step::Reconfigure(rate, burst)),
        1 => (0_u32..4, prop::sample::select(kinds)).prop_map(|(task, kind)| Step::Notice(task, kind)),
    ]
}

/// The time for which one plan holds: its start, its rate, and its first tokens in parts.
struct Stretch {
    from: Time,
    rate: TokenRate,
    begun_with: u128,
}

/// The released requests, the requests cancelled in time, and the plans in force.
#[derive(Default)]
struct Story {
    released: BTreeMap<RequestId, Request>,
    cancelled: BTreeSet<RequestId>,
    stretches: Vec<Stretch>,
}

fn play(name: PolicyName, first: (TokenRate, u64), steps: &[Step]) -> (Hand, Story) {
    let mut hand = Hand::new(name, &with_burst(first.0, first.1));
    let mut story = Story::default();
    let begun_with = u128::from(first.0.per_s) * u128::from(first.1) * 1_000_000;
    story.stretches.push(Stretch { from: Time::ZERO, rate: first.0, begun_with });
    for step in steps {
        match *step {
            Step::Wait(ms) => hand.wait_until(hand.now + Duration::from_ms(ms)),
            Step::Release(class, op, size) => {
                let id = story.released.len() as u64;
                let request = request(id, u32::from(id % 2 == 1), class, hand.now);
                let request = Request { op, size: Bytes::new(size), ..request };
                story.released.insert(request.id, request);
                hand.release(request);
            }
            Step::Cancel(back) => {
                let Some(id) = (story.released.len() as u64).checked_sub(back + 1) else {
                    continue;
                };
                if !hand.sent.contains_key(&RequestId(id)) {
                    story.cancelled.insert(RequestId(id));
                }
                hand.cancel(id);
            }
            Step::Reconfigure(rate, burst_ms) => {
                story.stretches.push(Stretch { from: hand.now, rate, begun_with: 0 });
                hand.reconfigure(with_burst(rate, burst_ms));
            }
            Step::Notice(task, kind) => hand.tell(Event::Notice { task: TaskIndex(task), kind }),
        }
    }
    while let Some(wake) = hand.wake {
        hand.wait_until(wake);
    }
    (hand, story)
}

/// Returns the first instant at which more best effort was dispatched under a plan than the plan's
/// tokens allow.
fn token_from_nowhere(hand: &Hand, story: &Story) -> Option<Time> {
    let mut grants: Vec<(Time, RequestId)> = hand.sent.iter().map(|(&id, &at)| (at, id)).collect();
    grants.retain(|(_, id)| story.released[id].class == Class::BestEffort);
    grants.sort_unstable();
    let ends = story.stretches.iter().skip(1).map(|next| next.from).chain([Time::MAX]);
    story.stretches.iter().zip(ends).find_map(|(stretch, end)| {
        // Requests at the instant of a change may have been dispatched before it.
        let own = grants.iter().filter(|&&(at, _)| stretch.from < at && at < end);
        let mut held = 0;
        own.into_iter().find_map(|&(at, id)| {
            let tokens = match stretch.rate.unit {
                TokenUnit::Byte => story.released[&id].size.get(),
                TokenUnit::Request | TokenUnit::DeviceTime => 1,
            };
            held += u128::from(tokens) * PARTS;
            let gained = u128::from(stretch.rate.per_s) * u128::from((at - stretch.from).ns());
            (held > stretch.begun_with + gained).then_some(at)
        })
    })
}

const SHAPERS: [PolicyName; 3] =
    [PolicyName::TokenBucket, PolicyName::Mdn, PolicyName::MdnExtended];

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_cancelled_is_sent(
        name in prop::sample::select(&SHAPERS[..]),
        first in (any_rate(), 0_u64..300),
        steps in prop::collection::vec(any_step(), 1..80),
    ) {
        let (hand, story) = play(name, first, &steps);
        for (id, request) in &story.released {
            let sent = hand.sent.get(id);
            prop_assert_eq!(sent.is_some(), !story.cancelled.contains(id), "{:?}", id);
            if request.class != Class::BestEffort {
                prop_assert_eq!(sent, Some(&request.released), "real time passes at once");
            }
        }
        if name == PolicyName::TokenBucket {
            prop_assert_eq!(token_from_nowhere(&hand, &story), None);
        }
    }
}

/// Canary: without a shaper, requests are dispatched without tokens.
#[test]
fn tokens_from_nowhere_are_found() {
    let steps: Vec<Step> = (0..20)
        .flat_map(|_| [Step::Release(Class::BestEffort, Op::Read, 100), Step::Wait(1)])
        .collect();
    let (hand, story) = play(PolicyName::Noop, (requests(10), 0), &steps);
    assert_eq!(token_from_nowhere(&hand, &story), Some(at(1)));
}

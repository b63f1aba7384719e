// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests shapers with rare events: cancelled requests and new plans.
//!
//! No request is lost, no cancelled request is dispatched, no token appears without a source, and a
//! new plan takes effect immediately. The policy behind the regulator is `noop` on a drive that
//! accepts every request.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tidegate_model::parameters::{
    BestEffortRate, MdnParameters, Shaping, TokenBucketParameters, TokenRate,
};
use tidegate_model::{
    Bytes, Class, Duration, Op, Outcome, Plan, PolicyName, Request, RequestId, TaskIndex, Time,
};
use tidegate_policy::{Event, NoticeKind, Policy};
use tidegate_sim::checkers::{Breach, Checkers};

use super::by_hand::round;
use super::common::{any_op, at, bytes, request, requests, shaped, soft_and_hard, task};
use super::rate_control::{LOAD, SOFT, is_near};

/// Returns a plan with this rate for all shapers.
fn with_burst(rate: TokenRate, burst_ms: u64) -> Plan {
    let burst = Duration::from_ms(burst_ms);
    Plan { tasks: soft_and_hard(), ..shaped(rate, Shaping { burst, ..Shaping::default() }) }
}

/// Returns a plan with this rate for all shapers, without a burst.
fn plan_of(rate: TokenRate) -> Plan {
    with_burst(rate, 0)
}

/// Drives a shaper by hand: asks it for a decision after each event and at each time at which it
/// wants to be woken, and records when it dispatches each request.
struct Hand {
    policy: Box<dyn Policy>,
    checkers: Checkers,
    now: Time,
    wake: Option<Time>,
    sent: BTreeMap<RequestId, Time>,
}

impl Hand {
    fn new(name: PolicyName, plan: &Plan) -> Self {
        Self::under(name, plan, plan)
    }

    /// Returns a shaper whose plan differs from the checkers' plan.
    fn under(name: PolicyName, plan: &Plan, followed: &Plan) -> Self {
        let (policy, checkers) = Checkers::watching_under(name, plan, followed, None).unwrap();
        Self { policy, checkers, now: Time::ZERO, wake: None, sent: BTreeMap::new() }
    }

    fn breaches(&self) -> Vec<Breach> {
        self.checkers.violations().into_iter().map(|violation| violation.breach).collect()
    }

    /// Asks the policy once; dispatched requests complete immediately.
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
    // The request was dispatched already, so it is too late to cancel it.
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

/// Requests that wait for the rate of interactive tasks pass immediately when this rate is removed.
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

/// Releases a thousand requests per second for a second, and returns how many are dispatched in it.
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
    /// Releases a request of this size; the flag makes a real-time request late.
    Release(Class, Op, u64, bool),
    /// Cancels the request released this many releases before the last.
    Cancel(u64),
    Reconfigure(Box<Plan>),
    Notice(u32, NoticeKind),
}

fn any_rate() -> impl Strategy<Value = TokenRate> {
    prop_oneof![(1_u64..200).prop_map(requests), (1_000_u64..100_000).prop_map(bytes)]
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let times = [1_u64..400, 1..1_500, 0..500, 0..3_000].map(|ms| ms.prop_map(Duration::from_ms));
    let shares = (1_u32..=1_000_000, 1_u64..50);
    let shaping = (0_u64..300, prop::option::of(any_rate()), any::<bool>());
    (any_rate(), times, shares, shaping).prop_map(
        |(rate, [interval, window, hold, mute], (decrease_ppm, least), shaping)| {
            let (burst_ms, write_rate, is_detecting) = shaping;
            let burst = Duration::from_ms(burst_ms);
            let shaping = Shaping { burst, write_rate, is_detecting, ..Shaping::default() };
            let mut plan = Plan { tasks: soft_and_hard(), ..shaped(rate, shaping) };
            let mdn = &mut plan.parameters.mdn;
            let rate_min = TokenRate { per_s: least, ..rate };
            (mdn.decrease_ppm, mdn.rate_min) = (decrease_ppm, rate_min);
            (mdn.interval, mdn.window, mdn.hold, mdn.mute) = (interval, window, hold, mute);
            plan.parameters.mdn_extended = *mdn;
            plan
        },
    )
}

fn any_step() -> impl Strategy<Value = Step> {
    let classes = &[Class::BestEffort, Class::Hard, Class::Soft, Class::Interactive][..];
    let kinds = &[NoticeKind::DeadlineMissed, NoticeKind::StreamEnded][..];
    let best_effort =
        (1_u64..2_000).prop_map(|size| Step::Release(Class::BestEffort, Op::Read, size, false));
    let any = (prop::sample::select(classes), any_op(), 1_u64..2_000, any::<bool>());
    prop_oneof![
        3 => (0_u64..300).prop_map(Step::Wait),
        6 => best_effort,
        2 => any.prop_map(|(class, op, size, late)| Step::Release(class, op, size, late)),
        2 => (0_u64..6).prop_map(Step::Cancel),
        1 => any_plan().prop_map(|plan| Step::Reconfigure(Box::new(plan))),
        2 => (0_u32..4, prop::sample::select(kinds)).prop_map(|(task, kind)| Step::Notice(task, kind)),
    ]
}

/// The released requests, and the requests cancelled in time.
#[derive(Default)]
struct Story {
    released: BTreeMap<RequestId, Request>,
    cancelled: BTreeSet<RequestId>,
}

fn play(name: PolicyName, first: &Plan, steps: &[Step]) -> (Hand, Story) {
    let mut hand = Hand::new(name, first);
    let mut story = Story::default();
    for step in steps {
        match *step {
            Step::Wait(ms) => hand.wait_until(hand.now + Duration::from_ms(ms)),
            Step::Release(class, op, size, is_late) => {
                let id = story.released.len() as u64;
                let request = request(id, u32::from(id % 2 == 1), class, hand.now);
                let due = is_late.then_some(Time::ZERO);
                let request = Request { op, due, size: Bytes::new(size), ..request };
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
            Step::Reconfigure(ref plan) => hand.reconfigure((**plan).clone()),
            Step::Notice(task, kind) => hand.tell(Event::Notice { task: TaskIndex(task), kind }),
        }
    }
    while let Some(wake) = hand.wake {
        hand.wait_until(wake);
    }
    (hand, story)
}

const SHAPERS: [PolicyName; 3] =
    [PolicyName::TokenBucket, PolicyName::Mdn, PolicyName::MdnExtended];

proptest! {
    #[test]
    fn nothing_is_lost_and_every_rate_is_kept(
        name in prop::sample::select(&SHAPERS[..]),
        first in any_plan(),
        steps in prop::collection::vec(any_step(), 1..80),
    ) {
        let (hand, story) = play(name, &first, &steps);
        for (id, request) in &story.released {
            let sent = hand.sent.get(id);
            prop_assert_eq!(sent.is_some(), !story.cancelled.contains(id), "{:?}", id);
            if request.class != Class::BestEffort {
                prop_assert_eq!(sent, Some(&request.released), "real time passes at once");
            }
        }
        prop_assert_eq!(hand.breaches(), []);
    }
}

/// Serves a soft request in time, and reports a miss all the same.
fn cheat(hand: &mut Hand, id: u64) {
    let in_time = Request { due: None, ..request(id, SOFT.0, Class::Soft, hand.now) };
    hand.release(in_time);
    hand.tell(Event::Notice { task: SOFT, kind: NoticeKind::DeadlineMissed });
}

/// Plays a scenario in which every parameter matters: misses of one congestion and of several, a
/// false report, the end of a stream, growth, and a fall to the least rate.
fn breaches_of(name: PolicyName, plan: &Plan, followed: &Plan) -> Vec<Breach> {
    let (mut hand, mut next_id) = (Hand::under(name, plan, followed), 1_000_000);
    let mut id = 0;
    let mut load = |hand: &mut Hand, ms: u64| {
        for _ in 0..ms {
            hand.wait_until(hand.now + Duration::from_ms(1));
            let op = if next_id % 8 == 0 { Op::Write } else { Op::Read };
            hand.release(Request { op, ..request(next_id, LOAD, Class::BestEffort, hand.now) });
            hand.release(request(next_id + 1_000_000, 3, Class::Interactive, hand.now));
            next_id += 1;
        }
    };
    load(&mut hand, 700);
    for pause_ms in [100, 200, 600] {
        id += 1;
        miss(&mut hand, id);
        load(&mut hand, pause_ms);
    }
    cheat(&mut hand, 100);
    for pause_ms in [300, 900] {
        id += 1;
        load(&mut hand, pause_ms);
        miss(&mut hand, id);
    }
    hand.tell(Event::Notice { task: SOFT, kind: NoticeKind::StreamEnded });
    load(&mut hand, 800);
    for _ in 0..12 {
        id += 1;
        miss(&mut hand, id);
        load(&mut hand, 350);
    }
    hand.breaches()
}

/// Canary: a shaper that follows another value of any parameter is caught.
#[test]
fn shapers_that_follow_another_rule_are_caught() {
    fn stated() -> Plan {
        let shaping = Shaping {
            burst: Duration::from_ms(20),
            write_rate: Some(requests(30)),
            interactive_rate: Some(requests(100)),
            ..Shaping::default()
        };
        let mut plan = Plan { tasks: soft_and_hard(), ..shaped(requests(40), shaping) };
        let mdn = &mut plan.parameters.mdn;
        mdn.rate_min = requests(300);
        (mdn.interval, mdn.hold) = (Duration::from_ms(150), Duration::from_ms(250));
        (mdn.window, mdn.mute) = (Duration::from_ms(400), Duration::from_ms(500));
        plan.parameters.mdn_extended = *mdn;
        plan
    }
    type Change = fn(&mut MdnParameters);
    let shapings: [(&str, Change); 8] = [
        ("longer burst", |it| it.shaping.burst = Duration::from_ms(60)),
        ("shorter burst", |it| it.shaping.burst = Duration::ZERO),
        ("faster writes", |it| it.shaping.write_rate = Some(requests(31))),
        ("slower writes", |it| it.shaping.write_rate = Some(requests(29))),
        ("unlimited writes", |it| it.shaping.write_rate = None),
        ("faster people", |it| it.shaping.interactive_rate = Some(requests(101))),
        ("slower people", |it| it.shaping.interactive_rate = Some(requests(99))),
        ("unlimited people", |it| it.shaping.interactive_rate = None),
    ];
    let controllers: [(&str, Change); 12] = [
        ("smaller decrease", |it| it.decrease_ppm -= 10_000),
        ("larger decrease", |it| it.decrease_ppm += 10_000),
        ("faster growth", |it| it.increase = requests(41)),
        ("slower growth", |it| it.increase = requests(39)),
        ("shorter interval", |it| it.interval = Duration::from_ms(149)),
        ("longer interval", |it| it.interval = Duration::from_ms(200)),
        ("larger minimum", |it| it.rate_min = requests(301)),
        ("smaller minimum", |it| it.rate_min = requests(299)),
        ("shorter hold", |it| it.hold = Duration::from_ms(90)),
        ("longer hold", |it| it.hold = Duration::from_ms(400)),
        ("other window", |it| it.window = Duration::from_ms(300)),
        ("shorter mute", |it| it.mute = Duration::from_ms(100)),
    ];
    let fixed: [(&str, Change); 2] =
        [("faster", |it| it.increase = requests(41)), ("slower", |it| it.increase = requests(39))];
    for name in SHAPERS {
        let own = if name == PolicyName::TokenBucket { &fixed[..] } else { &controllers[..] };
        assert_eq!(breaches_of(name, &stated(), &stated()), [], "{name}");
        for (change, set) in shapings.iter().chain(own) {
            let mut followed = stated();
            let parameters = &mut followed.parameters;
            set(&mut parameters.mdn);
            set(&mut parameters.mdn_extended);
            let MdnParameters { increase, shaping, .. } = parameters.mdn;
            let rate = BestEffortRate::Fixed(increase);
            parameters.token_bucket = TokenBucketParameters { rate, shaping };
            let found = breaches_of(name, &stated(), &followed);
            let is_of_rate = |breach: &Breach| {
                matches!(breach, Breach::RateExceeded { .. } | Breach::HeldTooLong { .. })
            };
            assert!(
                !found.is_empty() && found.iter().all(is_of_rate),
                "{name}, {change}: {found:?}"
            );
        }
    }
}

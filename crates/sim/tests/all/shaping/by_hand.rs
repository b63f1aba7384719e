// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the arithmetic of the bucket in exact integers. The policy behind the bucket is `noop` on
//! a drive that accepts every request, so a request is dispatched when it has its tokens.
//!
//! The reference does not use a bucket level. A request has its tokens at the first instant at
//! which every window that ends there holds at most burst + rate * length.

use proptest::prelude::*;
use tidegate_model::parameters::{Shaping, TokenRate, TokenUnit};
use tidegate_model::{Bytes, Class, Duration, Op, Plan, PolicyName, Request, RequestId, Time};
use tidegate_policy::{Decision, Event, Full, Policy};

use super::common::{bytes, request, requests, shaped, wide_plan};

/// Parts of a token; each nanosecond adds `per_s` parts.
const PARTS: u128 = 1_000_000_000;

#[derive(Debug, Clone, Copy)]
struct Grant {
    at: Time,
    tokens: u64,
}

/// Returns all requests that one round dispatches, and the instant at which to ask the policy next.
pub(crate) fn round(policy: &mut dyn Policy, now: Time) -> (Vec<RequestId>, Option<Time>) {
    let mut batch = Vec::new();
    loop {
        match policy.decide(now) {
            Decision::Dispatch { id, .. } => batch.push(id),
            Decision::NotBefore(at) => return (batch, Some(at)),
            Decision::AwaitEvent => return (batch, None),
            Decision::Drop(id) => panic!("{id:?} dropped"),
        }
    }
}

/// Releases a request with the given tokens at each instant. Asks the policy at these instants, at
/// the times that the policy names, and at `extra`.
fn grants(mut policy: Box<dyn Policy>, arrivals: &[(Time, u64)], extra: &[Time]) -> Vec<Grant> {
    let mut instants: Vec<(Time, Option<usize>)> =
        arrivals.iter().enumerate().map(|(index, &(at, _))| (at, Some(index))).collect();
    instants.extend(extra.iter().map(|&at| (at, None)));
    instants.sort_by_key(|&(at, _)| at);
    let mut instants = instants.into_iter().peekable();
    let (mut grants, mut wake) = (Vec::new(), None);
    loop {
        let next = instants.peek().map(|&(at, _)| at);
        let Some(now) = next.into_iter().chain(wake).min() else { return grants };
        while let Some((_, arrival)) = instants.next_if(|&(at, _)| at == now) {
            let Some(index) = arrival else { continue };
            let request = request(index as u64, 0, Class::BestEffort, now);
            let request = Request { size: Bytes::new(arrivals[index].1), ..request };
            policy.observe(now, Event::Release(request)).unwrap();
        }
        let (batch, next_wake) = round(&mut *policy, now);
        assert!(next_wake.is_none_or(|at| at > now));
        wake = next_wake;
        let tokens = |id: &RequestId| arrivals[usize::try_from(id.0).unwrap()].1;
        grants.extend(batch.iter().map(|id| Grant { at: now, tokens: tokens(id) }));
    }
}

/// Returns the first window that holds more tokens than allowed, by the indices of its ends.
fn overfull_window(grants: &[Grant], per_s: u64, full: u128) -> Option<(usize, usize)> {
    let windows = (0..grants.len()).flat_map(|from| (from..grants.len()).map(move |to| (from, to)));
    windows.into_iter().find(|&(from, to)| {
        let held: u128 = grants[from..=to].iter().map(|grant| u128::from(grant.tokens)).sum();
        let length = u128::from((grants[to].at - grants[from].at).ns());
        held * PARTS > full + u128::from(per_s) * length
    })
}

/// Returns the instant at which each request has its tokens, if the bucket is large enough for
/// every request.
fn reference(arrivals: &[(Time, u64)], per_s: u64, full: u128) -> Vec<Time> {
    let mut granted: Vec<Time> = Vec::new();
    for (index, &(arrived, _)) in arrivals.iter().enumerate() {
        let mut at = granted.last().map_or(arrived, |&before| arrived.max(before));
        let mut held = 0;
        for from in (0..=index).rev() {
            held += u128::from(arrivals[from].1) * PARTS;
            let begin = granted.get(from).copied().unwrap_or(at);
            let wait = held.saturating_sub(full).div_ceil(u128::from(per_s));
            at = at.max(begin + Duration::from_ns(u64::try_from(wait).unwrap()));
        }
        granted.push(at);
    }
    granted
}

fn any_arrivals(tokens_max: u64) -> impl Strategy<Value = Vec<(Time, u64)>> {
    let gap = prop_oneof![Just(0), 1..1_000_u64, 1_000_000..300_000_000_u64];
    prop::collection::vec((gap, 1..=tokens_max), 1..50).prop_map(|gaps| {
        let mut at = 0;
        let arrive = |(gap, tokens)| {
            at += gap;
            (Time::from_ns(at), tokens)
        };
        gaps.into_iter().map(arrive).collect()
    })
}

fn with_burst(per_s: u64, burst: Duration) -> Plan {
    shaped(bytes(per_s), Shaping { burst, ..Shaping::default() })
}

fn build(plan: &Plan) -> Box<dyn Policy> {
    tidegate_policy::build(PolicyName::TokenBucket, plan, None).unwrap()
}

proptest! {
    #[test]
    fn no_window_holds_more_than_burst_and_rate(
        arrivals in any_arrivals(5_000),
        per_s in 1_u64..1_000_000,
        burst_ns in 0_u64..2_000_000_000,
    ) {
        let burst = Duration::from_ns(burst_ns);
        let grants = grants(build(&with_burst(per_s, burst)), &arrivals, &[]);
        prop_assert_eq!(grants.len(), arrivals.len());
        let largest = arrivals.iter().map(|&(_, tokens)| tokens).max().unwrap();
        let full = (u128::from(per_s) * u128::from(burst_ns)).max(u128::from(largest) * PARTS);
        prop_assert_eq!(overfull_window(&grants, per_s, full), None);
    }

    /// Times are exact to the nanosecond, and asking in between changes nothing: no remainder is
    /// lost.
    #[test]
    fn requests_go_at_the_first_instant_at_which_they_have_their_tokens(
        arrivals in any_arrivals(1_000),
        per_s in 1_000_u64..1_000_000,
        extra in prop::collection::vec(0_u64..3_000_000_000, 0..40),
        burst_ns in 1_000_000_000_u64..1_700_000_000,
    ) {
        let extra: Vec<Time> = extra.into_iter().map(Time::from_ns).collect();
        let plan = with_burst(per_s, Duration::from_ns(burst_ns));
        let granted = grants(build(&plan), &arrivals, &extra);
        let granted: Vec<Time> = granted.iter().map(|grant| grant.at).collect();
        let full = u128::from(per_s) * u128::from(burst_ns);
        prop_assert_eq!(granted, reference(&arrivals, per_s, full));
    }
}

/// Canary: a missing regulator, and a regulator whose last grant is one nanosecond early.
#[test]
fn an_overfull_window_is_found() {
    let arrivals: Vec<(Time, u64)> = (0..20).map(|_| (Time::ZERO, 100)).collect();
    let (per_s, full) = (1_000, 200 * PARTS);
    let unshaped = tidegate_policy::build(PolicyName::Noop, &wide_plan(), None).unwrap();
    assert!(overfull_window(&grants(unshaped, &arrivals, &[]), per_s, full).is_some());
    let plan = with_burst(per_s, Duration::from_ms(200));
    let mut granted = grants(build(&plan), &arrivals, &[]);
    assert_eq!(overfull_window(&granted, per_s, full), None);
    let last = granted.last_mut().unwrap();
    last.at = Time::from_ns(last.at.ns() - 1);
    assert_eq!(overfull_window(&granted, per_s, full), Some((0, 19)));
}

#[test]
fn device_time_is_charged_by_the_table() {
    // b(1) = 10 ms at half of the device time: one request every 20 ms.
    let rate = TokenRate { unit: TokenUnit::DeviceTime, per_s: 500_000_000 };
    let plan = shaped(rate, Shaping { burst: Duration::ZERO, ..Shaping::default() });
    let arrivals = [(Time::ZERO, 1); 4];
    let granted = grants(build(&plan), &arrivals, &[]);
    let granted: Vec<u64> = granted.iter().map(|grant| grant.at.ns() / 1_000_000).collect();
    // With a burst of zero the bucket begins empty.
    assert_eq!(granted, [20, 40, 60, 80]);
}

#[test]
fn classes_and_operations_have_their_own_buckets() {
    let shaping = Shaping {
        burst: Duration::ZERO,
        write_rate: Some(requests(50)),
        interactive_rate: Some(requests(100)),
        ..Shaping::default()
    };
    let mut policy = build(&shaped(requests(25), shaping));
    let classes =
        [Class::BestEffort, Class::BestEffort, Class::Interactive, Class::Soft, Class::Hard];
    for (id, class) in (0..).zip(classes) {
        let op = if id == 1 { Op::Write } else { Op::Read };
        let request = Request { op, ..request(id, 0, class, Time::ZERO) };
        policy.observe(Time::ZERO, Event::Release(request)).unwrap();
    }
    let mut now = Time::ZERO;
    let mut granted = Vec::new();
    loop {
        let (batch, next) = round(&mut *policy, now);
        granted.extend(batch.iter().map(|id| (id.0, now.ns() / 1_000_000)));
        let Some(next) = next else { break };
        now = next;
    }
    assert_eq!(granted, [(3, 0), (4, 0), (2, 10), (1, 20), (0, 40)]);
}

#[test]
fn a_request_for_which_there_is_no_room_keeps_its_tokens_and_its_place() {
    let mut plan = shaped(requests(1_000), Shaping::default());
    (plan.queued_max, plan.depth) = (2, 1);
    let mut policy = build(&plan);
    let mut offered = 0;
    let mut seen = Vec::new();
    for step in 0..200_u64 {
        let now = Time::from_ns(step * 1_000_000);
        let observed = |policy: &mut Box<dyn Policy>, id| {
            policy.observe(now, Event::Release(request(id, 0, Class::BestEffort, now)))
        };
        if offered < 50 && observed(&mut policy, offered) != Err(Full) {
            offered += 1;
        }
        for id in round(&mut *policy, now).0 {
            seen.push(id.0);
            let outcome = tidegate_model::Outcome::Done;
            policy.observe(now, Event::Complete { id, outcome }).unwrap();
        }
    }
    assert_eq!(seen, (0..50).collect::<Vec<_>>());
}

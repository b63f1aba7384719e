// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures the cost of a decision behind a shaper, with many requests waiting for tokens.
//!
//! One iteration is one request through the shaper: its release, the decision that passes another
//! request, the decision that ends the round, and the completion. The bucket gains one token per
//! iteration, so the queue keeps its length. Notices have their own benchmark: each looks at every
//! request behind the shaper.

use divan::Bencher;
use divan::counter::ItemsCount;
use tidegate_model::parameters::{BestEffortRate, TokenRate, TokenUnit};
use tidegate_model::{
    BatchTable, Bytes, Class, Duration, Outcome, Plan, PolicyName, Request, RequestId, Time,
    Workload,
};
use tidegate_policy::{Decision, Event, Policy};

const RATE: TokenRate = TokenRate { unit: TokenUnit::Request, per_s: 1_000 };

fn main() {
    divan::main();
}

fn request(id: u64) -> Request {
    Request::plain(RequestId(id), Class::BestEffort, Bytes::from_kib(128))
}

fn shaper(name: PolicyName, queued: u64) -> Box<dyn Policy> {
    let table = BatchTable::new(&[Duration::from_ms(5)]).expect("a sound table");
    let mut plan = Plan::of(&Workload::new("bench", 1, table));
    plan.parameters.token_bucket.rate = BestEffortRate::Fixed(RATE);
    plan.parameters.token_bucket.shaping.burst = Duration::ZERO;
    let mut policy = tidegate_policy::build(name, &plan, None).expect("it is there");
    for id in 0..queued {
        policy.observe(Time::ZERO, Event::Release(request(id))).expect("room for all");
    }
    policy
}

/// Passes one request: the drive takes one at a time, so a round sends at most one.
fn pass(policy: &mut dyn Policy, now: Time, next_id: u64) {
    policy.observe(now, Event::Release(request(next_id))).expect("room for all");
    let Decision::Dispatch { id, .. } = policy.decide(now) else { return };
    divan::black_box(policy.decide(now));
    let event = Event::Complete { id, outcome: Outcome::Done };
    policy.observe(now, event).expect("completions are always taken");
}

fn steady_state(bencher: Bencher, name: PolicyName, queued: u64) {
    let mut policy = shaper(name, queued);
    let (mut next_id, mut now) = (queued, Time::ZERO);
    bencher.counter(ItemsCount::new(2_usize)).bench_local(|| {
        now += Duration::from_ms(1);
        pass(&mut *policy, now, next_id);
        next_id += 1;
    });
}

/// Measures a shaper with a fixed rate.
#[divan::bench(args = [64, 512, 4096])]
fn token_bucket(bencher: Bencher, queued: u64) {
    steady_state(bencher, PolicyName::TokenBucket, queued);
}

/// Measures a shaper that also keeps the state for judging notices. Without a notice there is no
/// limit, so queued requests wait in the wrapped policy.
#[divan::bench(args = [64, 512, 4096])]
fn mdn(bencher: Bencher, queued: u64) {
    steady_state(bencher, PolicyName::Mdn, queued);
}

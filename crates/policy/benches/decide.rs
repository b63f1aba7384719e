// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of a decision at a full queue.
//!
//! One iteration is one batch of dual-queue FIFO: its completions, the releases that keep
//! the queue at its length, and its round of `decide`. Divan counts decisions: the time of
//! an iteration holds that of the events too, so a decision costs less than
//! time / decisions.

use divan::Bencher;
use divan::counter::ItemsCount;
use model::{Bytes, Class, Lba, Op, Outcome, Request, RequestId, Tag, TaskIndex, Time};
use policy::{Decision, DqEdf, Dqf, Edf, Event, GroupEdf, Policy, ScanEdf};

const QUEUED: u64 = 1_000;

fn main() {
    divan::main();
}

fn request(id: u64) -> Request {
    Request {
        id: RequestId(id),
        task: TaskIndex(0),
        class: Class::Hard,
        released: Time::ZERO,
        eligible: Time::ZERO,
        due: None,
        op: Op::Read,
        start: Lba::new(0),
        size: Bytes::from_kib(128),
        fua: false,
        optional: false,
        tag: Tag::Simple,
    }
}

fn release(policy: &mut Dqf, id: u64) {
    policy.observe(Time::ZERO, Event::Release(request(id))).expect("room for all");
}

/// A policy with 1,000 requests queued and an idle drive.
fn full_policy(batch_max: u32) -> Dqf {
    let mut policy = Dqf::new(batch_max, 0, u32::MAX);
    for id in 0..QUEUED {
        release(&mut policy, id);
    }
    policy
}

/// One round of `decide` alone.
#[divan::bench(args = [1, 8, 32, 64])]
fn round(bencher: Bencher, batch_max: u32) {
    bencher
        .counter(ItemsCount::new(batch_max + 1))
        .with_inputs(|| full_policy(batch_max))
        .bench_local_refs(|policy| {
            while let Decision::Dispatch { id, .. } = policy.decide(Time::ZERO) {
                divan::black_box(id);
            }
        });
}

/// A round of `decide` with the events that lead to it, the queue staying full.
#[divan::bench(args = [1, 8, 32, 64])]
fn steady_state(bencher: Bencher, batch_max: u32) {
    let mut policy = full_policy(batch_max);
    let mut in_flight = Vec::new();
    let mut next_id = QUEUED;
    bencher.counter(ItemsCount::new(batch_max + 1)).bench_local(|| {
        for id in in_flight.drain(..) {
            let event = Event::Complete { id, outcome: Outcome::Done };
            policy.observe(Time::ZERO, event).expect("completions are always taken");
            release(&mut policy, next_id);
            next_id += 1;
        }
        while let Decision::Dispatch { id, .. } = policy.decide(Time::ZERO) {
            in_flight.push(id);
        }
    });
}

/// A hard request of 4 KiB due and placed anywhere, by its number.
fn scattered(id: u64) -> Request {
    // Knuth's multiplicative hash: an order without pattern, the same in every run.
    let mixed = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    Request {
        // A thousandth of the dues are equal, so that positions count.
        due: Some(Time::from_ns((id / 4 + mixed % 1_000) * 1_000)),
        start: Lba::new(mixed),
        size: Bytes::from_kib(4),
        ..request(id)
    }
}

/// One decision by deadline with the completion and the release that lead to it, so many
/// requests staying queued. Divan's time is that of all three.
fn by_deadline(bencher: Bencher, policy: &mut impl Policy, queued: u64) {
    for id in 0..=queued {
        policy.observe(Time::ZERO, Event::Release(scattered(id))).expect("room for all");
    }
    let mut next_id = queued + 1;
    bencher.bench_local(|| {
        let Decision::Dispatch { id, .. } = policy.decide(Time::ZERO) else {
            panic!("something is queued");
        };
        let event = Event::Complete { id: divan::black_box(id), outcome: Outcome::Done };
        policy.observe(Time::ZERO, event).expect("completions are always taken");
        policy.observe(Time::ZERO, Event::Release(scattered(next_id))).expect("room for one");
        next_id += 1;
    });
}

#[divan::bench(args = [64, 512, 4096])]
fn edf(bencher: Bencher, queued: u64) {
    by_deadline(bencher, &mut Edf::new(u32::MAX), queued);
}

#[divan::bench(args = [64, 512, 4096])]
fn scan_edf(bencher: Bencher, queued: u64) {
    by_deadline(bencher, &mut ScanEdf::new(u32::MAX), queued);
}

/// Groups of 40 % of the time to the due: nearly all that is queued.
#[divan::bench(args = [64, 512, 4096])]
fn g_edf(bencher: Bencher, queued: u64) {
    by_deadline(bencher, &mut GroupEdf::new(400_000, &[], u32::MAX), queued);
}

/// Batches of 32: divan's time is that of a batch.
#[divan::bench(args = [64, 512, 4096])]
fn dq_edf(bencher: Bencher, queued: u64) {
    let mut policy = DqEdf::new(32, 0, u32::MAX);
    for id in 0..queued {
        policy.observe(Time::ZERO, Event::Release(scattered(id))).expect("room for all");
    }
    let mut in_flight = Vec::new();
    let mut next_id = queued;
    bencher.counter(ItemsCount::new(33_u32)).bench_local(|| {
        for id in in_flight.drain(..) {
            let event = Event::Complete { id, outcome: Outcome::Done };
            policy.observe(Time::ZERO, event).expect("completions are always taken");
            let released = Event::Release(scattered(next_id));
            policy.observe(Time::ZERO, released).expect("room for one");
            next_id += 1;
        }
        while let Decision::Dispatch { id, .. } = policy.decide(Time::ZERO) {
            in_flight.push(id);
        }
    });
}

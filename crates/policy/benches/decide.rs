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
use policy::{Decision, Dqf, Event, Policy};

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

/// A release and a completion with their decisions, so many requests queued: policies that
/// order by position, and `fifo` behind tokens.
#[divan::bench(
    args = [64, 512, 4096],
    consts = [0, 1, 2, 3, 4, 5, 6],
)]
fn comparators<const POLICY: usize>(bencher: Bencher, queued: u64) {
    use model::{PolicyName, RegulatorName};
    let names = [
        PolicyName::Deadline,
        PolicyName::MqDeadline,
        PolicyName::CfqGrouped,
        PolicyName::Cfq,
        PolicyName::BfqStrict,
        PolicyName::DqfElastic,
        PolicyName::Fifo,
    ];
    let mut plan = one_at_a_time_plan();
    if names[POLICY] == PolicyName::Fifo {
        plan.regulators = vec![RegulatorName::TokensPerTask];
    }
    let mut policy = policy::build(names[POLICY], &plan, None).expect("it needs no more");
    let mut next_id = 0;
    let mut release = |policy: &mut Box<dyn Policy>| {
        // Spread over the medium by a step that is prime to its size.
        let start = Lba::new(next_id * 7_919 % 1_000_003);
        let request = Request { start, ..request(next_id) };
        policy.observe(Time::ZERO, Event::Release(request)).expect("room for all");
        next_id += 1;
    };
    (0..queued).for_each(|_| release(&mut policy));
    let mut in_flight = None;
    bencher.counter(ItemsCount::new(2_u32)).bench_local(|| {
        if let Some(id) = in_flight.take() {
            let event = Event::Complete { id, outcome: Outcome::Done };
            policy.observe(Time::ZERO, event).expect("completions are always taken");
            release(&mut policy);
        }
        while let Decision::Dispatch { id, .. } = policy.decide(Time::ZERO) {
            in_flight = Some(id);
        }
    });
}

/// A plan for a drive that takes one request, and a task with as many tokens as there are.
fn one_at_a_time_plan() -> model::Plan {
    use model::{BatchTable, Duration, Place, Plan, Task, Workload};
    let table = BatchTable::new(&[Duration::from_ms(10)]).expect("an entry");
    let task = Task {
        name: "task".to_owned(),
        entry: 0,
        period: Duration::from_ms(1),
        deadline: Duration::from_ms(1),
        requests: u32::MAX,
        size: Bytes::from_kib(128),
        op: Op::Read,
        place: Place::Random,
        offset: Duration::ZERO,
        class: Class::Hard,
        quality_ppm: Task::QUALITY_ALL_PPM,
        outstanding_max: None,
    };
    Plan { tasks: vec![task], ..Plan::of(&Workload::new("bench", 1, table)) }
}

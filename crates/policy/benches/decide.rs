// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures the cost of a decision at a full queue.
//!
//! One iteration is one batch of dual-queue FIFO: its completions, the releases that keep the queue
//! at its length, and its round of `decide`. Divan counts decisions. An iteration's time includes
//! the events, so a decision costs less than time / decisions.

#[path = "../tests/all/common/task.rs"]
mod task;

use std::fmt;
use std::time::Instant;

use divan::Bencher;
use divan::counter::ItemsCount;
use task::task;
use tidegate_model::cost::RequestCost;
use tidegate_model::parameters::{GroupEdfParams, ScanEdfParameters};
use tidegate_model::{
    BatchCost, BatchTable, BestEffortOrder, Bytes, Class, CostModel, Duration, Lba, Op, Outcome,
    Plan, PolicyName, RegulatorName, Request, RequestCharges, RequestId, Time, Workload,
};
use tidegate_policy::{Decision, DqEdf, Dqf, Edf, Event, GroupEdf, Policy, ScanEdf};

const QUEUED: u64 = 1_000;

fn main() {
    divan::main();
}

fn request(id: u64) -> Request {
    Request::plain(RequestId(id), Class::Hard, Bytes::from_kib(128))
}

/// Returns the policy with `queued` queued requests and an idle drive.
fn filled<P: Policy>(mut policy: P, queued: u64, make: impl Fn(u64) -> Request) -> P {
    for id in 0..queued {
        policy.observe(Time::ZERO, Event::Release(make(id))).expect("room for all");
    }
    policy
}

fn full_policy(batch_max: u32) -> Dqf {
    filled(Dqf::new(batch_max, 0, u32::MAX), QUEUED, request)
}

/// Measures one round of `decide` alone.
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

/// A round of `decide` with the events that lead to it; the queue stays full.
#[divan::bench(args = [1, 8, 32, 64])]
fn steady_state(bencher: Bencher, batch_max: u32) {
    batches(bencher, full_policy(batch_max), batch_max + 1, QUEUED, request);
}

/// Best effort at pseudo-random positions, in batches, with the events that lead to each. `order`
/// is the number of the order in [`ORDERS`].
#[divan::bench(args = [1, 8, 32], consts = [0, 1, 2])]
fn best_effort_in_order<const ORDER: usize>(bencher: Bencher, fill: u32) {
    let policy = filled(ordered_policy(ORDERS[ORDER], fill), QUEUED, best_effort);
    batches(bencher, policy, fill + 1, QUEUED, best_effort);
}

/// Measures one round of `decide` alone, for best effort in the elevator's order.
#[divan::bench(args = [1, 8, 32])]
fn elevator_round(bencher: Bencher, fill: u32) {
    bencher
        .counter(ItemsCount::new(fill + 1))
        .with_inputs(|| {
            filled(ordered_policy(BestEffortOrder::Elevator, fill), QUEUED, best_effort)
        })
        .bench_local_refs(|policy| {
            while let Decision::Dispatch { id, .. } = policy.decide(Time::ZERO) {
                divan::black_box(id);
            }
        });
}

/// Prints quantiles of single decisions in the elevator's order, and of the clock alone, whose time
/// each decision includes: `cargo bench -p tidegate-policy --bench decide -- elevator_decision
/// --nocapture`.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn elevator_decision() {
    let mut policy = filled(ordered_policy(BestEffortOrder::Elevator, 32), QUEUED, best_effort);
    let (mut ids, mut in_flight) = (QUEUED.., Vec::new());
    let mut times_ns = Vec::new();
    for _ in 0..20_000 {
        for (id, next) in in_flight.drain(..).zip(&mut ids) {
            let event = Event::Complete { id, outcome: Outcome::Done };
            policy.observe(Time::ZERO, event).expect("completions are always taken");
            policy.observe(Time::ZERO, Event::Release(best_effort(next))).expect("room for one");
        }
        loop {
            let start = Instant::now();
            let decision = divan::black_box(policy.decide(Time::ZERO));
            times_ns.push(start.elapsed().as_nanos());
            let Decision::Dispatch { id, .. } = decision else { break };
            in_flight.push(id);
        }
    }
    let clock_ns = (0..times_ns.len()).map(|_| Instant::now().elapsed().as_nanos()).collect();
    println!("decisions: {}; clock alone: {}", quantiles(times_ns), quantiles(clock_ns));
}

fn quantiles(mut times_ns: Vec<u128>) -> String {
    times_ns.sort_unstable();
    let quantile = |ppm: usize| times_ns[(times_ns.len() - 1) * ppm / 1_000_000];
    let [median, p99, p999] = [500_000, 990_000, 999_000].map(quantile);
    format!("median {median} ns, p99 {p99} ns, p99.9 {p999} ns")
}

/// The orders that need no model of the drive.
const ORDERS: [BestEffortOrder; 3] =
    [BestEffortOrder::Fifo, BestEffortOrder::Elevator, BestEffortOrder::Nearest];

/// Returns DQF with batches of `fill` best-effort requests in this order.
fn ordered_policy(order: BestEffortOrder, fill: u32) -> Box<dyn Policy> {
    let times: Vec<Duration> = (1..=32).map(|n| Duration::from_ms(4 + n)).collect();
    let table = BatchTable::new(&times).expect("a table");
    let plan = Plan {
        batch_max: fill,
        best_effort_fill: fill,
        best_effort_order: order,
        ..Plan::of(&Workload::new("bench", 32, table))
    };
    tidegate_policy::build(PolicyName::Dqf, &plan, None).expect("it needs nothing else")
}

/// Returns a best-effort request at a pseudo-random position.
fn best_effort(id: u64) -> Request {
    Request { class: Class::BestEffort, due: None, ..scattered(id) }
}

/// As `steady_state`, with each request's cost looked up among eight kinds; the costs limit batches
/// to the same number of requests.
#[divan::bench(args = [1, 8, 32, 64])]
fn steady_state_by_cost(bencher: Bencher, batch_max: u32) {
    let cost = |op: Op, kib: u64| RequestCost {
        op,
        size: Bytes::from_kib(kib),
        time_max: Duration::from_ms(1),
    };
    let sizes = [4, 64, 128, 1_024];
    let costs = CostModel {
        positioning_max: Duration::from_ms(4),
        requests: [Op::Read, Op::Write]
            .iter()
            .flat_map(|&op| sizes.map(|kib| cost(op, kib)))
            .collect(),
        switch_max: None,
        fua_max: None,
        batch_max: None,
        how: None,
        samples: None,
    };
    let batch_cost = BatchCost {
        cost_max: Duration::from_ms(u64::from(batch_max)),
        best_effort_fill: Duration::ZERO,
        charges: RequestCharges::of(&costs, None),
    };
    let times: Vec<Duration> = (1..=128).map(|n| Duration::from_ms(4 + n)).collect();
    let table = BatchTable::new(&times).expect("a table");
    let plan = Plan {
        batch_cost: Some(batch_cost),
        queued_max: u32::MAX,
        ..Plan::of(&Workload::new("bench", 128, table))
    };
    batches(bencher, filled(Dqf::of(&plan), QUEUED, request), batch_max + 1, QUEUED, request);
}

/// Runs batches of `decisions` decisions repeatedly; the queue keeps its length.
fn batches(
    bencher: Bencher,
    mut policy: impl Policy,
    decisions: u32,
    queued: u64,
    make: impl Fn(u64) -> Request,
) {
    let mut in_flight = Vec::new();
    let mut ids = queued..;
    bencher.counter(ItemsCount::new(decisions)).bench_local(|| {
        for (id, next) in in_flight.drain(..).zip(&mut ids) {
            let event = Event::Complete { id, outcome: Outcome::Done };
            policy.observe(Time::ZERO, event).expect("completions are always taken");
            policy.observe(Time::ZERO, Event::Release(make(next))).expect("room for one");
        }
        while let Decision::Dispatch { id, .. } = policy.decide(Time::ZERO) {
            in_flight.push(id);
        }
    });
}

/// Returns a hard request of 4 KiB with a pseudo-random deadline and position.
fn scattered(id: u64) -> Request {
    // Knuth's multiplicative hash: an order without pattern, the same in every run.
    let mixed = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    Request {
        // Two neighbouring requests have equal deadlines with a probability of about 1 / 1,000, so
        // that positions count.
        due: Some(Time::from_ns((id / 4 + mixed % 1_000) * 1_000)),
        start: Lba::new(mixed),
        size: Bytes::from_kib(4),
        ..request(id)
    }
}

/// Measures one decision by deadline with the completion and the release that lead to it, at a
/// constant queue length. Divan's time covers all three.
fn by_deadline(bencher: Bencher, policy: impl Policy, queued: u64) {
    let mut policy = filled(policy, queued + 1, scattered);
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
    by_deadline(bencher, Edf::new(u32::MAX), queued);
}

#[divan::bench(args = [64, 512, 4096])]
fn scan_edf(bencher: Bencher, queued: u64) {
    by_deadline(bencher, ScanEdf::new(ScanEdfParameters::default(), u32::MAX), queued);
}

/// A group spans 40 % of the time to the deadline, so it holds nearly the whole queue.
#[divan::bench(args = [64, 512, 4096])]
fn g_edf(bencher: Bencher, queued: u64) {
    by_deadline(bencher, GroupEdf::new(GroupEdfParams::default(), &[], u32::MAX), queued);
}

/// Batches of 32: divan's time is per batch.
#[divan::bench(args = [64, 512, 4096])]
fn dq_edf(bencher: Bencher, queued: u64) {
    let policy = filled(DqEdf::new(32, 0, u32::MAX), queued, scattered);
    batches(bencher, policy, 33, queued, scattered);
}

/// A release and a completion with their decisions at a constant queue length, for the Linux
/// schedulers, `dqf-elastic`, and `fifo` with tokens.
#[divan::bench(
    args = [64, 512, 4096],
    consts = [0, 1, 2, 3, 4, 5, 6],
)]
fn comparators<const POLICY: usize>(bencher: Bencher, queued: u64) {
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
    let policy = tidegate_policy::build(names[POLICY], &plan, None).expect("it needs no more");
    // Spreads requests over the medium by a step that is coprime to the medium's size.
    let spread = |id| Request { start: Lba::new(id * 7_919 % 1_000_003), ..request(id) };
    batches(bencher, filled(policy, queued, spread), 2, queued, spread);
}

/// The policies whose decisions are measured at several queue lengths.
const BY_QUEUE: [PolicyName; 8] = [
    PolicyName::Rtio,
    PolicyName::RtioDrain,
    PolicyName::RtioLimit,
    PolicyName::RtioPriority,
    PolicyName::RtioSlots,
    PolicyName::AdaptiveDrain,
    PolicyName::GatedDrain,
    PolicyName::Dqf,
];

/// The queue lengths at which decisions are measured.
const QUEUE_LENGTHS: [u64; 3] = [64, 512, 4_096];

/// A policy and its queue length.
#[derive(Debug, Clone, Copy)]
struct Case {
    name: PolicyName,
    queued: u64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} queued", self.name, self.queued)
    }
}

fn cases() -> Vec<Case> {
    let of = |name| QUEUE_LENGTHS.map(|queued| Case { name, queued });
    BY_QUEUE.into_iter().flat_map(of).collect()
}

/// Returns a plan for a drive of 32 slots, 4 of them for real time, that drains as fast as it
/// serves a batch.
fn plan() -> Plan {
    let times: Vec<Duration> = (1..=32).map(|n| Duration::from_ms(4 * n)).collect();
    let table = BatchTable::new(&times).expect("a table");
    let workload = Workload::new("bench", 32, table.clone());
    let mut plan = Plan { best_effort_fill: 28, best_effort_depth: 28, ..Plan::of(&workload) };
    plan.contracts.drain = Some(table);
    plan.tasks = vec![task(300, 300, 4)];
    plan
}

/// Returns a request; every eighth is real time, the others are best effort.
fn mixed(id: u64) -> Request {
    let class = if id.is_multiple_of(8) { Class::Hard } else { Class::BestEffort };
    let due = (class == Class::Hard).then_some(Time::from_ns(300_000_000));
    Request { class, due, ..request(id) }
}

/// Repeats a completion, the release that keeps the queue at its length, and the decisions that
/// follow; one item is one such step.
#[divan::bench(args = cases())]
fn step(bencher: Bencher, case: Case) {
    let policy = tidegate_policy::build(case.name, &plan(), None).expect("part of this version");
    let mut policy = filled(policy, case.queued, mixed);
    let mut in_flight = std::collections::VecDeque::new();
    let mut next_id = case.queued;
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| {
        if let Some(id) = in_flight.pop_front() {
            let event = Event::Complete { id, outcome: Outcome::Done };
            policy.observe(Time::ZERO, event).expect("completions are always taken");
            policy.observe(Time::ZERO, Event::Release(mixed(next_id))).expect("room for one");
            next_id += 1;
        }
        while let Decision::Dispatch { id, .. } = policy.decide(Time::ZERO) {
            in_flight.push_back(id);
        }
    });
}

/// Returns a plan for a drive that takes one request, and a task with the largest number of tokens.
fn one_at_a_time_plan() -> Plan {
    let table = BatchTable::new(&[Duration::from_ms(10)]).expect("an entry");
    let tasks = vec![task(1, 1, u32::MAX)];
    Plan { tasks, ..Plan::of(&Workload::new("bench", 1, table)) }
}

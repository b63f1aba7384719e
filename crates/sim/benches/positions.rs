// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures the cost of a decision of the policies that use positions, on a model of the Fujitsu
//! MAX3036RC, with N random reads queued.
//!
//! One iteration is one request: its completion, the release of another request, and a call of
//! `decide`.

use divan::Bencher;
use tidegate_drive::builtin;
use tidegate_model::{
    AccessTime, Bytes, Class, Duration, Lba, Op, Outcome, Plan, PolicyName, Random, Request,
    RequestId, Tag, Task, TaskIndex, Time, Workload,
};
use tidegate_policy::{Decision, Event, Policy};

const QUEUED: [u64; 3] = [64, 512, 4_096];
const SIZE: Bytes = Bytes::from_kib(64);

fn main() {
    divan::main();
}

fn request(id: u64, start: u64) -> Request {
    Request {
        id: RequestId(id),
        task: TaskIndex(16),
        class: Class::BestEffort,
        released: Time::ZERO,
        eligible: Time::ZERO,
        due: None,
        op: Op::Read,
        start: Lba::new(start),
        size: SIZE,
        fua: false,
        optional: false,
        tag: Tag::Simple,
    }
}

/// Returns sixteen tasks that leave time for best effort.
fn tasks() -> Vec<Task> {
    let task = |entry| Task {
        entry,
        ..Task::periodic(format!("task-{entry}"), Duration::from_ms(1_000), SIZE)
    };
    (0..16).map(task).collect()
}

/// Returns a policy with `queued` requests, the source of random places, and the number of possible
/// places.
fn full(name: PolicyName, queued: u64) -> (Box<dyn Policy>, Random, u64) {
    let file = builtin::load("fujitsu-max3036rc").expect("a built-in drive");
    let sectors = file.mechanics.as_ref().expect("a hard disk").sectors - SIZE.sectors_ceil();
    let table = file.batch[0].table.clone();
    let workload = Workload { tasks: tasks(), ..Workload::new("bench", file.depth, table) };
    let access: Option<Box<dyn AccessTime>> = tidegate_drive::access_time(&file);
    let mut policy =
        tidegate_policy::build(name, &Plan::of(&workload), access).expect("the policy is known");
    let mut random = Random::new(5, 1);
    for id in 0..queued {
        let released = Event::Release(request(id, random.below(sectors)));
        policy.observe(Time::ZERO, released).expect("room for all");
    }
    (policy, random, sectors)
}

fn decide(bencher: Bencher, name: PolicyName, queued: u64) {
    let (mut policy, mut random, sectors) = full(name, queued);
    let (mut now, mut next_id) = (Time::ZERO, queued);
    bencher.bench_local(|| {
        let Decision::Dispatch { id, .. } = policy.decide(now) else {
            panic!("the drive is idle and something is queued");
        };
        now += Duration::from_ms(6);
        let completed = Event::Complete { id, outcome: Outcome::Done };
        policy.observe(now, completed).expect("completions are always taken");
        let released = Event::Release(request(next_id, random.below(sectors)));
        policy.observe(now, released).expect("room for one");
        next_id += 1;
    });
}

#[divan::bench(args = QUEUED)]
fn c_look(bencher: Bencher, queued: u64) {
    decide(bencher, PolicyName::CLook, queued);
}

#[divan::bench(args = QUEUED)]
fn satf(bencher: Bencher, queued: u64) {
    decide(bencher, PolicyName::Satf, queued);
}

#[divan::bench(args = QUEUED)]
fn das(bencher: Bencher, queued: u64) {
    decide(bencher, PolicyName::Das, queued);
}

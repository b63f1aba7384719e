// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Helpers for the tests of the queue: requests, the access times of a toy disk, and a host that
//! records what the queue held at each choice. The tests are here and not in `tests/` because the
//! queue is private to its crate.

mod by_access;
mod by_position;
mod pruned;
mod rules;
mod starvation;
mod tags;

use std::cell::Cell;

use proptest::prelude::*;
use tidegate_model::mechanics::{Queue, Scheduler};
use tidegate_model::{Bytes, Class, Duration, Lba, Request, RequestId, Tag, Time};

use super::{DiskQueue, Pending, Reach};
use crate::mechanical::layout::Extent;
use crate::mechanical::rotation::Angle;

fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

fn request(id: u64, tag: Tag) -> Request {
    Request {
        start: Lba::new(id),
        tag,
        ..Request::plain(RequestId(id), Class::Hard, Bytes::new(512))
    }
}

fn extent(cylinder: u32, begin: u64) -> Extent {
    Extent {
        start: Lba::new(0),
        sectors: 1,
        cylinder,
        head: 0,
        begin: Angle::from_units(begin),
        span: Angle::from_units(1),
        sectors_per_track: 100,
        track_begin: Lba::new(0),
        track_end: Lba::new(100),
    }
}

fn pending(id: u64, arrived_ns: u64, cylinder: u32, tag: Tag) -> Pending {
    Pending {
        number: 0,
        request: request(id, tag),
        arrived: at(arrived_ns),
        target: extent(cylinder, 0),
    }
}

fn with(scheduler: Scheduler) -> Queue {
    Queue { scheduler, ..Queue::default() }
}

fn filled(params: &Queue, held: &[Pending]) -> DiskQueue {
    let mut queue = DiskQueue::new(params);
    for pending in held {
        queue.push(*pending);
    }
    queue
}

/// Takes all requests from the queue at instant `now_ns` and returns their ids in this order; the
/// arm moves to each.
fn drained(queue: &mut DiskQueue, now_ns: u64, mut arm: u32) -> Vec<u64> {
    let mut ids = Vec::new();
    while let Some(taken) = queue.take(at(now_ns), arm, &ToyDisk::new(now_ns, arm)) {
        arm = taken.target.cylinder;
        ids.push(taken.request.id.0);
    }
    ids
}

/// Takes the next request at instant 0, by position alone; returns its id.
fn next(queue: &mut DiskQueue, arm: u32) -> u64 {
    queue.take(at(0), arm, &|_: &Pending| Duration::ZERO).expect("one is held").request.id.0
}

/// Returns the access time of a toy disk: 3 ns for each cylinder, 64 ns for a turn.
fn toy_access(now_ns: u64, arm: u32, target: &Extent) -> Duration {
    let there_ns = now_ns + 3 * u64::from(target.cylinder.abs_diff(arm));
    let wait_ns = (target.begin.units() + 64 - there_ns % 64) % 64;
    Duration::from_ns(there_ns - now_ns + wait_ns)
}

/// The toy disk with a count of the calls of `access`; the arm's seek is the lower bound.
struct ToyDisk {
    now_ns: u64,
    arm: u32,
    access_count: Cell<usize>,
}

impl ToyDisk {
    fn new(now_ns: u64, arm: u32) -> Self {
        Self { now_ns, arm, access_count: Cell::new(0) }
    }
}

impl Reach for ToyDisk {
    fn access(&self, pending: &Pending) -> Duration {
        self.access_count.set(self.access_count.get() + 1);
        toy_access(self.now_ns, self.arm, &pending.target)
    }

    fn access_min(&self, pending: &Pending) -> Duration {
        Duration::from_ns(3 * u64::from(pending.target.cylinder.abs_diff(self.arm)))
    }
}

/// A function that returns the access time acts as a drive whose lower bounds are 0.
impl<F: Fn(&Pending) -> Duration> Reach for F {
    fn access(&self, pending: &Pending) -> Duration {
        self(pending)
    }

    fn access_min(&self, _pending: &Pending) -> Duration {
        Duration::ZERO
    }
}

/// A request that arrives, and how many requests are served before the next one arrives.
#[derive(Debug, Clone, Copy)]
struct Step {
    gap_ns: u64,
    cylinder: u32,
    begin: u64,
    tag: Tag,
    takes: usize,
    /// How far a transfer moves the arm inwards.
    drift: u32,
}

/// One decision of a queue, and its input.
#[derive(Debug, Clone)]
struct Moment {
    now_ns: u64,
    arm: u32,
    /// The requests held, sorted by arrival, with the tags that the host gave.
    held: Vec<Pending>,
    taken: Pending,
    access_count: usize,
}

impl Moment {
    fn waited_ns(&self, pending: &Pending) -> u64 {
        at(self.now_ns).since(pending.arrived).ns()
    }

    fn access(&self, pending: &Pending) -> Duration {
        toy_access(self.now_ns, self.arm, &pending.target)
    }
}

/// A host with its own records.
struct Host {
    queue: DiskQueue,
    held: Vec<Pending>,
    now_ns: u64,
    arm: u32,
    moments: Vec<Moment>,
}

impl Host {
    fn push(&mut self, id: u64, step: &Step) {
        self.now_ns += step.gap_ns;
        let target = extent(step.cylinder, step.begin);
        let pending =
            Pending { number: 0, request: request(id, step.tag), arrived: at(self.now_ns), target };
        self.held.push(pending);
        self.queue.push(pending);
    }

    /// Takes a request and serves it in 10 ns; returns whether the queue held one.
    fn take(&mut self, drift: u32) -> bool {
        let (now_ns, arm) = (self.now_ns, self.arm);
        let toy = ToyDisk::new(now_ns, arm);
        let taken = self.queue.take(at(now_ns), arm, &toy);
        let Some(taken) = taken else { return false };
        let held = self.held.clone();
        let index = held.iter().position(|pending| pending.request.id == taken.request.id);
        // The tag that the host gave, not the one that the queue honoured.
        let taken = self.held.remove(index.expect("what is taken is held, hence taken once"));
        assert_eq!(self.queue.len(), self.held.len());
        self.moments.push(Moment {
            now_ns,
            arm,
            held,
            taken,
            access_count: toy.access_count.get(),
        });
        self.now_ns += 10;
        self.arm = taken.target.cylinder + drift;
        true
    }
}

/// Performs `steps` on a queue, empties the queue, and returns all its decisions. Checks that each
/// request is served exactly once.
fn play(params: &Queue, steps: &[Step], arm: u32) -> Vec<Moment> {
    let queue = DiskQueue::new(params);
    let mut host = Host { queue, held: Vec::new(), now_ns: 0, arm, moments: Vec::new() };
    for (id, step) in (0..).zip(steps) {
        host.push(id, step);
        for _ in 0..step.takes {
            host.take(step.drift);
        }
    }
    while host.take(0) {}
    assert!(host.held.is_empty(), "left behind: {:?}", host.held);
    assert_eq!(host.moments.len(), steps.len());
    host.moments
}

/// Gives all requests at instant 0 to an idle drive; transfers still move the arm.
fn play_batch(params: &Queue, steps: &[Step], arm: u32) -> Vec<Moment> {
    let count = steps.len();
    let mut steps = steps.to_vec();
    for step in &mut steps {
        (step.gap_ns, step.takes) = (0, 0);
    }
    if let Some(last) = steps.last_mut() {
        last.takes = count;
    }
    play(params, &steps, arm)
}

fn ids(moments: &[Moment]) -> Vec<u64> {
    moments.iter().map(|moment| moment.taken.request.id.0).collect()
}

fn schedulers() -> impl Strategy<Value = Scheduler> {
    use Scheduler::{CLook, Fifo, Satf, SatfAging, Scan, ScanSstf, Sstf};
    prop::sample::select(vec![Fifo, Sstf, Scan, CLook, Satf, SatfAging, ScanSstf])
}

fn any_tag() -> impl Strategy<Value = Tag> {
    prop_oneof![
        6 => Just(Tag::Simple),
        1 => Just(Tag::Ordered),
        1 => Just(Tag::HeadOfQueue),
        2 => Just(Tag::Priority),
    ]
}

/// Generates steps with few cylinders and few angles, so that ties are common.
fn steps(tag: impl Strategy<Value = Tag>) -> impl Strategy<Value = Vec<Step>> {
    let step = (0_u64..40, 0_u32..30, 0_u64..64, tag, 0_usize..3, 0_u32..3).prop_map(
        |(gap_ns, cylinder, begin, tag, takes, drift)| Step {
            gap_ns,
            cylinder,
            begin,
            tag,
            takes,
            drift,
        },
    );
    prop::collection::vec(step, 1..60)
}

fn without_drift(steps: &mut [Step]) {
    for step in steps {
        step.drift = 0;
    }
}

fn simple_steps() -> impl Strategy<Value = Vec<Step>> {
    steps(Just(Tag::Simple))
}

/// Returns a fixed history that covers all cases, for canaries.
fn rich_history() -> Vec<Step> {
    let mut random = tidegate_model::Random::new(7, 0);
    (0..400)
        .map(|_| Step {
            // Gaps are multiples of a service time, so that waits of exactly the bound are common.
            gap_ns: 10 * random.below(3),
            cylinder: u32::try_from(random.below(30)).expect("below 30"),
            begin: random.below(64),
            tag: [Tag::Simple, Tag::Simple, Tag::Ordered, Tag::HeadOfQueue, Tag::Priority]
                [random.index(5)],
            takes: random.index(3),
            drift: 0,
        })
        .collect()
}

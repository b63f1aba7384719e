// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Generates random plans, and random devices and users for them.
//!
//! Times are small multiples of a unit, so that sums meet deadlines exactly. Half of the streams
//! keep the contracts of their tasks, and the others break some. Devices are occasionally late and
//! complete requests in any order, and some users cancel requests.

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tidegate_model::{
    BatchTable, Bytes, Class, Duration, Lba, Outcome, Plan, PolicyName, RegulatorName, Request,
    RequestId, Task, TaskIndex, Time, Workload,
};
use tidegate_policy::{Decision, Event, Policy};

use crate::kernel_policy::{ORDERS, POLICIES};

/// The number of instants in a stream.
const INSTANTS: u32 = 300;

/// The units of time, in ns, and of positions, in sectors; the large ones do not fit into 32 bits.
const UNITS: [u64; 2] = [1, 1 << 33];

/// The instants at which streams begin, in ns after the clock's start.
const BEGINS: [u64; 2] = [0, 1 << 59];

/// Returns a random generator with this seed.
fn generator(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

/// Returns a random policy and a random plan for it.
///
/// # Panics
/// Never: the tables are valid.
pub fn plan(seed: u64) -> (PolicyName, Plan) {
    let rng = &mut generator(seed);
    let name = one_of(rng, POLICIES);
    let deepest = if rng.random() { 4 } else { 32 };
    let depth = rng.random_range(1..=deepest);
    let unit = one_of(rng, UNITS);
    let mut workload = Workload::new("random", depth, table(rng, depth, unit));
    let drained = rng.random_range(1..=depth + 1);
    workload.contracts.drain = Some(table(rng, drained, unit));
    let task_count = if rng.random_ratio(1, 3) { 1 } else { rng.random_range(0..=9) };
    workload.tasks = (0..task_count).map(|_| task(rng, unit)).collect();
    let mut plan = Plan::of(&workload);
    plan.batch_max = rng.random_range(1..=depth);
    plan.best_effort_fill = rng.random_range(0..=plan.batch_max);
    plan.best_effort_depth = rng.random_range(0..=depth);
    plan.best_effort_order = one_of(rng, ORDERS);
    if rng.random_ratio(1, 3) {
        plan.regulators = vec![RegulatorName::TokensPerTask];
    }
    (name, plan)
}

fn one_of<T: Copy, const N: usize>(rng: &mut impl Rng, all: [T; N]) -> T {
    all[rng.random_range(0..N)]
}

/// Returns a table of nondecreasing times.
fn table(rng: &mut impl Rng, count: u32, unit: u64) -> BatchTable {
    let mut last = 0;
    let steepest = rng.random_range(1..=12);
    let times: Vec<Duration> = (0..count)
        .map(|index| {
            last += rng.random_range(u64::from(index == 0)..=steepest);
            Duration::from_ns(last * unit)
        })
        .collect();
    BatchTable::new(&times).expect("nondecreasing times")
}

fn task(rng: &mut impl Rng, unit: u64) -> Task {
    let period = rng.random_range(1..=300);
    let deadline = if rng.random_ratio(1, 8) { 2 * period } else { rng.random_range(1..=period) };
    let mut task = Task::periodic("task", Duration::from_ns(period * unit), Bytes::from_kib(4));
    task.deadline = Duration::from_ns(deadline * unit);
    task.requests = if rng.random_ratio(2, 3) { 1 } else { rng.random_range(1..=5) };
    task
}

/// The state of a device and its users under one plan.
struct Stream<'a> {
    rng: Pcg64,
    plan: &'a Plan,
    now: u64,
    released: u64,
    /// The next release time of each task.
    releases: Vec<u64>,
    queued: Vec<RequestId>,
    /// The requests on the device, with their completion times.
    in_flight: Vec<(u64, RequestId)>,
    timer: Option<u64>,
    /// The number of best-effort requests that users keep outstanding.
    load: usize,
    /// On average, one job in this number breaks its contract.
    honesty: u32,
    has_cancels: bool,
    /// The unit of request positions, in sectors.
    place: u64,
}

/// Sends a random stream of events to a policy.
pub fn play(seed: u64, plan: &Plan, policy: &mut impl Policy) {
    let mut rng = generator(seed ^ 0x5eed);
    let now = one_of(&mut rng, BEGINS);
    // Half of the streams begin with the jobs of all tasks at the same time.
    let spread = if rng.random() { 1 } else { 10 * plan.table.time_max(plan.depth).ns() };
    let mut stream = Stream {
        plan,
        now,
        released: 0,
        releases: plan.tasks.iter().map(|_| now + rng.random_range(0..spread)).collect(),
        place: one_of(&mut rng, UNITS),
        queued: Vec::new(),
        in_flight: Vec::new(),
        timer: None,
        load: rng.random_range(0..=40),
        honesty: if rng.random() { u32::MAX } else { rng.random_range(2..=10) },
        has_cancels: rng.random_ratio(1, 4),
        rng,
    };
    for _ in 0..INSTANTS {
        stream.instant(policy);
    }
}

impl Stream<'_> {
    /// Sends all events of an instant, runs its round, and advances to the next instant.
    fn instant(&mut self, policy: &mut impl Policy) {
        self.complete(policy);
        self.cancel(policy);
        self.release_jobs(policy);
        self.release_load(policy);
        self.cancel(policy);
        self.round(policy);
        self.pass();
    }

    fn complete(&mut self, policy: &mut impl Policy) {
        while let Some(index) = self.in_flight.iter().position(|(at, _)| *at <= self.now) {
            let (_, id) = self.in_flight.swap_remove(index);
            self.tell(policy, Event::Complete { id, outcome: Outcome::Done });
        }
    }

    /// Sometimes cancels a queued request, or tries to cancel one on the device, which has no
    /// effect.
    fn cancel(&mut self, policy: &mut impl Policy) {
        if !self.has_cancels || self.rng.random_ratio(5, 6) {
            return;
        }
        let all: Vec<RequestId> =
            self.queued.iter().copied().chain(self.in_flight.iter().map(|(_, id)| *id)).collect();
        if all.is_empty() {
            return;
        }
        let id = all[self.rng.random_range(0..all.len())];
        self.queued.retain(|queued| *queued != id);
        self.tell(policy, Event::Cancel(id));
    }

    fn release_jobs(&mut self, policy: &mut impl Policy) {
        for index in 0..self.releases.len() {
            if self.releases[index] > self.now {
                continue;
            }
            let task = &self.plan.tasks[index];
            let is_honest = !self.rng.random_ratio(1, self.honesty);
            let count = if is_honest { task.requests } else { self.rng.random_range(1..=6) };
            for _ in 0..count {
                self.release_one(policy, index, is_honest);
            }
            let shortest = if is_honest { task.period.ns() } else { 1 };
            self.releases[index] =
                self.now + shortest + self.rng.random_range(0..=task.period.ns() / 2);
        }
    }

    fn release_one(&mut self, policy: &mut impl Policy, index: usize, is_honest: bool) {
        let (now, deadline) = (self.now, self.plan.tasks[index].deadline.ns());
        let class = one_of(&mut self.rng, [Class::Hard, Class::Soft, Class::Interactive]);
        let task = u32::try_from(index).expect("a few tasks");
        let due = self.rng.random_ratio(3, 4).then(|| Time::from_ns(now + deadline));
        let mut request = Request { task: TaskIndex(task), due, ..self.request(class) };
        if !is_honest {
            request.task.0 += u32::from(self.rng.random_ratio(1, 4)) * 100;
            let held = self.rng.random_range(0..=now.min(20));
            request.released = Time::from_ns(now - held);
        }
        self.release(policy, request);
    }

    fn release_load(&mut self, policy: &mut impl Policy) {
        while self.queued.len() + self.in_flight.len() < self.load {
            // Such a real-time request belongs to no task of the plan.
            let is_stranger = self.plan.tasks.is_empty() && self.rng.random_ratio(1, 8);
            let class = if is_stranger { Class::Hard } else { Class::BestEffort };
            let request = self.request(class);
            self.release(policy, request);
            if self.rng.random_ratio(1, 3) {
                return;
            }
        }
    }

    fn request(&mut self, class: Class) -> Request {
        self.released += 1;
        Request {
            released: Time::from_ns(self.now),
            eligible: Time::from_ns(self.now),
            start: Lba::new(self.place * self.rng.random_range(0..64)),
            ..Request::plain(RequestId(self.released), class, Bytes::from_kib(4))
        }
    }

    fn release(&mut self, policy: &mut impl Policy, request: Request) {
        self.queued.push(request.id);
        self.tell(policy, Event::Release(request));
    }

    fn tell(&self, policy: &mut impl Policy, event: Event) {
        policy.observe(Time::from_ns(self.now), event).expect("room for all");
    }

    /// Calls the policy until it sends nothing more.
    fn round(&mut self, policy: &mut impl Policy) {
        let mut sent = Vec::new();
        loop {
            match policy.decide(Time::from_ns(self.now)) {
                Decision::Dispatch { id, .. } => sent.push(id),
                Decision::NotBefore(at) => break self.timer = Some(at.ns()),
                Decision::AwaitEvent => break self.timer = None,
                Decision::Drop(id) => panic!("{id:?} is not optional"),
            }
        }
        self.queued.retain(|id| !sent.contains(id));
        let outstanding = self.in_flight.len() + sent.len();
        for id in sent {
            let at = self.now + self.service(outstanding);
            self.in_flight.push((at, id));
        }
    }

    /// Draws the time that a request takes while `outstanding` requests are on the device; it is
    /// seldom longer than b(outstanding).
    fn service(&mut self, outstanding: usize) -> u64 {
        let table = &self.plan.table;
        let count = u32::try_from(outstanding).expect("a few").min(table.batch_max());
        let longest = table.time_max(count).ns();
        if self.rng.random_ratio(1, 40) {
            return longest + self.rng.random_range(1..=2 * longest);
        }
        self.rng.random_range(1..=longest)
    }

    /// Advances to the next instant with an event, or to an earlier one.
    fn pass(&mut self) {
        let events = self.in_flight.iter().map(|(at, _)| *at).chain(self.releases.iter().copied());
        let next = events.chain(self.timer).filter(|at| *at > self.now).min();
        let next = next.unwrap_or(self.now + 5);
        let is_early = self.rng.random_ratio(1, 8);
        self.now = if is_early { self.rng.random_range(self.now..=next) } else { next };
    }
}

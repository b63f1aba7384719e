// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints logs of the real `AdaptiveDrain` and `GatedDrain`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::{
    Bytes, Class, Outcome, Plan, PolicyName, Request, RequestId, TaskIndex, Time, Workload,
};
use tidegate_policy::{Decision, Event, Policy};

use crate::{generator, policies};

/// The policies whose proofs use no contract of the drive other than drain(q).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drain {
    Adaptive,
    Gated,
}

/// Prints logs of random drives with random tasks.
pub(crate) fn drains(drain: Drain, count: u64, events: u64, flaw: &str) {
    for number in 0..count {
        let mut log = Log::of(drain, number, flaw);
        for _ in 0..events {
            log.instant();
        }
        println!("END");
    }
}

/// A task, with one unit for each request of a job.
struct Task {
    period: u64,
    deadline: u64,
    units: std::ops::Range<usize>,
    next_release: u64,
}

/// A unit, which takes one request of each job of a task.
#[derive(Clone)]
struct Unit {
    next_release: u64,
    is_pending: bool,
}

/// A run of the real policy with a drive that honours drain(q) and no other contract. It prints
/// each event as an entry of the log.
struct Log<'a> {
    random: Pcg64,
    flaw: &'a str,
    drain_of: Drain,
    tasks: Vec<Task>,
    units: Vec<Unit>,
    /// The times drain(0), drain(1), ..
    drain: Vec<u64>,
    policy: Box<dyn Policy>,
    now: u64,
    last_id: u64,
    /// The unit of each request; `None` for a request that belongs to no unit.
    unit_of: BTreeMap<u64, Option<usize>>,
    queued: Vec<u64>,
    /// The requests on the drive, with their completion times.
    on_drive: Vec<(u64, u64)>,
}

impl<'a> Log<'a> {
    fn of(drain_of: Drain, number: u64, flaw: &'a str) -> Self {
        let mut random = generator(number);
        let requests: Vec<usize> = match drain_of {
            Drain::Adaptive => vec![1],
            Drain::Gated => {
                (0..random.random_range(1..4)).map(|_| random.random_range(1..4)).collect()
            }
        };
        let sum: usize = requests.iter().sum();
        let depth = sum + random.random_range(1..8_usize);
        let mut drain = vec![0, random.random_range(2..6_u64)];
        for _ in 1..depth {
            drain.push(drain[drain.len() - 1] + random.random_range(0..5));
        }
        let worst = (0..sum).map(|it| drain[it] + drain[sum - it]).max().expect("a task");
        // Either no deadline is shorter than the worst case, or no response time reaches a period.
        let is_long = drain_of == Drain::Adaptive || random.random_bool(0.7);
        let longest = drain[depth];
        let mut tasks = Vec::new();
        let mut end = 0;
        for requests in requests {
            let least = if is_long { worst } else { 1 };
            let deadline = random.random_range(least..=least.max(longest) * 2);
            let shortest = if is_long { deadline } else { deadline.max(worst) + 1 };
            let period = shortest + random.random_range(0..=longest * 2);
            tasks.push(Task { period, deadline, units: end..end + requests, next_release: 0 });
            end += requests;
        }
        print_header(drain_of, &tasks, &drain, depth - usize::from(flaw == "depth"));
        let name = match drain_of {
            Drain::Adaptive => PolicyName::AdaptiveDrain,
            Drain::Gated => PolicyName::GatedDrain,
        };
        let plan = Plan::of(&workload(name, &tasks, &drain, flaw));
        Self {
            random,
            flaw,
            drain_of,
            tasks,
            units: vec![Unit { next_release: 0, is_pending: false }; sum],
            drain,
            policy: policies::policy(name, plan, number),
            now: 0,
            last_id: 0,
            unit_of: BTreeMap::new(),
            queued: Vec::new(),
            on_drive: Vec::new(),
        }
    }

    fn observe(&mut self, event: Event) {
        self.policy.observe(Time::from_ns(self.now), event).expect("there is room");
    }

    /// Simulates one instant: completions, releases, possibly a cancellation, dispatches; then time
    /// advances.
    fn instant(&mut self) {
        let now = self.now;
        self.complete();
        for task in 0..self.tasks.len() {
            let Task { units, next_release, .. } = &self.tasks[task];
            let is_idle = self.units[units.clone()].iter().all(|unit| !unit.is_pending);
            if *next_release <= now && is_idle && self.random.random_bool(0.4) {
                self.release(task);
            }
        }
        for _ in 0..self.random.random_range(0..3) {
            // Under the gate, a real-time request that belongs to no task counts as best effort.
            let is_unknown = self.drain_of == Drain::Gated && self.random.random_bool(0.1);
            let class = if is_unknown { Class::Hard } else { Class::BestEffort };
            self.admit(self.tasks.len(), None, class);
        }
        let may_cancel = self.drain_of == Drain::Gated && !self.queued.is_empty();
        if may_cancel && self.random.random_bool(0.05) {
            let id = self.queued.swap_remove(self.random.random_range(0..self.queued.len()));
            self.observe(Event::Cancel(RequestId(id)));
            let unit = self.unit_of[&id].expect("only units are queued");
            self.units[unit].is_pending = false;
            println!("X {unit}");
        }
        self.dispatch();
        let later = self.on_drive.iter().map(|&(_, at)| at).min();
        let later = later.unwrap_or(now + self.random.random_range(1..5));
        let is_early = later > now && self.random.random_bool(0.3);
        self.now = if is_early { self.random.random_range(now + 1..=later) } else { later };
        if self.now > now {
            println!("T {}", self.now);
        }
    }

    fn complete(&mut self) {
        let now = self.now;
        let done: Vec<u64> =
            self.on_drive.iter().filter(|&&(_, at)| at <= now).map(|&(id, _)| id).collect();
        self.on_drive.retain(|&(_, at)| at > now);
        for id in done {
            self.observe(Event::Complete { id: RequestId(id), outcome: Outcome::Done });
            if let Some(unit) = self.unit_of[&id] {
                self.units[unit].is_pending = false;
                println!("C {unit}");
            } else {
                println!("B");
            }
        }
    }

    /// Releases a job. Its requests take the units that can be released first, as in the policy.
    fn release(&mut self, index: usize) {
        let Task { period, ref units, .. } = self.tasks[index];
        let mut places: Vec<usize> = units.clone().collect();
        places.sort_by_key(|&place| (self.units[place].next_release, place));
        let is_whole = self.random.random_bool(0.7);
        if !is_whole {
            places.truncate(self.random.random_range(1..=places.len()));
        }
        for place in places {
            let id = self.admit(index, Some(place), Class::Hard);
            self.queued.push(id);
            self.units[place] = Unit { next_release: self.now + period, is_pending: true };
            println!("R {place}");
        }
        let is_early = self.flaw == "early-release" && self.random.random_bool(0.2);
        self.tasks[index].next_release = self.now + period - u64::from(is_early);
    }

    fn admit(&mut self, task: usize, unit: Option<usize>, class: Class) -> u64 {
        self.last_id += 1;
        self.unit_of.insert(self.last_id, unit);
        let now = Time::from_ns(self.now);
        let plain = Request::plain(RequestId(self.last_id), class, Bytes::from_kib(4));
        let plain = policies::placed(&mut self.random, plain);
        let task = TaskIndex(u32::try_from(task).expect("few tasks"));
        self.observe(Event::Release(Request { task, released: now, eligible: now, ..plain }));
        self.last_id
    }

    /// Runs one round, which sends all requests that the policy dispatches at this instant.
    fn dispatch(&mut self) {
        let mut sent = Vec::new();
        while let Decision::Dispatch { id, .. } = self.policy.decide(Time::from_ns(self.now)) {
            sent.push(id.0);
        }
        if sent.is_empty() {
            return;
        }
        let mut line = String::new();
        let mut others = 0;
        for id in &sent {
            match self.unit_of[id] {
                Some(unit) => write!(line, " {unit}").expect("a string takes all"),
                None => others += 1,
            }
        }
        println!("S {others}{line}");
        self.queued.retain(|id| !sent.contains(id));
        self.on_drive.extend(sent.into_iter().map(|id| (id, 0)));
        // The drain time restarts for all requests on the drive.
        let too_long = u64::from(self.flaw == "long-drain" && self.random.random_bool(0.2));
        let last = self.on_drive.len().min(self.drain.len() - 1);
        let empty_by = self.now + self.drain[last] + too_long;
        for on_drive in &mut self.on_drive {
            let is_last = self.random.random_bool(0.6);
            on_drive.1 =
                if is_last { empty_by } else { self.random.random_range(self.now..=empty_by) };
        }
        let index = self.random.random_range(0..self.on_drive.len());
        self.on_drive[index].1 = empty_by;
    }
}

/// Prints the units and the drive to which the log applies.
fn print_header(drain_of: Drain, tasks: &[Task], drain: &[u64], depth: usize) {
    let line = |of: fn(&Task) -> u64| {
        let of_units = tasks.iter().flat_map(|task| task.units.clone().map(move |_| of(task)));
        of_units.map(|it| it.to_string()).collect::<Vec<_>>().join(" ")
    };
    let letter = match drain_of {
        Drain::Adaptive => 'A',
        Drain::Gated => 'G',
    };
    let units = tasks.last().map_or(0, |task| task.units.end);
    println!("{letter} {units} {depth}\np {}\nd {}", line(|it| it.period), line(|it| it.deadline));
    let times: Vec<String> = drain.iter().map(u64::to_string).collect();
    // Beyond the drive's depth, drain(q) is longer than any deadline.
    println!("q {} {}\nn {}", times.join(" "), u64::MAX, line(|it| it.next_release));
}

/// Returns the workload of these tasks on a drive with these drain times.
fn workload(name: PolicyName, tasks: &[Task], drain: &[u64], flaw: &str) -> Workload {
    let shorter = u64::from(flaw == "short-drain");
    let times: Vec<u64> = drain[1..].iter().map(|time| time - shorter).collect();
    let times = format!("batch_ns_max = {times:?}\ndrain_ns_max = {times:?}");
    let mut tables = String::new();
    for (index, Task { period, deadline, units, .. }) in tasks.iter().enumerate() {
        let (requests, deadline) = (units.len(), deadline + u64::from(flaw == "deadline"));
        write!(
            tables,
            "[[task]]\nname = \"t{index}\"\nperiod = \"{period}ns\"\ndeadline = \"{deadline}ns\"\n\
             size = \"4KiB\"\nrequests = {requests}\n"
        )
        .expect("a string takes all");
    }
    policies::workload(name, &times, &tables)
}

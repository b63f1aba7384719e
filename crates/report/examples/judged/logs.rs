// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints logs of the real `Dqf` and `DqEdf`.

use std::collections::BTreeMap;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::{Bytes, Class, Outcome, Plan, PolicyName, Request, RequestId, Time, Workload};
use tidegate_policy::{Decision, Event, Policy};

use crate::{generator, policies};

/// The policies that send one batch at a time, each with the parameters that determine the time of
/// a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queue {
    Dqf,
    /// `dqf` on a drive whose batches take A plus a cost per request.
    DqfByCost,
    DqEdf,
}

/// Prints logs of random systems.
pub(crate) fn logs(queue: Queue, count: u64, events: u64, flaw: &str) {
    for number in 0..count {
        let mut log = Log::of(queue, number, flaw);
        for _ in 0..events {
            log.instant();
        }
        println!("END");
    }
}

/// A run of the real policy with an adversary. It prints each event as an entry of the log.
struct Log<'a> {
    random: Pcg64,
    flaw: &'a str,
    /// e and p of each task, and the earliest time of its next release.
    tasks: Vec<(u64, u64, u64)>,
    times: Times,
    policy: Box<dyn Policy>,
    now: u64,
    last_id: u64,
    /// The task and the release time of each request; a task index equal to the number of tasks
    /// means best effort.
    known: BTreeMap<u64, (usize, u64)>,
    queued: Vec<u64>,
    /// The requests on the drive, with their completion times.
    on_drive: Vec<(u64, u64)>,
}

/// The longest times of batches.
enum Times {
    /// The times b(0), b(1), ..; the last entry applies to all larger batches.
    Table(Vec<u64>),
    /// A, and the cost of a request of each task; the last cost is that of best effort.
    Costs(u64, Vec<u64>),
}

impl Times {
    /// Returns the longest time of a batch with requests of these tasks.
    fn of(&self, tasks: &[usize]) -> u64 {
        match self {
            Self::Table(table) => table[tasks.len().min(table.len() - 1)],
            Self::Costs(positioning, costs) => {
                positioning + tasks.iter().map(|&task| costs[task]).sum::<u64>()
            }
        }
    }
}

impl<'a> Log<'a> {
    fn of(queue: Queue, number: u64, flaw: &'a str) -> Self {
        let mut random = generator(number);
        let count = random.random_range(1..=5_usize);
        let requests: Vec<u64> = (0..count).map(|_| random.random_range(1..=3)).collect();
        let sum: u64 = requests.iter().sum();
        let batch_max = if random.random_bool(0.5) {
            sum + random.random_range(0..3)
        } else {
            random.random_range(1..=sum)
        };
        let fill = random.random_range(0..=batch_max);
        let times = match queue {
            Queue::Dqf | Queue::DqEdf => {
                let mut table = vec![0, random.random_range(1..5_u64)];
                for _ in 0..=batch_max {
                    table.push(table[table.len() - 1] + random.random_range(0..4));
                }
                Times::Table(table)
            }
            Queue::DqfByCost => {
                let costs = (0..=count).map(|_| random.random_range(1..6_u64)).collect();
                Times::Costs(random.random_range(0..5), costs)
            }
        };
        // This is at least the bound if all queued requests fit into one batch.
        let longest = match &times {
            Times::Table(table) => {
                let at = |size: u64| table[usize::try_from(size).expect("small")];
                let pair = |y: u64| at(y.max(fill)) + at((sum - y).min(batch_max).max(fill));
                (0..=sum.min(batch_max)).map(pair).max().expect("0 is one")
            }
            Times::Costs(positioning, costs) => {
                let own: u64 = requests.iter().zip(costs).map(|(many, cost)| many * cost).sum();
                2 * positioning + own + fill * costs[count] + random.random_range(0..3)
            }
        };
        let task = |&requests: &u64| {
            let period = longest + 1 + random.random_range(0..longest + 3);
            (requests, period, random.random_range(0..10_u64).saturating_sub(5))
        };
        let tasks: Vec<(u64, u64, u64)> = requests.iter().map(task).collect();
        let line = |of: fn(&(u64, u64, u64)) -> u64| {
            tasks.iter().map(|task| of(task).to_string()).collect::<Vec<_>>().join(" ")
        };
        let (letter, shown) = match (&times, queue) {
            (Times::Table(table), Queue::DqEdf) => ('O', table.clone()),
            (Times::Table(table), _) => ('S', table.clone()),
            (Times::Costs(positioning, costs), _) => {
                ('K', [&[*positioning, costs[count]], &costs[..count]].concat())
            }
        };
        let shown: Vec<String> = shown.iter().map(u64::to_string).collect();
        println!("{letter} {count} {batch_max} {fill}\ne {}", line(|it| it.0));
        println!("p {}\nb {}\nn {}", line(|it| it.1), shown.join(" "), line(|it| it.2));
        let real_max = batch_max + u64::from(flaw == "z");
        let real_fill = (fill + u64::from(flaw == "beta")).min(real_max);
        let small = |value: u64| u32::try_from(value).expect("small");
        let is_edf = queue == Queue::DqEdf || flaw == "order";
        let name = if is_edf { PolicyName::DqEdf } else { PolicyName::Dqf };
        let plan = Plan {
            batch_max: small(real_max),
            best_effort_fill: small(real_fill),
            ..Plan::of(&workload(name, &times, batch_max))
        };
        Self {
            random,
            flaw,
            policy: policies::policy(name, plan, number),
            tasks,
            times,
            now: 0,
            last_id: 0,
            known: BTreeMap::new(),
            queued: Vec::new(),
            on_drive: Vec::new(),
        }
    }

    fn observe(&mut self, event: Event) {
        self.policy.observe(Time::from_ns(self.now), event).expect("there is room");
    }

    /// Simulates one instant: completions, releases, possibly a cancellation, a dispatch; then time
    /// advances.
    fn instant(&mut self) {
        self.complete();
        for task in 0..self.tasks.len() {
            if self.tasks[task].2 <= self.now && self.random.random_bool(0.7) {
                self.release(task);
            }
        }
        for _ in 0..self.random.random_range(0..3) {
            self.admit(self.tasks.len(), Class::BestEffort);
        }
        if !self.queued.is_empty() && self.random.random_bool(0.03) {
            let id = self.queued.swap_remove(self.random.random_range(0..self.queued.len()));
            self.observe(Event::Cancel(RequestId(id)));
            let (task, released) = self.known[&id];
            println!("X {task} {released}");
        }
        self.dispatch();
        let later = self.on_drive.iter().map(|&(_, at)| at).min();
        let later = later.unwrap_or(self.now + self.random.random_range(1..5));
        let is_early = later > self.now && self.random.random_bool(0.3);
        let to = if is_early { self.random.random_range(self.now + 1..=later) } else { later };
        if to > self.now {
            self.now = to;
            println!("T {to}");
        }
    }

    fn complete(&mut self) {
        let now = self.now;
        let mut done: Vec<u64> =
            self.on_drive.iter().filter(|&&(_, at)| at <= now).map(|&(id, _)| id).collect();
        self.on_drive.retain(|&(_, at)| at > now);
        if self.random.random_bool(0.5) {
            done.reverse();
        }
        for id in done {
            self.observe(Event::Complete { id: RequestId(id), outcome: Outcome::Done });
            let (task, released) = self.known[&id];
            if task == self.tasks.len() {
                println!("B");
            } else {
                println!("C {task} {released}");
            }
        }
    }

    fn release(&mut self, task: usize) {
        let (most, period, _) = self.tasks[task];
        let requests =
            if self.random.random_bool(0.7) { most } else { self.random.random_range(1..=most) };
        for _ in 0..requests {
            let id = self.admit(task, Class::Hard);
            self.queued.push(id);
        }
        let early = u64::from(self.flaw == "early-release" && self.random.random_bool(0.05));
        self.tasks[task].2 = self.now + period - early;
        println!("R {task} {requests}");
    }

    fn admit(&mut self, task: usize, class: Class) -> u64 {
        self.last_id += 1;
        self.known.insert(self.last_id, (task, self.now));
        let request = Request::plain(RequestId(self.last_id), class, Bytes::from_kib(4));
        let mut request = policies::placed(&mut self.random, request);
        request.due = Some(Time::from_ns(self.now + self.random.random_range(1..50)));
        self.observe(Event::Release(request));
        self.last_id
    }

    fn dispatch(&mut self) {
        let mut batch = Vec::new();
        while let Decision::Dispatch { id, .. } = self.policy.decide(Time::from_ns(self.now)) {
            batch.push(id.0);
        }
        if batch.is_empty() {
            return;
        }
        let real: Vec<String> = batch
            .iter()
            .map(|id| self.known[id])
            .filter(|&(task, _)| task < self.tasks.len())
            .map(|(task, released)| format!("{task}:{released}"))
            .collect();
        println!("D {} {}", batch.len() - real.len(), real.join(" "));
        self.queued.retain(|id| !batch.contains(id));
        let too_long = u64::from(self.flaw == "long-batch" && self.random.random_bool(0.05));
        let tasks: Vec<usize> = batch.iter().map(|id| self.known[id].0).collect();
        let longest = self.times.of(&tasks) + too_long;
        let last = batch.len() - 1;
        for (index, id) in batch.into_iter().enumerate() {
            let is_full = index == last || self.random.random_bool(0.7);
            let takes = if is_full { longest } else { self.random.random_range(0..=longest) };
            self.on_drive.push((id, self.now + takes));
        }
    }
}

/// Returns a workload with a table that no batch exceeds. Its only task represents all tasks,
/// because these policies do not distinguish tasks.
fn workload(name: PolicyName, times: &Times, batch_max: u64) -> Workload {
    let table = match times {
        Times::Table(table) => table[1..].to_vec(),
        Times::Costs(positioning, costs) => {
            let longest = costs.iter().max().expect("a cost");
            (1..=batch_max + 1).map(|size| positioning + size * longest).collect()
        }
    };
    let task = "[[task]]\nname = \"t\"\nperiod = \"1s\"\nsize = \"4KiB\"\n";
    policies::workload(name, &format!("batch_ns_max = {table:?}"), task)
}

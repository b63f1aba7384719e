// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Logs of the real `Dqf` under an adversary, and certificates of random workloads, for the checkers
//! that are extracted from the machine-checked proofs (`make proof`).
//!
//! ```text
//! judged logs COUNT EVENTS [FLAW]      FLAW: z, beta, long-batch, early-release
//! judged certificates COUNT [FLAW]     FLAW: lower-bound
//! ```
//!
//! A flaw changes what is done, but not what the log or the certificate says.

use std::collections::BTreeMap;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tidegate_analysis::{Answer, assess};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{Bytes, Class, Outcome, PolicyName, Request, RequestId, Time, Workload};
use tidegate_policy::{Decision, Dqf, Event, Policy};
use tidegate_report::{Certificate, FileOrigin, Origin};

const SEED: u64 = 20_261_126;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let count = |word: &str| word.parse::<u64>().expect("a count");
    match words[..] {
        ["logs", number, events] => logs(count(number), count(events), ""),
        ["logs", number, events, flaw] => logs(count(number), count(events), flaw),
        ["certificates", number] => certificates(count(number), ""),
        ["certificates", number, flaw] => certificates(count(number), flaw),
        _ => panic!("judged logs COUNT EVENTS [FLAW] | judged certificates COUNT [FLAW]"),
    }
}

fn generator(number: u64) -> Pcg64 {
    Pcg64::seed_from_u64(SEED + number)
}

/// Prints certificates whose bounds all follow from the backlog, which is what the checker checks.
fn certificates(count: u64, flaw: &str) {
    let mut printed = 0;
    for number in 0.. {
        if printed == count {
            return;
        }
        let workload = workload(&mut generator(number));
        let assessment = assess(&workload, PolicyName::Dqf);
        let is_by_backlog = workload.tasks.iter().zip(&assessment.tasks).all(|(task, it)| {
            let tight = it.bounds.tight;
            tight.is_some_and(|tight| tight < task.period)
                && it.response_max.map(|(response, _)| response) == tight
        });
        if assessment.answer != Answer::Proven || !is_by_backlog {
            continue;
        }
        let file = FileOrigin { name: "w".to_owned(), sha256: String::new(), modified: None };
        let origin = Origin { version: "", commit: "", workload: file, drive: None };
        let certificate = Certificate::of(&workload, &assessment, origin).expect("it is proven");
        let mut json = serde_json::to_value(&certificate).expect("string keys");
        // W or a bound that knows nothing of the backlog may be smaller than A: only equality counts.
        let least = |step: &serde_json::Value, requests: u64| {
            (step["requests"] == requests).then(|| step["response_ns"].clone())
        };
        let steps = json["backlog"].as_array().cloned().unwrap_or_default();
        let tasks = json["tasks"].as_array_mut().expect("tasks");
        let is_equal = tasks.iter().all(|task| {
            let requests = task["requests"].as_u64().expect("a number");
            let mut by_backlog = steps.iter().filter_map(|step| least(step, requests));
            by_backlog.next().as_ref() == Some(&task["response_ns_max"])
        });
        if !is_equal {
            continue;
        }
        if flaw == "lower-bound" {
            let task = &mut tasks[usize::try_from(number).expect("small") % workload.tasks.len()];
            let response = task["response_ns_max"].as_u64().expect("a number");
            task["response_ns_max"] = (response - 1).into();
        }
        println!("{json}");
        printed += 1;
    }
}

/// Returns a random workload with times from nanoseconds to years.
fn workload(random: &mut Pcg64) -> Workload {
    let unit = 10_u64.pow(random.random_range(0..12));
    let mut at = random.random_range(1..9) * unit;
    let batch_max = random.random_range(1..=12_u64);
    let mut times = Vec::new();
    for _ in 0..batch_max {
        times.push(at.to_string());
        at += random.random_range(0..4) * unit;
    }
    let mut text = format!(
        "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [{}]\n[policy]\nname = \"dqf\"\nbatch = {}\n",
        times.join(", "),
        random.random_range(1..=batch_max)
    );
    for task in 0..random.random_range(1..=4_u32) {
        let period = random.random_range(at..at * 24);
        let (requests, count) = (random.random_range(1..=5_u32), random.random_range(1..=3_u32));
        text.push_str(&format!(
            "[[task]]\nname = \"t{task}\"\nperiod = \"{period}ns\"\nrequests = {requests}\n\
             count = {count}\nsize = \"4KiB\"\n"
        ));
    }
    if random.random_bool(0.3) {
        text.push_str("[[best_effort]]\nname = \"b\"\noutstanding = 9\nsize = \"4KiB\"\n");
    }
    let file = WorkloadFile::parse(&text).expect("a valid file");
    let DriveReference::Inline(drive) = &file.drive else { unreachable!("an inline drive") };
    file.bind(drive).expect("an inline table covers everything")
}

fn logs(count: u64, events: u64, flaw: &str) {
    for number in 0..count {
        let mut log = Log::of(generator(number), flaw);
        for _ in 0..events {
            log.instant();
        }
        println!("END");
    }
}

/// A run of the real policy beside an adversary. It prints each event as an entry of the log.
struct Log<'a> {
    random: Pcg64,
    flaw: &'a str,
    /// e and p of each task, and its earliest next release.
    tasks: Vec<(u64, u64, u64)>,
    /// b(0), b(1), ..; the last entry counts for all larger batches.
    table: Vec<u64>,
    policy: Dqf,
    now: u64,
    last_id: u64,
    /// The task, or the number of tasks for best effort, and the release of each request.
    known: BTreeMap<u64, (usize, u64)>,
    queued: Vec<u64>,
    /// The requests on the drive with their completions.
    on_drive: Vec<(u64, u64)>,
}

impl<'a> Log<'a> {
    fn of(mut random: Pcg64, flaw: &'a str) -> Self {
        let count = random.random_range(1..=5_usize);
        let requests: Vec<u64> = (0..count).map(|_| random.random_range(1..=3)).collect();
        let sum: u64 = requests.iter().sum();
        let batch_max = if random.random_bool(0.5) {
            sum + random.random_range(0..3)
        } else {
            random.random_range(1..=sum)
        };
        let fill = random.random_range(0..=batch_max);
        let mut table = vec![0, random.random_range(1..5_u64)];
        for _ in 0..=batch_max {
            table.push(table[table.len() - 1] + random.random_range(0..4));
        }
        let at = |size: u64| table[usize::try_from(size).expect("small")];
        let pair = |y: u64| at(y.max(fill)) + at((sum - y).min(batch_max).max(fill));
        let longest = (0..=sum.min(batch_max)).map(pair).max().expect("0 is one");
        let task = |&requests: &u64| {
            let period = longest + 1 + random.random_range(0..longest + 3);
            (requests, period, random.random_range(0..10_u64).saturating_sub(5))
        };
        let tasks: Vec<(u64, u64, u64)> = requests.iter().map(task).collect();
        let line = |of: fn(&(u64, u64, u64)) -> u64| {
            tasks.iter().map(|task| of(task).to_string()).collect::<Vec<_>>().join(" ")
        };
        let times: Vec<String> = table.iter().map(u64::to_string).collect();
        println!("S {count} {batch_max} {fill}\ne {}\np {}", line(|it| it.0), line(|it| it.1));
        println!("b {}\nn {}", times.join(" "), line(|it| it.2));
        let real_max = batch_max + u64::from(flaw == "z");
        let real_fill = (fill + u64::from(flaw == "beta")).min(real_max);
        let small = |value: u64| u32::try_from(value).expect("small");
        Self {
            random,
            flaw,
            policy: Dqf::new(small(real_max), small(real_fill), 100_000),
            tasks,
            table,
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

    /// One instant: completions, releases, perhaps a cancellation, a dispatch; then time passes.
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
        let longest = self.table[batch.len().min(self.table.len() - 1)] + too_long;
        let last = batch.len() - 1;
        for (index, id) in batch.into_iter().enumerate() {
            let is_full = index == last || self.random.random_bool(0.7);
            let takes = if is_full { longest } else { self.random.random_range(0..=longest) };
            self.on_drive.push((id, self.now + takes));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Logs of the real `AdaptiveDrain`.

use std::collections::BTreeMap;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{Bytes, Class, Outcome, Plan, Request, RequestId, TaskIndex, Time, Workload};
use tidegate_policy::{AdaptiveDrain, Decision, Event, Policy};

use crate::generator;

/// Prints logs of random drives with one task.
pub(crate) fn drains(count: u64, events: u64, flaw: &str) {
    for number in 0..count {
        let mut log = Log::of(generator(number), flaw);
        for _ in 0..events {
            log.instant();
        }
        println!("END");
    }
}

/// A run of the real policy beside a drive that honours drain(q) and nothing else.
struct Log<'a> {
    random: Pcg64,
    flaw: &'a str,
    period: u64,
    /// drain(0), drain(1), ..
    drain: Vec<u64>,
    policy: AdaptiveDrain,
    now: u64,
    next_release: u64,
    last_id: u64,
    /// Whether the request is the task's, by id.
    is_task: BTreeMap<u64, bool>,
    /// The requests on the drive with their completions.
    on_drive: Vec<(u64, u64)>,
    is_pending: bool,
}

impl<'a> Log<'a> {
    fn of(mut random: Pcg64, flaw: &'a str) -> Self {
        let depth = random.random_range(2..9_usize);
        let mut drain = vec![0, random.random_range(2..6_u64)];
        for _ in 1..depth {
            drain.push(drain[drain.len() - 1] + random.random_range(0..5));
        }
        let longest = drain[depth];
        let deadline = random.random_range(drain[1]..=longest * 2);
        let period = deadline + random.random_range(0..=longest * 2);
        let times: Vec<String> = drain.iter().map(u64::to_string).collect();
        // Beyond the drive's depth, drain(q) is longer than any deadline.
        println!("A {period} {deadline} 0\nd {} {}", times.join(" "), u64::MAX);
        let real_deadline = deadline + u64::from(flaw == "deadline");
        let workload = workload(period, real_deadline, &times[1..]);
        Self {
            random,
            flaw,
            period,
            drain,
            policy: AdaptiveDrain::new(&Plan::of(&workload)),
            now: 0,
            next_release: 0,
            last_id: 0,
            is_task: BTreeMap::new(),
            on_drive: Vec::new(),
            is_pending: false,
        }
    }

    fn observe(&mut self, event: Event) {
        self.policy.observe(Time::from_ns(self.now), event).expect("there is room");
    }

    /// One instant: completions, a release, dispatches; then time passes.
    fn instant(&mut self) {
        let now = self.now;
        let done: Vec<u64> =
            self.on_drive.iter().filter(|&&(_, at)| at <= now).map(|&(id, _)| id).collect();
        self.on_drive.retain(|&(_, at)| at > now);
        for id in done {
            self.observe(Event::Complete { id: RequestId(id), outcome: Outcome::Done });
            let is_task = self.is_task[&id];
            self.is_pending &= !is_task;
            println!("{}", if is_task { "C" } else { "B" });
        }
        let may_release = self.next_release <= now && !self.is_pending;
        if may_release && self.random.random_bool(0.4) {
            self.admit(Class::Hard);
            self.is_pending = true;
            let early = u64::from(self.flaw == "early-release" && self.random.random_bool(0.2));
            self.next_release = now + self.period - early;
            println!("R");
        }
        for _ in 0..self.random.random_range(0..3) {
            self.admit(Class::BestEffort);
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

    fn admit(&mut self, class: Class) {
        self.last_id += 1;
        self.is_task.insert(self.last_id, class == Class::Hard);
        let now = Time::from_ns(self.now);
        let plain = Request::plain(RequestId(self.last_id), class, Bytes::from_kib(4));
        let task = TaskIndex(u32::from(class != Class::Hard));
        self.observe(Event::Release(Request { task, released: now, eligible: now, ..plain }));
    }

    fn dispatch(&mut self) {
        let before = self.on_drive.len();
        while let Decision::Dispatch { id, .. } = self.policy.decide(Time::from_ns(self.now)) {
            println!("{}", if self.is_task[&id.0] { "S" } else { "A" });
            self.on_drive.push((id.0, 0));
        }
        if self.on_drive.len() == before {
            return;
        }
        // The clock starts again for everything on the drive.
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

/// Returns the workload of one task on a drive with these drain times.
fn workload(period: u64, deadline: u64, times: &[String]) -> Workload {
    let times = times.join(", ");
    let text = format!(
        "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [{times}]\ndrain_ns_max = [{times}]\n\
         [policy]\nname = \"adaptive-drain\"\n\
         [[task]]\nname = \"t\"\nperiod = \"{period}ns\"\ndeadline = \"{deadline}ns\"\nsize = \"4KiB\"\n\
         [[best_effort]]\nname = \"b\"\noutstanding = 99\nsize = \"4KiB\"\n"
    );
    let file = WorkloadFile::parse(&text).expect("a valid file");
    let DriveReference::Inline(drive) = &file.drive else { unreachable!("an inline drive") };
    file.bind(drive).expect("an inline table covers everything")
}

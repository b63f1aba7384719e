// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the requests of units with what a workload declares of them: bounds, classes, sizes and
//! contracts.
//!
//! Only entries that name a unit can be told apart. Of a unit's entries with the request's
//! operation, the request belongs to the one with exactly its size, or else to the one with the
//! smallest larger size, or else to the largest. Entries that agree in all three count as one, with
//! the largest bound.

use std::collections::{BTreeMap, VecDeque};

use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{Bytes, Duration, Intensity, Op, Task, Time, Workload};
use tidegate_stats::{Distribution, Memory};

use crate::accounts::Source;
use crate::bios::Served;
use crate::event::{Extent, IoClass};
use crate::process::Process;

/// Without a stated time of the host, releases may be early by one part in this many of a period:
/// the block layer sees them later than the program, and not always by the same time.
const JITTER_PART: u64 = 100;
/// The most undeclared sources that are named.
const UNDECLARED_MAX: usize = 512;

/// A `[[task]]` or `[[best_effort]]` entry that names a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredEntry {
    /// Its name in the file.
    pub name: String,
    /// Its systemd service.
    pub unit: String,
    op: Op,
    size: Bytes,
    asks: Asks,
}

/// How much an entry may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Asks {
    /// Tasks: each answers within the bound.
    Contract { rates: Vec<Rate>, bound: Option<Duration> },
    /// A load: at most this many requests at once; `None`: no limit.
    AtOnce(Option<u32>),
}

/// At most so many requests in any period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rate {
    requests: u32,
    period: Duration,
}

impl DeclaredEntry {
    /// Adds an entry that its requests cannot be told apart from.
    fn join(&mut self, other: Self) {
        self.name = format!("{}, {}", self.name, other.name);
        match (&mut self.asks, other.asks) {
            (
                Asks::Contract { rates, bound },
                Asks::Contract { rates: more, bound: other_bound },
            ) => {
                for rate in more {
                    match rates.iter_mut().find(|known| known.period == rate.period) {
                        Some(known) => {
                            known.requests = known.requests.saturating_add(rate.requests);
                        }
                        None => rates.push(rate),
                    }
                }
                // Requests of a short period find their own tokens first.
                rates.sort_by_key(|rate| rate.period);
                *bound = bound.zip(other_bound).map(|(a, b)| a.max(b));
            }
            (Asks::AtOnce(most), Asks::AtOnce(more)) => {
                *most = most.zip(more).map(|(a, b)| a.saturating_add(b));
            }
            // A unit belongs to tasks or to loads: the file is refused otherwise.
            (Asks::Contract { .. }, Asks::AtOnce(_)) | (Asks::AtOnce(_), Asks::Contract { .. }) => {
            }
        }
    }

    /// Returns the bound of its requests; `None` for a load, and without a proof.
    pub const fn bound(&self) -> Option<Duration> {
        match self.asks {
            Asks::Contract { bound, .. } => bound,
            Asks::AtOnce(_) => None,
        }
    }

    /// Returns whether it is a task.
    pub const fn is_task(&self) -> bool {
        matches!(self.asks, Asks::Contract { .. })
    }

    fn is_above(&self, response: Duration) -> bool {
        self.bound().is_some_and(|bound| response > bound)
    }

    const fn has_class(&self, class: IoClass) -> bool {
        let is_real_time = match class {
            IoClass::RealTime => true,
            IoClass::BestEffort | IoClass::Idle => false,
        };
        self.is_task() == is_real_time
    }
}

/// What was seen of an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Response times from queue to completion.
    pub responses: Distribution,
    /// Requests above the bound, without those that wait.
    pub exceeded: u64,
    /// Requests that wait for longer than the bound and are not complete.
    pub waiting: u64,
    /// The longest time that one of them waits.
    pub waiting_max: Option<Duration>,
    /// Requests that failed.
    pub failed: u64,
    /// Requests beyond the contract: more in a period, or more at once, than declared.
    pub beyond: u64,
    /// Requests that are larger than declared.
    pub larger: u64,
    /// Requests with another class than the proof needs.
    pub other_class: u64,
    /// The most requests at once.
    pub outstanding_max: u32,
    outstanding: u32,
    /// When the requests within the contract came, those of the last period of each rate.
    taken: Vec<VecDeque<Time>>,
}

impl Record {
    fn new() -> Self {
        Self {
            responses: Distribution::new(Memory::AsNeeded),
            exceeded: 0,
            waiting: 0,
            waiting_max: None,
            failed: 0,
            beyond: 0,
            larger: 0,
            other_class: 0,
            outstanding_max: 0,
            outstanding: 0,
            taken: Vec::new(),
        }
    }

    /// Counts a request that comes at this instant. A request beyond the contract takes nothing of
    /// it, as under `tokens-per-task` with best effort for the excess.
    fn come(&mut self, at: Time, entry: &DeclaredEntry, extent: Extent) {
        self.outstanding += 1;
        self.outstanding_max = self.outstanding_max.max(self.outstanding);
        self.larger += u64::from(extent.bytes() > entry.size);
        let is_within = match entry.asks {
            Asks::AtOnce(most) => most.is_none_or(|most| self.outstanding <= most),
            Asks::Contract { ref rates, .. } => {
                self.taken.resize_with(rates.len(), VecDeque::new);
                rates.iter().zip(&mut self.taken).any(|(rate, taken)| rate.take(at, taken))
            }
        };
        self.beyond += u64::from(!is_within);
    }

    /// Takes a request back that came at this instant and asked for nothing.
    fn withdraw(&mut self, queued: Time, entry: &DeclaredEntry, extent: Extent) {
        self.outstanding = self.outstanding.saturating_sub(1); // as of `serve`
        self.larger -= u64::from(extent.bytes() > entry.size);
        let came = |taken: &VecDeque<Time>| taken.iter().position(|it| *it == queued);
        for taken in &mut self.taken {
            if let Some(index) = came(taken) {
                taken.remove(index);
                return;
            }
        }
        let is_beyond = match entry.asks {
            Asks::Contract { .. } => self.beyond > 0,
            Asks::AtOnce(most) => most.is_some_and(|most| self.outstanding >= most),
        };
        self.beyond = self.beyond.saturating_sub(u64::from(is_beyond));
    }

    /// Counts a response; of a request that was given up, the time that it waited.
    fn respond(&mut self, entry: &DeclaredEntry, response: Duration) {
        self.responses.record(response);
        self.exceeded += u64::from(entry.is_above(response));
    }
}

impl Rate {
    /// Takes one of the rate's requests at this instant; returns whether there was one.
    fn take(self, at: Time, taken: &mut VecDeque<Time>) -> bool {
        let is_back = |taken: &Time| taken.checked_add(self.period).is_some_and(|it| it <= at);
        while taken.front().is_some_and(is_back) {
            taken.pop_front();
        }
        let is_left = taken.len() < self.requests as usize;
        if is_left {
            taken.push_back(at);
        }
        is_left
    }
}

/// The declared entries with what was seen of them.
#[derive(Debug, Clone, Default)]
pub struct Declared {
    entries: Vec<(DeclaredEntry, Record)>,
    /// Entries that name no unit.
    without_unit: Vec<String>,
    /// Real-time requests that no task declares, by source.
    undeclared: BTreeMap<Source, u64>,
    /// Requests of sources beyond the most that are named.
    undeclared_others: u64,
    /// Requests of threads that had ended before anybody could ask whose they were.
    unknown: u64,
}

impl Declared {
    /// Takes the entries of a workload; `bounds` has one for each of its tasks.
    pub fn of(file: &WorkloadFile, workload: &Workload, bounds: &[Option<Duration>]) -> Self {
        let mut declared = Self::default();
        let units = file.unit_of_entries();
        for (index, name) in workload.entries.iter().enumerate() {
            let of_entry = |(task, _): &(&Task, _)| task.entry as usize == index;
            let tasks: Vec<_> =
                workload.tasks.iter().zip(bounds.iter().copied()).filter(of_entry).collect();
            let Some((first, _)) = tasks.first() else { continue };
            let asks = contract(workload, &tasks);
            declared.add(name, units.get(index), first.op, first.size, asks);
        }
        for (load, unit) in workload.best_effort.iter().zip(file.unit_of_loads()) {
            let most = match load.intensity {
                Intensity::Outstanding(most) | Intensity::Paced { outstanding: most, .. } => {
                    Some(most)
                }
                Intensity::Rate(_) => None,
            };
            declared.add(&load.name, Some(unit), load.op, load.size, Asks::AtOnce(most));
        }
        declared
    }

    fn add(&mut self, name: &str, unit: Option<&Option<String>>, op: Op, size: Bytes, asks: Asks) {
        let name = name.to_owned();
        let Some(unit) = unit.and_then(Option::clone) else {
            self.without_unit.push(name);
            return;
        };
        let entry = DeclaredEntry { name, unit, op, size, asks };
        let key = |it: &DeclaredEntry| (it.unit.clone(), it.op, it.size);
        match self.entries.iter_mut().find(|(known, _)| key(known) == key(&entry)) {
            Some((known, _)) => known.join(entry),
            None => self.entries.push((entry, Record::new())),
        }
    }

    /// Returns the entries in the order of the file, tasks first.
    pub fn entries(&self) -> impl Iterator<Item = &(DeclaredEntry, Record)> {
        self.entries.iter()
    }

    /// Returns the names of the entries that name no unit.
    pub fn without_unit(&self) -> &[String] {
        &self.without_unit
    }

    /// Returns the real-time requests that no task declares, by source.
    pub const fn undeclared(&self) -> &BTreeMap<Source, u64> {
        &self.undeclared
    }

    /// Returns the real-time requests that no task declares, of sources that are not named.
    pub const fn undeclared_others(&self) -> u64 {
        self.undeclared_others
    }

    /// Returns the requests that belong to a unit or not: their threads had ended before anybody
    /// could ask.
    pub const fn unknown(&self) -> u64 {
        self.unknown
    }

    /// Records a request that comes.
    pub(crate) fn come(&mut self, at: Time, extent: Extent, by: &Process) {
        self.unknown += u64::from(!by.is_known && extent.op.moves_data().is_some());
        if let Some(index) = self.find(extent, by) {
            let (entry, record) = &mut self.entries[index];
            record.come(at, entry, extent);
        }
    }

    /// Records a request that is complete.
    pub(crate) fn serve(&mut self, served: &Served) {
        let Some(index) = self.find(served.extent, &served.by) else {
            if served.class == IoClass::RealTime {
                self.count_undeclared(served);
            }
            return;
        };
        let (entry, record) = &mut self.entries[index];
        // Requests that were given up count no longer.
        record.outstanding = record.outstanding.saturating_sub(1);
        record.other_class += u64::from(!entry.has_class(served.class));
        record.failed += u64::from(served.is_failed);
        record.respond(entry, served.response());
    }

    fn count_undeclared(&mut self, served: &Served) {
        let source = Source::of(&served.by, served.class);
        let is_room = self.undeclared.len() < UNDECLARED_MAX;
        match self.undeclared.get_mut(&source) {
            Some(count) => *count += 1,
            None if is_room => drop(self.undeclared.insert(source, 1)),
            None => self.undeclared_others += 1,
        }
    }

    /// Records a request that ended without being sent.
    pub(crate) fn withdraw(&mut self, bio: &Served) {
        if let Some(index) = self.find(bio.extent, &bio.by) {
            let (entry, record) = &mut self.entries[index];
            record.withdraw(bio.queued, entry, bio.extent);
        }
    }

    /// Records a request whose end will not be seen. One that was above its bound counts.
    pub(crate) fn give_up(&mut self, bio: &Served) {
        if let Some(index) = self.find(bio.extent, &bio.by) {
            let (entry, record) = &mut self.entries[index];
            record.outstanding = record.outstanding.saturating_sub(1); // as of `serve`
            if entry.is_above(bio.response()) {
                record.respond(entry, bio.response());
            }
        }
    }

    /// Takes the requests that are not complete, with the times that they wait.
    pub(crate) fn wait<'a>(
        &mut self,
        waiting: impl Iterator<Item = (Extent, &'a Process, Duration)>,
    ) {
        for (_, record) in &mut self.entries {
            (record.waiting, record.waiting_max) = (0, None);
        }
        for (extent, by, age) in waiting {
            let Some(index) = self.find(extent, by) else { continue };
            let (entry, record) = &mut self.entries[index];
            if entry.is_above(age) {
                record.waiting += 1;
                record.waiting_max = record.waiting_max.max(Some(age));
            }
        }
    }

    /// Returns the entry of a request.
    fn find(&self, extent: Extent, by: &Process) -> Option<usize> {
        let (unit, op) = (by.unit.as_ref()?, extent.op.moves_data()?);
        let of_unit = |entry: &DeclaredEntry| entry.unit == *unit && entry.op == op;
        let entries = self.entries.iter().map(|(entry, _)| entry).enumerate();
        let size = extent.bytes();
        let distance = |entry: &DeclaredEntry| {
            // Larger entries first, the nearest of them; then smaller ones, the nearest first.
            (entry.size < size, entry.size.get().abs_diff(size.get()))
        };
        let fitting = entries.filter(|(_, entry)| of_unit(entry));
        fitting.min_by_key(|(_, entry)| distance(entry)).map(|(index, _)| index)
    }
}

/// Returns the contract of all tasks of an entry together. The period is the shortest that the block
/// layer may see.
fn contract(workload: &Workload, tasks: &[(&Task, Option<Duration>)]) -> Asks {
    let (first, _) = tasks[0];
    let requests = tasks.iter().map(|(task, _)| task.requests).fold(0, u32::saturating_add);
    let stated = workload.host.time().release;
    let jitter =
        if stated.is_zero() { Duration::from_ns(first.period.ns() / JITTER_PART) } else { stated };
    let period = first.period.checked_sub(jitter).unwrap_or(first.period);
    let bounds: Option<Vec<Duration>> = tasks.iter().map(|(_, bound)| *bound).collect();
    let bound = bounds.and_then(|it| it.into_iter().max());
    Asks::Contract { rates: vec![Rate { requests, period }], bound }
}

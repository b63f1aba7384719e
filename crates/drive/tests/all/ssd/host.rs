// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A host whose sources each keep a fixed number of requests outstanding, and its records.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use tidegate_drive::{Completion, Drive, SsdDrive};
use tidegate_model::{Duration, Op, Outcome, Random, Request, Time};

use super::common::{UNIT, request};

/// The requests of one source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    op: Op,
    /// The size in units.
    size: u64,
    outstanding: u64,
    is_random: bool,
    /// The time from a completion to the next request.
    pause: Duration,
    /// The part of the drive that the source uses, from the start, in percent.
    percent: u64,
}

impl Load {
    /// Returns requests of 4 KiB at random positions.
    pub(crate) fn random(op: Op, outstanding: u64) -> Self {
        Self { op, size: 1, outstanding, is_random: true, pause: Duration::ZERO, percent: 100 }
    }

    /// Returns sequential requests of 128 KiB.
    pub(crate) fn sequential(op: Op, outstanding: u64) -> Self {
        Self { size: 32, is_random: false, ..Self::random(op, outstanding) }
    }

    pub(crate) fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Limits the load to the first `percent` percent of the drive.
    pub(crate) fn within(self, percent: u64) -> Self {
        Self { percent, ..self }
    }
}

/// The completions that one source saw.
pub(crate) struct Served {
    load: Load,
    times_ns: Vec<u64>,
    length: Duration,
}

impl Served {
    pub(crate) fn max_ns(&self) -> u64 {
        self.quantile_ns(1_000_000)
    }

    pub(crate) fn mean_ns(&self) -> u64 {
        self.times_ns.iter().sum::<u64>() / self.times_ns.len() as u64
    }

    /// Returns the time that this share of the requests did not exceed.
    pub(crate) fn quantile_ns(&self, ppm: usize) -> u64 {
        let mut times = self.times_ns.clone();
        times.sort_unstable();
        times[(times.len() * ppm / 1_000_000).min(times.len() - 1)]
    }

    pub(crate) fn per_second(&self) -> u64 {
        self.times_ns.len() as u64 * 1_000_000_000 / self.length.ns()
    }

    pub(crate) fn bytes_per_s(&self) -> u64 {
        self.per_second() * self.load.size * UNIT.get()
    }
}

struct Source {
    load: Load,
    next: u64,
    times_ns: Vec<u64>,
    due: BinaryHeap<Reverse<Time>>,
}

/// The sources on one drive, in virtual time.
pub(crate) struct Host {
    pub(crate) drive: SsdDrive,
    now: Time,
    random: Random,
    next_id: u64,
    /// For each id, the request's source and when it was submitted.
    outstanding: HashMap<u64, (usize, Time)>,
}

impl Host {
    pub(crate) fn new(drive: SsdDrive) -> Self {
        let random = Random::new(5, 1);
        Self { drive, now: Time::ZERO, random, next_id: 0, outstanding: HashMap::new() }
    }

    /// Runs a load alone.
    pub(crate) fn run_one(&mut self, load: Load, length: Duration) -> Served {
        self.run(&[load], length).remove(0)
    }

    /// Runs loads for `length` and waits for the requests then outstanding; returns what each
    /// load saw within `length`.
    pub(crate) fn run(&mut self, loads: &[Load], length: Duration) -> Vec<Served> {
        let end = self.now + length;
        let due = |load: &Load| (0..load.outstanding).map(|_| Reverse(self.now)).collect();
        let source = |load| Source { load, next: 0, times_ns: Vec::new(), due: due(&load) };
        let mut sources: Vec<Source> = loads.iter().copied().map(source).collect();
        while let Some(next) = self.next_instant(&sources, end) {
            self.now = next;
            self.take_completions(&mut sources, end);
            self.submit_due(&mut sources, end);
        }
        self.now = self.now.max(end);
        assert!(self.outstanding.is_empty(), "each request comes back");
        let served = |Source { load, times_ns, .. }| Served { load, times_ns, length };
        sources.into_iter().map(served).collect()
    }

    fn next_instant(&self, sources: &[Source], end: Time) -> Option<Time> {
        let due = sources.iter().filter_map(|source| source.due.peek());
        let due = due.map(|&Reverse(at)| at).filter(|&at| at < end);
        due.chain(self.drive.next_event()).min()
    }

    fn take_completions(&mut self, sources: &mut [Source], end: Time) {
        let mut completions = Vec::new();
        self.drive.advance(self.now, &mut completions);
        for Completion { id, at, outcome } in completions {
            assert_eq!(outcome, Outcome::Done);
            let (index, begun) = self.outstanding.remove(&id.0).expect("each request once");
            let source = &mut sources[index];
            source.due.push(Reverse(at + source.load.pause));
            if at <= end {
                source.times_ns.push((at - begun).ns());
            }
        }
    }

    fn submit_due(&mut self, sources: &mut [Source], end: Time) {
        for (index, source) in sources.iter_mut().enumerate() {
            while self.now < end && source.due.peek().is_some_and(|due| due.0 <= self.now) {
                source.due.pop();
                let request = self.next_request(source);
                self.outstanding.insert(request.id.0, (index, self.now));
                self.drive.submit(self.now, &[request]);
            }
        }
    }

    fn next_request(&mut self, source: &mut Source) -> Request {
        let Load { op, size, is_random, percent, .. } = source.load;
        let places = self.drive.capacity().get() * percent / 100 / (size * UNIT.get());
        let place = if is_random { self.random.below(places) } else { source.next % places };
        source.next += 1;
        self.next_id += 1;
        request(self.next_id, op, place * size, size)
    }
}

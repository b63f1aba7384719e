// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A drive that spreads the completions of a batch evenly over the batch's time and returns the
//! requests in random order. The pseudo-disk and the recorded drive share this behaviour and
//! differ only in the source of the batch's time.
//!
//! ```text
//!   submit n                    timer expires: one request returned
//!   base|----t----|----t----|----t----| base + b(n)
//!                      ^ join: this timer stays,
//!                           then a new base, b(outstanding) over outstanding
//! ```
//!
//! Source: dissertation 9.3.3 (Pseudo Block Device).

use tidegate_model::{Duration, Op, Outcome, Random, Request, RequestId, Time};

use crate::{Completion, Drive};

/// The numbers of reads and writes that a drive holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mix {
    /// The number of reads.
    pub reads: u32,
    /// The number of writes.
    pub writes: u32,
}

impl Mix {
    /// Returns the number of requests of both kinds.
    ///
    /// # Panics
    /// If there are more than 2^32 requests; no drive holds that many.
    pub fn total(self) -> u32 {
        self.reads.checked_add(self.writes).expect("a drive holds at most K requests")
    }

    /// Returns at most `count` of these requests, reads before writes.
    fn limited_to(self, count: u32) -> Self {
        let reads = self.reads.min(count);
        Self { reads, writes: self.writes.min(count - reads) }
    }

    fn count_mut(&mut self, op: Op) -> &mut u32 {
        match op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
        }
    }
}

/// Determines the time of a batch.
pub trait BatchTimes {
    /// Returns the size of the largest batch with a known time, at least 1.
    fn batch_max(&self) -> u32;

    /// Returns the time in ns that a request adds to a batch; 0 if batch times do not depend on
    /// individual requests.
    fn cost_ns(&self, _request: &Request) -> u64 {
        0
    }

    /// Returns the time of a batch of `mix`, which holds 1 to `batch_max` requests.
    ///
    /// `draw` is uniform over all values of its type, one draw for each batch. The function is
    /// pure: the same arguments give the same time.
    fn batch_time(&self, mix: Mix, draw: u64) -> Duration;

    /// Returns `time`, or the time that the requests' costs allow if that is shorter. `costs_ns` is
    /// the sum of the costs of all requests on the drive, including those beyond one batch.
    fn within_costs(&self, time: Duration, _mix: Mix, _costs_ns: u64) -> Duration {
        time
    }
}

/// A service interval whose completions are planned: request k of `count` is returned at
/// `base + floor(k * total / count)`.
#[derive(Debug, Clone, Copy)]
struct Burst {
    base: Time,
    count: u32,
    returned_count: u32,
    /// Whether a request joined since `base`; if so, completions are planned again when the running
    /// timer expires.
    is_joined: bool,
    draw: u64,
    /// `total = gap_floor * count + remainder`.
    gap_floor: Duration,
    remainder: u64,
    /// The instant at which the running timer expires. Stored because it is read more often than it
    /// changes.
    timer: Time,
}

impl Burst {
    fn new(base: Time, count: u32, total: Duration, draw: u64) -> Self {
        let divisor = u64::from(count);
        let mut burst = Self {
            base,
            count,
            returned_count: 0,
            is_joined: false,
            draw,
            gap_floor: Duration::from_ns(total.ns() / divisor),
            remainder: total.ns() % divisor,
            timer: base,
        };
        burst.set_timer();
        burst
    }

    /// Sets the timer for the next request to be returned.
    fn set_timer(&mut self) {
        let index = u64::from(self.returned_count) + 1;
        // Both factors are below 2^32. The sum is floor(index * total / count), exactly.
        let rest = Duration::from_ns(index * self.remainder / u64::from(self.count));
        self.timer = self.base + self.gap_floor * index + rest;
    }

    /// Returns whether a request submitted at `now` belongs to this burst's batch.
    fn begins_at(&self, now: Time) -> bool {
        self.base == now && self.returned_count == 0
    }

    fn is_over(&self) -> bool {
        self.is_joined || self.returned_count == self.count
    }
}

/// The drive's record of a request.
#[derive(Debug, Clone, Copy)]
struct Outstanding {
    id: RequestId,
    op: Op,
    cost_ns: u64,
}

/// A drive with evenly spaced completions in random order; see the module documentation.
///
/// Requests beyond the largest batch for which `T` has a time are served in a further batch:
/// nothing is extrapolated.
///
/// # Invariants
/// - A burst is planned if and only if a request is outstanding.
/// - `outstanding.len() <= depth`; `mix` and `costs_ns` are the totals of `outstanding`.
#[derive(Debug, Clone)]
pub struct SpacedDrive<T> {
    batch_times: T,
    depth: u32,
    random: Random,
    outstanding: Vec<Outstanding>,
    mix: Mix,
    costs_ns: u64,
    burst: Option<Burst>,
    /// Flushes, which complete immediately: this drive has no volatile cache.
    flushes: Vec<Completion>,
}

impl<T: BatchTimes> SpacedDrive<T> {
    /// Creates an idle drive that accepts `depth` requests.
    ///
    /// # Panics
    /// If `depth` is 0, or `batch_times` has no time for a batch of one.
    pub fn with_times(depth: u32, batch_times: T, seed: u64) -> Self {
        assert!(depth >= 1, "a drive must accept at least one request");
        assert!(batch_times.batch_max() >= 1, "a drive must have a time for one request");
        Self {
            batch_times,
            depth,
            random: Random::new(seed, Random::DRIVE_STREAM),
            // Grows on demand: a file can claim any depth.
            outstanding: Vec::new(),
            mix: Mix::default(),
            costs_ns: 0,
            burst: None,
            flushes: Vec::new(),
        }
    }

    /// Plans the completions of all outstanding requests, or of the largest batch among them.
    fn plan(&self, base: Time, draw: u64) -> Burst {
        let mix = self.mix.limited_to(self.batch_times.batch_max());
        let time = self.batch_times.batch_time(mix, draw);
        let total = self.batch_times.within_costs(time, mix, self.costs_ns);
        Burst::new(base, mix.total(), total, draw)
    }

    fn begin_burst(&mut self, now: Time) {
        let draw = self.random.bits();
        self.burst = Some(self.plan(now, draw));
    }

    fn hold(&mut self, batch: &[Request]) {
        let room = self.depth as usize - self.outstanding.len() - self.flushes.len();
        assert!(
            batch.len() <= room,
            "{} requests submitted to a drive with room for {room}",
            batch.len()
        );
        for request in batch {
            let cost_ns = self.batch_times.cost_ns(request);
            self.outstanding.push(Outstanding { id: request.id, op: request.op, cost_ns });
            self.costs_ns += cost_ns;
            *self.mix.count_mut(request.op) += 1;
        }
    }

    /// Returns a random request at `at`, when the running timer expires.
    fn return_one(&mut self, at: Time) -> Completion {
        let index = self.random.index(self.outstanding.len());
        let Outstanding { id, op, cost_ns } = self.outstanding.swap_remove(index);
        self.costs_ns -= cost_ns;
        *self.mix.count_mut(op) -= 1;
        let burst = self.burst.as_mut().expect("a timer expires within a burst");
        burst.returned_count += 1;
        if self.outstanding.is_empty() {
            self.burst = None;
        } else if burst.is_over() {
            self.begin_burst(at);
        } else {
            burst.set_timer();
        }
        Completion { id, at, outcome: Outcome::Done }
    }
}

impl<T: BatchTimes> Drive for SpacedDrive<T> {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        if batch.is_empty() {
            return;
        }
        self.hold(batch);
        match &mut self.burst {
            None => self.begin_burst(now),
            // Use the same draw: a batch submitted in two calls is the same batch.
            Some(burst) if burst.begins_at(now) => {
                let draw = burst.draw;
                self.burst = Some(self.plan(now, draw));
            }
            Some(burst) => {
                assert!(burst.timer > now, "submitted before due completions were delivered");
                burst.is_joined = true;
            }
        }
    }

    fn flush(&mut self, now: Time, id: RequestId) {
        let held = self.outstanding.len() + self.flushes.len();
        assert!(held < self.depth as usize, "a flush on a full drive");
        self.flushes.push(Completion { id, at: now, outcome: Outcome::Done });
    }

    fn next_event(&self) -> Option<Time> {
        let flushed_at = self.flushes.first().map(|flush| flush.at);
        flushed_at.or(self.burst.as_ref().map(|burst| burst.timer))
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        out.append(&mut self.flushes);
        while let Some(at) = self.next_event().filter(|&at| at <= now) {
            out.push(self.return_one(at));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One task or load at run time: its rhythm, what its requests look like, and the random
//! numbers that are its own, so that no source disturbs another.
//!
//! # Limited sources
//! A source with a timer may have a limit m to its jobs under way, as a program that reads
//! through m buffers. Job k has a nominal instant s(k), which its timer gives. It is released
//! at r(k) = s(k), or, where m jobs are under way then, when the first of them completes. The
//! timer goes on from s(k + 1) = max(s(k), r(k) - m gap) + gap: after a delay the source
//! catches up as far as its buffers reach, m jobs, and what it lost beyond them is lost. A
//! release is when the program asks, so the response time of a delayed job counts from r(k).
//! A source that is never at its limit is released as one without.

use tidegate_model::{
    Bandwidth, BestEffort, Bytes, Class, Duration, Intensity, Op, Place, Random, Request,
    RequestId, Tag, Task, TaskIndex, Time,
};

use crate::params::{HostParams, Length, Releases};
use crate::positions::Positions;

/// What makes a source release.
#[derive(Debug)]
enum Rhythm {
    /// The time since its last release: `gap`, and a random time up to `extra_max`.
    Timed { gap: Duration, extra_max: Duration },
    /// A completion of its own.
    ClosedLoop,
}

/// One task or load.
#[derive(Debug)]
pub(crate) struct Source {
    index: TaskIndex,
    rhythm: Rhythm,
    class: Class,
    deadline: Option<Duration>,
    /// Requests of one job.
    requests: u32,
    op: Op,
    size: Bytes,
    positions: Positions,
    random: Random,
    /// Its requests may be dropped as far as its quality allows.
    is_optional: bool,
    /// How many jobs it may still release.
    jobs_left: u64,
    limit: Limit,
}

/// How many jobs of a source are under way, and what that means for the next.
#[derive(Debug)]
struct Limit {
    /// m; none where jobs come whatever became of those before them.
    under_way_max: Option<u32>,
    under_way: u32,
    /// When a job that was under way at the limit last completed.
    open_from: Time,
    /// The nominal instant of the job that waits for one to complete.
    waiting: Option<Time>,
    /// The nominal instant of the job that waited, and has a timer again.
    freed: Option<Time>,
    /// No job is released any more.
    has_ended: bool,
}

impl Limit {
    const fn new(under_way_max: Option<u32>) -> Self {
        Self {
            under_way_max,
            under_way: 0,
            open_from: Time::ZERO,
            waiting: None,
            freed: None,
            has_ended: false,
        }
    }

    fn is_reached(&self) -> bool {
        self.under_way_max.is_some_and(|under_way_max| self.under_way >= under_way_max)
    }
}

/// What the end of a job leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobEnd {
    /// A job that waited for this one may be released now.
    pub(crate) is_next_freed: bool,
    /// It was the last job of its source.
    pub(crate) is_last: bool,
}

impl Source {
    pub(crate) fn of_task(task: &Task, index: TaskIndex, params: &HostParams) -> Self {
        let extra_max = match params.releases {
            Releases::Periodic => Duration::ZERO,
            Releases::Sporadic { extra_max } => extra_max,
        };
        let (random, positions) = chance(index, task.place, task.size, params);
        Self {
            index,
            rhythm: Rhythm::Timed { gap: task.period, extra_max },
            class: task.class,
            deadline: Some(task.deadline),
            requests: task.requests,
            op: task.op,
            size: task.size,
            positions,
            random,
            is_optional: task.quality_ppm < Task::QUALITY_ALL_PPM,
            jobs_left: jobs(params.length),
            limit: Limit::new(task.outstanding_max),
        }
    }

    pub(crate) fn of_load(load: &BestEffort, index: TaskIndex, params: &HostParams) -> Self {
        let timed = |rate: Bandwidth| Rhythm::Timed {
            // Never no time at all: that would be endless load at one instant.
            gap: rate.transfer_time_floor(load.size).max(Duration::from_ns(1)),
            extra_max: Duration::ZERO,
        };
        let (rhythm, under_way_max) = match load.intensity {
            Intensity::Outstanding(_) => (Rhythm::ClosedLoop, None),
            Intensity::Rate(rate) => (timed(rate), None),
            Intensity::Paced { rate, outstanding } => (timed(rate), Some(outstanding)),
        };
        let (random, positions) = chance(index, load.place, load.size, params);
        Self {
            index,
            rhythm,
            class: Class::BestEffort,
            deadline: None,
            requests: 1,
            op: load.op,
            size: load.size,
            positions,
            random,
            // Beside tasks it is theirs to say when a load ends.
            is_optional: false,
            jobs_left: if params.is_led_by_tasks() { u64::MAX } else { jobs(params.length) },
            limit: Limit::new(under_way_max),
        }
    }

    pub(crate) const fn index(&self) -> TaskIndex {
        self.index
    }

    pub(crate) const fn is_closed_loop(&self) -> bool {
        matches!(self.rhythm, Rhythm::ClosedLoop)
    }

    /// Whether it may release another job.
    pub(crate) const fn is_open(&self) -> bool {
        self.jobs_left > 0
    }

    /// Counts a job that it releases.
    pub(crate) fn begin_job(&mut self) {
        self.jobs_left -= 1;
        self.limit.under_way += 1;
    }

    /// Counts a job that ended.
    pub(crate) fn end_job(&mut self, now: Time) -> JobEnd {
        let limit = &mut self.limit;
        if limit.is_reached() {
            limit.open_from = now;
        }
        limit.under_way -= 1;
        let waited = limit.waiting.take();
        limit.freed = waited.or(limit.freed);
        let is_last = limit.has_ended && limit.under_way == 0;
        JobEnd { is_next_freed: waited.is_some(), is_last }
    }

    /// The nominal instant of the job whose timer rang at `at`.
    pub(crate) fn nominal(&mut self, at: Time) -> Time {
        self.limit.freed.take().unwrap_or(at)
    }

    /// Whether the job of the nominal instant `at` has to wait for another to complete; if so,
    /// it is kept until then.
    pub(crate) fn must_wait(&mut self, at: Time) -> bool {
        let must_wait = self.limit.is_reached();
        if must_wait {
            self.limit.waiting = Some(at);
        }
        must_wait
    }

    /// When the job of the nominal instant `at` is released: r(k) of s(k).
    pub(crate) fn release_of(&self, at: Time) -> Time {
        at.max(self.limit.open_from)
    }

    /// Releases no job any more.
    pub(crate) fn end(&mut self) {
        self.limit.has_ended = true;
    }

    /// The nominal instant of the next job after one at `at` that was released at `released`,
    /// if there is one before `until`.
    pub(crate) fn next_job(&mut self, at: Time, released: Time, until: Time) -> Option<Time> {
        let Rhythm::Timed { gap, extra_max } = self.rhythm else {
            unreachable!("a closed loop has no timer");
        };
        if !self.is_open() {
            return None;
        }
        let extra = match extra_max.ns().checked_add(1) {
            Some(1) => 0,
            Some(bound) => self.random.below(bound),
            None => self.random.bits(),
        };
        let lag_max = self.limit.under_way_max.and_then(|jobs| gap.checked_mul(u64::from(jobs)));
        // A lag beyond the start of time is no lag.
        let earliest = lag_max.and_then(|lag_max| released.since(Time::ZERO).checked_sub(lag_max));
        let at = at.max(Time::ZERO + earliest.unwrap_or_default());
        let next = at.checked_add(gap).and_then(|at| at.checked_add(Duration::from_ns(extra)));
        assert!(next.is_some() || until < Time::MAX, "a run of so many jobs exceeds 584 years");
        next.filter(|&next| next < until)
    }

    /// How many requests a job has.
    pub(crate) const fn requests(&self) -> u32 {
        self.requests
    }

    /// A new request under that name, released at that nominal instant.
    pub(crate) fn request(&mut self, id: RequestId, released: Time) -> Request {
        Request {
            id,
            task: self.index,
            class: self.class,
            released,
            eligible: released,
            // A deadline beyond the end of time is none.
            due: self.deadline.and_then(|deadline| released.checked_add(deadline)),
            op: self.op,
            start: self.positions.next(&mut self.random),
            size: self.size,
            fua: false,
            optional: self.is_optional,
            tag: Tag::Simple,
        }
    }
}

/// The generator of a source, and its positions.
fn chance(index: TaskIndex, place: Place, size: Bytes, params: &HostParams) -> (Random, Positions) {
    let mut random = Random::new(params.seed, u64::from(index.0) + 1);
    let positions = Positions::new(place, size, params.capacity, &mut random);
    (random, positions)
}

const fn jobs(length: Length) -> u64 {
    match length {
        Length::Jobs(jobs) => jobs,
        Length::Duration(_) => u64::MAX,
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A task or load at run time: the trigger of its releases, its requests' properties, and its own
//! random numbers, so that sources do not affect each other.
//!
//! # Limited sources
//! A source with a timer may limit its outstanding jobs to m, like a program that reads into m
//! buffers. Job k has a nominal instant s(k), which the timer gives. It is released at r(k) = s(k)
//! or, if m jobs are outstanding then, when the first of them completes. The timer continues from
//! s(k + 1) = max(s(k), r(k) - m gap) + gap: after a delay the source catches up by at most m jobs,
//! one for each buffer, and loses the jobs beyond them. The release is the instant at which the
//! program sends its requests, so the response time of a delayed job counts from r(k). A source
//! that never reaches its limit is released like one without a limit.
//!
//! # Jitter
//! A job arrives at its nominal instant, and the policy can see it later: see `seen`.

use tidegate_model::{
    Arrivals, BestEffort, Bytes, Class, Duration, Intensity, Op, Place, Random, Request, RequestId,
    Tag, Task, TaskIndex, Time,
};

use crate::bunch::Bunch;
use crate::delay::up_to;
use crate::params::{HostParams, Length};
use crate::positions::Positions;
use crate::seen::Seen;

/// The trigger of a source's releases.
#[derive(Debug)]
enum ReleaseTrigger {
    /// A timer that `arrivals` sets; two arrivals are at least `gap` apart.
    Timed { gap: Duration, arrivals: TimedArrivals },
    /// The completion of one of the source's own jobs: it keeps `outstanding` jobs outstanding.
    ClosedLoop { outstanding: u32 },
}

/// When the jobs of a source with a timer arrive.
#[derive(Debug)]
enum TimedArrivals {
    /// Each arrival is the gap, plus a random time of up to `extra_max`, after the last one.
    Apart { extra_max: Duration },
    /// The task arrives together with all other bunched tasks.
    Bunched(Bunch),
}

/// A task or load at run time.
#[derive(Debug)]
pub(crate) struct Source {
    index: TaskIndex,
    trigger: ReleaseTrigger,
    class: Class,
    deadline: Option<Duration>,
    /// The number of requests per job.
    requests: u32,
    op: Op,
    size: Bytes,
    positions: Positions,
    random: Random,
    /// Whether the source's requests may be dropped, as far as its quality allows.
    is_optional: bool,
    /// How the policy sees the source's releases.
    seen: Seen,
    /// The source releases nothing from this instant on.
    stop: Time,
    /// The number of jobs that the source may still release.
    jobs_left: u64,
    limit: Limit,
}

/// The number of a source's outstanding jobs, and its effect on the next job.
#[derive(Debug)]
struct Limit {
    /// The limit m; `None` if jobs do not wait for earlier ones.
    under_way_max: Option<u32>,
    run_state: u32,
    /// The last instant at which a job completed while the limit was reached.
    open_from: Time,
    /// The nominal instant of the job that waits for a completion.
    waiting: Option<Time>,
    /// The nominal instant of the job that waited for a completion and now has a timer again.
    freed: Option<Time>,
    /// Whether the source releases no more jobs.
    has_ended: bool,
}

impl Limit {
    const fn new(under_way_max: Option<u32>) -> Self {
        Self {
            under_way_max,
            run_state: 0,
            open_from: Time::ZERO,
            waiting: None,
            freed: None,
            has_ended: false,
        }
    }

    fn is_reached(&self) -> bool {
        self.under_way_max.is_some_and(|under_way_max| self.run_state >= under_way_max)
    }
}

/// The effect of a job's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobEnd {
    /// Whether a job that waited for this one may be released now.
    pub(crate) is_next_freed: bool,
    /// Whether a job waited for this one and is now too late: the source has stopped.
    pub(crate) is_next_too_late: bool,
    /// Whether this was the last job of its source.
    pub(crate) is_last: bool,
}

impl Source {
    pub(crate) fn of_task(task: &Task, index: TaskIndex, params: &HostParams) -> Self {
        let (random, positions) = chance(index, task.place, task.size, params);
        let arrivals = match task.arrivals {
            Arrivals::Periodic | Arrivals::OnCompletion => {
                TimedArrivals::Apart { extra_max: Duration::ZERO }
            }
            Arrivals::Sporadic { extra_max } => TimedArrivals::Apart { extra_max },
            Arrivals::Bunched => TimedArrivals::Bunched(Bunch::of(task, index, params)),
        };
        // Without a gap, only the limit on its outstanding jobs delays the task's next job.
        let gap = task.period_stated().unwrap_or_default();
        let behind = params.workload.uncharged_way().and_then(|way| way.task_behind(task));
        let deadline = behind.map_or(task.deadline, |behind| behind.deadline);
        Self {
            index,
            trigger: ReleaseTrigger::Timed { gap, arrivals },
            class: task.class,
            deadline: Some(deadline),
            requests: task.requests,
            op: task.op,
            size: task.size,
            positions,
            random,
            is_optional: task.quality_ppm < Task::QUALITY_ALL_PPM,
            seen: Seen::new(index, gap, task.jitter, params),
            stop: instant(task.stop),
            jobs_left: jobs(params.length),
            limit: Limit::new(task.outstanding_max),
        }
    }

    pub(crate) fn of_load(load: &BestEffort, index: TaskIndex, params: &HostParams) -> Self {
        let gap = load.intensity.period(load.size).unwrap_or_default();
        let arrivals = TimedArrivals::Apart { extra_max: Duration::ZERO };
        let timed = ReleaseTrigger::Timed { gap, arrivals };
        let (trigger, under_way_max) = match load.intensity {
            Intensity::Outstanding(outstanding) => {
                (ReleaseTrigger::ClosedLoop { outstanding }, None)
            }
            Intensity::Rate(_) => (timed, None),
            Intensity::Paced { outstanding, .. } => (timed, Some(outstanding)),
            Intensity::Stream { outstanding, .. } => (timed, outstanding),
        };
        let (random, positions) = chance(index, load.place, load.size, params);
        Self {
            index,
            trigger,
            class: Class::BestEffort,
            deadline: None,
            requests: load.intensity.requests(),
            op: load.op,
            size: load.size,
            positions,
            random,
            is_optional: false,
            seen: Seen::new(index, gap, Duration::ZERO, params),
            stop: instant(load.stop),
            // A load that runs with tasks ends with them.
            jobs_left: if params.is_led_by_tasks() { u64::MAX } else { jobs(params.length) },
            limit: Limit::new(under_way_max),
        }
    }

    pub(crate) const fn index(&self) -> TaskIndex {
        self.index
    }

    /// Returns the number of jobs that a closed loop keeps outstanding; `None` for other sources.
    pub(crate) const fn closed_loop(&self) -> Option<u32> {
        match self.trigger {
            ReleaseTrigger::ClosedLoop { outstanding } => Some(outstanding),
            ReleaseTrigger::Timed { .. } => None,
        }
    }

    /// Returns whether the source may release a job at this instant.
    pub(crate) fn is_open_at(&self, at: Time) -> bool {
        self.is_open() && at < self.stop
    }

    /// Returns whether the source may release another job.
    pub(crate) const fn is_open(&self) -> bool {
        self.jobs_left > 0
    }

    /// Counts a job that the source releases.
    pub(crate) fn begin_job(&mut self) {
        self.jobs_left -= 1;
        self.limit.run_state += 1;
    }

    /// Counts a job that ended.
    pub(crate) fn end_job(&mut self, now: Time) -> JobEnd {
        let limit = &mut self.limit;
        if limit.is_reached() {
            limit.open_from = now;
        }
        limit.run_state -= 1;
        let waited = limit.waiting.take();
        let is_next_too_late = waited.is_some() && now >= self.stop;
        limit.has_ended |= is_next_too_late;
        let freed = waited.filter(|_| !is_next_too_late);
        limit.freed = freed.or(limit.freed);
        let is_last = limit.has_ended && limit.run_state == 0;
        JobEnd { is_next_freed: freed.is_some(), is_next_too_late, is_last }
    }

    /// Returns the instant of the source's first job, given its task's offset.
    pub(crate) fn first_job(&mut self, offset: Duration) -> Time {
        match &mut self.trigger {
            ReleaseTrigger::Timed { arrivals: TimedArrivals::Bunched(bunch), .. } => bunch.first(),
            ReleaseTrigger::Timed { .. } | ReleaseTrigger::ClosedLoop { .. } => Time::ZERO + offset,
        }
    }

    /// Returns the nominal instant of the job whose timer expired at `at`.
    pub(crate) fn nominal(&mut self, at: Time) -> Time {
        let seen = self.seen.take_nominal(at);
        self.limit.freed.take().unwrap_or(seen)
    }

    /// Returns the instant at which the policy sees the job with the nominal instant `at`, and
    /// remembers that job.
    pub(crate) fn seen_at(&mut self, at: Time) -> Time {
        let jitter = match &self.trigger {
            ReleaseTrigger::Timed { arrivals: TimedArrivals::Bunched(bunch), .. } => {
                self.seen.bunched(bunch.is_at_start())
            }
            ReleaseTrigger::Timed { .. } | ReleaseTrigger::ClosedLoop { .. } => self.seen.jitter(),
        };
        self.seen.at(at, jitter)
    }

    /// Returns whether the job with the nominal instant `at` must wait for a completion; if so,
    /// remembers it until then.
    pub(crate) fn must_wait(&mut self, at: Time) -> bool {
        let must_wait = self.limit.is_reached();
        if must_wait {
            self.limit.waiting = Some(at);
        }
        must_wait
    }

    /// Returns the release time r(k) of the job with the nominal instant `at`, s(k).
    pub(crate) fn release_of(&self, at: Time) -> Time {
        at.max(self.limit.open_from)
    }

    /// Ends the source: it releases no more jobs.
    pub(crate) fn end(&mut self) {
        self.limit.has_ended = true;
    }

    /// Returns the next job's nominal instant, given the nominal instant `at` and the release time
    /// `released` of the last job; `None` if that instant is not before `until`.
    pub(crate) fn next_job(&mut self, at: Time, released: Time, until: Time) -> Option<Time> {
        let ReleaseTrigger::Timed { gap, arrivals } = &mut self.trigger else {
            unreachable!("a closed loop has no timer");
        };
        if self.jobs_left == 0 {
            return None;
        }
        let gap = *gap;
        let lag_max = self.limit.under_way_max.and_then(|jobs| gap.checked_mul(u64::from(jobs)));
        // A lag that is longer than the time since the start has no effect.
        let earliest = lag_max.and_then(|lag_max| released.since(Time::ZERO).checked_sub(lag_max));
        let at = at.max(Time::ZERO + earliest.unwrap_or_default());
        let next = match arrivals {
            TimedArrivals::Apart { extra_max } => {
                let extra = up_to(*extra_max, &mut self.random);
                at.checked_add(gap).and_then(|at| at.checked_add(extra))
            }
            TimedArrivals::Bunched(bunch) => bunch.next(at, gap),
        };
        assert!(next.is_some() || until < Time::MAX, "a run of so many jobs exceeds 584 years");
        next.filter(|&next| next < until.min(self.stop))
    }

    /// Returns the number of requests of a job.
    pub(crate) const fn requests(&self) -> u32 {
        self.requests
    }

    /// Makes a request with that identifier, of a job that arrived at `released` and that the
    /// policy sees at `now`.
    pub(crate) fn request(&mut self, id: RequestId, released: Time, now: Time) -> Request {
        let eligible = self.seen.eligible(released, now);
        Request {
            id,
            task: self.index,
            class: self.class,
            released,
            eligible,
            // A deadline beyond the end of time is no deadline.
            due: self.deadline.and_then(|deadline| eligible.checked_add(deadline)),
            op: self.op,
            start: self.positions.next(&mut self.random),
            size: self.size,
            fua: false,
            optional: self.is_optional,
            tag: Tag::Simple,
        }
    }
}

/// Makes a source's random number generator and its positions.
fn chance(index: TaskIndex, place: Place, size: Bytes, params: &HostParams) -> (Random, Positions) {
    let mut random = Random::new(params.seed, u64::from(index.0) + 1);
    let positions = Positions::new(place, size, params.capacity, &mut random);
    (random, positions)
}

/// Returns the instant at which a source stops.
fn instant(stop: Option<Duration>) -> Time {
    stop.map_or(Time::MAX, |stop| Time::ZERO + stop)
}

const fn jobs(length: Length) -> u64 {
    match length {
        Length::Jobs(jobs) => jobs,
        Length::Duration(_) => u64::MAX,
    }
}

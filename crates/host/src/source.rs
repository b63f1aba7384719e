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
//! The policy may see a job later than it arrives, at its nominal instant: see `seen`.

use tidegate_model::{
    Arrivals, Bandwidth, BestEffort, Bytes, Class, Duration, Intensity, Op, Place, Random, Request,
    RequestId, Tag, Task, TaskIndex, Time,
};

use crate::bunch::Bunch;
use crate::delay::up_to;
use crate::params::{HostParams, Length};
use crate::positions::Positions;
use crate::seen::Seen;

/// The trigger of a source's releases.
#[derive(Debug)]
enum ReleaseTrigger {
    /// The time since the last arrival: `gap`, plus a time that `arrivals` gives.
    Timed { gap: Duration, arrivals: TimedArrivals },
    /// The completion of one of its own jobs.
    ClosedLoop,
}

/// How a source with a timer arrives.
#[derive(Debug)]
enum TimedArrivals {
    /// The gap, plus a random time up to `extra_max`, after the last arrival.
    Apart { extra_max: Duration },
    /// With all other bunched tasks.
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
    /// Whether its requests may be dropped, as far as its quality allows.
    is_optional: bool,
    /// How the policy sees its releases.
    seen: Seen,
    /// The number of jobs that it may still release.
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
    /// Whether this was the last job of its source.
    pub(crate) is_last: bool,
}

impl Source {
    pub(crate) fn of_task(task: &Task, index: TaskIndex, params: &HostParams) -> Self {
        let (random, positions) = chance(index, task.place, task.size, params);
        let arrivals = match task.arrivals {
            Arrivals::Periodic => TimedArrivals::Apart { extra_max: Duration::ZERO },
            Arrivals::Sporadic { extra_max } => TimedArrivals::Apart { extra_max },
            Arrivals::Bunched => TimedArrivals::Bunched(Bunch::of(task, index, params)),
        };
        let behind = params.workload.uncharged_way().and_then(|way| way.task_behind(task));
        let deadline = behind.map_or(task.deadline, |behind| behind.deadline);
        Self {
            index,
            trigger: ReleaseTrigger::Timed { gap: task.period, arrivals },
            class: task.class,
            deadline: Some(deadline),
            requests: task.requests,
            op: task.op,
            size: task.size,
            positions,
            random,
            is_optional: task.quality_ppm < Task::QUALITY_ALL_PPM,
            seen: Seen::new(index, task.period, task.jitter, params),
            jobs_left: jobs(params.length),
            limit: Limit::new(task.outstanding_max),
        }
    }

    pub(crate) fn of_load(load: &BestEffort, index: TaskIndex, params: &HostParams) -> Self {
        // At least 1 ns: a gap of zero would release without end at one instant.
        let gap = |rate: Bandwidth| rate.transfer_time_floor(load.size).max(Duration::from_ns(1));
        let (gap, under_way_max) = match load.intensity {
            Intensity::Outstanding(_) => (None, None),
            Intensity::Rate(rate) => (Some(gap(rate)), None),
            Intensity::Paced { rate, outstanding } => (Some(gap(rate)), Some(outstanding)),
        };
        let trigger = gap.map_or(ReleaseTrigger::ClosedLoop, |gap| {
            let arrivals = TimedArrivals::Apart { extra_max: Duration::ZERO };
            ReleaseTrigger::Timed { gap, arrivals }
        });
        let gap = gap.unwrap_or_default();
        let (random, positions) = chance(index, load.place, load.size, params);
        Self {
            index,
            trigger,
            class: Class::BestEffort,
            deadline: None,
            requests: 1,
            op: load.op,
            size: load.size,
            positions,
            random,
            // A load that runs with tasks ends with them.
            is_optional: false,
            seen: Seen::new(index, gap, Duration::ZERO, params),
            jobs_left: if params.is_led_by_tasks() { u64::MAX } else { jobs(params.length) },
            limit: Limit::new(under_way_max),
        }
    }

    pub(crate) const fn index(&self) -> TaskIndex {
        self.index
    }

    pub(crate) const fn is_closed_loop(&self) -> bool {
        matches!(self.trigger, ReleaseTrigger::ClosedLoop)
    }

    /// Returns whether it may release another job.
    pub(crate) const fn is_open(&self) -> bool {
        self.jobs_left > 0
    }

    /// Counts a job that it releases.
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
        limit.freed = waited.or(limit.freed);
        let is_last = limit.has_ended && limit.run_state == 0;
        JobEnd { is_next_freed: waited.is_some(), is_last }
    }

    /// Returns the instant of its first job, given its task's offset.
    pub(crate) fn first_job(&mut self, offset: Duration) -> Time {
        match &mut self.trigger {
            ReleaseTrigger::Timed { arrivals: TimedArrivals::Bunched(bunch), .. } => bunch.first(),
            ReleaseTrigger::Timed { .. } | ReleaseTrigger::ClosedLoop => Time::ZERO + offset,
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
            ReleaseTrigger::Timed { .. } | ReleaseTrigger::ClosedLoop => self.seen.jitter(),
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

    /// Returns the next job's nominal instant, given that the last job was due at `at` and released
    /// at `released`; `None` if that instant is not before `until`.
    pub(crate) fn next_job(&mut self, at: Time, released: Time, until: Time) -> Option<Time> {
        let ReleaseTrigger::Timed { gap, arrivals } = &mut self.trigger else {
            unreachable!("a closed loop has no timer");
        };
        if self.jobs_left == 0 {
            return None;
        }
        let gap = *gap;
        let lag_max = self.limit.under_way_max.and_then(|jobs| gap.checked_mul(u64::from(jobs)));
        // If the lag reaches back before the start of time, it has no effect.
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
        next.filter(|&next| next < until)
    }

    /// Returns the number of requests of a job.
    pub(crate) const fn requests(&self) -> u32 {
        self.requests
    }

    /// Makes a request with that identifier, of a job that arrived at `released` and that the policy
    /// sees at `now`.
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

const fn jobs(length: Length) -> u64 {
    match length {
        Length::Jobs(jobs) => jobs,
        Length::Duration(_) => u64::MAX,
    }
}

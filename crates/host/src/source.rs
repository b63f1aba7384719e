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

use tidegate_model::{
    Bandwidth, BestEffort, Bytes, Class, Duration, Intensity, Op, Place, Random, Request,
    RequestId, Tag, Task, TaskIndex, Time,
};

use crate::delay::delay_up_to;
use crate::params::{HostParams, Length, Releases};
use crate::positions::Positions;

/// The trigger of a source's releases.
#[derive(Debug)]
enum ReleaseTrigger {
    /// The time since its last release: `gap`, plus a random time up to `extra_max`.
    Timed { gap: Duration, extra_max: Duration },
    /// The completion of one of its own jobs.
    ClosedLoop,
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

/// How a policy sees a source's releases if the workload states the host's time: when it sees them,
/// and due as much later as its contract with the policy says.
#[derive(Debug)]
struct Seen {
    /// Whether the contract counts from the instant at which the policy sees a release.
    is_stated: bool,
    /// The longest delay that a simulated host adds.
    delay_max: Duration,
    random: Random,
    /// The nominal instant of the next job, if its timer is later.
    nominal: Option<Time>,
}

impl Seen {
    /// The first stream of random numbers of delays; a source draws all else from its own stream.
    const STREAM: u64 = 1 << 41;

    /// Jobs are seen in order, so a source whose releases are closer together than the longest delay
    /// is not delayed; no bound counts on it.
    fn new(index: TaskIndex, gap: Duration, params: &HostParams) -> Self {
        let delay_max = params.delays.map(|host| host.release).filter(|&delay| delay < gap);
        Self {
            is_stated: params.workload.host.uncharged().is_some(),
            delay_max: delay_max.unwrap_or_default(),
            random: Random::new(params.seed, Self::STREAM + u64::from(index.0)),
            nominal: None,
        }
    }
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
        let extra_max = match params.releases {
            Releases::Periodic => Duration::ZERO,
            Releases::Sporadic { extra_max } => extra_max,
        };
        let (random, positions) = chance(index, task.place, task.size, params);
        let behind = params.workload.host.uncharged().and_then(|host| host.task_behind(task));
        let deadline = behind.map_or(task.deadline, |behind| behind.deadline);
        Self {
            index,
            trigger: ReleaseTrigger::Timed { gap: task.period, extra_max },
            class: task.class,
            deadline: Some(deadline),
            requests: task.requests,
            op: task.op,
            size: task.size,
            positions,
            random,
            is_optional: task.quality_ppm < Task::QUALITY_ALL_PPM,
            seen: Seen::new(index, task.period, params),
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
        let timed = |gap| ReleaseTrigger::Timed { gap, extra_max: Duration::ZERO };
        let trigger = gap.map_or(ReleaseTrigger::ClosedLoop, timed);
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
            seen: Seen::new(index, gap, params),
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

    /// Returns the nominal instant of the job whose timer expired at `at`.
    pub(crate) fn nominal(&mut self, at: Time) -> Time {
        let seen = self.seen.nominal.take();
        self.limit.freed.take().or(seen).unwrap_or(at)
    }

    /// Returns the instant at which the policy sees the job with the nominal instant `at`, and
    /// remembers that job.
    pub(crate) fn seen_at(&mut self, at: Time) -> Time {
        if self.seen.delay_max.is_zero() {
            return at;
        }
        self.seen.nominal = Some(at);
        // A delay beyond the end of time is none.
        let delay = delay_up_to(self.seen.delay_max, &mut self.seen.random);
        at.checked_add(delay).unwrap_or(at)
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
        let ReleaseTrigger::Timed { gap, extra_max } = self.trigger else {
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
        // If the lag reaches back before the start of time, it has no effect.
        let earliest = lag_max.and_then(|lag_max| released.since(Time::ZERO).checked_sub(lag_max));
        let at = at.max(Time::ZERO + earliest.unwrap_or_default());
        let next = at.checked_add(gap).and_then(|at| at.checked_add(Duration::from_ns(extra)));
        assert!(next.is_some() || until < Time::MAX, "a run of so many jobs exceeds 584 years");
        next.filter(|&next| next < until)
    }

    /// Returns the number of requests of a job.
    pub(crate) const fn requests(&self) -> u32 {
        self.requests
    }

    /// Makes a request with that identifier, released at that nominal instant, which the policy sees
    /// at `now`.
    pub(crate) fn request(&mut self, id: RequestId, released: Time, now: Time) -> Request {
        let eligible = if self.seen.is_stated { now } else { released };
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

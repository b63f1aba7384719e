// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One task or load at run time: its rhythm, what its requests look like, and the random
//! numbers that are its own, so that no source disturbs another.

use model::{
    BestEffort, Bytes, Class, Duration, Intensity, Op, Place, Random, Request, RequestId, Tag,
    Task, TaskIndex, Time,
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
        }
    }

    pub(crate) fn of_load(load: &BestEffort, index: TaskIndex, params: &HostParams) -> Self {
        let rhythm = match load.intensity {
            Intensity::Outstanding(_) => Rhythm::ClosedLoop,
            Intensity::Rate(rate) => Rhythm::Timed {
                // Never no time at all: that would be endless load at one instant.
                gap: rate.transfer_time_floor(load.size).max(Duration::from_ns(1)),
                extra_max: Duration::ZERO,
            },
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
    }

    /// The nominal instant of the next job after one at `at`, if there is one before `until`.
    pub(crate) fn next_job(&mut self, at: Time, until: Time) -> Option<Time> {
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

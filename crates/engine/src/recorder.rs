// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What is noted down while a run goes on; memory is taken before it starts.

use model::{Bytes, Class, Duration, Outcome, Time, Workload};

use crate::live::{LiveJob, LiveRequest};
use crate::metrics::Distribution;
use crate::outcome::{ClassOutcome, TaskOutcome};

/// What is known of one task.
#[derive(Debug)]
struct TaskRecord {
    name: String,
    deadline: Duration,
    jobs: u64,
    jobs_failed: u64,
    jobs_unfinished: u64,
    misses: u64,
    response: Distribution,
}

/// What all sources of a class got.
#[derive(Debug, Clone, Copy, Default)]
struct Volume {
    requests: u64,
    bytes: u64,
}

/// What both classes got.
#[derive(Debug, Clone, Copy, Default)]
struct Volumes {
    real_time: Volume,
    best_effort: Volume,
}

/// What is known of a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    tasks: Vec<TaskRecord>,
    volumes: Volumes,
    /// As they were at the last release so far.
    volumes_at_release: Volumes,
    last_release: Time,
    pub(crate) requests: u64,
    pub(crate) requests_failed: u64,
    pub(crate) host_lateness: Distribution,
    pub(crate) device_time: Distribution,
}

impl Recorder {
    /// Nothing known yet of the tasks of this workload.
    pub(crate) fn new(workload: &Workload) -> Self {
        let task = |task: &model::Task| TaskRecord {
            name: task.name.clone(),
            deadline: task.deadline,
            jobs: 0,
            jobs_failed: 0,
            jobs_unfinished: 0,
            misses: 0,
            response: Distribution::new(),
        };
        Self {
            tasks: workload.tasks.iter().map(task).collect(),
            volumes: Volumes::default(),
            volumes_at_release: Volumes::default(),
            last_release: Time::ZERO,
            requests: 0,
            requests_failed: 0,
            host_lateness: Distribution::new(),
            device_time: Distribution::new(),
        }
    }

    /// A request came back.
    pub(crate) fn request(&mut self, now: Time, live: &LiveRequest, outcome: Outcome) {
        self.requests += 1;
        if outcome == Outcome::Failed {
            self.requests_failed += 1;
            return;
        }
        self.device_time.record(now.since(live.submitted));
        let volume = match live.request.class {
            Class::BestEffort => &mut self.volumes.best_effort,
            Class::Hard | Class::Soft | Class::Interactive => &mut self.volumes.real_time,
        };
        volume.requests += 1;
        volume.bytes += live.request.size.get();
    }

    /// Something was released: what came back so far counts for throughput.
    pub(crate) fn release(&mut self, now: Time) {
        self.last_release = now;
        self.volumes_at_release = self.volumes;
    }

    /// The last request of a job came back.
    pub(crate) fn job(&mut self, now: Time, job: &LiveJob) {
        let task = &mut self.tasks[job.task.index()];
        if job.is_failed {
            task.jobs_failed += 1;
            return;
        }
        let response = now.since(job.released);
        task.jobs += 1;
        task.misses += u64::from(response > task.deadline);
        task.response.record(response);
    }

    /// The run ended before this job did.
    pub(crate) fn unfinished(&mut self, now: Time, job: &LiveJob) {
        let task = &mut self.tasks[job.task.index()];
        task.jobs_unfinished += 1;
        task.misses += u64::from(now.since(job.released) > task.deadline);
    }

    /// What is told of the tasks.
    pub(crate) fn task_outcomes(&self) -> Vec<TaskOutcome> {
        let outcome = |task: &TaskRecord| TaskOutcome {
            name: task.name.clone(),
            jobs: task.jobs,
            jobs_failed: task.jobs_failed,
            jobs_unfinished: task.jobs_unfinished,
            misses: task.misses,
            response: task.response.summary(),
        };
        self.tasks.iter().map(outcome).collect()
    }

    /// What is told of all tasks together, and of best effort.
    pub(crate) fn class_outcomes(&self) -> (ClassOutcome, ClassOutcome) {
        let Volumes { real_time, best_effort } = self.volumes_at_release;
        (real_time.outcome(self.last_release), best_effort.outcome(self.last_release))
    }
}

impl Volume {
    /// What it is as a result, if it came in the time up to `until`.
    fn outcome(self, until: Time) -> ClassOutcome {
        let byte_ns = u128::from(self.bytes) * 1_000_000_000;
        let per_s = byte_ns.checked_div(u128::from(until.ns()));
        ClassOutcome {
            requests: self.requests,
            bytes: Bytes::new(self.bytes),
            throughput_bytes_per_s: per_s
                .map(|per_s| u64::try_from(per_s).expect("a device moves less than 2^64 bytes/s")),
        }
    }
}

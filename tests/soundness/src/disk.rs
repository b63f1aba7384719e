// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Built-in disks, simulated from their mechanics: runs a policy on them and compares the responses
//! with the bounds, and the disk with the contract behind the bounds.
//!
//! A response may exceed its bound only by as much as the disk exceeded its contract, because a
//! table is the maximum of finitely many samples.

use std::fmt;

use tidegate_analysis::{Assessment, assess};
use tidegate_drive::builtin;
use tidegate_model::drive_file::Parts;
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{AccessTime, DriveFile, DriveKind, Duration, PolicyName, Workload};
use tidegate_policy::Policy;
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{ContractWatch, Length, Observer, SimParams, SimRun, SourceMetrics, simulate};

/// A disk with its workload.
#[derive(Debug, Clone)]
pub struct Disk {
    /// The disk.
    pub file: DriveFile,
    /// The workload, bound to the disk.
    pub workload: Workload,
    /// The seed of the disk.
    pub drive_seed: u64,
    /// The seed of the workload.
    pub seed: u64,
}

impl Disk {
    /// Returns a built-in disk with these tasks and loads, in the form of a workload file.
    ///
    /// # Panics
    /// If there is no such disk, the text is wrong, or the disk was not measured for the requests.
    #[must_use]
    pub fn new(name: &str, sources: &str) -> Self {
        let file = builtin::load(name).expect("Tidegate includes it");
        let text = format!("drive = \"{name}\"\n{sources}");
        let workload = WorkloadFile::parse(&text).expect("well formed").bind(&file);
        let workload = workload.expect("the drive was measured for these requests");
        let workload = tidegate_drive::with_prediction(workload, &file);
        Self { file, workload, drive_seed: 7, seed: 11 }
    }

    /// Returns the access times that the disk's mechanics predict; `None` without mechanics.
    #[must_use]
    pub fn access(&self) -> Option<Box<dyn AccessTime>> {
        tidegate_drive::access_time(&self.file)
    }

    /// Runs any policy.
    ///
    /// # Panics
    /// If the drive file describes no parts.
    pub fn run(&self, policy: impl Policy, length: Length, observer: &mut impl Observer) -> SimRun {
        let kind = self.file.parts().map_or(DriveKind::Mechanical, Parts::kind);
        let drive = tidegate_drive::from_parts(kind, &self.file, self.drive_seed);
        let capacity = self.file.capacity().expect("the mechanics give it");
        let defaults = SimParams::new(&self.workload, length);
        let params = SimParams { capacity, seed: self.seed, ..defaults };
        simulate(&params, policy, drive.expect("it has parts"), observer)
    }

    /// Assesses a policy and runs it for `jobs` jobs of each task, with every checker.
    ///
    /// # Panics
    /// If the policy breaks its own rule.
    #[must_use]
    pub fn outcome(&self, policy: PolicyName, jobs: u64) -> Outcome {
        let assessment = assess(&self.workload, policy);
        let plan = assessment.plan(&self.workload);
        let (built, checkers) = Checkers::watching(policy, &plan, self.access())
            .expect("everything is known of this drive");
        let contracts = ContractWatch::new(&plan.limits);
        let mut watch = (checkers, contracts);
        let run = self.run(built, Length::Jobs(jobs), &mut watch);
        assert_eq!(watch.0.violations(), [], "{policy}");
        let contract = policy.facts().contract();
        let overruns = watch.1.overruns(contract).unwrap_or_default();
        let tasks = run.metrics.tasks();
        Outcome {
            assessment,
            jobs: tasks.iter().map(SourceMetrics::jobs).sum(),
            misses: tasks.iter().map(|task| task.misses).sum(),
            response_max: tasks.iter().filter_map(|task| task.responses.max()).max().expect("jobs"),
            throughput_bytes_per_s: run.metrics.all().throughput_bytes_per_s().expect("some time"),
            observed: overruns.observed,
            overruns: overruns.overruns,
            overrun_sum: overruns.sum,
        }
    }
}

/// The results of one policy on one disk.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The assessment before the run.
    pub assessment: Assessment,
    /// Number of jobs of all tasks.
    pub jobs: u64,
    /// Number of late jobs.
    pub misses: u64,
    /// The longest response time of all tasks.
    pub response_max: Duration,
    /// Throughput of real time and best effort together.
    pub throughput_bytes_per_s: u64,
    /// The number of times that the contract behind the bound applied.
    pub observed: u64,
    /// The number of times that the drive exceeded that contract.
    pub overruns: u64,
    /// The sum of these excesses.
    pub overrun_sum: Duration,
}

impl Outcome {
    /// Returns the largest bound; `None` if a task has no bound.
    #[must_use]
    pub fn bound_max(&self) -> Option<Duration> {
        let bounds = self.assessment.tasks.iter().map(|task| Some(task.response_max?.0));
        bounds.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Returns by how much the longest response exceeds the largest bound plus all overruns; `None`
    /// without a bound or without an excess.
    #[must_use]
    pub fn excess(&self) -> Option<Duration> {
        let allowed = self.bound_max()? + self.overrun_sum;
        self.response_max.checked_sub(allowed).filter(|excess| !excess.is_zero())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} jobs, {} missed, at most {}, bound {}, {} overruns of {} in all, {} kB/s",
            self.jobs,
            self.misses,
            self.response_max,
            self.bound_max().map_or("-".to_owned(), |bound| bound.to_string()),
            self.overruns,
            self.overrun_sum,
            self.throughput_bytes_per_s / 1_000,
        )
    }
}

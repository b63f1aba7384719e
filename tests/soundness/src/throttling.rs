// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiments of RTAS 2008 on the built-in Fujitsu: real-time tasks that read 256 KiB once in
//! a period, with a deadline of one period, beside 450 outstanding best-effort reads of the same
//! size, all at random places.
//!
//! Source: Stanovich, Baker and Wang, "Throttling On-Disk Schedulers to Meet Soft-Real-Time
//! Requirements", RTAS 2008, sections 2.3, 3.3, 3.4 and 5.

use tidegate_analysis::{Assessment, assess};
use tidegate_drive::builtin;
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{AccessTime, DriveFile, DriveKind, Duration, PolicyName, Workload};
use tidegate_sim::checkers::Checkers;
use tidegate_sim::{ContractWatch, Length, SimParams, simulate};

/// The drive of the experiments.
pub const DRIVE: &str = "fujitsu-max3036rc";

/// The results of one policy at one deadline.
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
    /// How often the drive exceeded the contract of the bound.
    pub overruns: u64,
    /// The sum of these excesses.
    pub overrun_sum: Duration,
}

impl Outcome {
    /// Returns by how much the longest response exceeds the largest bound plus all overruns; `None`
    /// without a bound or without an excess.
    #[must_use]
    pub fn excess(&self) -> Option<Duration> {
        let bounds = self.assessment.tasks.iter().map(|task| task.response_max);
        let bound =
            bounds.map(|bound| bound.map(|(bound, _)| bound)).collect::<Option<Vec<_>>>()?;
        let allowed = bound.into_iter().max()? + self.overrun_sum;
        self.response_max.checked_sub(allowed).filter(|excess| !excess.is_zero())
    }
}

/// Returns `count` tasks, their offsets spread over the period, beside the backlog.
///
/// # Panics
/// If the built-in drive is missing or was not measured for these requests.
#[must_use]
pub fn experiment(deadline: Duration, count: u32) -> (DriveFile, Workload) {
    let file = builtin::load(DRIVE).expect("Tidegate includes it");
    let step_us = deadline.ns() / u64::from(count) / 1_000;
    let text = format!(
        "drive = \"{DRIVE}\"\n[[task]]\nname = \"stream\"\ncount = {count}\nperiod = \"{}us\"\n\
         size = \"256KiB\"\noffset = {{ step = \"{step_us}us\" }}\n\
         [[best_effort]]\nname = \"backlog\"\noutstanding = 450\nsize = \"256KiB\"\n",
        deadline.ns() / 1_000
    );
    let workload = WorkloadFile::parse(&text).expect("well formed").bind(&file);
    (file, workload.expect("the drive was measured for 256 KiB"))
}

/// Runs a policy for `jobs` jobs of each task, with every checker.
///
/// # Panics
/// If the policy breaks its own rule.
#[must_use]
pub fn run(policy: PolicyName, deadline: Duration, count: u32, jobs: u64) -> Outcome {
    let (file, workload) = experiment(deadline, count);
    let access = tidegate_drive::access_time(&file);
    run_with(policy, (&file, &workload), access, jobs)
}

/// Does the same with other knowledge of the drive's positions than the drive file's.
///
/// # Panics
/// As [`run`].
#[must_use]
pub fn run_with(
    policy: PolicyName,
    (file, workload): (&DriveFile, &Workload),
    access: Option<Box<dyn AccessTime>>,
    jobs: u64,
) -> Outcome {
    let assessment = assess(workload, policy);
    let plan = assessment.plan(workload);
    let drive =
        tidegate_drive::build(DriveKind::Mechanical, workload, Some(file), 7).expect("mechanics");
    let capacity = file.capacity().expect("the mechanics give it");
    let params = SimParams { capacity, seed: 11, ..SimParams::new(workload, Length::Jobs(jobs)) };
    let (built, checkers) =
        Checkers::watching(policy, &plan, access).expect("everything is known of this drive");
    let contracts = ContractWatch::new(workload.table.clone(), &workload.contracts);
    let mut watch = (checkers, contracts);
    let run = simulate(&params, built, drive, &mut watch);
    assert_eq!(watch.0.violations(), [], "{policy}");
    let overruns = watch.1.overruns(policy.facts().contract()).unwrap_or_default();
    let tasks = run.metrics.tasks();
    Outcome {
        assessment,
        jobs: tasks.iter().map(tidegate_sim::SourceMetrics::jobs).sum(),
        misses: tasks.iter().map(|task| task.misses).sum(),
        response_max: tasks.iter().filter_map(|task| task.responses.max()).max().expect("jobs"),
        throughput_bytes_per_s: run.metrics.all().throughput_bytes_per_s().expect("some time"),
        overruns: overruns.overruns,
        overrun_sum: overruns.sum,
    }
}

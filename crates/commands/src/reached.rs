// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds how long responses can really take: a lower bound of the worst case, for comparison with
//! the proven upper bound.

use tidegate_analysis::{Answer, Assessment};
use tidegate_host::Length;
use tidegate_model::{Arrivals, DriveContract, DriveKind, Duration, Task, Workload};
use tidegate_report::CheckReport;
use tidegate_sim::{CheckedRun, CheckedSimulation, SimParams};

use crate::workload::Input;

/// The approximate maximum number of requests in one search, chosen so that a search takes at most
/// about a second.
const REQUESTS: u64 = 40_000;
/// The minimum and the maximum number of jobs of each task that a search simulates.
const JOBS: [u64; 2] = [50, 500];

/// Adds all details to a report on this input, including the longest responses that a schedule
/// reaches.
#[must_use]
pub fn explained<'a>(report: CheckReport<'a>, input: &Input) -> CheckReport<'a> {
    let reached = reached(input, report.assessment());
    report.explained(reached.as_deref())
}

/// Returns, for each task, the longest response in one schedule that keeps all contracts. A bound
/// for all such schedules cannot be below it.
///
/// The search simulates the policy of the assessment on a drive that takes the longest times of its
/// tables, with bunched arrivals ([`Arrivals::Bunched`]). Tasks that limit their outstanding jobs
/// keep their own arrivals. The result is deterministic.
///
/// `None` if there is no bound to compare with, if there are too many tasks for the search, if the
/// policy needs a disk's positions, or if the run breaks a rule of the policy or a contract of the
/// drive. The last case occurs if the workload states shorter times than the drive's tables.
pub(crate) fn reached(input: &Input, assessment: &Assessment) -> Option<Vec<Duration>> {
    if matches!(assessment.answer, Answer::NotApplicable { .. }) {
        return None;
    }
    let workload = bunched(&input.workload);
    let requests: u64 = workload.tasks.iter().map(|task| u64::from(task.requests)).sum();
    let [least, most] = JOBS;
    let jobs = REQUESTS.checked_div(requests)?.min(most);
    if jobs < least {
        return None;
    }
    let plan = assessment.tolerant_plan(&workload);
    let served = assessment.charged(&workload);
    let params = SimParams { seed: 1, ..SimParams::new(&workload, Length::Jobs(jobs)) };
    let drive = (DriveKind::Pseudo, &input.drive, &served);
    let simulation = CheckedSimulation::new(&params, assessment.policy, &plan, drive).ok()?;
    let CheckedRun { run, violations, watch } = simulation.run((), || false);
    let is_kept = |contract| watch.overruns(contract).is_none_or(|it| it.overruns == 0);
    if !violations.is_empty() || !DriveContract::ALL.into_iter().all(is_kept) {
        return None;
    }
    let longest = |task: &tidegate_host::SourceMetrics| task.responses.max().unwrap_or_default();
    Some(run.metrics.tasks().iter().map(longest).collect())
}

/// Returns the workload with bunched arrivals.
fn bunched(workload: &Workload) -> Workload {
    let arrivals = |task: &Task| match task.outstanding_max {
        Some(_) => task.arrivals,
        None => Arrivals::Bunched,
    };
    let task = |task: &Task| Task { arrivals: arrivals(task), stop: None, ..task.clone() };
    Workload { tasks: workload.tasks.iter().map(task).collect(), ..workload.clone() }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tidegate_analysis::assess;

    use super::*;
    use crate::{Changes, parse};

    fn input(text: &str) -> Input {
        parse(Path::new("w.toml"), text, &Changes::default(), &[]).unwrap()
    }

    /// Returns a workload of cameras and a backup under a policy. `lines` are appended to the
    /// cameras' `[[task]]`.
    fn recorder(policy: &str, lines: &str) -> Input {
        input(&format!(
            "drive = \"maxtor-atlas-10k-v\"\n[policy]\nname = \"{policy}\"\n[[task]]\nname = \"camera\"\n\
             count = 12\nperiod = \"400ms\"\nsize = \"128KiB\"\n{lines}\n[[best_effort]]\nname = \"backup\"\n\
             outstanding = 40\nsize = \"128KiB\"\n"
        ))
    }

    /// Goal: the longest response that is reached is below the proven bound, and near it. Method:
    /// several policies, jitter, and the host's time. Under `dqf`, whose bound is exact for such
    /// tasks, at least 95 % of the bound must be reached.
    #[test]
    fn what_is_reached_is_below_the_bound() {
        let host =
            "[host]\nrelease = \"1ms\"\nsubmit = \"2ms\"\ncomplete = \"3ms\"\nreply = \"4ms\"";
        for (policy, lines) in [
            ("dqf", ""),
            ("dqf", "jitter = \"20ms\""),
            ("dqf", host),
            ("dqf", "outstanding = 1"),
            ("edf", ""),
            ("dq-edf", ""),
            ("dqf-elastic", ""),
        ] {
            let input = recorder(policy, lines);
            let assessment = assess(&input.workload, input.workload.policy);
            let reached = reached(&input, &assessment).expect(policy);
            for (task, &reached) in assessment.tasks.iter().zip(&reached) {
                let (bound, _) = task.response_max.expect(policy);
                assert!(reached <= bound, "{policy}, {lines}: {reached} above {bound}");
                assert!(!reached.is_zero(), "{policy}, {lines}");
                if policy == "dqf" && lines.is_empty() {
                    assert!(reached.ns() >= bound.ns() / 100 * 95, "{reached} of {bound}");
                }
            }
        }
    }

    /// Canary: a schedule refutes a bound that is a tenth too low.
    #[test]
    fn a_low_bound_is_exceeded() {
        let input = recorder("dqf", "");
        let assessment = assess(&input.workload, input.workload.policy);
        let reached = reached(&input, &assessment).unwrap();
        let low = |task: &tidegate_analysis::TaskAssessment| {
            task.response_max.map(|(bound, _)| bound.ns() / 10 * 9).unwrap()
        };
        let pairs = assessment.tasks.iter().map(low).zip(&reached);
        assert!(pairs.into_iter().any(|(low, reached)| reached.ns() > low));
    }

    #[test]
    fn without_a_proof_or_with_too_many_tasks_nothing_is_reached() {
        let of = |input: Input| reached(&input, &assess(&input.workload, input.workload.policy));
        assert_eq!(of(recorder("noop", "")), None);
        assert_eq!(of(recorder("dqf", "requests = 1000")), None);
    }
}

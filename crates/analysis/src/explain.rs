// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The steps of a task's bound with their times, for readers. No proof rests on them.

use tidegate_model::{Duration, HostTime, PolicyName, Task, Workload};

use crate::regulated::Regulated;
use crate::select;
use crate::shaping::sporadic;
use crate::{Assessment, System, TaskAssessment, dqf};

/// The longest wait of a job, step by step. The job's bound is the sum of the batch times and of
/// the host's time around the policy, less `released`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// The counts of requests and batches.
    pub steps: dqf::Steps,
    /// z: the largest number of requests in a batch.
    pub batch_max: u32,
    /// beta: best effort fills batches up to this many requests.
    pub best_effort_fill: u32,
    /// The longest time of the batch in flight.
    pub carry_in_max: Duration,
    /// The longest time of one full batch.
    pub full_batch_max: Duration,
    /// The longest time of the job's own batch.
    pub last_batch_max: Duration,
    /// The time from the window's start to the instant at which the policy sees the job.
    pub released: Duration,
    /// The task's jitter.
    pub jitter: Duration,
    /// The host's time around the policy.
    pub host: HostTime,
    /// The host's time in each of the batches.
    pub host_in_batch: Duration,
}

/// Returns the steps of each task's bound; `None` for a bound that does not consist of dual-queue
/// FIFO's batches.
///
/// # Complexity
/// The same as [`dqf::tight`].
pub fn explain(workload: &Workload, assessment: &Assessment) -> Vec<Option<Explanation>> {
    let is_dual_queue =
        |policy: PolicyName| select::shares_bounds(workload, assessment.policy, policy);
    let workload = &*workload.planned();
    let has_other_bound = assessment.batch_cost.is_some() || Regulated::of(workload).is_some();
    let has_none = assessment.tasks.iter().all(|task| task.response_max.is_none());
    if has_none
        || has_other_bound
        || ![PolicyName::Dqf, PolicyName::DqfElastic].into_iter().any(is_dual_queue)
    {
        return vec![None; workload.tasks.len()];
    }
    let system = system_of(workload, assessment);
    let explanation = |steps: dqf::Steps, jitter: Duration| Explanation {
        steps,
        batch_max: system.batch_max,
        best_effort_fill: system.best_effort_fill,
        carry_in_max: steps.carry_in_max(&system),
        full_batch_max: steps.full_batch_max(&system),
        last_batch_max: steps.last_batch_max(&system),
        released: Duration::from_ns(steps.released_ns),
        jitter,
        host: workload.host.time(),
        host_in_batch: workload.host_in_batch(),
    };
    let of_task = |((steps, assessed), task): ((Option<dqf::Steps>, &TaskAssessment), &Task)| {
        let (response, _) = assessed.response_max?;
        let explanation = explanation(steps?, task.jitter);
        // The verdict may rest on another bound, which these steps do not show.
        let is_other = assessed.rests_on_costs() || explanation.total() != Some(response);
        (!is_other).then_some(explanation)
    };
    let steps = dqf::steps(&system).into_iter().zip(&assessment.tasks);
    steps.zip(&workload.tasks).map(of_task).collect()
}

/// Returns the tasks of a planned workload in the batches of an assessment.
pub(crate) fn system_of(planned: &Workload, assessment: &Assessment) -> System {
    System {
        tasks: sporadic(&planned.tasks),
        table: planned.table.clone(),
        batch_max: assessment.batch_max,
        best_effort_fill: assessment.best_effort_fill,
    }
}

impl Explanation {
    /// Returns the response time that the steps add up to.
    pub fn total(&self) -> Option<Duration> {
        let full = self.full_batch_max.checked_mul(self.steps.full_batches)?;
        let all = self.carry_in_max.checked_add(full)?.checked_add(self.last_batch_max)?;
        let around = self.host.around_policy().checked_add(self.jitter)?;
        all.checked_add(around)?.checked_sub(self.released)
    }
}

/// Returns whether the policy, with the workload's parameters, treats all deadlines in one window
/// as equal.
pub fn counts_in_windows(workload: &Workload, policy: PolicyName) -> bool {
    let shares = |other| select::shares_bounds(workload, policy, other);
    shares(PolicyName::ScanEdf) && !shares(PolicyName::Edf)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Applies the effect of regulators to a workload, in one place for all policies.
//!
//! - `tokens-per-task`: a task of e requests per job becomes e sporadic tasks of one request each,
//!   because its tokens return one by one. The bound of a task is the bound of its units.
//! - `depth-limit`: the drive accepts no more requests than the limit.
//!
//! This is separate from the policies' analyses so that none of them can omit it. Own derivation,
//! `docs/theory/isolation.md` section 12.

use tidegate_model::{BatchChoice, Premise, PremiseCode, Premises, RegulatorName, Task, Workload};

use crate::{Assessment, Comparison, Limit, SporadicTask, TaskAssessment, Tasks};

/// The largest number of units in a workload that is analysed.
const UNITS_MAX: u64 = 1 << 20;

/// A workload as the wrapped policy sees it, without its regulators.
#[derive(Debug, Clone)]
pub(crate) struct Regulated {
    pub(crate) workload: Workload,
    /// The first unit of each task, by task index, and one more entry for the end.
    first_unit: Vec<usize>,
    premises: Premises,
}

fn has(workload: &Workload, regulator: RegulatorName) -> bool {
    workload.regulators.contains(&regulator)
}

fn units_sum(tasks: &[Task]) -> u64 {
    tasks.iter().map(|task| u64::from(task.requests)).sum()
}

/// Returns the reason why a regulated workload gets no promise, if there is one: too many units.
pub(crate) fn objection(workload: &Workload) -> Option<&'static str> {
    let is_too_many =
        has(workload, RegulatorName::TokensPerTask) && units_sum(&workload.tasks) > UNITS_MAX;
    is_too_many.then_some(
        "with tokens-per-task every request of a job is a separate task, and there are more \
         than a million of them",
    )
}

impl Regulated {
    /// Returns the workload without `tokens-per-task` and `depth-limit`; `None` if it has neither.
    pub(crate) fn of(workload: &Workload) -> Option<Self> {
        let mut premises = Premises::default();
        let mut behind = workload.clone();
        let mut first_unit: Vec<usize> = (0..=workload.tasks.len()).collect();
        behind.regulators.retain(|&regulator| match regulator {
            RegulatorName::DepthLimit | RegulatorName::TokensPerTask => false,
            RegulatorName::TokenBucket | RegulatorName::Mdn | RegulatorName::MdnExtended => true,
        });
        if behind.regulators.len() == workload.regulators.len() {
            return None;
        }
        if has(workload, RegulatorName::DepthLimit) {
            limit_depth(&mut behind);
        }
        if has(workload, RegulatorName::TokensPerTask) {
            (behind.tasks, first_unit) = units(&workload.tasks);
            premises.push(Premise::new(
                PremiseCode::TokensPerTask,
                "tokens per task",
                "with tokens-per-task a bound holds whatever other tasks do; it counts from the instant \
                 at which a request takes its token, which is its release for a task that keeps its \
                 contract",
            ));
        }
        Some(Self { workload: behind, first_unit, premises })
    }

    /// Maps an assessment of the units to their tasks.
    pub(crate) fn conclude(&self, mut assessment: Assessment) -> Assessment {
        assessment.tasks = self.of_tasks(&assessment.tasks, worse);
        assessment.limit = assessment.limit.map(|limit| match limit {
            Limit::Margin { task } => Limit::Margin { task: self.task_of(task) },
            Limit::Deadline { task } => Limit::Deadline { task: self.task_of(task) },
            Limit::NoBound { task } => Limit::NoBound { task: self.task_of(task) },
            Limit::Capacity | Limit::CapacityBehindJitter => limit,
        });
        assessment.premises.extend(self.premises.clone());
        assessment
    }

    /// Maps a comparison of the units to their tasks.
    pub(crate) fn conclude_comparison(&self, units: &[Comparison]) -> Vec<Comparison> {
        let longer = |a: Option<_>, b: Option<_>| a.zip(b).map(|(a, b)| std::cmp::max(a, b));
        self.of_tasks(units, |a, b| Comparison {
            fifo: longer(a.fifo, b.fifo),
            edf: longer(a.edf, b.edf),
            dqf: longer(a.dqf, b.dqf),
        })
    }

    fn of_tasks<T: Copy>(&self, units: &[T], worse: impl Fn(T, T) -> T) -> Vec<T> {
        let of_task = |ends: &[usize]| {
            let units = units[ends[0]..ends[1]].iter().copied();
            units.reduce(&worse).expect("a task has a request")
        };
        self.first_unit.windows(2).map(of_task).collect()
    }

    /// Returns, for each unit of `tasks`, the index of its task in the regulated workload;
    /// `sources` gives that index for each task.
    pub(crate) fn unit_sources(
        &self,
        workload: &Workload,
        tasks: &[SporadicTask],
        sources: &[usize],
    ) -> Vec<usize> {
        let has_tokens = has(workload, RegulatorName::TokensPerTask);
        let units = |(task, &source): (&SporadicTask, &usize)| {
            let count = if has_tokens { task.requests as usize } else { 1 };
            std::iter::repeat_n(self.first_unit[source], count)
        };
        tasks.iter().zip(sources).flat_map(units).collect()
    }

    fn task_of(&self, unit: usize) -> usize {
        self.first_unit.partition_point(|&first| first <= unit) - 1
    }
}

/// Returns the tasks as the policy behind the workload's regulators sees them.
pub(crate) fn unit_tasks(workload: &Workload, tasks: &Tasks) -> Tasks {
    if !has(workload, RegulatorName::TokensPerTask) {
        return tasks.clone();
    }
    let units = |task: &SporadicTask| {
        std::iter::repeat_n(SporadicTask { requests: 1, ..*task }, task.requests as usize)
    };
    tasks.iter().flat_map(units).collect()
}

/// Limits the drive's depth to the one that `depth-limit` states.
fn limit_depth(workload: &mut Workload) {
    let Some(limit) = workload.parameters.depth_limit.in_flight_max else { return };
    let limit = limit.get();
    workload.depth = workload.depth.min(limit);
    workload.table = workload.table.truncated(limit);
    if let BatchChoice::Fixed(batch_max) = &mut workload.batch {
        *batch_max = (*batch_max).min(limit);
    }
}

/// Returns one task per request of a job, and the index of each task's first unit.
fn units(tasks: &[Task]) -> (Vec<Task>, Vec<usize>) {
    let mut units = Vec::new();
    let mut first_unit = vec![0];
    for task in tasks {
        let unit = Task { requests: 1, ..task.clone() };
        units.extend(std::iter::repeat_n(unit, task.requests as usize));
        first_unit.push(units.len());
    }
    (units, first_unit)
}

/// Returns the assessment that holds for both units.
fn worse(a: TaskAssessment, b: TaskAssessment) -> TaskAssessment {
    let bounds = a.bounds.worse(b.bounds);
    TaskAssessment {
        bounds,
        response_max: bounds.least(),
        is_deadline_met: a.is_deadline_met && b.is_deadline_met,
    }
}

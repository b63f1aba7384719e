// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Assesses a whole workload: the valid bounds, the verdict, and the limiting task.
//! `tidegate check` prints the assessment; the simulator and the engine follow its plan. Bounds
//! under other policies and headroom are more expensive and computed separately.

use tidegate_model::{
    BatchChoice, BatchLimit, Duration, Host, HostTime, PolicyName, Premise, PremiseCode, Workload,
};

use crate::assessment::{Answer, Assessment, Comparison, Limit, TaskAssessment};
use crate::batch_choice::{Choice, Order};
use crate::bounds::{bound_of, edf_responses, is_met};
use crate::depth_cap::best_effort_limit;
use crate::regulated::{self, Regulated};
use crate::select::{self, best_effort_ahead, mixed, objection, question};
use crate::shaping::sporadic;
use crate::system::{is_shared, single};
use crate::{
    Inapplicable, SporadicTask, Tasks, Verdict, by_order, ceilings, cost_limited, deferred, fifo,
    shaping,
};

/// Assesses a workload under a policy, with the batch size that the workload asks for, on a drive
/// that may exceed its tables by the workload's margin. If the workload states the host's time, the
/// bounds hold at the clients (`docs/theory/host-time.md` section 30). A premise that voids the
/// verdict leaves no bound.
///
/// # Complexity
/// For a given z, about the cost of [`crate::dqf::tight`] times log(beta); `auto` tries each z in
/// the table.
///
/// # Panics
/// If a fixed batch size exceeds the table, which `WorkloadFile::bind` refuses.
pub fn assess(workload: &Workload, policy: PolicyName) -> Assessment {
    let planned = workload.planned();
    let assessment = ceilings::graded(&planned, assessed(&planned, policy).unless_void());
    let mut assessment = by_order::graded(&planned, assessment);
    for (task, around) in assessment.tasks.iter_mut().zip(workload.around_policy()) {
        *task = task.at_client(around);
    }
    if assessment.limit == Some(Limit::Capacity) {
        let batch_max = assessment.batch_max;
        let is_by_jitter = is_within_capacity(&sporadic(&workload.tasks), &planned, batch_max);
        assessment.limit = is_by_jitter.then_some(Limit::CapacityBehindJitter).or(assessment.limit);
    }
    assessment
}

/// Returns whether full batches of this size can serve the tasks' long-run request rate.
fn is_within_capacity(tasks: &Tasks, workload: &Workload, batch_max: u32) -> bool {
    tasks.demand().is_within_capacity(batch_max, workload.table.time_max(batch_max).ns())
}

/// Assesses a planned workload, before premises can void the verdict.
fn assessed(workload: &Workload, policy: PolicyName) -> Assessment {
    if let Some(reason) = regulated::objection(workload) {
        return not_applicable(workload, policy, reason);
    }
    if let Some(regulated) = Regulated::of(workload) {
        return regulated.conclude(assessed(&regulated.workload, policy));
    }
    if let Some(reason) = objection(workload, policy) {
        return not_applicable(workload, policy, reason);
    }
    match select::choose(workload, policy, &sporadic(&workload.tasks)) {
        Ok(choice) => conclude(workload, policy, choice),
        Err(reason) => not_applicable(workload, policy, reason),
    }
}

/// Returns the bounds of each task under policies other than `policy`, with the workload's margin.
///
/// # Complexity
/// The cost of [`assess`] for each of these policies.
pub fn compare(workload: &Workload, policy: PolicyName) -> Vec<Comparison> {
    let workload = &*workload.planned();
    if regulated::objection(workload).is_some() || workload.premises.void().is_some() {
        return vec![Comparison::default(); workload.tasks.len()];
    }
    if let Some(regulated) = Regulated::of(workload) {
        return regulated.conclude_comparison(&compare(&regulated.workload, policy));
    }
    let tasks = sporadic(&workload.tasks);
    let is_open = |column: PolicyName| {
        !select::shares_bounds(workload, column, policy) && objection(workload, column).is_none()
    };
    let in_rhythm = |bounds: Vec<Option<Duration>>| {
        shaping::are_in_rhythm(&workload.tasks, &bounds).then_some(bounds)
    };
    let of_verdicts = |verdicts: Result<Vec<Verdict>, Inapplicable>| {
        in_rhythm((0..tasks.len()).map(|task| bound_of(&verdicts, task)).collect())
    };
    let edf = is_open(PolicyName::Edf)
        .then(|| of_verdicts(edf_responses(&single(workload, &tasks), is_shared(workload))));
    let fifo = is_open(PolicyName::Fifo).then(|| {
        let ahead = best_effort_ahead(workload);
        of_verdicts(fifo::responses_with_best_effort(&single(workload, &tasks), &ahead))
    });
    let mixed = mixed(workload, &tasks);
    let dqf = is_open(PolicyName::Dqf).then(|| {
        let order = Order::Release;
        let question = question(workload, &tasks, mixed.as_ref(), BatchChoice::Auto, order);
        let least = question.choose().bounds.into_iter().map(|bounds| bounds.least());
        in_rhythm(least.map(|least| least.map(|(bound, _)| bound)).collect())
    });
    let [fifo, edf, dqf] = [fifo.flatten(), edf.flatten(), dqf.flatten()];
    let around: Vec<Duration> = workload.around_policy().collect();
    let of_task = |column: &Option<Vec<Option<Duration>>>, task: usize| {
        column.as_ref()?[task]?.checked_add(around[task])
    };
    let comparison = |task: usize| Comparison {
        fifo: of_task(&fifo, task),
        edf: of_task(&edf, task),
        dqf: of_task(&dqf, task),
    };
    (0..tasks.len()).map(comparison).collect()
}

/// Returns the assessment when nothing can be promised. `reason` is a sentence without its full
/// stop.
///
/// There is no proof for best effort to invalidate, so batches have the largest size and best
/// effort fills them.
fn not_applicable(workload: &Workload, policy: PolicyName, reason: &'static str) -> Assessment {
    let batch_max = match workload.batch {
        BatchChoice::Fixed(batch_max) => batch_max,
        BatchChoice::Auto => workload.depth.min(workload.table.batch_max()),
    };
    let limit = best_effort_limit(workload, policy, &sporadic(&workload.tasks));
    let within = |depth: u32| limit.map_or(depth, |most| most.min(depth));
    Assessment {
        policy,
        batch_max,
        best_effort_fill: if is_shared(workload) { within(batch_max) } else { 0 },
        batch_cost: match policy.facts().batch_limit {
            BatchLimit::CountAndCost => cost_limited::unproved(workload),
            BatchLimit::Count | BatchLimit::CountUntilOverload => None,
        },
        best_effort_depth: within(select::depth_without_bound(workload, policy)),
        best_effort_limit: limit,
        premises: workload.premises.clone(),
        answer: Answer::NotApplicable { reason },
        tasks: vec![TaskAssessment::default(); workload.tasks.len()],
        limit: None,
    }
}

/// Returns the assessment for a chosen batch size and its bounds.
fn conclude(workload: &Workload, policy: PolicyName, choice: Choice) -> Assessment {
    let tasks = sporadic(&workload.tasks);
    let bounds = shaping::while_in_rhythm(&workload.tasks, choice.bounds);
    let assessed = tasks.iter().zip(bounds).map(|(task, bounds)| TaskAssessment {
        bounds,
        response_max: bounds.least(),
        is_deadline_met: is_met(task, &bounds),
    });
    let assessed: Vec<TaskAssessment> = assessed.collect();
    let is_proven = assessed.iter().all(|task| task.is_deadline_met);
    let bounded = workload.tasks.iter().zip(&assessed).filter(|(_, it)| it.response_max.is_some());
    let (by_costs, by_table): (Vec<_>, Vec<_>) = bounded.partition(|(_, it)| it.rests_on_costs());
    let mut premises = workload.premises.and(&choice.premises);
    premises.extend(shaping::premise(workload));
    premises.extend(deferred::premise(workload));
    // A doubt about the table or about the costs concerns the verdict only if a bound rests on
    // them.
    let is_by_one = by_costs.is_empty() != by_table.is_empty();
    let other = if by_costs.is_empty() {
        PremiseCode::CostsUnmeasured
    } else {
        PremiseCode::MixedUnmeasured
    };
    premises.retain(|code| !(is_by_one && code == other));
    premises.extend(workload.contracts.premises_of(policy.facts().contract()).cloned());
    if !by_costs.is_empty() {
        let only_of = by_costs.iter().map(|(task, _)| task.name.as_str()).collect::<Vec<_>>();
        let only_of = (!by_table.is_empty()).then_some(&only_of[..]);
        premises.push(rests_on_costs(workload, only_of));
    }
    premises.extend((!tasks.is_empty()).then(|| of_host(workload.host)));
    // Capacity is the rate of full batches. Without full batches it limits nothing, and if cost
    // limits the batches, their number of requests is unknown.
    let is_within_capacity = choice.batch_cost.is_some()
        || policy.facts().dispatch.limits_best_effort()
        || is_within_capacity(&tasks, workload, choice.batch_max);
    let best_effort_limit = best_effort_limit(workload, policy, &tasks);
    let depth = choice.best_effort_depth.unwrap_or(workload.depth);
    Assessment {
        policy,
        batch_max: choice.batch_max,
        best_effort_fill: choice.best_effort_fill,
        batch_cost: choice.batch_cost,
        best_effort_depth: best_effort_limit.map_or(depth, |most| most.min(depth)),
        best_effort_limit,
        premises,
        answer: if is_proven { Answer::Proven } else { Answer::NotProven },
        limit: if is_within_capacity || is_proven {
            limit(&tasks, &assessed)
        } else {
            Some(Limit::Capacity)
        },
        tasks: assessed,
    }
}

/// Returns the premise of the bound `mixed`; names its tasks if other tasks have another bound.
fn rests_on_costs(workload: &Workload, only_of: Option<&[&str]>) -> Premise {
    let whose = match only_of {
        None => String::new(),
        Some([only]) => format!(" (of {only} alone)"),
        Some([first, others @ ..]) => format!(" (of {first} and {} more alone)", others.len()),
        Some([]) => unreachable!("some task has the bound"),
    };
    let text = format!(
        "the bound `mixed`{whose} holds while no batch of `{}` takes longer than A and the costs of \
         its requests, which is less than its table for small requests",
        workload.drive_name
    );
    Premise::new(PremiseCode::CostContract, "costs of requests", text)
}

/// Returns the premise about the host's time, whether the workload states it or not.
fn of_host(host: Host) -> Premise {
    match host {
        Host::Unstated | Host::Charged(None) => {
            let from = match host {
                Host::Charged(_) => "a job's arrival, with its jitter,",
                Host::Unstated | Host::Stated(_) => {
                    "the instant at which the policy gets a request"
                }
            };
            let text = format!(
                "the bounds do not contain the host's time: they count from {from} to its completion \
                 by the drive"
            );
            Premise::new(PremiseCode::HostTimeExcluded, "no host time", text)
        }
        Host::Stated(time) | Host::Charged(Some(time)) => {
            let HostTime { release, submit, complete, reply } = time;
            let text = format!(
                "the bounds are those of the clients, and contain the host's time as stated: up to \
                 {release} until the policy sees a request, {submit} to submit a batch, {complete} to \
                 see its completion, and {reply} for the answer"
            );
            Premise::new(PremiseCode::HostTimeIncluded, "host time as stated", text)
        }
    }
}

/// Returns the task whose bound is the largest fraction of its deadline; a task without a bound
/// comes first.
fn limit(tasks: &[SporadicTask], assessed: &[TaskAssessment]) -> Option<Limit> {
    // The bound as a fraction of the deadline, in parts per billion, rounded up.
    let share = |index: usize| {
        let deadline = u128::from(tasks[index].deadline.ns());
        assessed[index].response_max.map_or(u128::MAX, |(response, _)| {
            (u128::from(response.ns()) * 1_000_000_000).div_ceil(deadline)
        })
    };
    let task = (0..tasks.len()).max_by_key(|&index| (share(index), usize::MAX - index))?;
    Some(match assessed[task] {
        TaskAssessment { response_max: None, .. } => Limit::NoBound { task },
        TaskAssessment { is_deadline_met: true, .. } => Limit::Margin { task },
        TaskAssessment { .. } => Limit::Deadline { task },
    })
}

#[cfg(test)]
mod tests {
    use tidegate_model::{BatchTable, Duration};

    use super::*;

    #[test]
    fn the_premise_of_costs_names_its_tasks_unless_they_are_all() {
        let table = BatchTable::new(&[Duration::from_ms(5)]).unwrap();
        let workload = Workload::new("disk", 1, table);
        for (only_of, said) in [
            (None, "the bound `mixed` holds"),
            (Some(&["a"][..]), "the bound `mixed` (of a alone) holds"),
            (Some(&["a", "b", "c"][..]), "the bound `mixed` (of a and 2 more alone) holds"),
        ] {
            let premise = rests_on_costs(&workload, only_of);
            assert!(premise.text.starts_with(said), "{}", premise.text);
        }
    }
}

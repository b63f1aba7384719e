// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The certificate of a verdict: all numbers that it follows from, for `tidegate verify`, which shares
//! no code with the analysis.

use serde::Serialize;
use tidegate_analysis::{Answer, Assessment, BoundName, SporadicTask, System, TaskAssessment, dqf};
use tidegate_model::{Duration, HostTime, Premises, Theorem, Workload};

use crate::ns::Ns;
use crate::origin::Origin;

/// The version of the format.
const VERSION: u32 = 1;

/// Why a verdict has no certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoCertificate {
    /// The verdict proves nothing.
    #[error("not every deadline is proven, so there is nothing to certify")]
    NotProven,
    /// Another policy.
    #[error("only verdicts on `dqf` and `dq-edf` have certificates")]
    Policy,
    /// The order of deadlines counts.
    #[error(
        "verdicts on `dq-edf` have certificates only if each batch takes all that waits (E <= z) and every bound is below its period"
    )]
    Order,
    /// The bounds rest on the costs of requests.
    #[error("verdicts that rest on the costs of requests have no certificates yet")]
    Costs,
    /// The workload has regulators, so the verdict rests on the tasks' tokens.
    #[error("verdicts about workloads with regulators have no certificates yet")]
    Regulators,
}

/// A verdict and what it follows from. `docs/reference/certificate.md` describes the keys.
#[derive(Debug, Clone, Serialize)]
pub struct Certificate<'a> {
    format: u32,
    #[serde(flatten)]
    origin: Origin,
    policy: &'static str,
    batch: u32,
    best_effort_fill: u32,
    margin_ppm: u32,
    host: Option<CertifiedHost>,
    batch_ns_max: Vec<u64>,
    tasks: Vec<CertifiedTask<'a>>,
    busy_interval: Option<BusyInterval>,
    backlog: Vec<BacklogStep>,
    premises: &'a Premises,
}

/// The host's time, by where it enters the verdict.
#[derive(Debug, Clone, Serialize)]
#[expect(clippy::struct_field_names, reason = "keys of the JSON output")]
struct CertifiedHost {
    release_ns: Ns,
    batch_ns: Ns,
    reply_ns: Ns,
}

#[derive(Debug, Clone, Serialize)]
struct CertifiedTask<'a> {
    name: &'a str,
    period_ns: Ns,
    deadline_ns: Ns,
    requests: u32,
    response_ns_max: Ns,
    bound_used: &'static str,
    tight_ns: Option<Ns>,
    /// The contract before the host; `None` without one.
    client: Option<Client>,
}

#[derive(Debug, Clone, Serialize)]
struct Client {
    period_ns: Ns,
    deadline_ns: Ns,
    response_ns_max: Ns,
}

#[derive(Debug, Clone, Serialize)]
struct BusyInterval {
    batches: u64,
    released: u64,
}

#[derive(Debug, Clone, Serialize)]
struct BacklogStep {
    requests: u64,
    carry_ins: Vec<u64>,
    in_flight: u64,
    batches: u64,
    last: u64,
    response_ns: u64,
}

impl<'a> Certificate<'a> {
    /// Returns the certificate of a verdict on `workload`.
    ///
    /// # Errors
    /// [`NoCertificate`] if nothing is proven, or by theorems that `tidegate verify` does not check.
    pub fn of(
        workload: &'a Workload,
        assessment: &'a Assessment,
        origin: Origin,
    ) -> Result<Self, NoCertificate> {
        match assessment.answer {
            Answer::Proven => {}
            Answer::NotProven | Answer::NotApplicable { .. } => {
                return Err(NoCertificate::NotProven);
            }
        }
        let is_in_order = match assessment.policy.facts().theorem {
            Ok(Theorem::DualQueue) => true,
            Ok(Theorem::DualQueueEdf) => false,
            Ok(
                Theorem::Fifo
                | Theorem::Edf
                | Theorem::ActiveSubset
                | Theorem::ElasticDualQueue
                | Theorem::Starvation
                | Theorem::DrainRounds
                | Theorem::LimitedDrainRounds
                | Theorem::PriorityRounds
                | Theorem::AdaptiveDrain
                | Theorem::GatedDrain
                | Theorem::StrictClasses,
            )
            | Err(_) => return Err(NoCertificate::Policy),
        };
        if assessment.rests_on_costs() {
            return Err(NoCertificate::Costs);
        }
        if !workload.regulators.is_empty() {
            return Err(NoCertificate::Regulators);
        }
        let host = workload.host.uncharged();
        let system = system(&workload.planned(), assessment);
        let around = host.unwrap_or_default().around_policy();
        let backlog = backlog(assessment, &system, around);
        let takes_all = system.requests_sum() <= u64::from(system.batch_max) && !backlog.is_empty();
        if !is_in_order && !takes_all {
            return Err(NoCertificate::Order);
        }
        let tasks: Option<Vec<_>> = (0..system.tasks.len())
            .map(|index| certified(workload, assessment, &system, (index, host)))
            .collect();
        Ok(Self {
            format: VERSION,
            origin,
            policy: assessment.policy.name(),
            batch: assessment.batch_max,
            best_effort_fill: assessment.best_effort_fill,
            margin_ppm: workload.margin_ppm,
            host: host.map(|time| CertifiedHost {
                release_ns: time.release.into(),
                batch_ns: workload.host_in_batch().into(),
                reply_ns: time.reply.into(),
            }),
            batch_ns_max: (1..=system.batch_max).map(|n| system.table.time_max(n).ns()).collect(),
            tasks: tasks.ok_or(NoCertificate::NotProven)?,
            busy_interval: busy_interval(assessment, &system, around),
            backlog,
            premises: &assessment.premises,
        })
    }
}

/// Returns the system that the verdict on a planned workload is about.
fn system(planned: &Workload, assessment: &Assessment) -> System {
    let task = |task: &tidegate_model::Task| SporadicTask {
        period: task.period,
        requests: task.requests,
        deadline: tidegate_analysis::response_limit(task),
    };
    System {
        tasks: planned.tasks.iter().map(task).collect(),
        table: planned.table.clone(),
        batch_max: assessment.batch_max,
        best_effort_fill: assessment.best_effort_fill,
    }
}

fn certified<'a>(
    workload: &'a Workload,
    assessment: &Assessment,
    system: &System,
    (index, host): (usize, Option<HostTime>),
) -> Option<CertifiedTask<'a>> {
    let (task, assessed) = (&system.tasks[index], &assessment.tasks[index]);
    let (at_client, bound) = assessed.response_max?;
    let around = host.unwrap_or_default().around_policy();
    let stated = &workload.tasks[index];
    let client = host.map(|_| Client {
        period_ns: stated.period.into(),
        deadline_ns: tidegate_analysis::response_limit(stated).into(),
        response_ns_max: at_client.into(),
    });
    Some(CertifiedTask {
        name: &stated.name,
        period_ns: task.period.into(),
        deadline_ns: task.deadline.into(),
        requests: task.requests,
        response_ns_max: at_client.checked_sub(around)?.into(),
        bound_used: bound.name(),
        tight_ns: Ns::of(tight(assessed, around)),
        client,
    })
}

/// Returns R of Theorems 1 to 3 as the policy sees it, which is `around` less than at the client.
fn tight(assessed: &TaskAssessment, around: Duration) -> Option<Duration> {
    assessed.bounds.of(BoundName::Tight)?.checked_sub(around)
}

/// Returns the window of full batches behind the busy-interval bound.
fn busy_interval(
    assessment: &Assessment,
    system: &System,
    around: Duration,
) -> Option<BusyInterval> {
    let at_client = assessment.tasks.first()?.bounds.of(BoundName::BusyInterval)?;
    let bound = at_client.checked_sub(around)?.ns();
    let full_ns = system.table.time_max(system.batch_max).ns();
    // The bound is (x + 1) b(z).
    let batches = bound / full_ns - 1;
    let released = |task: &SporadicTask| {
        u64::from(task.requests) * (batches * full_ns).div_ceil(task.period.ns())
    };
    Some(BusyInterval { batches, released: system.tasks.iter().map(released).sum() })
}

/// Returns the steps of the backlog bound if it applies: every R is below its period.
fn backlog(assessment: &Assessment, system: &System, around: Duration) -> Vec<BacklogStep> {
    let is_below = assessment.tasks.iter().zip(&system.tasks).all(|(assessed, task)| {
        tight(assessed, around).is_some_and(|response| response < task.period)
    });
    let steps = is_below.then(|| dqf::backlog_steps(system)).flatten().unwrap_or_default();
    let step = |step: dqf::BacklogStep| BacklogStep {
        requests: step.requests,
        carry_ins: step.carry_ins,
        in_flight: step.in_flight,
        batches: step.batches,
        last: step.last,
        response_ns: step.response_ns,
    };
    steps.into_iter().map(step).collect()
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The certificate of a verdict: all numbers from which the verdict follows, for `tidegate verify`,
//! which shares no code with the analysis.

use serde::Serialize;
use tidegate_analysis::{Answer, Assessment, BoundName, SporadicTask, System, dqf, response_limit};
use tidegate_model::{Duration, PolicyName, Premises, Theorem, Workload};

use crate::ns::Ns;
use crate::origin::Origin;

/// The version of the format.
const VERSION: u32 = 1;

/// The reason why a verdict has no certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoCertificate {
    /// The verdict proves nothing.
    #[error("not every deadline is proven, so there is nothing to certify")]
    NotProven,
    /// The policy's verdicts have no certificates.
    #[error("only verdicts on `dqf`, `dq-edf` and `gated-drain` have certificates")]
    Policy,
    /// The bounds depend on the order of deadlines, and the certificate's conditions do not hold.
    #[error(
        "verdicts on `dq-edf` have certificates only if each batch takes every queued request (E <= z) and every bound is below its period"
    )]
    Order,
    /// The bounds depend on the costs of requests, by a theorem that the checker does not know.
    #[error(
        "verdicts that rest on the costs of requests have certificates only if each batch takes every queued request (E <= z), no cost limits it, and no change of direction takes time"
    )]
    Costs,
    /// The workload has regulators, so the verdict depends on the tasks' tokens.
    #[error("verdicts about workloads with regulators have no certificates yet")]
    Regulators,
}

/// A verdict, with the numbers from which it follows. `docs/reference/certificate.md` describes the
/// keys.
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
    costs: Option<Costs>,
    drain: Option<Drain>,
    premises: &'a Premises,
}

/// The host's time: before the policy, in each batch, and after the drive.
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
    cost_ns: Option<Ns>,
    /// The contract as the client sees it, including the host's time and jitter; `None` if the
    /// workload states neither.
    client: Option<Client>,
}

#[derive(Debug, Clone, Serialize)]
struct Client {
    period_ns: Ns,
    deadline_ns: Ns,
    jitter_ns: Ns,
    response_ns_max: Ns,
}

#[derive(Debug, Clone, Serialize)]
struct Costs {
    positioning_ns: Ns,
    best_effort_ns: Ns,
}

#[derive(Debug, Clone, Serialize)]
struct Drain {
    ns_max: Vec<u64>,
    has_best_effort: bool,
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
    /// [`NoCertificate`] if nothing is proven, or if the proof uses a theorem that `tidegate
    /// verify` does not check.
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
        let argument = argument(assessment.policy)?;
        if !workload.regulators.is_empty() {
            return Err(NoCertificate::Regulators);
        }
        let verdict = Verdict::of(workload, assessment)?;
        let tasks: Option<Vec<_>> =
            (0..workload.tasks.len()).map(|index| verdict.certified(index)).collect();
        let certificate = Self {
            format: VERSION,
            origin,
            policy: assessment.policy.name(),
            batch: assessment.batch_max,
            best_effort_fill: assessment.best_effort_fill,
            margin_ppm: workload.margin_ppm,
            host: verdict.host(),
            batch_ns_max: Vec::new(),
            tasks: tasks.ok_or(NoCertificate::NotProven)?,
            busy_interval: None,
            backlog: Vec::new(),
            costs: verdict.costs.as_ref().map(|costs| Costs {
                positioning_ns: costs.positioning.into(),
                best_effort_ns: costs.best_effort.into(),
            }),
            drain: None,
            premises: &assessment.premises,
        };
        if argument == Argument::Gate {
            let drain = Some(Drain {
                ns_max: drain_ns_max(workload),
                has_best_effort: !workload.best_effort.is_empty(),
            });
            return Ok(Self { drain, ..certificate });
        }
        let (system, backlog) = (&verdict.system, verdict.backlog());
        let takes_all = system.requests_sum() <= u64::from(system.batch_max) && !backlog.is_empty();
        if argument == Argument::Due && !takes_all {
            return Err(NoCertificate::Order);
        }
        Ok(Self {
            batch_ns_max: (1..=system.batch_max).map(|n| system.table.time_max(n).ns()).collect(),
            busy_interval: verdict.busy_interval(),
            backlog,
            ..certificate
        })
    }
}

/// The kind of argument by which a certificate proves its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Argument {
    /// Batches in the order of release.
    Release,
    /// Batches in the order of deadlines.
    Due,
    /// The gate of `gated-drain`.
    Gate,
}

fn argument(policy: PolicyName) -> Result<Argument, NoCertificate> {
    match policy.facts().theorem {
        Ok(Theorem::DualQueue) => Ok(Argument::Release),
        Ok(Theorem::DualQueueEdf) => Ok(Argument::Due),
        Ok(Theorem::GatedDrain) => Ok(Argument::Gate),
        Ok(
            Theorem::Fifo
            | Theorem::Edf
            | Theorem::EdfInWindows
            | Theorem::ActiveSubset
            | Theorem::ElasticDualQueue
            | Theorem::Starvation
            | Theorem::DrainRounds
            | Theorem::LimitedDrainRounds
            | Theorem::PriorityRounds
            | Theorem::AdaptiveDrain
            | Theorem::StrictClasses,
        )
        | Err(_) => Err(NoCertificate::Policy),
    }
}

/// Returns drain(1) to drain(K), with the margin and the host's time, up to the number of requests
/// that `gated-drain` allows on the drive.
pub fn drain_ns_max(workload: &Workload) -> Vec<u64> {
    let planned = workload.planned();
    let Some(table) = &planned.contracts.drain else { return Vec::new() };
    let most = planned.depth.min(table.batch_max());
    (1..=most).map(|requests| table.time_max(requests).ns()).collect()
}

/// The costs of a workload's requests, with the margin and the host's time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadCosts {
    /// The positioning time that is charged once per batch: A.
    pub positioning: Duration,
    /// The largest cost that a best-effort request adds to a batch; 0 without best effort.
    pub best_effort: Duration,
    /// The cost of one request of each task: c.
    pub of_tasks: Vec<Duration>,
    /// Whether a change between reads and writes can take time.
    pub has_switches: bool,
    /// The size of the largest batch for which these costs are known; `None` if they hold for every
    /// batch.
    pub known_max: Option<u32>,
}

impl WorkloadCosts {
    /// Returns the costs; `None` if the drive does not state them for every request.
    pub fn of(workload: &Workload) -> Option<Self> {
        let planned = workload.planned();
        let costs = planned.contracts.costs.as_ref()?;
        let tasks = planned.tasks.iter().map(|task| (task.op, task.size));
        let loads = planned.best_effort.iter().map(|load| (load.op, load.size));
        let mut ops = tasks.clone().chain(loads.clone()).map(|(op, _)| op);
        let first = ops.next();
        let is_mixed = ops.any(|op| Some(op) != first);
        let of_loads: Vec<Duration> =
            loads.map(|(op, size)| costs.cost(op, size)).collect::<Option<_>>()?;
        Some(Self {
            positioning: costs.positioning_max,
            best_effort: of_loads.into_iter().max().unwrap_or_default(),
            of_tasks: tasks.map(|(op, size)| costs.cost(op, size)).collect::<Option<_>>()?,
            has_switches: is_mixed && costs.switch_max.is_some_and(|time| !time.is_zero()),
            known_max: costs.batch_max,
        })
    }
}

/// A verdict, and the system as the policy sees it.
struct Verdict<'a> {
    workload: &'a Workload,
    assessment: &'a Assessment,
    system: System,
    /// The costs; `None` if the verdict does not follow from costs.
    costs: Option<WorkloadCosts>,
    /// For each task, the largest excess of the response time at the client over the one that the
    /// policy sees: the task's jitter, and the host's time before and after the policy.
    around: Vec<Duration>,
}

impl<'a> Verdict<'a> {
    fn of(workload: &'a Workload, assessment: &'a Assessment) -> Result<Self, NoCertificate> {
        let planned = workload.planned();
        let task = |task: &tidegate_model::Task| SporadicTask {
            period: task.period,
            requests: task.requests,
            deadline: response_limit(task),
        };
        let system = System {
            tasks: planned.tasks.iter().map(task).collect(),
            table: planned.table.clone(),
            batch_max: assessment.batch_max,
            best_effort_fill: assessment.best_effort_fill,
        };
        let around = workload.around_policy().collect();
        let verdict = Self { workload, assessment, system, costs: None, around };
        let costs = assessment.rests_on_costs().then(|| verdict.costs()).transpose()?;
        Ok(Self { costs, ..verdict })
    }

    /// Returns the costs if the verdict follows from them by the theorem for batches that take all
    /// queued requests.
    fn costs(&self) -> Result<WorkloadCosts, NoCertificate> {
        let requests = self.system.requests_sum();
        let takes_all = self.assessment.batch_cost.is_none()
            && requests <= u64::from(self.assessment.batch_max);
        WorkloadCosts::of(self.workload)
            .filter(|costs| takes_all && !costs.has_switches)
            .ok_or(NoCertificate::Costs)
    }

    fn host(&self) -> Option<CertifiedHost> {
        self.workload.host.uncharged().map(|time| CertifiedHost {
            release_ns: time.release.into(),
            batch_ns: self.workload.host_in_batch().into(),
            reply_ns: time.reply.into(),
        })
    }

    fn certified(&self, index: usize) -> Option<CertifiedTask<'a>> {
        let (task, stated) = (&self.system.tasks[index], &self.workload.tasks[index]);
        let assessed = &self.assessment.tasks[index];
        let (at_client, bound) = assessed.response_max?;
        let has_way = self.workload.host.stated().is_some() || !stated.jitter.is_zero();
        let client = has_way.then(|| Client {
            period_ns: stated.period.into(),
            deadline_ns: response_limit(stated).into(),
            jitter_ns: stated.jitter.into(),
            response_ns_max: at_client.into(),
        });
        Some(CertifiedTask {
            name: &stated.name,
            period_ns: task.period.into(),
            deadline_ns: task.deadline.into(),
            requests: task.requests,
            response_ns_max: at_client.checked_sub(self.around[index])?.into(),
            bound_used: bound.name(),
            tight_ns: Ns::of(self.bound(index, BoundName::Tight)),
            cost_ns: Ns::of(self.costs.as_ref().map(|costs| costs.of_tasks[index])),
            client,
        })
    }

    /// Returns a bound of a task as the policy sees it, without the time around the policy.
    fn bound(&self, task: usize, name: BoundName) -> Option<Duration> {
        self.assessment.tasks.get(task)?.bounds.of(name)?.checked_sub(self.around[task])
    }

    /// Returns the number of full batches from which the busy-interval bound is computed, and the
    /// number of requests that are released during them.
    fn busy_interval(&self) -> Option<BusyInterval> {
        let bound = self.bound(0, BoundName::BusyInterval)?.ns();
        let full_ns = self.system.table.time_max(self.system.batch_max).ns();
        // The bound is (x + 1) b(z).
        let batches = bound / full_ns - 1;
        let released = |task: &SporadicTask| {
            u64::from(task.requests) * (batches * full_ns).div_ceil(task.period.ns())
        };
        Some(BusyInterval { batches, released: self.system.tasks.iter().map(released).sum() })
    }

    /// Returns the steps of the backlog bound if it applies, which requires every R to be below its
    /// period.
    fn backlog(&self) -> Vec<BacklogStep> {
        let is_below = self.system.tasks.iter().enumerate().all(|(index, task)| {
            self.bound(index, BoundName::Tight).is_some_and(|response| response < task.period)
        });
        let steps = is_below.then(|| dqf::backlog_steps(&self.system)).flatten();
        let step = |step: dqf::BacklogStep| BacklogStep {
            requests: step.requests,
            carry_ins: step.carry_ins,
            in_flight: step.in_flight,
            batches: step.batches,
            last: step.last,
            response_ns: step.response_ns,
        };
        steps.unwrap_or_default().into_iter().map(step).collect()
    }
}

#[cfg(test)]
mod tests;

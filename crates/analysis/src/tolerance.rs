// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Computes how much longer than its tables a drive may take with all deadlines still met, under
//! the plan that was chosen: z, beta, the best-effort depth and the limits by cost remain
//! unchanged.
//!
//! ```text
//!   bound
//!     |                      . '
//!  d -|- - - - - - - - - - .'- - - - -
//!     |               .  '  :
//!   R -............'        :
//!     |         :           :
//!     +---------+-----------+------->  batch time
//!              b(i)      b(i) + delta
//! ```

use tidegate_model::{
    Ceilings, DriveContract, DriveLimits, Duration, Plan, Slowdown, Theorem, Workload,
};

use crate::assessment::{Answer, Assessment};
use crate::batch_choice::{Choice, Order, proves_all};
use crate::bounds::{Bounds, is_met};
use crate::budget::Budget;
use crate::heterogeneous::MixedSystem;
use crate::regulated::Regulated;
use crate::search::largest;
use crate::select::{fifo_proves, mixed, theorem};
use crate::shaping::sporadic;
use crate::system::{is_shared, single};
use crate::{System, Tasks, cost_limited, edf, edf_in_windows, rtio, strict_classes};

/// The largest factor that is searched: a thousand times the table.
const FACTOR_PPM_MAX: u64 = 1_000_000_000;

/// The reason why a policy that spends all slack tolerates nothing beyond its plan.
const SPENT: &str = "the policy gives other requests all the time that its plan leaves before the \
     deadlines, so a drive that exceeds the plan's times can miss them";

/// How much longer than its tables the drive may take, with every deadline still met.
///
/// The bounds of a policy rest on one contract of the drive. The costs of requests belong to the
/// batch times, and both are slowed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerance {
    /// The contract on which the bounds rest.
    pub contract: DriveContract,
    /// The largest time by which every time of the contract may exceed the drive's tables.
    pub added: Duration,
    /// The largest share by which every time of the contract may exceed the drive's tables, in
    /// parts per million; at most 1,000,000,000 (a thousand times the table).
    pub factor_ppm: u64,
    /// The largest time by which every time may exceed the times that the plan was made for: the
    /// drive's tables and the margin.
    pub beyond_plan: Duration,
    /// The reason why nothing beyond the plan is tolerated, as a sentence without its full stop;
    /// `None` for policies that leave slack.
    pub spent: Option<&'static str>,
}

impl Assessment {
    /// Returns the plan of [`Self::plan`], with limits that tolerate all that the verdict
    /// tolerates.
    pub fn tolerant_plan(&self, workload: &Workload) -> Plan {
        let plan = self.plan(workload);
        let Some(Tolerance { contract, beyond_plan, spent: None, .. }) = tolerance(workload, self)
        else {
            return plan;
        };
        let by_costs = self.rests_on_costs();
        let limits = DriveLimits::tolerating(workload, by_costs, contract, beyond_plan);
        Plan { limits, ..plan }
    }
}

/// Returns the tolerance of a verdict; `None` without tasks, or if not every deadline is proven.
///
/// # Bound
/// The largest delta with `R_k(b + delta) <= d_k` for all tasks k, and the largest factor f with
/// `R_k(ceil(b (1 + f))) <= d_k`, where R is the policy's own bound under the plan of `assessment`.
/// For batches limited by cost, f is the largest factor that adds at most delta to the longest
/// batch. For policies that spend all slack, only the margin is tolerated.
///
/// # Source
/// Own derivation, `docs/theory/tolerance.md` section 27. A result is a proof whether or not R is
/// monotone in b: the deadlines are met at the slowed tables, and a drive that keeps the drive's
/// tables keeps the slowed ones.
///
/// # Complexity
/// About 30 evaluations of the bound for each figure, which share one budget; a search that exceeds
/// the budget counts as "not met", so the tolerance can only be smaller.
pub fn tolerance(workload: &Workload, assessment: &Assessment) -> Option<Tolerance> {
    let theorem = theorem(workload, assessment.policy).ok()?;
    if assessment.answer != Answer::Proven || workload.tasks.is_empty() {
        return None;
    }
    let contract = theorem.facts().contract;
    let measured = Regulated::of(workload).map_or_else(|| workload.clone(), |it| it.workload);
    let planned = measured.planned();
    let factor_planned = u64::from(workload.margin_ppm);
    if theorem.facts().spends_slack {
        return Some(Tolerance {
            contract,
            added: least_excess(&measured.behind_host(), &planned, contract),
            factor_ppm: factor_planned,
            beyond_plan: Duration::ZERO,
            spent: Some(SPENT),
        });
    }
    let tasks = sporadic(&planned.tasks);
    let proof = Proof {
        theorem,
        assessment,
        planned: &planned,
        tasks: &tasks,
        budget: Budget::of_tasks(tasks.len()),
    };
    let deadline_ns = tasks.iter().map(|task| task.deadline.ns()).max()?;
    let added_to = |base: &Workload| {
        let holds =
            |ns| proof.holds(&Slowdown::by(Duration::from_ns(ns)).of_contract(base, contract));
        Duration::from_ns(largest(0..=deadline_ns, holds))
    };
    let beyond_plan = added_to(&planned);
    let added =
        if workload.margin_ppm == 0 { beyond_plan } else { added_to(&measured.behind_host()) };
    let factor_ppm = match &assessment.batch_cost {
        Some(limit) => {
            let longest = measured.contracts.costs.as_ref()?.positioning_max.ns();
            let longest = u128::from(longest) + u128::from(limit.cost_max.ns());
            let factor = u128::from(added.ns()) * 1_000_000 / longest.max(1);
            u64::try_from(factor).unwrap_or(FACTOR_PPM_MAX).min(FACTOR_PPM_MAX).max(factor_planned)
        }
        // A factor that adds more than `added` to the shortest time adds more than that to every
        // time.
        None => largest(0..=factor_max(&measured, contract, added), |ppm| {
            proof.holds(&Slowdown::by_ppm(ppm).of_contract(&measured, contract).behind_host())
        }),
    };
    Some(Tolerance { contract, added, factor_ppm, beyond_plan, spent: None })
}

/// Returns whether the verdict on a planned workload holds on a drive that takes the times of these
/// ceilings, under the plan that was chosen.
pub(crate) fn holds_at_ceilings(
    workload: &Workload,
    ceilings: &Ceilings,
    assessment: &Assessment,
) -> bool {
    let facts = assessment.policy.facts();
    let Ok(theorem) = theorem(workload, assessment.policy) else { return false };
    let planned = Regulated::of(workload).map_or_else(|| workload.clone(), |it| it.workload);
    let Some(slowest) = at_ceilings(&planned, ceilings, facts.contract()) else { return false };
    match theorem {
        // `das` serves one request at a time, within b(1).
        Theorem::ActiveSubset => planned.table.time_max(1) >= ceilings.batches.time_max(1),
        // These policies decide by the plan's drain times, so the plan's table must cover the
        // ceilings.
        Theorem::AdaptiveDrain | Theorem::GatedDrain => {
            planned.contracts.drain == slowest.contracts.drain
        }
        Theorem::Fifo
        | Theorem::Edf
        | Theorem::EdfInWindows
        | Theorem::DualQueueEdf
        | Theorem::DualQueue
        | Theorem::ElasticDualQueue
        | Theorem::Starvation
        | Theorem::DrainRounds
        | Theorem::LimitedDrainRounds
        | Theorem::PriorityRounds
        | Theorem::StrictClasses => {
            let tasks = &sporadic(&planned.tasks);
            let (planned, budget) = (&planned, Budget::of_tasks(tasks.len()));
            Proof { theorem, assessment, planned, tasks, budget }.holds(&slowest)
        }
    }
}

/// Returns the workload on a drive whose times of this contract are the ceilings, or its own if
/// they are longer; `None` without a ceiling.
fn at_ceilings(
    workload: &Workload,
    ceilings: &Ceilings,
    contract: DriveContract,
) -> Option<Workload> {
    let mut slowest = workload.clone();
    let contracts = &mut slowest.contracts;
    match contract {
        DriveContract::Batches => {
            slowest.table = workload.table.at_least(&ceilings.batches);
            // Costs have no ceiling: every request is charged as the largest.
            contracts.costs = None;
        }
        DriveContract::Drain => {
            contracts.drain = Some(contracts.drain.as_ref()?.at_least(&ceilings.drain));
        }
        DriveContract::Starvation => {
            contracts.starvation_max = contracts.starvation_max.max(ceilings.starvation_max);
            ceilings.starvation_max?;
        }
        DriveContract::Priority => return None,
    }
    Some(slowest)
}

/// Returns the shortest time of a contract.
fn shortest(workload: &Workload, contract: DriveContract) -> Option<Duration> {
    match contract {
        DriveContract::Batches => Some(workload.table.time_max(1)),
        DriveContract::Drain => workload.contracts.drain.as_ref().map(|it| it.time_max(1)),
        DriveContract::Starvation => workload.contracts.starvation_max,
        DriveContract::Priority => workload.contracts.priority.as_ref().map(|it| it.time_max(1)),
    }
}

/// Returns the least time by which the margin lengthens a time of the contract.
fn least_excess(measured: &Workload, planned: &Workload, contract: DriveContract) -> Duration {
    // A share of a longer time is longer, so the shortest time of a table has the least excess.
    let [planned, measured] = [planned, measured].map(|workload| shortest(workload, contract));
    planned.zip(measured).map(|(planned, measured)| planned - measured).unwrap_or_default()
}

/// Returns the largest factor that adds at most `added` to the shortest time of the contract; at
/// most [`FACTOR_PPM_MAX`].
fn factor_max(measured: &Workload, contract: DriveContract, added: Duration) -> u64 {
    // Costs may be shorter than the table, so all factors are searched.
    let has_costs = measured.contracts.costs.is_some();
    let Some(time) = shortest(measured, contract).filter(|_| !has_costs) else {
        return FACTOR_PPM_MAX;
    };
    let factor = u128::from(added.ns()) * 1_000_000 / u128::from(time.ns().max(1));
    u64::try_from(factor).unwrap_or(FACTOR_PPM_MAX).min(FACTOR_PPM_MAX)
}

/// The proof of a chosen plan on other drives.
struct Proof<'a> {
    theorem: Theorem,
    assessment: &'a Assessment,
    /// The workload that the plan was made for, as the wrapped policy sees it.
    planned: &'a Workload,
    tasks: &'a Tasks,
    budget: Budget,
}

impl Proof<'_> {
    /// Returns whether every deadline is met on the drive of this workload.
    fn holds(&self, slowed: &Workload) -> bool {
        match self.theorem {
            Theorem::Fifo => fifo_proves(slowed, self.tasks),
            Theorem::Edf => {
                let system = single(slowed, self.tasks);
                edf::are_deadlines_met(&system, is_shared(slowed), &self.budget)
            }
            Theorem::EdfInWindows => {
                edf_in_windows::are_deadlines_met(slowed, self.tasks, &self.budget)
            }
            Theorem::DualQueueEdf => self.holds_in_batches(slowed, Order::Due),
            // Proven deadlines exclude the overload in which batches grow.
            Theorem::DualQueue | Theorem::ElasticDualQueue => self.holds_by_release(slowed),
            Theorem::Starvation => self.holds_for(slowed, |it| it.by_starvation().ok()),
            Theorem::DrainRounds | Theorem::LimitedDrainRounds => {
                let depth = self.assessment.best_effort_depth;
                self.holds_for(slowed, |it| it.drained_beside_depth(depth).ok())
            }
            Theorem::PriorityRounds => self.holds_for(slowed, |it| it.by_priority().ok()),
            Theorem::StrictClasses => {
                let depth = self.assessment.best_effort_depth;
                let choice = strict_classes::at_depth(slowed, self.tasks, depth);
                choice.is_ok_and(|choice| self.are_met(&choice.bounds))
            }
            // These policies decide by the times of the plan; on a slower drive nothing is proved.
            Theorem::ActiveSubset | Theorem::AdaptiveDrain | Theorem::GatedDrain => false,
        }
    }

    fn are_met(&self, bounds: &[Bounds]) -> bool {
        self.tasks.iter().zip(bounds).all(|(task, bounds)| is_met(task, bounds))
    }

    fn holds_for(
        &self,
        slowed: &Workload,
        choose: impl Fn(&rtio::Question<'_>) -> Option<Choice>,
    ) -> bool {
        let question = rtio::Question::of(slowed, self.assessment.policy, self.tasks).ok();
        question.and_then(|it| choose(&it)).is_some_and(|choice| self.are_met(&choice.bounds))
    }

    fn holds_by_release(&self, slowed: &Workload) -> bool {
        match &self.assessment.batch_cost {
            // The policy cuts batches by the charges of the plan, whatever the drive does.
            Some(limit) => slowed.contracts.costs.as_ref().is_some_and(|costs| {
                let (count, positioning) = (self.assessment.batch_max, costs.positioning_max);
                cost_limited::holds_at(self.planned, self.tasks, count, limit, positioning)
            }),
            None => self.holds_in_batches(slowed, Order::Release),
        }
    }

    fn holds_in_batches(&self, slowed: &Workload, order: Order) -> bool {
        let Assessment { batch_max, best_effort_fill, .. } = *self.assessment;
        let system = System {
            tasks: self.tasks.clone(),
            table: slowed.table.clone(),
            batch_max,
            best_effort_fill,
        };
        let mixed = match order {
            Order::Due => None,
            Order::Release => mixed(slowed, self.tasks),
        };
        let mixed = mixed.map(|mixed| MixedSystem { batch_max, best_effort_fill, ..mixed });
        proves_all(&system, order, mixed.as_ref(), is_shared(slowed), &self.budget)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checkers: observers that hold a run against one invariant each, one file for each.
//!
//! They know the rule and not the policy: a checker keeps its own account of what is
//! queued and in flight, from what the host tells every observer. Each has a canary among
//! the tests, a policy that is broken on purpose and must be caught.

mod batch_size;
mod best_effort_depth;
mod class_order;
mod depth_kept;
mod due_order;
mod elastic_batch;
mod exactly_once;
mod idle_dispatch;
mod real_time_alone;
mod release_order;
mod violation;
mod work_conservation;

use model::{Class, Outcome, Plan, PolicyName, RegulatorName, Request, Task, Time};

use crate::Observer;

pub use batch_size::BatchSize;
pub use best_effort_depth::BestEffortDepth;
pub use class_order::ClassOrder;
pub use depth_kept::DepthKept;
pub use due_order::DueOrder;
pub use elastic_batch::ElasticBatch;
pub use exactly_once::ExactlyOnce;
pub use idle_dispatch::IdleDispatch;
pub use real_time_alone::RealTimeAlone;
pub use release_order::{Lines, ReleaseOrder};
pub use violation::{Breach, Violation, ViolationLog};
pub use work_conservation::WorkConservation;

/// An observer that holds a run against an invariant.
pub trait Checker: Observer {
    /// What it found.
    fn log(&self) -> &ViolationLog;
}

/// Several checkers as one observer.
#[derive(Default)]
pub struct Checkers {
    checkers: Vec<Box<dyn Checker>>,
}

impl Checkers {
    /// The checkers of all invariants that the policy of this name promises under `plan`, with
    /// interactive requests that pass at once.
    pub fn of_policy(name: PolicyName, plan: &Plan) -> Self {
        let holds_back = |regulator: &RegulatorName| {
            matches!(regulator, RegulatorName::DepthLimit | RegulatorName::TokensPerTask)
        };
        if plan.regulators.iter().any(holds_back) {
            return Self::of_batches(name, plan);
        }
        let mut checkers = Self::of_depth(plan);
        let is_shaped = is_shaped(plan);
        match name {
            PolicyName::Noop => {
                checkers.add(WorkConservation::new(plan.depth, !is_shaped));
                checkers.add_unless(is_shaped, ReleaseOrder::new(Lines::Common));
            }
            PolicyName::Fifo => {
                checkers.add(WorkConservation::new(1, !is_shaped));
                checkers.add_unless(is_shaped, ReleaseOrder::new(Lines::Common));
                checkers.add(BatchSize::new(1, 1));
                checkers.add(IdleDispatch::default());
            }
            PolicyName::Edf | PolicyName::ScanEdf => {
                checkers.add(WorkConservation::new(1, !is_shaped));
                checkers.add_unless(is_shaped, DueOrder::new(plan.queued_max));
                checkers.add(BatchSize::new(1, 1));
                checkers.add(IdleDispatch::default());
            }
            PolicyName::GroupEdf => {
                checkers.add(WorkConservation::new(1, !is_shaped));
                checkers.add(BatchSize::new(1, 1));
                checkers.add(IdleDispatch::default());
            }
            PolicyName::DqEdf => {
                let is_served = plan.best_effort_fill > 0 && !is_shaped;
                checkers.add(WorkConservation::new(1, is_served));
                checkers.add_unless(is_shaped, DueOrder::new(plan.queued_max));
                checkers.add(BatchSize::new(plan.batch_max, plan.best_effort_fill));
                checkers.add(IdleDispatch::default());
            }
            PolicyName::Dqf => {
                let is_served = plan.best_effort_fill > 0 && !is_shaped;
                checkers.add(WorkConservation::new(1, is_served));
                checkers.add_unless(is_shaped, ReleaseOrder::new(Lines::OfClass));
                checkers.add(BatchSize::new(plan.batch_max, plan.best_effort_fill));
                checkers.add(IdleDispatch::default());
            }
            PolicyName::Rtio | PolicyName::RtioPriority => {
                checkers.add_unless(is_shaped, ClassOrder::new(plan.queued_max));
                checkers.add(BestEffortDepth::new(plan.best_effort_depth));
            }
            PolicyName::RtioDrain | PolicyName::RtioLimit => {
                checkers.add_unless(is_shaped, ClassOrder::new(plan.queued_max));
                checkers.add(BestEffortDepth::new(plan.best_effort_depth));
                checkers.add(RealTimeAlone::default());
            }
            PolicyName::DqfElastic => {
                let is_served = plan.best_effort_fill > 0 && !is_shaped;
                checkers.add(WorkConservation::new(1, is_served));
                checkers.add_unless(is_shaped, ReleaseOrder::new(Lines::OfClass));
                checkers.add(BatchSize::new(plan.table.batch_max(), plan.best_effort_fill));
                checkers.add(ElasticBatch::new(plan));
                checkers.add(IdleDispatch::default());
            }
            PolicyName::Deadline | PolicyName::CfqGrouped => {
                checkers.add(WorkConservation::new(plan.depth, !is_shaped));
            }
            PolicyName::BfqStrict => {
                checkers.add(BatchSize::new(1, 1));
                checkers.add(IdleDispatch::default());
            }
            PolicyName::TokenBucket | PolicyName::Mdn | PolicyName::MdnExtended => {
                checkers.add(WorkConservation::new(plan.depth, false));
            }
            _ => {}
        }
        checkers
    }

    fn add_unless(&mut self, is_waived: bool, checker: impl Checker + 'static) {
        if !is_waived {
            self.add(checker);
        }
    }

    /// Behind a regulator that holds requests back, or hides some of the drive, nothing is
    /// promised of order or idling: what remains is that each is sent once, in which batches.
    fn of_batches(name: PolicyName, plan: &Plan) -> Self {
        let mut checkers = Self::of_depth(plan);
        match name {
            PolicyName::Fifo | PolicyName::BfqStrict => {
                checkers.add(BatchSize::new(1, 1));
                checkers.add(IdleDispatch::default());
            }
            PolicyName::Sstf | PolicyName::Scan | PolicyName::CLook | PolicyName::Satf => {
                checkers.add(WorkConservation::new(1, true));
                checkers.add(BatchSize::new(1, 1));
                checkers.add(IdleDispatch::default());
            }
            PolicyName::Das => {
                // A request that may be dropped may wait on an idle drive.
                if plan.tasks.iter().all(|task| task.quality_ppm == Task::QUALITY_ALL_PPM) {
                    checkers.add(WorkConservation::new(1, false));
                }
                checkers.add(BatchSize::new(1, 1));
                checkers.add(IdleDispatch::default());
            }
            PolicyName::Dqf => {
                checkers.add(BatchSize::new(plan.batch_max, plan.best_effort_fill));
                checkers.add(IdleDispatch::default());
            }
            _ => {}
        }
        checkers
    }

    /// What holds of every policy.
    fn of_depth(plan: &Plan) -> Self {
        let mut checkers = Self::default();
        checkers.add(ExactlyOnce::default());
        if plan.regulators.contains(&RegulatorName::DepthLimit)
            && let Some(limit) = plan.parameters.depth_limit.in_flight_max
        {
            checkers.add(DepthKept::new(limit.get()));
        }
        checkers
    }

    /// One checker more.
    pub fn add(&mut self, checker: impl Checker + 'static) {
        self.checkers.push(Box::new(checker));
    }

    /// How many violations there were, kept or not.
    pub fn violation_count(&self) -> u64 {
        self.checkers.iter().map(|checker| checker.log().count()).sum()
    }

    /// The first violations that each checker found, in order of time.
    pub fn violations(&self) -> Vec<Violation> {
        let kept = self.checkers.iter().flat_map(|checker| checker.log().first());
        let mut violations: Vec<Violation> = kept.cloned().collect();
        violations.sort_by_key(|violation| violation.at);
        violations
    }
}

impl Observer for Checkers {
    fn released(&mut self, now: Time, request: &Request) {
        for checker in &mut self.checkers {
            checker.released(now, request);
        }
    }
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for checker in &mut self.checkers {
            checker.dispatched(now, batch);
        }
    }
    fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        for checker in &mut self.checkers {
            checker.completed(now, request, outcome);
        }
    }
    fn dropped(&mut self, now: Time, request: &Request) {
        for checker in &mut self.checkers {
            checker.dropped(now, request);
        }
    }
    fn settled(&mut self, now: Time) {
        for checker in &mut self.checkers {
            checker.settled(now);
        }
    }
    fn ended(&mut self, now: Time) {
        for checker in &mut self.checkers {
            checker.ended(now);
        }
    }
}

/// Whether best effort is held back above the policy, so that it may wait for an idle drive and
/// be overtaken.
fn is_shaped(plan: &Plan) -> bool {
    let shapers = [RegulatorName::TokenBucket, RegulatorName::Mdn, RegulatorName::MdnExtended];
    plan.regulators.iter().any(|regulator| shapers.contains(regulator))
}

fn is_best_effort(request: &Request) -> bool {
    request.class == Class::BestEffort
}

/// A length as the count that violations carry.
fn count(len: usize) -> u64 {
    u64::try_from(len).expect("a length is below 2^64")
}

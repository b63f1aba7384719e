// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checkers: observers that hold a run against one invariant each, one file for each.
//!
//! They know the rule and not the policy: a checker keeps its own account of what is
//! queued and in flight, from what the host tells every observer. Each has a canary among
//! the tests, a policy that is broken on purpose and must be caught.

mod batch_size;
mod exactly_once;
mod idle_dispatch;
mod release_order;
mod violation;
mod work_conservation;

use model::{Class, Outcome, Plan, PolicyName, Request, Task, Time};

use crate::Observer;

pub use batch_size::BatchSize;
pub use exactly_once::ExactlyOnce;
pub use idle_dispatch::IdleDispatch;
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
    /// The checkers of all invariants that the policy of this name promises under `plan`.
    pub fn of_policy(name: PolicyName, plan: &Plan) -> Self {
        let mut checkers = Self::default();
        checkers.add(ExactlyOnce::default());
        match name {
            PolicyName::Noop => {
                checkers.add(WorkConservation::new(plan.depth, true));
                checkers.add(ReleaseOrder::new(Lines::Common));
            }
            PolicyName::Fifo => {
                checkers.add(WorkConservation::new(1, true));
                checkers.add(ReleaseOrder::new(Lines::Common));
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
                checkers.add(WorkConservation::new(1, plan.best_effort_fill > 0));
                checkers.add(ReleaseOrder::new(Lines::OfClass));
                checkers.add(BatchSize::new(plan.batch_max, plan.best_effort_fill));
                checkers.add(IdleDispatch::default());
            }
            _ => {}
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

fn is_best_effort(request: &Request) -> bool {
    request.class == Class::BestEffort
}

/// A length as the count that violations carry.
fn count(len: usize) -> u64 {
    u64::try_from(len).expect("a length is below 2^64")
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checkers: observers that check a run against one invariant each, one file for each.
//!
//! A checker implements the rule, not the policy: it tracks the queued requests and the requests in
//! flight itself, from the events that the host reports to every observer. Each checker has a
//! canary in the tests: a policy that is broken on purpose and must be caught.

/// Implements [`Checker`] for a type that keeps its violations in its field `log`.
macro_rules! keeps_log {
    ($Checker:ident) => {
        impl $crate::checkers::Checker for $Checker {
            fn log(&self) -> &ViolationLog {
                &self.log
            }
        }
    };
}

mod adaptive_gate;
mod arrivals;
mod batch_size;
mod best_effort_depth;
mod bounded_wait;
mod charge;
mod class_drained;
mod class_order;
mod cost_kept;
mod depth_kept;
mod drain_plan;
mod drain_table;
mod drive_priority;
mod due_order;
mod elastic_batch;
mod exactly_once;
mod expiry;
mod fallback_kept;
mod group_order;
mod head_order;
mod idle_dispatch;
mod overdue_alone;
mod policy_probe;
mod policy_room;
mod position_order;
mod probe;
mod promises;
mod rank_order;
mod rate_kept;
mod real_time_alone;
mod release_order;
mod rounds;
mod slots_kept;
mod steered;
mod strict_classes;
mod supply;
mod sweep_order;
mod time_slices;
mod units;
mod violation;
mod work_conservation;

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_model::{Class, Lba, Outcome, Plan, PolicyName, Request, Time};

use crate::Observer;

pub use adaptive_gate::AdaptiveGate;
pub use batch_size::BatchSize;
pub use best_effort_depth::BestEffortDepth;
pub use bounded_wait::BoundedWait;
pub use class_drained::ClassDrained;
pub use class_order::ClassOrder;
pub use cost_kept::CostKept;
pub use depth_kept::DepthKept;
pub use drain_plan::DrainPlan;
pub use drive_priority::DrivePriority;
pub use due_order::DueOrder;
pub use elastic_batch::ElasticBatch;
pub use exactly_once::ExactlyOnce;
pub use expiry::Expiry;
pub use fallback_kept::FallbackKept;
pub use group_order::GroupOrder;
pub use head_order::{HeadOrder, Sweep};
pub use idle_dispatch::IdleDispatch;
pub use overdue_alone::OverdueAlone;
pub use position_order::{PositionOrder, PositionQueues};
pub use rank_order::{RankOrder, Ranks};
pub use rate_kept::RateKept;
pub use real_time_alone::RealTimeAlone;
pub use release_order::{Lines, ReleaseOrder};
pub use rounds::Rounds;
pub use slots_kept::SlotsKept;
pub use strict_classes::StrictClasses;
pub use sweep_order::SweepOrder;
pub use time_slices::TimeSlices;
pub use violation::{Breach, Violation, ViolationLog};
pub use work_conservation::{Served, WorkConservation};

/// An observer that checks a run against an invariant.
pub trait Checker: Observer {
    /// Returns the violations found.
    fn log(&self) -> &ViolationLog;
}

/// The positions by which a policy orders requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Positions {
    /// Sector numbers.
    Sectors,
    /// Positions that the policy's model of the drive computes.
    OfDrive,
}

/// A set of checkers that acts as one observer.
#[derive(Default)]
pub struct Checkers {
    own: Vec<Box<dyn Checker>>,
    /// The checkers of the policy itself; a probe below its regulators reports to them.
    below: Option<Rc<RefCell<Self>>>,
    /// The checkers of the regulators' rates; a probe on each side reports to them.
    rates: Vec<Rc<RefCell<RateKept>>>,
}

impl Checkers {
    /// Returns the checkers of all claims that the policy of this name makes to the host under
    /// `plan`. They assume a policy that is built without access times, if it can be.
    ///
    /// Regulators hold requests back, pass them on in another order, and may change their class or
    /// hide part of the drive, so few claims to the host remain: see [`Self::watching`] for the
    /// others.
    pub fn of_policy(name: PolicyName, plan: &Plan) -> Self {
        if is_regulated(name, plan) {
            Self::of_regulated(name, plan)
        } else {
            Self::of_bare(name, plan, Positions::Sectors)
        }
    }

    /// Adds a checker.
    pub fn add(&mut self, checker: impl Checker + 'static) {
        self.own.push(Box::new(checker));
    }

    /// Returns the number of all violations, including those not kept.
    pub fn violation_count(&self) -> u64 {
        let below = self.below.as_ref().map_or(0, |below| below.borrow().violation_count());
        let rates = self.rates.iter().map(|rate| rate.borrow().log().count());
        below + rates.chain(self.own.iter().map(|checker| checker.log().count())).sum::<u64>()
    }

    /// Returns the first violations of each checker, in order of time.
    pub fn violations(&self) -> Vec<Violation> {
        let kept = self.own.iter().flat_map(|checker| checker.log().first());
        let mut violations: Vec<Violation> = kept.cloned().collect();
        violations.extend(self.below.iter().flat_map(|below| below.borrow().violations()));
        for rate in &self.rates {
            violations.extend_from_slice(rate.borrow().log().first());
        }
        violations.sort_by_key(|violation| violation.at);
        violations
    }
}

impl Observer for Checkers {
    fn released(&mut self, now: Time, request: &Request) {
        for checker in &mut self.own {
            checker.released(now, request);
        }
    }
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for checker in &mut self.own {
            checker.dispatched(now, batch);
        }
    }
    fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        for checker in &mut self.own {
            checker.completed(now, request, outcome);
        }
    }
    fn dropped(&mut self, now: Time, request: &Request) {
        for checker in &mut self.own {
            checker.dropped(now, request);
        }
    }
    fn settled(&mut self, now: Time) {
        for checker in &mut self.own {
            checker.settled(now);
        }
    }
    fn ended(&mut self, now: Time) {
        for checker in &mut self.own {
            checker.ended(now);
        }
    }
}

/// Returns whether a regulator is between the host and the policy itself.
fn is_regulated(name: PolicyName, plan: &Plan) -> bool {
    tidegate_policy::parts(name).1.is_some() || !plan.regulators.is_empty()
}

fn is_best_effort(request: &Request) -> bool {
    request.class == Class::BestEffort
}

/// Returns the position of the heads after a request.
fn end_of(request: &Request) -> Lba {
    // Saturation is intended: no drive has 2^64 sectors, so such a request ends at the last one.
    Lba::new(request.start.get().saturating_add(request.size.sectors_ceil()))
}

/// Converts a length to the type of counts in violations.
fn count(len: usize) -> u64 {
    u64::try_from(len).expect("a length is below 2^64")
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checkers: observers that hold a run against one invariant each, one file for each.
//!
//! They know the rule and not the policy: a checker keeps its own account of what is
//! queued and in flight, from what the host tells every observer. Each has a canary among
//! the tests, a policy that is broken on purpose and must be caught.

mod arrivals;
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
mod spy;
mod violation;
mod work_conservation;

use std::cell::RefCell;
use std::rc::Rc;

use model::{
    AccessTime, Class, Outcome, Plan, PolicyName, RegulatorName, Request, Sending, Task, Time,
};
use policy::{BuildError, Policy};

use crate::Observer;
use spy::Spy;

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
pub use work_conservation::{Served, WorkConservation};

/// An observer that holds a run against an invariant.
pub trait Checker: Observer {
    /// What it found.
    fn log(&self) -> &ViolationLog;
}

/// Several checkers as one observer.
#[derive(Default)]
pub struct Checkers {
    checkers: Vec<Box<dyn Checker>>,
    /// Those of the policy itself, which a spy below its regulators tells what it sees.
    below: Option<Rc<RefCell<Self>>>,
}

impl Checkers {
    /// The policy of this name with its regulators, and the checkers of all that it promises
    /// under `plan`: of the policy itself by what it sees below its regulators, of the whole
    /// by what the host sees.
    ///
    /// # Errors
    /// [`BuildError`] where the policy needs what is not known of the drive.
    pub fn watching(
        name: PolicyName,
        plan: &Plan,
        access: Option<Box<dyn AccessTime>>,
    ) -> Result<(Box<dyn Policy>, Self), BuildError> {
        let mut checkers = Self::of_policy(name, plan);
        if !is_regulated(name, plan) {
            return Ok((policy::build(name, plan, access)?, checkers));
        }
        let watch = |policy| checkers.watch(name, plan, policy);
        Ok((policy::build_watched(name, plan, access, watch)?, checkers))
    }

    /// `policy` of that name and plan, held to its own rules by what it sees itself. What is
    /// found stands among the violations of these checkers.
    pub fn watch(
        &mut self,
        name: PolicyName,
        plan: &Plan,
        policy: Box<dyn Policy>,
    ) -> Box<dyn Policy> {
        let (name, _) = policy::parts(name);
        let below = Rc::new(RefCell::new(Self::of_bare(name, plan)));
        self.below = Some(Rc::clone(&below));
        Box::new(Spy::new(name, policy, below))
    }

    /// The checkers of all that the policy of this name promises under `plan` to the host.
    ///
    /// Regulators hold requests back, hand them on in another order and may change their class
    /// or hide some of the drive, so little is promised to the host then: see
    /// [`Self::watching`] for the rest.
    pub fn of_policy(name: PolicyName, plan: &Plan) -> Self {
        if is_regulated(name, plan) {
            Self::of_regulated(name, plan)
        } else {
            Self::of_bare(name, plan)
        }
    }

    /// What a policy promises whom nothing is put round.
    fn of_bare(name: PolicyName, plan: &Plan) -> Self {
        let mut checkers = Self::default();
        checkers.add(ExactlyOnce::default());
        let conserves = |served| WorkConservation::new(busy_from(name, plan), served);
        let fill = plan.best_effort_fill;
        match name {
            PolicyName::Noop => {
                checkers.add(conserves(Served::All));
                checkers.add(ReleaseOrder::new(Lines::Common));
            }
            PolicyName::Fifo => {
                checkers.add(conserves(Served::All));
                checkers.add(ReleaseOrder::new(Lines::Common));
                checkers.add_batches(1, 1);
            }
            PolicyName::Edf | PolicyName::ScanEdf => {
                checkers.add(conserves(Served::All));
                checkers.add(DueOrder::new(plan.queued_max));
                checkers.add_batches(1, 1);
            }
            PolicyName::GroupEdf
            | PolicyName::Sstf
            | PolicyName::Scan
            | PolicyName::CLook
            | PolicyName::Satf => {
                checkers.add(conserves(Served::All));
                checkers.add_batches(1, 1);
            }
            PolicyName::Das => {
                // A request that may be dropped may wait on an idle drive.
                if plan.tasks.iter().all(|task| task.quality_ppm == Task::QUALITY_ALL_PPM) {
                    checkers.add(conserves(Served::RealTime));
                }
                checkers.add_batches(1, 1);
            }
            PolicyName::DqEdf => {
                checkers.add(conserves(Served::filling(plan)).with_overruns(plan.table.clone()));
                checkers.add(DueOrder::new(plan.queued_max));
                checkers.add_batches(plan.batch_max, fill);
            }
            PolicyName::Dqf => {
                checkers.add(conserves(Served::filling(plan)).with_overruns(plan.table.clone()));
                checkers.add(ReleaseOrder::new(Lines::OfClass));
                checkers.add_batches(plan.batch_max, fill);
            }
            PolicyName::DqfElastic => {
                checkers.add(conserves(Served::filling(plan)).with_overruns(plan.table.clone()));
                checkers.add(ReleaseOrder::new(Lines::OfClass));
                checkers.add(ElasticBatch::new(plan));
                checkers.add_batches(plan.table.batch_max(), fill);
            }
            PolicyName::Rtio | PolicyName::RtioPriority => {
                checkers.add(ClassOrder::new(plan.queued_max));
                checkers.add(BestEffortDepth::new(plan.best_effort_depth));
            }
            PolicyName::RtioDrain | PolicyName::RtioLimit => {
                checkers.add(ClassOrder::new(plan.queued_max));
                checkers.add(BestEffortDepth::new(plan.best_effort_depth));
                checkers.add(RealTimeAlone::default());
            }
            PolicyName::Deadline | PolicyName::CfqGrouped => checkers.add(conserves(Served::All)),
            PolicyName::BfqStrict => checkers.add_batches(1, 1),
            _ => {}
        }
        checkers
    }

    /// Batches of at most so many, filled up to so many, each to a drained drive.
    fn add_batches(&mut self, batch_max: u32, best_effort_fill: u32) {
        self.add(BatchSize::new(batch_max, best_effort_fill));
        self.add(IdleDispatch::default());
    }

    /// What is left of the promises above regulators: each request is sent once, in batches
    /// whose size is right though nobody here knows the classes in them; and shapers never
    /// hold up what is hard or soft.
    fn of_regulated(name: PolicyName, plan: &Plan) -> Self {
        let mut checkers = Self::default();
        checkers.add(ExactlyOnce::default());
        if plan.regulators.contains(&RegulatorName::DepthLimit)
            && let Some(limit) = plan.parameters.depth_limit.in_flight_max
        {
            checkers.add(DepthKept::new(limit.get()));
        }
        let (name, _) = policy::parts(name);
        let batch_max = match (name.sending(), name) {
            (Sending::OneAtATime, _) => Some(1),
            (Sending::Batches, PolicyName::DqfElastic) => Some(plan.table.batch_max()),
            (Sending::Batches, _) => Some(plan.batch_max),
            (Sending::UpToDepth | Sending::BestEffortDepth, _) => None,
        };
        if let Some(batch_max) = batch_max {
            checkers.add_batches(batch_max, batch_max);
        }
        if conserves_work(name) && plan.regulators.iter().all(is_shaper) {
            checkers.add(WorkConservation::new(busy_from(name, plan), Served::HardAndSoft));
        }
        checkers
    }

    /// One checker more.
    pub fn add(&mut self, checker: impl Checker + 'static) {
        self.checkers.push(Box::new(checker));
    }

    /// How many violations there were, kept or not.
    pub fn violation_count(&self) -> u64 {
        let below = self.below.as_ref().map_or(0, |below| below.borrow().violation_count());
        below + self.checkers.iter().map(|checker| checker.log().count()).sum::<u64>()
    }

    /// The first violations that each checker found, in order of time.
    pub fn violations(&self) -> Vec<Violation> {
        let kept = self.checkers.iter().flat_map(|checker| checker.log().first());
        let mut violations: Vec<Violation> = kept.cloned().collect();
        violations.extend(self.below.iter().flat_map(|below| below.borrow().violations()));
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

/// Whether anything stands between the host and the policy itself.
fn is_regulated(name: PolicyName, plan: &Plan) -> bool {
    policy::parts(name).1.is_some() || !plan.regulators.is_empty()
}

/// Whether a regulator holds back nothing but best effort and interactive requests.
const fn is_shaper(regulator: &RegulatorName) -> bool {
    match regulator {
        RegulatorName::TokenBucket | RegulatorName::Mdn | RegulatorName::MdnExtended => true,
        RegulatorName::DepthLimit | RegulatorName::TokensPerTask => false,
    }
}

/// From how many requests on the drive a policy need not send more.
const fn busy_from(name: PolicyName, plan: &Plan) -> u32 {
    match name.sending() {
        Sending::UpToDepth | Sending::BestEffortDepth => plan.depth,
        Sending::OneAtATime | Sending::Batches => 1,
    }
}

/// Whether a policy never idles while real time waits.
const fn conserves_work(name: PolicyName) -> bool {
    matches!(
        name,
        PolicyName::Noop
            | PolicyName::Fifo
            | PolicyName::Sstf
            | PolicyName::Scan
            | PolicyName::CLook
            | PolicyName::Satf
            | PolicyName::Edf
            | PolicyName::ScanEdf
            | PolicyName::GroupEdf
            | PolicyName::DqEdf
            | PolicyName::Dqf
            | PolicyName::DqfElastic
            | PolicyName::Deadline
            | PolicyName::CfqGrouped
    )
}

fn is_best_effort(request: &Request) -> bool {
    request.class == Class::BestEffort
}

/// A length as the count that violations carry.
fn count(len: usize) -> u64 {
    u64::try_from(len).expect("a length is below 2^64")
}

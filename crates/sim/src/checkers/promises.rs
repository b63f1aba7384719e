// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which invariants hold of which policy: alone, and behind regulators.
//!
//! Apart from the checkers, which know a rule each and no policy.

use tidegate_model::{Plan, PolicyName, RegulatorName, Sending, Task};

use super::{
    BatchSize, BestEffortDepth, Checkers, ClassOrder, CostKept, DepthKept, DueOrder, ElasticBatch,
    ExactlyOnce, IdleDispatch, Lines, RealTimeAlone, ReleaseOrder, Served, WorkConservation,
};

impl Checkers {
    /// What a policy promises whom nothing is put round.
    pub(super) fn of_bare(name: PolicyName, plan: &Plan) -> Self {
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
                let conserves = conserves(Served::filling(plan)).with_overruns(plan.table.clone());
                checkers.add(conserves.with_costs(plan.batch_cost.clone()));
                if let Some(cost_kept) = CostKept::of(plan) {
                    checkers.add(cost_kept);
                }
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
    pub(super) fn of_regulated(name: PolicyName, plan: &Plan) -> Self {
        let mut checkers = Self::default();
        checkers.add(ExactlyOnce::default());
        if plan.regulators.contains(&RegulatorName::DepthLimit)
            && let Some(limit) = plan.parameters.depth_limit.in_flight_max
        {
            checkers.add(DepthKept::new(limit.get()));
        }
        let (name, _) = tidegate_policy::parts(name);
        let batch_max = match (name.sending(), name) {
            (Sending::OneAtATime, _) => Some(1),
            (Sending::Batches, PolicyName::DqfElastic) => Some(plan.table.batch_max()),
            (Sending::Batches, _) => Some(plan.batch_max),
            (Sending::UpToDepth | Sending::BestEffortDepth, _) => None,
        };
        if let Some(batch_max) = batch_max {
            checkers.add_batches(batch_max, batch_max);
        }
        if conserves_work(name) && plan.regulators.iter().copied().all(is_shaper) {
            checkers.add(WorkConservation::new(busy_from(name, plan), Served::HardAndSoft));
        }
        checkers
    }
}

/// Whether a regulator holds back nothing but best effort and interactive requests.
const fn is_shaper(regulator: RegulatorName) -> bool {
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The invariants of each policy: alone, and behind regulators.
//!
//! The checkers implement one rule each and know no policy. Claims that follow from a policy's
//! facts are derived from them here; claims that only its own rule makes are listed here, policy by
//! policy.

use tidegate_model::{
    BatchLimit, BestEffortOrder, ConservesWork, DispatchMode, Plan, PolicyName, RegulatorName, Tag,
    Task,
};

use super::{
    AdaptiveGate, BatchSize, BestEffortDepth, BoundedWait, Checkers, ClassDrained, ClassOrder,
    CostKept, DepthKept, DrainPlan, DrivePriority, DueOrder, ElasticBatch, ExactlyOnce, Expiry,
    FallbackKept, GroupOrder, HeadOrder, IdleDispatch, Lines, OverdueAlone, PositionOrder,
    PositionQueues, Positions, RankOrder, Ranks, RealTimeAlone, ReleaseOrder, Rounds, Served,
    SlotsKept, StrictClasses, Sweep, SweepOrder, TimeSlices, WorkConservation,
};

impl Checkers {
    /// Returns the checkers of a policy without regulators.
    pub(super) fn of_bare(name: PolicyName, plan: &Plan, positions: Positions) -> Self {
        let mut checkers = Self::default();
        checkers.add(ExactlyOnce::default());
        checkers.add(DepthKept::new(plan.depth));
        checkers.add_rule(name, plan, positions);
        if name.facts().best_effort.has_order() {
            checkers.add_order(plan);
        }
        if let Some(served) = served(name, plan) {
            checkers.add(conservation(name, plan, served));
        }
        match name.facts().dispatch {
            DispatchMode::OneAtATime => checkers.add_batches(1, 1),
            DispatchMode::Batches => {
                checkers.add_batches(batch_max(name, plan), plan.best_effort_fill);
            }
            DispatchMode::UpToDepth | DispatchMode::BestEffortDepth => {}
        }
        checkers
    }

    /// Adds the checkers of the policy's own rule, beyond its facts.
    fn add_rule(&mut self, name: PolicyName, plan: &Plan, positions: Positions) {
        let queued_max = plan.queued_max;
        match name {
            PolicyName::Noop | PolicyName::Fifo => self.add(ReleaseOrder::new(Lines::Common)),
            PolicyName::Edf | PolicyName::DqEdf => self.add(DueOrder::new(queued_max)),
            PolicyName::ScanEdf => {
                self.add(DueOrder::in_windows(plan.parameters.scan_edf, queued_max));
            }
            PolicyName::GroupEdf => {
                self.add(GroupOrder::new(plan));
                self.add(RankOrder::new(Ranks::RealTimeFirst, queued_max));
            }
            PolicyName::Sstf => self.add_sweep(Sweep::Nearest, positions, queued_max),
            PolicyName::Scan => self.add_sweep(Sweep::BothWays, positions, queued_max),
            PolicyName::CLook => self.add_sweep(Sweep::OneWay, positions, queued_max),
            PolicyName::Das => self.add(FallbackKept::new(plan)),
            PolicyName::Dqf => {
                self.add(ReleaseOrder::new(Lines::OfRealTime));
                if let Some(cost_kept) = CostKept::of(plan) {
                    self.add(cost_kept);
                }
            }
            PolicyName::DqfElastic => {
                self.add(ReleaseOrder::new(Lines::OfRealTime));
                self.add(ElasticBatch::new(plan));
            }
            PolicyName::Rtio => {
                self.add(ClassOrder::new(queued_max));
                self.add(WorkConservation::new(plan.depth, Served::RealTime));
                self.add(RankOrder::new(Ranks::RealTimeFirst, queued_max));
                self.add(BestEffortDepth::new(plan.best_effort_depth));
                self.add(DrivePriority::new(Tag::Simple));
            }
            PolicyName::RtioPriority => {
                self.add(ClassOrder::new(queued_max));
                self.add(BestEffortDepth::new(plan.best_effort_depth));
                self.add(DrivePriority::new(plan.parameters.rtio_priority.tag.tag()));
                self.add(Rounds::new(plan));
            }
            PolicyName::RtioDrain | PolicyName::RtioLimit => {
                self.add(ClassOrder::new(queued_max));
                self.add(RankOrder::new(Ranks::RealTimeFirst, queued_max));
                self.add(BestEffortDepth::new(plan.best_effort_depth));
                self.add(DrivePriority::new(Tag::Simple));
                self.add(Rounds::new(plan));
                self.add(RealTimeAlone::default());
            }
            PolicyName::RtioSlots => {
                self.add(ClassOrder::new(queued_max));
                self.add(WorkConservation::new(plan.depth, Served::RealTime));
                self.add(RankOrder::new(Ranks::RealTimeFirst, queued_max));
                self.add(SlotsKept::new(plan));
            }
            PolicyName::AdaptiveDrain => {
                self.add(ClassOrder::new(queued_max));
                self.add(RankOrder::new(Ranks::RealTimeFirst, queued_max));
                self.add(AdaptiveGate::new(plan));
                self.add(BestEffortDepth::new(plan.best_effort_depth));
            }
            PolicyName::GatedDrain => {
                self.add(DrainPlan::new(plan));
                self.add(BestEffortDepth::new(plan.best_effort_depth));
            }
            PolicyName::Deadline => {
                self.add(PositionOrder::new(PositionQueues::OfDirection, queued_max));
                self.add(Expiry::new(queued_max));
            }
            PolicyName::DeadlineDrain => {
                self.add(PositionOrder::new(PositionQueues::OfDirection, queued_max));
                self.add(Expiry::new(queued_max));
                self.add(OverdueAlone::new(plan.parameters.deadline_drain.drain_after));
            }
            PolicyName::MqDeadline => {
                self.add(WorkConservation::new(1, Served::All));
                self.add(ClassDrained::default());
                self.add(PositionOrder::new(PositionQueues::OfDirectionAndClass, queued_max));
                self.add(Expiry::new(queued_max).of_one_class());
            }
            PolicyName::MqDeadlineTuned => {
                self.add(DepthKept::new(plan.best_effort_depth));
                self.add(WorkConservation::new(1, Served::All));
                self.add(StrictClasses::new(plan));
            }
            PolicyName::Cfq => {
                self.add(PositionOrder::new(PositionQueues::OfSource, queued_max));
                self.add(TimeSlices::new(queued_max));
            }
            PolicyName::CfqGrouped => {
                self.add(PositionOrder::new(PositionQueues::OfGroup, queued_max));
                self.add(RankOrder::new(Ranks::RealTimeFirst, queued_max));
            }
            PolicyName::BfqStrict => {
                self.add(PositionOrder::new(PositionQueues::OfSource, queued_max));
                self.add(RankOrder::new(Ranks::HardFirst, queued_max));
            }
            // `satf` orders by access time, which no checker knows. The others are shapers around
            // `noop`: a policy below a regulator never has these names.
            PolicyName::Satf
            | PolicyName::TokenBucket
            | PolicyName::Mdn
            | PolicyName::MdnExtended => {}
        }
    }

    /// Adds the checkers of the order in which best effort is served. The order by access time is
    /// not checked, because no checker knows it.
    fn add_order(&mut self, plan: &Plan) {
        let (order, queued_max) = (plan.best_effort_order, plan.queued_max);
        match order {
            BestEffortOrder::Fifo => self.add(ReleaseOrder::new(Lines::OfBestEffort)),
            BestEffortOrder::Elevator => self.add(SweepOrder::new(queued_max)),
            BestEffortOrder::Nearest => {
                self.add(HeadOrder::of_best_effort(Sweep::Nearest, queued_max));
            }
            BestEffortOrder::Satf => {}
        }
        self.add(BoundedWait::new(order, queued_max));
    }

    /// Adds the checker of an order by distance or direction. The order by a drive's cylinders is
    /// not checked, because no checker knows them.
    fn add_sweep(&mut self, sweep: Sweep, positions: Positions, queued_max: u32) {
        match positions {
            Positions::Sectors => self.add(HeadOrder::new(sweep, queued_max)),
            Positions::OfDrive => {}
        }
    }

    /// Adds the checkers of batches of at most `batch_max`, filled up to `best_effort_fill`, each
    /// sent to a drained drive.
    fn add_batches(&mut self, batch_max: u32, best_effort_fill: u32) {
        self.add(BatchSize::new(batch_max, best_effort_fill));
        self.add(IdleDispatch::default());
    }

    /// Adds the checkers of the regulator's own rule.
    fn add_regulator(&mut self, name: RegulatorName, plan: &Plan) {
        match name {
            RegulatorName::DepthLimit => {
                if let Some(limit) = plan.parameters.depth_limit.in_flight_max {
                    self.add(DepthKept::new(limit.get()));
                }
            }
            // No checker above a shaper can tell a delay from a late release. `RateKept` watches
            // shapers from both sides; tests of isolation watch the delays of `tokens-per-task`.
            RegulatorName::TokenBucket
            | RegulatorName::Mdn
            | RegulatorName::MdnExtended
            | RegulatorName::TokensPerTask => {}
        }
    }

    /// Returns the checkers above regulators. Each request is sent once, in batches of correct
    /// size, although the host does not know the classes in them; and shapers never delay hard or
    /// soft requests.
    pub(super) fn of_regulated(name: PolicyName, plan: &Plan) -> Self {
        let mut checkers = Self::default();
        checkers.add(ExactlyOnce::default());
        for &regulator in &plan.regulators {
            checkers.add_regulator(regulator, plan);
        }
        let (name, _) = tidegate_policy::parts(name);
        match name.facts().dispatch {
            DispatchMode::OneAtATime => checkers.add_batches(1, 1),
            DispatchMode::Batches => {
                let batch_max = batch_max(name, plan);
                checkers.add_batches(batch_max, batch_max);
            }
            DispatchMode::UpToDepth | DispatchMode::BestEffortDepth => {}
        }
        if served(name, plan).is_some() && plan.regulators.iter().copied().all(is_shaper) {
            checkers.add(WorkConservation::new(busy_from(name, plan), Served::HardAndSoft));
        }
        checkers
    }
}

/// Returns whether a regulator holds back only best effort and interactive requests.
const fn is_shaper(regulator: RegulatorName) -> bool {
    match regulator {
        RegulatorName::TokenBucket | RegulatorName::Mdn | RegulatorName::MdnExtended => true,
        RegulatorName::DepthLimit | RegulatorName::TokensPerTask => false,
    }
}

/// Returns the most requests in a batch.
fn batch_max(name: PolicyName, plan: &Plan) -> u32 {
    match name.facts().batch_limit {
        BatchLimit::Count | BatchLimit::CountAndCost => plan.batch_max,
        BatchLimit::CountUntilOverload => plan.table.batch_max(),
    }
}

/// Returns the number of requests in flight at which a policy may stop sending.
const fn busy_from(name: PolicyName, plan: &Plan) -> u32 {
    match name.facts().dispatch {
        DispatchMode::UpToDepth => plan.depth,
        DispatchMode::OneAtATime | DispatchMode::Batches | DispatchMode::BestEffortDepth => 1,
    }
}

/// Returns the requests that a policy never leaves waiting while the drive has room; `None` if it
/// may leave any.
fn served(name: PolicyName, plan: &Plan) -> Option<Served> {
    match name.facts().conserves_work {
        ConservesWork::All => Some(Served::All),
        ConservesWork::Filled => Some(Served::filling(plan)),
        ConservesWork::RealTime => Some(Served::RealTime),
        ConservesWork::RealTimeOfTasks => Some(Served::RealTimeOfTasks(plan.tasks.len())),
        // A request that may be dropped can wait while the drive is idle.
        ConservesWork::RealTimeAtFullQuality => {
            let is_full = |task: &Task| task.quality_ppm == Task::QUALITY_ALL_PPM;
            plan.tasks.iter().all(is_full).then_some(Served::RealTime)
        }
        ConservesWork::Nothing => None,
    }
}

/// Returns the checker of work conservation; best effort yields after late batches.
fn conservation(name: PolicyName, plan: &Plan, served: Served) -> WorkConservation {
    let conserves = WorkConservation::new(busy_from(name, plan), served);
    let facts = name.facts();
    let conserves = match facts.dispatch {
        DispatchMode::Batches => conserves.with_overruns(plan.table.clone()),
        DispatchMode::UpToDepth | DispatchMode::OneAtATime | DispatchMode::BestEffortDepth => {
            return conserves;
        }
    };
    match facts.batch_limit {
        BatchLimit::CountAndCost => conserves.with_costs(plan.batch_cost.clone()),
        BatchLimit::Count | BatchLimit::CountUntilOverload => conserves,
    }
}

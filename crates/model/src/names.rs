// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The names of policies, which are fixed because files and scripts use them, and the facts of each
//! policy.

use crate::facts::{
    BestEffortQueue, ConservesWork, DispatchMode, Knowledge, PolicyFacts, Theorem, UnprovedDepth,
    proved, reason, shaped, unproved,
};
use crate::regulator::RegulatorName;

names! {
    /// The policies, by the names that files and scripts use.
    pub enum PolicyName {
        /// FIFO up to the drive's depth.
        Noop => "noop",
        /// FIFO one at a time.
        Fifo => "fifo",
        /// Shortest seek first, one at a time.
        Sstf => "sstf",
        /// The elevator, both directions, one at a time.
        Scan => "scan",
        /// The elevator in one direction, one at a time.
        CLook => "c-look",
        /// Shortest access time first, one at a time.
        Satf => "satf",
        /// Shortest access time among the requests that leave every deadline feasible.
        Das => "das",
        /// Earliest deadline first, one at a time.
        Edf => "edf",
        /// Earliest deadline first; deadlines in the same window by position.
        ScanEdf => "scan-edf",
        /// Groups of near deadlines; within a group the smallest or the nearest request first.
        GroupEdf => "g-edf",
        /// Dual-queue batches in order of deadline.
        DqEdf => "dq-edf",
        /// Class priority, FIFO within a class, no merging.
        Rtio => "rtio",
        /// As `rtio`, but nothing is sent while a real-time request is on the drive.
        RtioDrain => "rtio-drain",
        /// As `rtio-drain`, with no more best effort on the drive than the deadlines allow.
        RtioLimit => "rtio-limit",
        /// As `rtio`, with slots of the drive's queue reserved for real time.
        RtioSlots => "rtio-slots",
        /// Class priority by the drive's own priority.
        RtioPriority => "rtio-priority",
        /// Best effort is sent until the latest safe instant, for one real-time task.
        AdaptiveDrain => "adaptive-drain",
        /// As `adaptive-drain`, for many tasks.
        GatedDrain => "gated-drain",
        /// Dual-queue FIFO.
        Dqf => "dqf",
        /// Dual-queue FIFO whose batches grow while an overload lasts.
        DqfElastic => "dqf-elastic",
        /// Best effort shaped at a fixed rate.
        TokenBucket => "token-bucket",
        /// Best effort shaped by missed-deadline notices.
        Mdn => "mdn",
        /// As `mdn`, but the rate grows only when a stream ends.
        MdnExtended => "mdn-extended",
        /// A model of Linux `deadline`.
        Deadline => "deadline",
        /// As `deadline`, but nothing is sent while a request has been on the drive too long.
        DeadlineDrain => "deadline-drain",
        /// A model of Linux `cfq`.
        Cfq => "cfq",
        /// A model of Linux `cfq` with a patch that keeps two groups of requests.
        CfqGrouped => "cfq-grouped",
        /// A model of Linux `mq-deadline`.
        MqDeadline => "mq-deadline",
        /// Linux `mq-deadline` with chosen settings: strict classes, a limited device queue.
        MqDeadlineTuned => "mq-deadline-tuned",
        /// A model of Linux `bfq` in its strict mode.
        BfqStrict => "bfq-strict",
    }
}

impl PolicyName {
    /// Returns the facts that distinguish this policy from the others. Code that must tell policies
    /// apart uses them, so a new policy cannot get a property by accident.
    #[rustfmt::skip]
    pub const fn facts(self) -> PolicyFacts {
        use ConservesWork as Conserves;
        use DispatchMode::{BestEffortDepth, OneAtATime, UpToDepth};
        use Knowledge::{AccessTimes, DrainTimes, Nothing};
        use UnprovedDepth::{BesideTasks, Stated, WithinDeadlines};
        match self {
            // A policy with a bound has the facts of its theorem. Columns of the other rows:
            // dispatch, the reason for no bound, conserved work, required knowledge of the drive.
            Self::Noop => PolicyFacts {
                has_common_queue: true,
                ..unproved(UpToDepth, reason::NOOP, Conserves::All, Nothing)
            },
            Self::Fifo => proved(Theorem::Fifo),
            Self::Sstf => PolicyFacts {
                wants_choice: true,
                ..unproved(OneAtATime, reason::SSTF, Conserves::All, Nothing).by_position()
            },
            Self::Scan | Self::CLook => {
                unproved(OneAtATime, reason::ELEVATOR, Conserves::All, Nothing).by_position()
            }
            Self::Satf => PolicyFacts {
                wants_choice: true,
                ..unproved(OneAtATime, reason::SATF, Conserves::All, AccessTimes).by_position()
            },
            Self::Das => PolicyFacts {
                best_effort: BestEffortQueue::OwnRule,
                wants_choice: true,
                ..proved(Theorem::ActiveSubset).by_position()
            },
            Self::Edf => proved(Theorem::Edf),
            Self::ScanEdf => proved(Theorem::EdfInWindows).by_position(),
            Self::GroupEdf => PolicyFacts {
                best_effort: BestEffortQueue::Held,
                ..unproved(OneAtATime, reason::GROUP_EDF, Conserves::All, Nothing).by_position()
            },
            Self::DqEdf => proved(Theorem::DualQueueEdf),
            Self::Rtio => PolicyFacts {
                best_effort: BestEffortQueue::BesideRealTime,
                unproved_depth: BesideTasks,
                ..proved(Theorem::Starvation)
            },
            Self::RtioDrain => PolicyFacts { unproved_depth: BesideTasks, ..proved(Theorem::DrainRounds) },
            Self::RtioLimit => PolicyFacts { unproved_depth: BesideTasks, ..proved(Theorem::LimitedDrainRounds) },
            Self::RtioPriority => PolicyFacts { unproved_depth: BesideTasks, ..proved(Theorem::PriorityRounds) },
            Self::RtioSlots => PolicyFacts {
                best_effort: BestEffortQueue::BesideRealTime,
                unproved_depth: WithinDeadlines,
                ..unproved(BestEffortDepth, reason::RTIO_SLOTS, Conserves::RealTime, DrainTimes)
            },
            Self::AdaptiveDrain => proved(Theorem::AdaptiveDrain),
            Self::GatedDrain => proved(Theorem::GatedDrain),
            Self::Dqf => proved(Theorem::DualQueue),
            Self::DqfElastic => proved(Theorem::ElasticDualQueue),
            Self::TokenBucket => shaped(RegulatorName::TokenBucket),
            Self::Mdn => shaped(RegulatorName::Mdn),
            Self::MdnExtended => shaped(RegulatorName::MdnExtended),
            Self::Deadline => unproved(UpToDepth, reason::DEADLINE, Conserves::All, Nothing).by_position(),
            Self::DeadlineDrain => unproved(UpToDepth, reason::DEADLINE_DRAIN, Conserves::Nothing, Nothing).by_position(),
            Self::Cfq => unproved(UpToDepth, reason::CFQ, Conserves::Nothing, Nothing).by_position(),
            Self::CfqGrouped => unproved(UpToDepth, reason::CFQ_GROUPED, Conserves::All, Nothing).by_position(),
            Self::MqDeadline => unproved(UpToDepth, reason::MQ_DEADLINE, Conserves::Nothing, Nothing).by_position(),
            Self::MqDeadlineTuned => PolicyFacts {
                best_effort: BestEffortQueue::OwnRule,
                unproved_depth: Stated,
                ..proved(Theorem::StrictClasses).by_position()
            },
            Self::BfqStrict => unproved(OneAtATime, reason::BFQ_STRICT, Conserves::Nothing, Nothing).by_position(),
        }
    }
}

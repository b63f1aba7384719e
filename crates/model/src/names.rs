// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The names of policies and regulators, which are fixed because files and scripts use them, and
//! the facts of each policy.

use crate::contracts::DriveContract;
use crate::facts::{
    BatchLimit, ConservesWork, Deadlines, DispatchMode, Knowledge, PolicyFacts, Theorem,
    UnprovedDepth, row, shaped, unproved,
};

/// Defines an enum of names: its variants, the list `ALL`, and their texts.
#[macro_export]
macro_rules! names {
    (
        $(#[$about:meta])*
        pub enum $Name:ident { $($(#[$rule:meta])* $Variant:ident => $text:literal,)+ }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $Name { $($(#[$rule])* $Variant,)+ }

        impl $Name {
            /// All names, in the order in which help and messages list them.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$Variant),+];

            /// Returns the name in files and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $text,)+ }
            }

            /// Returns the variant with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.name() == name)
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

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
        /// Earliest deadline first, equal deadlines by position.
        ScanEdf => "scan-edf",
        /// Groups of near deadlines; within a group the nearest request first.
        GroupEdf => "g-edf",
        /// Dual-queue batches in order of deadline.
        DqEdf => "dq-edf",
        /// Class priority, FIFO within a class, no merging.
        Rtio => "rtio",
        /// As `rtio`, but nothing is sent while a real-time request is on the drive.
        RtioDrain => "rtio-drain",
        /// As `rtio`, with best effort no deeper than the deadline allows.
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
        /// A model of Linux `cfq`.
        Cfq => "cfq",
        /// A model of Linux `cfq`, patched to two groups.
        CfqGrouped => "cfq-grouped",
        /// A model of Linux `mq-deadline`.
        MqDeadline => "mq-deadline",
        /// A model of Linux `bfq` in its strict mode.
        BfqStrict => "bfq-strict",
    }
}

names! {
    /// The regulators, which wrap a policy and decide when requests reach it.
    pub enum RegulatorName {
        /// Limits the requests on the drive.
        DepthLimit => "depth-limit",
        /// Limits best effort to a fixed rate.
        TokenBucket => "token-bucket",
        /// Limits best effort to a rate that missed-deadline notices control.
        Mdn => "mdn",
        /// As `mdn`, but the rate grows only when a stream ends.
        MdnExtended => "mdn-extended",
        /// Limits each task by its own tokens: a task delays only itself.
        TokensPerTask => "tokens-per-task",
    }
}

impl PolicyName {
    /// Returns the facts that distinguish this policy from the others. Code that must tell policies
    /// apart uses them, so a new policy cannot get a property by accident.
    #[rustfmt::skip]
    pub const fn facts(self) -> PolicyFacts {
        use ConservesWork as Conserves;
        use Deadlines::{Decide, Ignored};
        use DispatchMode::{Batches, BestEffortDepth, OneAtATime, UpToDepth};
        use DriveContract as Contract;
        use Knowledge::{AccessTimes, DrainTimes, Nothing};
        match self {
            // Columns: dispatch, theorem or the reason for none, contract of the drive, deadlines,
            // conserved work, required knowledge of the drive.
            Self::Noop => PolicyFacts {
                has_common_queue: true,
                ..row(UpToDepth, Err(unproved::NOOP), None, Ignored, Conserves::All, Nothing)
            },
            Self::Fifo => PolicyFacts {
                has_common_queue: true,
                ..row(OneAtATime, Ok(Theorem::Fifo), Some(Contract::Batches), Ignored, Conserves::All, Nothing)
            },
            Self::Sstf => PolicyFacts {
                wants_choice: true,
                ..row(OneAtATime, Err(unproved::SSTF), None, Ignored, Conserves::All, Nothing)
            },
            Self::Scan | Self::CLook => row(OneAtATime, Err(unproved::ELEVATOR), None, Ignored, Conserves::All, Nothing),
            Self::Satf => PolicyFacts {
                wants_choice: true,
                ..row(OneAtATime, Err(unproved::SATF), None, Ignored, Conserves::All, AccessTimes)
            },
            Self::Das => PolicyFacts {
                wants_choice: true,
                ..row(OneAtATime, Ok(Theorem::ActiveSubset), Some(Contract::Batches), Decide, Conserves::RealTimeAtFullQuality, AccessTimes)
            },
            Self::Edf | Self::ScanEdf => row(OneAtATime, Ok(Theorem::Edf), Some(Contract::Batches), Decide, Conserves::All, Nothing),
            Self::GroupEdf => row(OneAtATime, Err(unproved::GROUP_EDF), None, Decide, Conserves::All, Nothing),
            Self::DqEdf => row(Batches, Ok(Theorem::DualQueueEdf), Some(Contract::Batches), Decide, Conserves::Filled, Nothing),
            Self::Rtio => PolicyFacts {
                unproved_depth: UnprovedDepth::BesideTasks,
                ..row(BestEffortDepth, Ok(Theorem::Starvation), Some(Contract::Starvation), Ignored, Conserves::RealTime, Nothing)
            },
            Self::RtioDrain => PolicyFacts {
                unproved_depth: UnprovedDepth::BesideTasks,
                ..row(BestEffortDepth, Ok(Theorem::DrainRounds), Some(Contract::Drain), Ignored, Conserves::RealTime, Nothing)
            },
            Self::RtioLimit => PolicyFacts {
                unproved_depth: UnprovedDepth::BesideTasks,
                ..row(BestEffortDepth, Ok(Theorem::LimitedDrainRounds), Some(Contract::Drain), Ignored, Conserves::RealTime, Nothing)
            },
            Self::RtioSlots => PolicyFacts {
                unproved_depth: UnprovedDepth::WithinDeadlines,
                ..row(BestEffortDepth, Err(unproved::RTIO_SLOTS), Some(Contract::Drain), Decide, Conserves::RealTime, DrainTimes)
            },
            Self::RtioPriority => PolicyFacts {
                unproved_depth: UnprovedDepth::BesideTasks,
                ..row(BestEffortDepth, Ok(Theorem::PriorityRounds), Some(Contract::Priority), Ignored, Conserves::RealTime, Nothing)
            },
            Self::AdaptiveDrain => row(BestEffortDepth, Ok(Theorem::AdaptiveDrain), Some(Contract::Drain), Decide, Conserves::RealTime, DrainTimes),
            Self::GatedDrain => row(BestEffortDepth, Ok(Theorem::GatedDrain), Some(Contract::Drain), Decide, Conserves::RealTimeOfTasks, DrainTimes),
            Self::Dqf => PolicyFacts {
                batch_limit: BatchLimit::CountAndCost,
                ..row(Batches, Ok(Theorem::DualQueue), Some(Contract::Batches), Ignored, Conserves::Filled, Nothing)
            },
            Self::DqfElastic => PolicyFacts {
                batch_limit: BatchLimit::CountUntilOverload,
                ..row(Batches, Ok(Theorem::ElasticDualQueue), Some(Contract::Batches), Ignored, Conserves::Filled, Nothing)
            },
            Self::TokenBucket => shaped(RegulatorName::TokenBucket),
            Self::Mdn => shaped(RegulatorName::Mdn),
            Self::MdnExtended => shaped(RegulatorName::MdnExtended),
            Self::Deadline => row(UpToDepth, Err(unproved::DEADLINE), None, Ignored, Conserves::All, Nothing),
            Self::Cfq => row(UpToDepth, Err(unproved::CFQ), None, Ignored, Conserves::Nothing, Nothing),
            Self::CfqGrouped => row(UpToDepth, Err(unproved::CFQ_GROUPED), None, Ignored, Conserves::All, Nothing),
            Self::MqDeadline => row(UpToDepth, Err(unproved::MQ_DEADLINE), None, Ignored, Conserves::Nothing, Nothing),
            Self::BfqStrict => row(OneAtATime, Err(unproved::BFQ_STRICT), None, Ignored, Conserves::Nothing, Nothing),
        }
    }
}

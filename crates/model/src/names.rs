// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The names of policies and regulators, fixed because files and scripts use them,
//! and beside each policy's name the row of its facts.

use crate::contracts::DriveContract;
use crate::facts::{
    BatchLimit, ConservesWork, Deadlines, DispatchMode, Knowledge, PolicyFacts, Theorem,
    UnprovedDepth, row, shaped, unproved,
};

/// An enum of names: its variants, `ALL` of them, and their texts, written once.
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
            /// All of them, in the order in which they are listed to people.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$Variant),+];

            /// The name in files and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $text,)+ }
            }

            /// The one of that name.
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
        /// The elevator, one at a time.
        Scan => "scan",
        /// The elevator that works in one direction, one at a time.
        CLook => "c-look",
        /// Shortest access time first, one at a time.
        Satf => "satf",
        /// Shortest access time among those that leave every deadline feasible.
        Das => "das",
        /// Earliest deadline first, one at a time.
        Edf => "edf",
        /// Earliest deadline first, equal deadlines by position.
        ScanEdf => "scan-edf",
        /// Groups of near deadlines, inside a group the nearest first.
        GroupEdf => "g-edf",
        /// Dual-queue batches in order of deadline.
        DqEdf => "dq-edf",
        /// Class priority, FIFO inside a class, no merging.
        Rtio => "rtio",
        /// The same, nothing sent while a real-time request is on the drive.
        RtioDrain => "rtio-drain",
        /// The same with best effort no deeper than the deadline allows.
        RtioLimit => "rtio-limit",
        /// The same with slots of the drive's queue reserved for real time.
        RtioSlots => "rtio-slots",
        /// Class priority by the drive's own.
        RtioPriority => "rtio-priority",
        /// Best effort flows until the latest safe instant, for one real-time task.
        AdaptiveDrain => "adaptive-drain",
        /// The same for many.
        GatedDrain => "gated-drain",
        /// Dual-queue FIFO.
        Dqf => "dqf",
        /// Dual-queue FIFO whose batches grow while an overload lasts.
        DqfElastic => "dqf-elastic",
        /// Best effort shaped at a fixed rate.
        TokenBucket => "token-bucket",
        /// Best effort shaped by missed-deadline notices.
        Mdn => "mdn",
        /// The same, growing only when a stream ends.
        MdnExtended => "mdn-extended",
        /// Linux `deadline`, a model.
        Deadline => "deadline",
        /// Linux `cfq`, a model.
        Cfq => "cfq",
        /// Linux `cfq` patched to two groups, a model.
        CfqGrouped => "cfq-grouped",
        /// Linux `mq-deadline`, a model.
        MqDeadline => "mq-deadline",
        /// Linux `bfq` in its strict mode, a model.
        BfqStrict => "bfq-strict",
    }
}

names! {
    /// What may be wrapped round a policy to say when requests reach it.
    pub enum RegulatorName {
        /// No more on the drive than so many.
        DepthLimit => "depth-limit",
        /// Best effort at a fixed rate.
        TokenBucket => "token-bucket",
        /// Best effort at a rate that missed-deadline notices steer.
        Mdn => "mdn",
        /// The same, growing only when a stream ends.
        MdnExtended => "mdn-extended",
        /// A token regulator for each task: a task delays only itself.
        TokensPerTask => "tokens-per-task",
    }
}

impl PolicyName {
    /// What distinguishes this policy from the others. Code that must tell policies apart asks
    /// here, so a new policy has no property that nobody gave it.
    #[rustfmt::skip]
    pub const fn facts(self) -> PolicyFacts {
        use ConservesWork as Conserves;
        use Deadlines::{Decide, Ignored};
        use DispatchMode::{Batches, BestEffortDepth, OneAtATime, UpToDepth};
        use DriveContract as Contract;
        use Knowledge::{AccessTimes, DrainTimes, Nothing};
        match self {
            // Policy: dispatch, theorem or why there is none, contract of the drive, deadlines,
            // work that it conserves, what it must know of the drive.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The names of policies and regulators, fixed because files and scripts use them.

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

/// How much a policy has on the drive at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sending {
    /// Whatever comes, up to the drive's depth.
    UpToDepth,
    /// One request.
    OneAtATime,
    /// A batch, sent to an idle drive; nothing joins it.
    Batches,
    /// Real-time requests as the policy says, best effort up to a depth of its own.
    BestEffortDepth,
}

impl PolicyName {
    /// How much it has on the drive at once.
    pub const fn sending(self) -> Sending {
        match self {
            Self::Noop
            | Self::TokenBucket
            | Self::Mdn
            | Self::MdnExtended
            | Self::Deadline
            | Self::Cfq
            | Self::CfqGrouped
            | Self::MqDeadline => Sending::UpToDepth,
            Self::Fifo
            | Self::Sstf
            | Self::Scan
            | Self::CLook
            | Self::Satf
            | Self::Das
            | Self::Edf
            | Self::ScanEdf
            | Self::GroupEdf
            | Self::BfqStrict => Sending::OneAtATime,
            Self::DqEdf | Self::Dqf | Self::DqfElastic => Sending::Batches,
            Self::Rtio
            | Self::RtioDrain
            | Self::RtioLimit
            | Self::RtioSlots
            | Self::RtioPriority
            | Self::AdaptiveDrain
            | Self::GatedDrain => Sending::BestEffortDepth,
        }
    }
}

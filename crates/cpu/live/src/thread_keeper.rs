// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rules of a thread, by the kind of its server.

use tidegate_cpu_model::{ServerKind, ServerParams};

use super::keeper::{Keeper, KeeperCounts, KeeperLimits, Order, Sample};
use super::polling::PollingKeeper;

/// The rules of one thread.
pub enum ThreadKeeper {
    /// A sporadic server or a hybrid.
    Sporadic(Keeper),
    /// A polling server.
    Polling(PollingKeeper),
}

impl ThreadKeeper {
    /// Creates the rules of a kind of server, for a thread whose execution so far is in `first`;
    /// `None` if the kind guarantees nothing to other threads ([`Self::can_keep`]).
    ///
    /// # Panics
    /// If the parameters are invalid ([`ServerParams::checked`]).
    pub fn new(params: &ServerParams, limits: KeeperLimits, first: Sample) -> Option<Self> {
        match params.kind {
            ServerKind::Polling => Some(Self::Polling(PollingKeeper::new(params, limits, first))),
            ServerKind::Sporadic | ServerKind::HybridImmediate | ServerKind::HybridGradual => {
                Some(Self::Sporadic(Keeper::new(params, limits, first)))
            }
            ServerKind::FixedPriority
            | ServerKind::Deferrable
            | ServerKind::Spsl
            | ServerKind::PosixSporadic
            | ServerKind::PosixSporadicStrict => None,
        }
    }

    /// Returns whether a thread can have a server of this kind: only kinds that guarantee something
    /// to other threads are accepted.
    pub const fn can_keep(kind: ServerKind) -> bool {
        kind.is_like_a_periodic_task()
    }

    /// Processes a sample and returns what to do.
    pub fn look(&mut self, sample: Sample) -> Order {
        match self {
            Self::Sporadic(keeper) => keeper.look(sample),
            Self::Polling(keeper) => keeper.look(sample),
        }
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> KeeperCounts {
        match self {
            Self::Sporadic(keeper) => keeper.counts(),
            Self::Polling(keeper) => keeper.counts(),
        }
    }
}

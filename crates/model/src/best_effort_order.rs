// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The order in which a policy serves best effort.

names! {
    /// The orders of best effort, by the names that files use. No bound depends on the order.
    pub enum BestEffortOrder {
        /// In the order of release.
        Fifo => "fifo",
        /// By rising position, then again from the lowest (C-LOOK), with a bound on waiting.
        Elevator => "elevator",
        /// The request nearest to the previous one first; requests can starve.
        Nearest => "nearest",
        /// The request with the shortest access time first; requests can starve. Access times must
        /// be known.
        Satf => "satf",
    }
}

impl BestEffortOrder {
    /// Returns whether the order needs a model of the drive that estimates access times.
    pub const fn needs_access_times(self) -> bool {
        match self {
            Self::Satf => true,
            Self::Fifo | Self::Elevator | Self::Nearest => false,
        }
    }

    /// Returns whether positions decide which request is next.
    pub const fn is_by_position(self) -> bool {
        match self {
            Self::Elevator | Self::Nearest | Self::Satf => true,
            Self::Fifo => false,
        }
    }

    /// Returns the largest number of best-effort requests that can be served before one that has
    /// arrived, while at most `queued_max` best-effort requests, including this one, are queued;
    /// `None` if no number bounds them.
    ///
    /// # Source
    /// Own derivation, `docs/theory/draining.md` section 29.
    pub const fn overtaken_max(self, queued_max: u64) -> Option<u64> {
        match self {
            Self::Fifo => Some(queued_max.saturating_sub(1)),
            Self::Elevator if queued_max <= 1 => Some(0),
            // Saturation is safe: no queue reaches a bound that a u64 cannot hold.
            Self::Elevator => Some(queued_max.saturating_mul(4).saturating_sub(2)),
            Self::Nearest | Self::Satf => None,
        }
    }

    /// Returns a description of the order, for reports.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Fifo => "in the order of release",
            Self::Elevator => "by rising position",
            Self::Nearest => "the nearest request first",
            Self::Satf => "the shortest access time first",
        }
    }
}

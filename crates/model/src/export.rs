// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a service offers: exports, each a part of one store with a contract or without.

use crate::task::Op;
use crate::units::{Bandwidth, Bytes, Duration};

/// What becomes of a request beyond the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Beyond {
    /// It waits until the contract allows it.
    #[default]
    Wait,
    /// It is served as best effort.
    BestEffort,
}

/// What an export may ask for and count on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportContract {
    /// So many requests ..
    pub requests: u32,
    /// .. in any window of this length ..
    pub period: Duration,
    /// .. are each answered within this time.
    pub deadline: Duration,
    /// The largest of them: larger calls are cut and count as several.
    pub size_max: Bytes,
    /// What they may do; none: read and write.
    pub op: Option<Op>,
    /// What becomes of the others.
    pub beyond: Beyond,
}

/// What an export without a contract gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BestEffortShare {
    /// Its share of what is left, relative to other exports.
    pub weight: u32,
    /// A rate that it never exceeds for long.
    pub limit: Option<Bandwidth>,
}

impl Default for BestEffortShare {
    fn default() -> Self {
        Self { weight: 1, limit: None }
    }
}

/// A part of the store under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportSpec {
    /// What clients call it.
    pub name: String,
    /// Where it begins in the store.
    pub offset: Bytes,
    /// How much it holds.
    pub size: Bytes,
    /// None: best effort only.
    pub contract: Option<ExportContract>,
    /// How it shares what contracts leave.
    pub share: BestEffortShare,
    /// Nothing is ever written to it.
    pub is_read_only: bool,
}

/// The part of the store that a new export asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportPlace {
    /// Where there is room.
    Free {
        /// How much it holds.
        size: Bytes,
    },
    /// Just there.
    At {
        /// Where it begins in the store.
        offset: Bytes,
        /// How much it holds.
        size: Bytes,
    },
    /// All of the store, which is then only read.
    Whole,
}

/// An export that has no place yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewExport {
    /// What clients will call it.
    pub name: String,
    /// What part of the store it asks for.
    pub place: ExportPlace,
    /// None: best effort only.
    pub contract: Option<ExportContract>,
    /// How it shares what contracts leave.
    pub share: BestEffortShare,
    /// Nothing is ever written to it.
    pub is_read_only: bool,
}

impl NewExport {
    pub(crate) fn of(spec: ExportSpec, place: ExportPlace) -> Self {
        let ExportSpec { name, contract, share, is_read_only, .. } = spec;
        Self { name, place, contract, share, is_read_only }
    }

    /// The export at this place.
    pub(crate) fn at(&self, offset: Bytes, size: Bytes) -> ExportSpec {
        let Self { name, contract, share, is_read_only, .. } = self.clone();
        ExportSpec { name, offset, size, contract, share, is_read_only }
    }
}

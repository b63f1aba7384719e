// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exports of a service, each a part of one store, with or without a contract.

use crate::task::Op;
use crate::units::{Bandwidth, Bytes, Duration};

/// The handling of requests that exceed the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Beyond {
    /// The request waits until the contract allows it.
    #[default]
    Wait,
    /// The request is served as best effort.
    BestEffort,
}

/// The terms of an export's contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportContract {
    /// The maximum number of requests in any window of one period.
    pub requests: u32,
    /// The length of the window.
    pub period: Duration,
    /// The longest permitted response time of a request within the contract.
    pub deadline: Duration,
    /// The largest size of a request: larger calls are cut and count as several requests.
    pub size_max: Bytes,
    /// The allowed operation; `None` allows read and write.
    pub op: Option<Op>,
    /// The handling of requests that exceed the contract.
    pub beyond: Beyond,
}

/// The share of an export's best-effort requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BestEffortShare {
    /// The weight of the export's best effort, relative to other exports.
    pub weight: u32,
    /// The highest long-term rate of the export's best effort.
    pub limit: Option<Bandwidth>,
}

impl Default for BestEffortShare {
    fn default() -> Self {
        Self { weight: 1, limit: None }
    }
}

/// A named part of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportSpec {
    /// The name that clients use.
    pub name: String,
    /// The offset of the export's first byte in the store.
    pub offset: Bytes,
    /// The size of the export.
    pub size: Bytes,
    /// The export's contract; `None` for best effort only.
    pub contract: Option<ExportContract>,
    /// Whether the export is soft real time: its client may miss deadlines and reports its misses.
    /// With a contract, its deadlines need no proof. Without one, it is a stream without figures:
    /// nothing limits its requests, and no proof covers them.
    pub is_soft: bool,
    /// The export's share of the time that contracts leave.
    pub share: BestEffortShare,
    /// Whether the export refuses writes.
    pub is_read_only: bool,
}

impl ExportSpec {
    /// Returns whether the export's contract is a promise, which needs a proof.
    pub fn is_promised(&self) -> bool {
        self.contract.is_some() && !self.is_soft
    }

    /// Returns whether any of the export's requests is real time.
    pub fn is_real_time(&self) -> bool {
        self.contract.is_some() || self.is_soft
    }

    /// Returns whether the export's requests are soft real time without a limit: no proof covers
    /// them.
    pub fn is_undeclared_stream(&self) -> bool {
        self.contract.is_none() && self.is_soft
    }
}

/// The part of the store that a new export requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportPlace {
    /// Any part with enough room.
    Free {
        /// The size of the export.
        size: Bytes,
    },
    /// Exactly this part.
    At {
        /// The offset of the export's first byte in the store.
        offset: Bytes,
        /// The size of the export.
        size: Bytes,
    },
    /// The whole store, for reading only.
    Whole,
}

/// An export that has no place in the store yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewExport {
    /// The name that clients will use.
    pub name: String,
    /// The requested part of the store.
    pub place: ExportPlace,
    /// The export's contract; `None` for best effort only.
    pub contract: Option<ExportContract>,
    /// Whether the export is soft real time; see [`ExportSpec::is_soft`].
    pub is_soft: bool,
    /// The export's share of the time that contracts leave.
    pub share: BestEffortShare,
    /// Whether the export refuses writes.
    pub is_read_only: bool,
}

impl NewExport {
    pub(crate) fn of(spec: ExportSpec, place: ExportPlace) -> Self {
        let ExportSpec { name, contract, is_soft, share, is_read_only, .. } = spec;
        Self { name, place, contract, is_soft, share, is_read_only }
    }

    /// Returns the export at this place.
    pub(crate) fn at(&self, offset: Bytes, size: Bytes) -> ExportSpec {
        let Self { name, contract, is_soft, share, is_read_only, .. } = self.clone();
        ExportSpec { name, offset, size, contract, is_soft, share, is_read_only }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[[single]]`, `[[throughput]]` and `[[mixed]]` of a drive file: observations, not bounds.
//!
//! No bound is computed from them; the times of `[[mixed]]` only check the cost model. They
//! describe the usual behaviour of a drive: how long one request takes, and how much throughput
//! best effort can expect.

use serde::{Deserialize, Serialize, Serializer};

use super::limits::TIME_NS_MAX;
use super::places::{self, FamilyTimes};
use super::tables::MeasuredTable;
use crate::task::Op;
use crate::units::{Bytes, Duration};

/// Times of one random request on an idle device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SingleTimes {
    /// Read or write.
    pub op: Op,
    /// Size of every request.
    #[serde(serialize_with = "as_text")]
    pub size: Bytes,
    /// Number of requests measured.
    pub samples: u64,
    /// The longest time, in ns.
    pub ns_max: u64,
    /// Quantiles in the order of [`MeasuredTable::LEVELS_PPM`].
    pub ns_quantiles: [u64; MeasuredTable::LEVELS_PPM.len()],
    /// The places whose requests took much longer than others, the slowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<SlowPlace>,
}

/// A place whose request took much longer than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowPlace {
    /// The first sector of the request.
    pub sector: u64,
    /// The time of the request, in ns.
    pub ns: u64,
    /// The shortest time of repeated requests to the place. If this is long too, the place itself
    /// is slow. `None` if the request was not repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again_ns_min: Option<u64>,
}

/// A kind of request for which starvation was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StarvedKind {
    /// Read or write.
    pub op: Op,
    /// Size of every request.
    #[serde(serialize_with = "as_text")]
    pub size: Bytes,
    /// Number of requests on the device; `None` means the number in the file's `starvation_depth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

/// The longest times of batches of several kinds. The cost model was fitted to them and must cover
/// them.
///
/// # Shape
/// Entries of `counts` and `ns_max` with the same index hold for the same batch; each entry of
/// `counts` has a number for each kind in `request`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixedBatches {
    /// Number of samples of each batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// The kinds of request.
    pub request: Vec<MixedKind>,
    /// For each batch, the number of requests of each kind.
    pub counts: Vec<Vec<u32>>,
    /// The longest measured time of each batch, in ns.
    pub ns_max: Vec<u64>,
    /// The longest times of each family of places; empty if only random places were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<FamilyTimes>,
}

/// A kind of request in a mixed batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixedKind {
    /// Read or write.
    pub op: Op,
    /// Size of every request.
    #[serde(serialize_with = "as_text")]
    pub size: Bytes,
}

impl MixedBatches {
    /// Returns each batch: the number of requests of each kind, and the longest time.
    pub fn batches(
        &self,
    ) -> impl Iterator<Item = (impl Iterator<Item = (Op, Bytes, u32)> + use<'_>, Duration)> {
        self.counts.iter().zip(&self.ns_max).map(|(counts, &ns)| {
            let of_kind = |(kind, &count): (&MixedKind, &u32)| (kind.op, kind.size, count);
            (self.request.iter().zip(counts).map(of_kind), Duration::from_ns(ns))
        })
    }

    /// Raises the times to the longest of all families of places; returns the first fault as a
    /// sentence.
    pub(super) fn fault(&mut self) -> Option<String> {
        if let Some(fault) = places::join("mixed.places", &mut self.ns_max, &self.places) {
            return Some(fault);
        }
        let kinds = self.request.len();
        let is_even = self.counts.len() == self.ns_max.len()
            && self.counts.iter().all(|counts| counts.len() == kinds);
        match () {
            () if !is_even => Some(
                "[[mixed]]: counts, ns_max and request do not have matching lengths".to_owned(),
            ),
            () if self.ns_max.iter().any(|&ns| ns > TIME_NS_MAX) => {
                Some("[[mixed]]: a batch took longer than a day".to_owned())
            }
            () => None,
        }
    }
}

names! {
    /// The places that a measured flow of requests touches.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum FlowPlace {
        /// Random places on the whole device.
        Random => "random",
        /// Consecutive places in the first tenth of the device.
        SequentialFirst => "sequential-first",
        /// Consecutive places in the last tenth of the device.
        SequentialLast => "sequential-last",
    }
}

/// Throughput of a device with a constant number of requests in flight.
///
/// # Shape
/// Entries of the lists with the same index hold for the same depth; depths ascend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throughput {
    /// Read or write.
    pub op: Op,
    /// Size of every request.
    #[serde(serialize_with = "as_text")]
    pub size: Bytes,
    /// The places of the requests.
    pub place: FlowPlace,
    /// The number of requests outstanding at a host that sends them in the elevator's order and
    /// keeps `depth` of them on the drive; `None` if the host sends each request immediately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elevator: Option<u32>,
    /// Number of intervals of the flow measured at each depth.
    pub samples: u64,
    /// Numbers of requests in flight.
    pub depth: Vec<u32>,
    /// The median throughput of all intervals.
    pub bytes_per_s: Vec<u64>,
    /// The throughput of the slowest interval.
    pub bytes_per_s_min: Vec<u64>,
}

impl SingleTimes {
    /// Returns the first fault as a sentence.
    pub(super) fn fault(&self) -> Option<String> {
        let is_sorted = self.ns_quantiles.is_sorted() && self.ns_quantiles[5] <= self.ns_max;
        let what = format!("[[single]] of {}s of {}", self.op.name(), self.size);
        match () {
            () if self.size.get() == 0 => Some(format!("{what}: size is 0")),
            () if self.ns_max > TIME_NS_MAX => {
                Some(format!("{what}: a request took longer than a day"))
            }
            () if !is_sorted => Some(format!("{what}: ns_quantiles do not rise to ns_max")),
            () => None,
        }
    }
}

impl Throughput {
    /// Describes the requests and their order.
    pub fn requests(&self) -> String {
        let order = self.elevator.map(|all| format!(" in the elevator's order, {all} outstanding"));
        let (place, op, order) = (self.place.name(), self.op.name(), order.unwrap_or_default());
        format!("{place} {op}s of {}{order}", self.size)
    }

    /// Returns whether two flows differ only in their figures.
    pub fn is_like(&self, other: &Self) -> bool {
        let key = |flow: &Self| (flow.op, flow.size, flow.place, flow.elevator);
        key(self) == key(other)
    }

    /// Returns the first fault as a sentence.
    pub(super) fn fault(&self) -> Option<String> {
        let entries = self.depth.len();
        let is_even = [self.bytes_per_s.len(), self.bytes_per_s_min.len()] == [entries; 2];
        let rises = self.depth.windows(2).all(|pair| pair[0] < pair[1]);
        let what = format!("[[throughput]] of {}", self.requests());
        let is_beyond = self.elevator.is_some_and(|all| self.depth.last() > Some(&all));
        match () {
            () if self.size.get() == 0 => Some(format!("{what}: size is 0")),
            () if !is_even => Some(format!("{what}: its lists differ in length")),
            () if !rises => Some(format!("{what}: its depths do not ascend")),
            () if self.depth.first() == Some(&0) => Some(format!("{what}: a depth is 0")),
            () if is_beyond => {
                Some(format!("{what}: a depth exceeds the requests of the elevator"))
            }
            () => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde wants")]
pub(super) fn as_text<S: Serializer>(size: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&size.to_string())
}

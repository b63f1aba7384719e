// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[[single]]` and `[[throughput]]` of a drive file: what was seen and bounds nothing.
//!
//! No proof reads them. They tell what a device usually does: how long one request takes, and
//! how much best effort can expect.

use serde::{Deserialize, Serialize, Serializer};

use super::{MeasuredTable, TIME_NS_MAX};
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
    /// How many were made.
    pub samples: u64,
    /// The longest.
    pub ns_max: u64,
    /// Quantiles in the order of [`MeasuredTable::LEVELS_PPM`].
    pub ns_quantiles: [u64; MeasuredTable::LEVELS_PPM.len()],
    /// The slowest that stand out, the slowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<SlowPlace>,
}

/// A place whose request took far longer than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowPlace {
    /// Its first sector.
    pub sector: u64,
    /// How long it took.
    pub ns: u64,
    /// The least of the times when it was asked for again: a place that is slow each time is
    /// slow by itself. None where it was not asked for again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again_ns_min: Option<u64>,
}

/// Requests with which a starvation was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StarvedKind {
    /// Read or write.
    pub op: Op,
    /// Size of every request.
    #[serde(serialize_with = "as_text")]
    pub size: Bytes,
    /// How many requests were on the device; none: as the file says for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

/// The longest times of batches of several kinds: what costs were fitted to, and have to cover.
///
/// # Shape
/// `counts` and `ns_max` are about the same batches; each entry of `counts` has a number for each
/// kind in `request`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixedBatches {
    /// How often each batch was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// The kinds.
    pub request: Vec<MixedKind>,
    /// How many requests of each kind.
    pub counts: Vec<Vec<u32>>,
    /// The longest time seen.
    pub ns_max: Vec<u64>,
}

/// A kind of request in batches of several.
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
    /// Each batch: how many requests of each kind, and the longest time.
    pub fn batches(
        &self,
    ) -> impl Iterator<Item = (impl Iterator<Item = (Op, Bytes, u32)> + use<'_>, Duration)> {
        self.counts.iter().zip(&self.ns_max).map(|(counts, &ns)| {
            let of_kind = |(kind, &count): (&MixedKind, &u32)| (kind.op, kind.size, count);
            (self.request.iter().zip(counts).map(of_kind), Duration::from_ns(ns))
        })
    }

    /// What is wrong with it, in words.
    pub(super) fn fault(&self) -> Option<String> {
        let kinds = self.request.len();
        let is_even = self.counts.len() == self.ns_max.len()
            && self.counts.iter().all(|counts| counts.len() == kinds);
        match () {
            () if !is_even => Some("[[mixed]]: its lists do not fit each other".to_owned()),
            () if self.ns_max.iter().any(|&ns| ns > TIME_NS_MAX) => {
                Some("[[mixed]]: a batch took a day".to_owned())
            }
            () => None,
        }
    }
}

/// Where the requests of a flow lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowPlace {
    /// Anywhere.
    Random,
    /// One behind the other, in the first tenth of the device.
    SequentialFirst,
    /// One behind the other, in the last tenth of the device.
    SequentialLast,
}

impl FlowPlace {
    /// All.
    pub const ALL: [Self; 3] = [Self::Random, Self::SequentialFirst, Self::SequentialLast];

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::SequentialFirst => "sequential-first",
            Self::SequentialLast => "sequential-last",
        }
    }
}

/// What a device moves when so many requests are kept outstanding.
///
/// # Shape
/// The lists are about the same depths, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throughput {
    /// Read or write.
    pub op: Op,
    /// Size of every request.
    #[serde(serialize_with = "as_text")]
    pub size: Bytes,
    /// Where they lie.
    pub place: FlowPlace,
    /// How many stretches of the flow were measured at each depth.
    pub samples: u64,
    /// How many are outstanding.
    pub depth: Vec<u32>,
    /// The median of all stretches.
    pub bytes_per_s: Vec<u64>,
    /// The slowest stretch.
    pub bytes_per_s_min: Vec<u64>,
}

impl SingleTimes {
    /// What is wrong with it, in words.
    pub(super) fn fault(&self) -> Option<String> {
        let is_sorted = self.ns_quantiles.is_sorted() && self.ns_quantiles[5] <= self.ns_max;
        let what = format!("[[single]] of {}s of {}", self.op.name(), self.size);
        match () {
            () if self.size.get() == 0 => Some(format!("{what}: nothing was moved")),
            () if self.ns_max > TIME_NS_MAX => Some(format!("{what}: a request took a day")),
            () if !is_sorted => Some(format!("{what}: its quantiles do not rise to the maximum")),
            () => None,
        }
    }
}

impl Throughput {
    /// What is wrong with it, in words.
    pub(super) fn fault(&self) -> Option<String> {
        let entries = self.depth.len();
        let is_even = [self.bytes_per_s.len(), self.bytes_per_s_min.len()] == [entries; 2];
        let rises = self.depth.windows(2).all(|pair| pair[0] < pair[1]);
        let place = self.place.name();
        let what = format!("[[throughput]] of {} {}s of {}", place, self.op.name(), self.size);
        match () {
            () if self.size.get() == 0 => Some(format!("{what}: nothing was moved")),
            () if !is_even => Some(format!("{what}: its lists are not equally long")),
            () if !rises => Some(format!("{what}: its depths do not rise")),
            () => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde wants")]
fn as_text<S: Serializer>(size: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&size.to_string())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tables of measured times: `[[batch]]`, `[[drain]]` and `[[priority]]` of a drive file.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::limits::TIME_NS_MAX;
use super::places::{self, FamilyTimes};
use crate::batch_table::BatchTable;
use crate::file_error::FileError;
use crate::quantity::Quantity;
use crate::task::Op;
use crate::units::{Bytes, Duration};

/// Measured times of 1, 2, .. n requests at the same time, for one operation and size.
///
/// # Shape
/// Entry `i - 1` of every list holds for i requests. A list of quantiles is as long as `ns_max`, or
/// empty if it was not measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredTable {
    /// Read or write; `None` in an inline drive means both.
    pub op: Option<Op>,
    /// Size of every request; `None` in an inline drive means every size.
    pub size: Option<Bytes>,
    /// The longest measured times at any places; bounds use `table` instead.
    pub ns_max: Vec<u64>,
    /// Quantiles in the order of [`MeasuredTable::LEVELS_PPM`].
    pub quantiles_ns: [Vec<u64>; 6],
    /// Number of samples of each batch.
    pub samples: Option<u64>,
    /// The number of independent samples with as much information as the samples of the most
    /// dependent entry; `None` if no dependence was found.
    pub samples_effective: Option<u64>,
    /// The statement of confidence that this number of samples supports.
    pub confidence: Option<String>,
    /// Number of requests on the drive, in a `[[priority]]` table; `None` means as many as the
    /// drive accepts.
    pub depth: Option<u32>,
    /// The longest times of each family of places, in the order of the file; none of them exceeds
    /// `ns_max`. Empty if only random places were measured.
    pub families: Vec<FamilyTimes>,
    /// The running maximum of `ns_max`.
    pub table: BatchTable,
}

impl MeasuredTable {
    /// The levels of the quantiles, in parts per million: the minimum, 10 %, 50 %, 90 %, 99 % and
    /// 99.9 %.
    pub const LEVELS_PPM: [u32; 6] = [0, 100_000, 500_000, 900_000, 990_000, 999_000];

    /// Returns a table for every operation and every size with only these maxima, in ns; `table` is
    /// their running maximum. The table states no samples.
    pub fn of_times(ns_max: Vec<u64>, table: BatchTable) -> Self {
        Self {
            op: None,
            size: None,
            ns_max,
            quantiles_ns: Default::default(),
            samples: None,
            samples_effective: None,
            confidence: None,
            depth: None,
            families: Vec::new(),
            table,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTable {
    op: Op,
    size: Spanned<SizeText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples_effective: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    ns_max: Spanned<Vec<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ns_p999: Option<Spanned<Vec<u64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ns_p99: Option<Spanned<Vec<u64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ns_p90: Option<Spanned<Vec<u64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ns_p50: Option<Spanned<Vec<u64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ns_p10: Option<Spanned<Vec<u64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ns_min: Option<Spanned<Vec<u64>>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    families: Vec<FamilyTimes>,
}

/// A size written with its unit, such as `4KiB`.
pub(super) struct SizeText(pub(super) Bytes);

impl Serialize for SizeText {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_string())
    }
}

impl<'de> Deserialize<'de> for SizeText {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Bytes::deserialize(deserializer).map(Self)
    }
}

impl Serialize for Op {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

pub(super) fn read_tables(
    raw: Vec<RawTable>,
    section: &str,
    depth: u32,
) -> Result<Vec<MeasuredTable>, FileError> {
    let mut tables: Vec<MeasuredTable> = Vec::with_capacity(raw.len());
    for raw_table in raw {
        let size_span = raw_table.size.span();
        let table = read_table(raw_table, section, depth)?;
        if tables.iter().any(|other| other.op == table.op && other.size == table.size) {
            let (op, size) = (table.op.map_or("", Op::name), table.size.unwrap_or_default());
            return Err(FileError::new(
                size_span,
                format!("this is a second [[{section}]] table for {op} of {size}"),
                "keep one table for each operation and size",
            ));
        }
        tables.push(table);
    }
    Ok(tables)
}

fn read_table(raw: RawTable, section: &str, depth: u32) -> Result<MeasuredTable, FileError> {
    let size = raw.size.get_ref().0;
    if size.get() == 0 {
        return Err(FileError::new(
            raw.size.span(),
            "size is 0: every request moves at least one byte",
            format!("write the size of each request, for example {}", Bytes::EXAMPLE),
        ));
    }
    let entries = raw.ns_max.get_ref().len();
    if entries > depth as usize {
        return Err(FileError::new(
            raw.ns_max.span(),
            format!("the table has {entries} entries, but the drive accepts {depth} requests"),
            format!("give at most {depth} entries, or a larger depth"),
        ));
    }
    batch_table(raw.ns_max.get_ref(), raw.ns_max.span())?;
    let quantiles = [raw.ns_min, raw.ns_p10, raw.ns_p50, raw.ns_p90, raw.ns_p99, raw.ns_p999];
    for list in quantiles.iter().flatten() {
        if list.get_ref().len() != entries {
            return Err(FileError::new(
                list.span(),
                format!("this list has {} entries, but ns_max has {entries}", list.get_ref().len()),
                format!(
                    "give one entry for each entry of ns_max in [[{section}]], or delete the list"
                ),
            ));
        }
    }
    let span = raw.ns_max.span();
    let mut ns_max = raw.ns_max.into_inner();
    if let Some(fault) = places::join(&format!("{section}.families"), &mut ns_max, &raw.families) {
        return Err(FileError::new(span, fault, "measure the places again, or delete them"));
    }
    Ok(MeasuredTable {
        op: Some(raw.op),
        size: Some(size),
        table: raised_table(&ns_max),
        ns_max,
        families: raw.families,
        quantiles_ns: quantiles.map(|list| list.map_or_else(Vec::new, Spanned::into_inner)),
        samples: raw.samples,
        samples_effective: raw.samples_effective,
        confidence: raw.confidence,
        depth: raw.depth,
    })
}

/// Returns the batch table of a list of maxima whose text is at `span`.
pub(crate) fn batch_table(ns_max: &[u64], span: Range<usize>) -> Result<BatchTable, FileError> {
    if let Some(time_ns) = ns_max.iter().find(|&&time_ns| time_ns > TIME_NS_MAX) {
        return Err(FileError::new(
            span,
            format!("a batch of {time_ns} ns takes longer than a day"),
            "list the times in nanoseconds",
        ));
    }
    let times: Vec<Duration> = ns_max.iter().copied().map(Duration::from_ns).collect();
    BatchTable::new(&times).map_err(|error| {
        FileError::new(
            span,
            error.to_string(),
            "list b(1), b(2), .. in nanoseconds: the longest time of 1, 2, .. requests at once",
        )
    })
}

/// Returns the table of these maxima. There must be at least one, and none may be zero.
pub(super) fn raised_table(ns_max: &[u64]) -> BatchTable {
    let times: Vec<Duration> = ns_max.iter().copied().map(Duration::from_ns).collect();
    BatchTable::new(&times).expect("a measured table has entries above zero")
}

pub(super) fn write_table(table: &MeasuredTable) -> RawTable {
    let spanned = |list: &Vec<u64>| Spanned::new(0..0, list.clone());
    let measured = |list: &Vec<u64>| (!list.is_empty()).then(|| spanned(list));
    let [min, p10, p50, p90, p99, p999] = &table.quantiles_ns;
    RawTable {
        op: table.op.expect("a table of a drive file has an operation"),
        size: Spanned::new(0..0, SizeText(table.size.expect("a table of a drive file has a size"))),
        samples: table.samples,
        samples_effective: table.samples_effective,
        confidence: table.confidence.clone(),
        depth: table.depth,
        ns_max: spanned(&table.ns_max),
        ns_p999: measured(p999),
        ns_p99: measured(p99),
        ns_p90: measured(p90),
        ns_p50: measured(p50),
        ns_p10: measured(p10),
        ns_min: measured(min),
        families: table.families.clone(),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive file (`*.drive.toml`): how a device behaves in time, as far as it is known.
//!
//! `tidegate profile` writes it; `check`, `sim` and `run` read it. Its times are integer
//! nanoseconds with the unit in the name (`ns_max`), because programs write them.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::batch_table::BatchTable;
use crate::cost::CostModel;
use crate::file_error::FileError;
use crate::mechanics::Mechanics;
use crate::quantity::Quantity;
use crate::ssd::Ssd;
use crate::task::Op;
use crate::units::{Bytes, Duration};

mod cost_section;
mod observations;
mod parts;

use cost_section::RawCost;
pub use observations::{
    FlowPlace, MixedBatches, MixedKind, SingleTimes, SlowPlace, StarvedKind, Throughput,
};
pub use parts::Parts;

/// The simulated drive that stands for a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriveKind {
    /// Takes the longest time that the table allows, in random order: the dissertation's
    /// pseudo-disk (9.3.3).
    Pseudo,
    /// A hard disk simulated from its mechanics: positions, seeks, rotation, cache, queue.
    Mechanical,
    /// A solid-state drive simulated from its parts.
    Ssd,
    /// Service times drawn from a measured profile.
    Recorded,
}

impl DriveKind {
    /// All of them; where a file has several sections, the first of these decides.
    pub const ALL: [Self; 4] = [Self::Mechanical, Self::Ssd, Self::Recorded, Self::Pseudo];

    /// Returns the name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pseudo => "pseudo",
            Self::Mechanical => "mechanical",
            Self::Ssd => "ssd",
            Self::Recorded => "recorded",
        }
    }
}

/// A drive file.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveFile {
    /// The drive's name, for people.
    pub name: String,
    /// The simulated drive that stands for this device by default.
    pub kind: DriveKind,
    /// K: how many requests the drive accepts at once.
    pub depth: u32,
    /// The measured device and the method of measurement.
    pub identity: Identity,
    /// Batch service times, at most one table for each operation and size.
    pub batch: Vec<MeasuredTable>,
    /// Times to complete q requests in flight when nothing more is sent.
    pub drain: Vec<MeasuredTable>,
    /// Times of q requests that have the drive's own priority, while others keep the drive full.
    pub priority: Vec<MeasuredTable>,
    /// Times of one request alone on the drive.
    pub single: Vec<SingleTimes>,
    /// Measured throughput of sequential and random requests.
    pub throughput: Vec<Throughput>,
    /// The longest times of batches of different requests.
    pub mixed: Vec<MixedBatches>,
    /// The cost model of batches of different requests.
    pub cost: Option<CostModel>,
    /// The longest time that other requests starved a request.
    pub starvation_max: Option<Duration>,
    /// The requests with which `starvation_max` was measured; empty if it holds for all requests.
    pub starvation_of: Vec<StarvedKind>,
    /// Number of requests on the drive during that measurement, for entries of `starvation_of`
    /// without a depth; `None` means `depth`.
    pub starvation_depth: Option<u32>,
    /// Whether a request was seen to wait without end; no starvation time then bounds the drive.
    pub is_starvation_endless: bool,
    /// The longest FLUSH.
    pub flush_max: Option<Duration>,
    /// The mechanics of a hard disk.
    pub mechanics: Option<Box<Mechanics>>,
    /// The parts of a solid-state drive; [`Ssd::check`] accepts them.
    pub ssd: Option<Box<Ssd>>,
    /// Parameters fitted to measurements, kept unchanged.
    pub fit: Option<toml::Table>,
}

/// The device that a file describes. Free text for people, one line each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Vendor and model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Firmware revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// The first digits of a hash of the serial number, to distinguish devices of one model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial_hash: Option<String>,
    /// Date of the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Machine and path of the measurement, or the publication of the figures.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Method of the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Conditions on the host that may have disturbed or changed the measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<String>,
}

impl Identity {
    /// The line of `host` which says that the device's volatile write cache is on.
    pub const DEFERS_WRITES: &'static str = "write cache: write back";
}

/// Measured times of 1, 2, .. n requests at once, for one operation and size.
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
    /// The longest measured times; bounds use `table` instead.
    pub ns_max: Vec<u64>,
    /// Quantiles in the order of [`MeasuredTable::LEVELS_PPM`].
    pub quantiles_ns: [Vec<u64>; 6],
    /// Number of samples of each batch.
    pub samples: Option<u64>,
    /// The statement of confidence that this number of samples supports.
    pub confidence: Option<String>,
    /// Number of requests on the drive, in a table of priority; `None` means as many as it accepts.
    pub depth: Option<u32>,
    /// The running maximum of `ns_max`.
    pub table: BatchTable,
}

impl MeasuredTable {
    /// The levels of the quantiles, in parts per million: the minimum, 10 %, 50 %, 90 %, 99 % and
    /// 99.9 %.
    pub const LEVELS_PPM: [u32; 6] = [0, 100_000, 500_000, 900_000, 990_000, 999_000];
}

/// The longest time of a batch: one day. A larger figure has another unit, or is not of a disk.
const TIME_NS_MAX: u64 = 86_400_000_000_000;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDrive {
    name: String,
    kind: DriveKind,
    depth: Spanned<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starvation_ns_max: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    starvation_of: Vec<StarvedKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starvation_depth: Option<u32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    starvation_endless: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    flush_ns_max: Option<u64>,
    #[serde(default)]
    identity: Identity,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    batch: Vec<RawTable>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    drain: Vec<RawTable>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    priority: Vec<RawTable>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    single: Vec<SingleTimes>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    throughput: Vec<Throughput>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mixed: Vec<MixedBatches>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<Spanned<RawCost>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mechanics: Option<Spanned<Box<Mechanics>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssd: Option<Spanned<Box<Ssd>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<toml::Table>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    op: Op,
    size: Spanned<SizeText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u64>,
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
}

/// A size that is written with a unit, as people write it.
struct SizeText(Bytes);

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

impl DriveFile {
    /// Reads the text of a drive file.
    ///
    /// # Errors
    /// The first fault, with its position and what to write instead.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let raw: RawDrive = toml::from_str(text).map_err(|error| FileError::from_toml(&error))?;
        let depth = *raw.depth.get_ref();
        if depth == 0 {
            return Err(FileError::new(
                raw.depth.span(),
                "depth is 0: a drive accepts at least one request",
                "write how many requests the drive accepts at once, for example depth = 32",
            ));
        }
        if raw.name.is_empty() || raw.name.chars().any(char::is_control) {
            return Err(FileError::new(
                0..0,
                "the drive's name is empty or contains control characters",
                "write a name of printable characters",
            ));
        }
        if raw.batch.is_empty() && raw.mechanics.is_none() && raw.ssd.is_none() {
            return Err(FileError::new(
                0..0,
                format!("drive `{}` has no [[batch]] table", raw.name),
                "measure the drive with `tidegate profile`, or give a [[batch]] with op, size, ns_max",
            ));
        }
        if raw.starvation_endless && raw.starvation_ns_max.is_some() {
            return Err(FileError::new(
                0..0,
                "starvation_endless says that a request was never served, but starvation_ns_max gives \
                 a longest wait",
                "delete one of the two",
            ));
        }
        let batch = read_tables(raw.batch, "batch", depth)?;
        let faults = raw.single.iter().find_map(SingleTimes::fault);
        let faults = faults.or_else(|| raw.throughput.iter().find_map(Throughput::fault));
        let faults = faults.or_else(|| raw.mixed.iter().find_map(MixedBatches::fault));
        if let Some(fault) = faults {
            return Err(FileError::new(0..0, fault, "measure it again, or delete it"));
        }
        let cost = raw.cost.map(|cost| cost_section::read(cost, &batch, &raw.mixed)).transpose()?;
        Ok(Self {
            name: raw.name,
            kind: raw.kind,
            depth,
            identity: raw.identity,
            batch,
            cost,
            drain: read_tables(raw.drain, "drain", depth)?,
            priority: read_tables(raw.priority, "priority", depth)?,
            single: raw.single,
            throughput: raw.throughput,
            mixed: raw.mixed,
            starvation_max: raw.starvation_ns_max.map(Duration::from_ns),
            starvation_of: raw.starvation_of,
            starvation_depth: raw.starvation_depth,
            is_starvation_endless: raw.starvation_endless,
            flush_max: raw.flush_ns_max.map(Duration::from_ns),
            mechanics: raw.mechanics.map(read_mechanics).transpose()?,
            ssd: raw.ssd.map(read_ssd).transpose()?,
            fit: raw.fit,
        })
    }

    /// Returns whether the drive is known to hold writes in its cache and to write them later:
    /// according to its mechanics or parts, or to the host's report at measurement.
    pub fn defers_writes(&self) -> bool {
        self.all_parts().any(Parts::defers_writes)
            || self.identity.host.iter().any(|line| line == Identity::DEFERS_WRITES)
    }

    /// Returns the number of requests on the drive when the starvation bound was measured for such
    /// requests or larger ones; `None` if it was not measured for them.
    pub fn starvation_depth_of(&self, op: Op, size: Bytes) -> Option<u32> {
        let unsaid = self.starvation_depth.unwrap_or(self.depth);
        if self.starvation_of.is_empty() {
            return Some(unsaid);
        }
        let covering = self.starvation_of.iter().filter(|it| it.op == op && it.size >= size);
        covering.map(|kind| kind.depth.unwrap_or(unsaid)).max()
    }

    /// Returns the drive's capacity if the file states it.
    pub fn capacity(&self) -> Option<Bytes> {
        self.parts().and_then(Parts::capacity)
    }

    /// Returns the text of this drive file; `parse` reads it back to an equal value.
    ///
    /// # Panics
    /// On an inline drive, because its tables have no size and no operation.
    pub fn to_toml(&self) -> String {
        let raw = RawDrive {
            name: self.name.clone(),
            kind: self.kind,
            depth: Spanned::new(0..0, self.depth),
            starvation_ns_max: self.starvation_max.map(Duration::ns),
            starvation_of: self.starvation_of.clone(),
            starvation_depth: self.starvation_depth,
            starvation_endless: self.is_starvation_endless,
            flush_ns_max: self.flush_max.map(Duration::ns),
            identity: self.identity.clone(),
            batch: self.batch.iter().map(write_table).collect(),
            drain: self.drain.iter().map(write_table).collect(),
            priority: self.priority.iter().map(write_table).collect(),
            single: self.single.clone(),
            throughput: self.throughput.clone(),
            mixed: self.mixed.clone(),
            cost: self.cost.as_ref().map(|cost| Spanned::new(0..0, cost_section::write(cost))),
            mechanics: self.mechanics.clone().map(|section| Spanned::new(0..0, section)),
            ssd: self.ssd.clone().map(|ssd| Spanned::new(0..0, ssd)),
            fit: self.fit.clone(),
        };
        toml::to_string(&raw).expect("a drive file has nothing that TOML cannot express")
    }
}

fn read_mechanics(raw: Spanned<Box<Mechanics>>) -> Result<Box<Mechanics>, FileError> {
    let span = raw.span();
    let mechanics = raw.into_inner();
    match mechanics.check() {
        Ok(()) => Ok(mechanics),
        Err(error) => Err(FileError::new(span, format!("[mechanics] {error}"), error.help)),
    }
}

fn read_ssd(raw: Spanned<Box<Ssd>>) -> Result<Box<Ssd>, FileError> {
    let span = raw.span();
    let ssd = raw.into_inner();
    match ssd.check() {
        Ok(()) => Ok(ssd),
        Err(error) => Err(FileError::new(span, format!("[ssd] {error}"), error.help)),
    }
}

fn read_tables(
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
    let table = batch_table(raw.ns_max.get_ref(), raw.ns_max.span())?;
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
    Ok(MeasuredTable {
        op: Some(raw.op),
        size: Some(size),
        table,
        ns_max: raw.ns_max.into_inner(),
        quantiles_ns: quantiles.map(|list| list.map_or_else(Vec::new, Spanned::into_inner)),
        samples: raw.samples,
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

fn write_table(table: &MeasuredTable) -> RawTable {
    let spanned = |list: &Vec<u64>| Spanned::new(0..0, list.clone());
    let measured = |list: &Vec<u64>| (!list.is_empty()).then(|| spanned(list));
    let [min, p10, p50, p90, p99, p999] = &table.quantiles_ns;
    RawTable {
        op: table.op.expect("a table of a drive file has an operation"),
        size: Spanned::new(0..0, SizeText(table.size.expect("a table of a drive file has a size"))),
        samples: table.samples,
        confidence: table.confidence.clone(),
        depth: table.depth,
        ns_max: spanned(&table.ns_max),
        ns_p999: measured(p999),
        ns_p99: measured(p99),
        ns_p90: measured(p90),
        ns_p50: measured(p50),
        ns_p10: measured(p10),
        ns_min: measured(min),
    }
}

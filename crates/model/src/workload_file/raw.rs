// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The workload file as written: one struct for each table, and readers for values with more than
//! one notation.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use super::DriveReference;
use super::policy::RawPolicy;
use crate::batch_table::BatchTable;
use crate::drive_file::{DriveFile, DriveKind, Identity, MeasuredTable, batch_table};
use crate::file_error::FileError;
use crate::quantity::{Quantity, Share};
use crate::task::{Class, Op, Place};
use crate::units::{Bandwidth, Bytes, Duration, Lba};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWorkload {
    pub(super) drive: Option<Spanned<RawDrive>>,
    pub(super) policy: Option<RawPolicy>,
    #[serde(default)]
    pub(super) task: Vec<RawTask>,
    #[serde(default)]
    pub(super) best_effort: Vec<RawBestEffort>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTask {
    pub(super) name: Spanned<String>,
    pub(super) count: Option<Spanned<u32>>,
    pub(super) period: Spanned<Duration>,
    pub(super) deadline: Option<Spanned<Duration>>,
    #[serde(default = "one_request")]
    pub(super) requests: Spanned<u32>,
    pub(super) size: Spanned<Bytes>,
    #[serde(default = "read")]
    pub(super) op: Spanned<Op>,
    #[serde(default)]
    pub(super) place: RawPlace,
    pub(super) offset: Option<Spanned<RawOffset>>,
    #[serde(default = "hard")]
    pub(super) class: Class,
    pub(super) quality: Option<Spanned<Share>>,
    pub(super) outstanding: Option<Spanned<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBestEffort {
    pub(super) name: Spanned<String>,
    pub(super) outstanding: Option<Spanned<u32>>,
    pub(super) rate: Option<Spanned<Bandwidth>>,
    pub(super) size: Spanned<Bytes>,
    #[serde(default = "read")]
    pub(super) op: Spanned<Op>,
    #[serde(default)]
    pub(super) place: RawPlace,
}

fn one_request() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}
fn read() -> Spanned<Op> {
    Spanned::new(0..0, Op::Read)
}
fn hard() -> Class {
    Class::Hard
}

/// Returns the position of `op`, or of the name if `op` is left out.
fn written(op: &Spanned<Op>, name: &Spanned<String>) -> Range<usize> {
    if op.span().is_empty() { name.span() } else { op.span() }
}

impl RawTask {
    pub(super) fn op_span(&self) -> Range<usize> {
        written(&self.op, &self.name)
    }
}

impl RawBestEffort {
    pub(super) fn op_span(&self) -> Range<usize> {
        written(&self.op, &self.name)
    }
}

/// Checks that a request is a whole number of sectors, at least one.
pub(crate) fn check_size(size: &Spanned<Bytes>) -> Result<(), FileError> {
    let bytes = size.get_ref().get();
    if bytes != 0 && bytes.is_multiple_of(Lba::SECTOR_BYTES) {
        return Ok(());
    }
    Err(FileError::new(
        size.span(),
        format!("a request has {bytes} bytes, but devices move whole sectors of 512 bytes"),
        format!("write for example {}", Bytes::EXAMPLE),
    ))
}

/// A batch size as written: `"auto"` or a number of requests.
pub(super) enum RawBatch {
    Auto,
    Fixed(u32),
}

/// An offset as written: `"10ms"`, `["0ms", "10ms"]` or `{ step = "10ms" }`.
pub(super) enum RawOffset {
    Same(Duration),
    Each(Vec<Duration>),
    Step(Duration),
}

/// A place as written: `"random"`, `"sequential"` or `{ from = "0%", to = "20%" }`.
pub(super) struct RawPlace(pub(super) Place);

impl Default for RawPlace {
    fn default() -> Self {
        Self(Place::Random)
    }
}

/// A drive as written: a name, or a `[drive]` table.
pub(super) enum RawDrive {
    Named(String),
    Inline(InlineDrive),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InlineDrive {
    kind: Spanned<DriveKind>,
    depth: Option<Spanned<u32>>,
    batch_ns_max: Spanned<Vec<u64>>,
    drain_ns_max: Option<Spanned<Vec<u64>>>,
    priority_ns_max: Option<Spanned<Vec<u64>>>,
    starvation_ns_max: Option<u64>,
}

/// A value that may be written as a string, a number, a list or a table.
trait Written: Sized {
    const EXPECTED: &'static str;

    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        Err(E::custom(format!("`{text}` is not understood here\nwrite {}", Self::EXPECTED)))
    }
    fn from_number<E: Error>(number: i64) -> Result<Self, E> {
        Err(E::custom(format!("`{number}` is not understood here\nwrite {}", Self::EXPECTED)))
    }
    fn from_list<'de, A: SeqAccess<'de>>(_list: A) -> Result<Self, A::Error> {
        Err(A::Error::custom(format!("a list is not understood here\nwrite {}", Self::EXPECTED)))
    }
    fn from_table<'de, A: MapAccess<'de>>(_table: A) -> Result<Self, A::Error> {
        Err(A::Error::custom(format!("a table is not understood here\nwrite {}", Self::EXPECTED)))
    }
}

impl Written for RawBatch {
    const EXPECTED: &'static str = "\"auto\", or a number of requests such as 8";

    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => Err(E::custom(format!("`{text}` is not a batch size\nwrite {}", Self::EXPECTED))),
        }
    }
    fn from_number<E: Error>(number: i64) -> Result<Self, E> {
        u32::try_from(number).map(Self::Fixed).map_err(|_| {
            E::custom(format!("`{number}` is not a batch size\nwrite {}", Self::EXPECTED))
        })
    }
}

impl Written for RawOffset {
    const EXPECTED: &'static str =
        "\"10ms\", a list with one offset for each task, or { step = \"10ms\" }";

    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        Duration::parse(text).map(Self::Same).map_err(E::custom)
    }
    fn from_number<E: Error>(number: i64) -> Result<Self, E> {
        Self::from_text(&number.to_string())
    }
    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Self::Each)
    }
    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Step {
            step: Duration,
        }
        Step::deserialize(MapAccessDeserializer::new(table)).map(|table| Self::Step(table.step))
    }
}

impl Written for RawPlace {
    const EXPECTED: &'static str = "\"random\", \"sequential\", or { from = \"0%\", to = \"20%\" }";

    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        match text {
            "random" => Ok(Self(Place::Random)),
            "sequential" => Ok(Self(Place::Sequential)),
            _ => Err(E::custom(format!("`{text}` is not a place\nwrite {}", Self::EXPECTED))),
        }
    }
    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Range {
            from: Share,
            to: Share,
        }
        let range = Range::deserialize(MapAccessDeserializer::new(table))?;
        if range.from >= range.to {
            return Err(A::Error::custom(
                "the range ends before it starts\nwrite `from` below `to`, for example { from = \"0%\", to = \"20%\" }",
            ));
        }
        Ok(Self(Place::Range { from_ppm: range.from.ppm, to_ppm: range.to.ppm }))
    }
}

impl Written for RawDrive {
    const EXPECTED: &'static str =
        "the name of a built-in drive, the path of a drive file, or a [drive] table";

    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        Ok(Self::Named(text.to_owned()))
    }
    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        InlineDrive::deserialize(MapAccessDeserializer::new(table)).map(Self::Inline)
    }
}

struct WrittenVisitor<W>(PhantomData<W>);

impl<'de, W: Written> Visitor<'de> for WrittenVisitor<W> {
    type Value = W;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(W::EXPECTED)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<W, E> {
        W::from_text(text)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<W, E> {
        W::from_number(number)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<W, A::Error> {
        W::from_list(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<W, A::Error> {
        W::from_table(table)
    }
}

macro_rules! deserialize_written {
    ($($value:ty),+) => {$(
        impl<'de> Deserialize<'de> for $value {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(WrittenVisitor(PhantomData))
            }
        }
    )+};
}
deserialize_written!(RawBatch, RawOffset, RawPlace, RawDrive);

/// Reads the drive: the name of a drive file, or an inline table, which becomes a drive file with
/// one table for every operation and every size.
pub(super) fn read_drive(raw: Spanned<RawDrive>) -> Result<DriveReference, FileError> {
    let span = raw.span();
    let inline = match raw.into_inner() {
        RawDrive::Named(name) => return Ok(DriveReference::Named { name, span }),
        RawDrive::Inline(inline) => inline,
    };
    if *inline.kind.get_ref() != DriveKind::Pseudo {
        return Err(FileError::new(
            inline.kind.span(),
            "an inline drive can only be a table of maxima",
            "write kind = \"pseudo\", or name a drive file",
        ));
    }
    let ns_max = inline.batch_ns_max.get_ref().clone();
    let table = batch_table(&ns_max, inline.batch_ns_max.span())?;
    let depth = match inline.depth {
        None => table.batch_max(),
        Some(depth) if *depth.get_ref() >= table.batch_max() => depth.into_inner(),
        Some(depth) => {
            return Err(FileError::new(
                depth.span(),
                format!("depth is less than the table's {} requests", table.batch_max()),
                "write a larger depth, or delete it",
            ));
        }
    };
    Ok(DriveReference::Inline(Box::new(DriveFile {
        name: "inline".to_owned(),
        kind: DriveKind::Pseudo,
        depth,
        identity: Identity::default(),
        batch: vec![inline_table(ns_max, table)],
        drain: inline_tables(inline.drain_ns_max)?,
        priority: inline_tables(inline.priority_ns_max)?,
        single: Vec::new(),
        throughput: Vec::new(),
        mixed: Vec::new(),
        cost: None,
        starvation_max: inline.starvation_ns_max.map(Duration::from_ns),
        starvation_of: Vec::new(),
        starvation_depth: None,
        is_starvation_endless: false,
        flush_max: None,
        mechanics: None,
        ssd: None,
        fit: None,
    })))
}

fn inline_tables(ns_max: Option<Spanned<Vec<u64>>>) -> Result<Vec<MeasuredTable>, FileError> {
    let Some(ns_max) = ns_max else { return Ok(Vec::new()) };
    let table = batch_table(ns_max.get_ref(), ns_max.span())?;
    Ok(vec![inline_table(ns_max.into_inner(), table)])
}

/// Returns a table for every operation and every size.
fn inline_table(ns_max: Vec<u64>, table: BatchTable) -> MeasuredTable {
    MeasuredTable {
        op: None,
        size: None,
        ns_max,
        quantiles_ns: Default::default(),
        samples: None,
        confidence: None,
        depth: None,
        table,
    }
}

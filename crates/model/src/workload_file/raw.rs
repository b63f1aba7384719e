// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The workload file as written: one struct for each table.

use std::ops::Range;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess};
use toml::Spanned;

use super::drive::RawDrive;
use super::policy::RawPolicy;
use super::written::{Written, deserialize_written};
use crate::drive_file::PlaceFamily;
use crate::file_error::FileError;
use crate::host_section::RawHost;
use crate::quantity::{Quantity, Share};
use crate::task::{Class, Op, Place};
use crate::units::{Bandwidth, Bytes, Duration, Lba};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWorkload {
    pub(super) drive: Option<Spanned<RawDrive>>,
    pub(super) absent_places: Option<Spanned<Vec<PlaceFamily>>>,
    pub(super) policy: Option<RawPolicy>,
    pub(super) host: Option<RawHost>,
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
    #[serde(default = "periodic")]
    pub(super) arrivals: Spanned<RawArrivals>,
    pub(super) jitter: Option<Spanned<Duration>>,
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
    pub(super) unit: Option<Spanned<String>>,
}

/// `arrivals` of a task.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawArrivals {
    Periodic,
    Sporadic,
    Bunched,
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
    pub(super) unit: Option<Spanned<String>>,
}

fn one_request() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}
fn periodic() -> Spanned<RawArrivals> {
    Spanned::new(0..0, RawArrivals::Periodic)
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

deserialize_written!(RawOffset, RawPlace);

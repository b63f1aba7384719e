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
    pub(super) period: Option<Spanned<RawPeriod>>,
    pub(super) arrivals: Option<Spanned<RawArrivals>>,
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
    pub(super) start: Option<Spanned<Duration>>,
    pub(super) stop: Option<Spanned<Duration>>,
    #[serde(default = "hard")]
    pub(super) class: Class,
    pub(super) quality: Option<Spanned<Share>>,
    pub(super) outstanding: Option<Spanned<u32>>,
    pub(super) unit: Option<Spanned<String>>,
}

/// `arrivals` of a task.
#[derive(Clone, Copy, Deserialize)]
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
    pub(super) count: Option<Spanned<u32>>,
    pub(super) outstanding: Option<Spanned<u32>>,
    pub(super) rate: Option<Spanned<Bandwidth>>,
    pub(super) period: Option<Spanned<RawPeriod>>,
    pub(super) requests: Option<Spanned<u32>>,
    pub(super) start: Option<Spanned<Duration>>,
    pub(super) stop: Option<Spanned<Duration>>,
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

/// A period as written: `"300ms"` or `{ from = "300ms", step = "1ms" }`.
pub(super) enum RawPeriod {
    Same(Duration),
    Steps { from: Duration, step: Duration },
}

/// An offset as written: `"10ms"`, `["0ms", "10ms"]` or `{ step = "10ms" }`.
pub(super) enum RawOffset {
    Same(Duration),
    Each(Vec<Duration>),
    Step(Duration),
}

/// A place as written: `"random"`, `"sequential"`, `{ from = "0%", to = "20%" }` or
/// `{ run = 8 }`.
pub(super) struct RawPlace(pub(super) Place);

impl Default for RawPlace {
    fn default() -> Self {
        Self(Place::Random)
    }
}

impl Written for RawPeriod {
    const EXPECTED: &'static str = "\"300ms\", or { from = \"300ms\", step = \"1ms\" }";

    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        Duration::parse(text).map(Self::Same).map_err(E::custom)
    }
    fn from_number<E: Error>(number: i64) -> Result<Self, E> {
        Self::from_text(&number.to_string())
    }
    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Steps {
            from: Duration,
            step: Duration,
        }
        let steps = Steps::deserialize(MapAccessDeserializer::new(table))?;
        Ok(Self::Steps { from: steps.from, step: steps.step })
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
    const EXPECTED: &'static str =
        "\"random\", \"sequential\", { from = \"0%\", to = \"20%\" }, or { run = 8 }";

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
        struct Table {
            from: Option<Share>,
            to: Option<Share>,
            run: Option<u32>,
        }
        let fault = |what: &str| Err(A::Error::custom(what));
        let table = Table::deserialize(MapAccessDeserializer::new(table))?;
        match (table.from, table.to, table.run) {
            (Some(from), Some(to), None) if from < to => {
                Ok(Self(Place::Range { from_ppm: from.ppm, to_ppm: to.ppm }))
            }
            (Some(_), Some(_), None) => fault(
                "the range ends before it starts\nwrite `from` below `to`, for example { from = \"0%\", to = \"20%\" }",
            ),
            (None, None, Some(length)) if length >= 2 => Ok(Self(Place::Runs { length })),
            (None, None, Some(_)) => fault(
                "a run of fewer than 2 requests is not sequential\nwrite how many requests follow each other, or place = \"random\"",
            ),
            (None, Some(_), None) => fault("missing field `from`"),
            (Some(_), None, None) => fault("missing field `to`"),
            (None, None, None) => {
                fault("the place is empty\nwrite { from = \"0%\", to = \"20%\" }, or { run = 8 }")
            }
            (_, _, Some(_)) => fault(
                "runs begin anywhere on the drive, so `run` excludes `from` and `to`\nkeep one of them",
            ),
        }
    }
}

deserialize_written!(RawPeriod, RawOffset, RawPlace);

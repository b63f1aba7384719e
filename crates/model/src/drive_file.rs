// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive file (`*.drive.toml`): the known facts about a device's timing.
//!
//! `tidegate profile` writes it; `check`, `sim` and `run` read it. Its times are integer
//! nanoseconds with the unit in the name (`ns_max`), because programs write them.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::cost::CostModel;
use crate::file_error::FileError;
use crate::mechanics::Mechanics;
use crate::premise::{Premise, Premises};
use crate::ssd::Ssd;
use crate::task::Op;
use crate::units::{Bytes, Duration};

mod cost_section;
mod identity;
mod limits;
mod observations;
mod parts;
mod places;
mod prediction;
pub(crate) mod tables;
mod without_places;

use cost_section::RawCost;
pub use identity::{Identity, OtherDevice};
pub use observations::{
    FlowPlace, MixedBatches, MixedKind, SingleTimes, SlowPlace, StarvedKind, Throughput,
};
pub use parts::{DriveKind, Parts};
pub use places::{FamilyTimes, PlaceFamily, longest_without, missing};
pub use prediction::PredictionErrors;
pub use tables::MeasuredTable;
use tables::{RawTable, read_tables, write_table};

/// A drive file.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveFile {
    /// The drive's name, for people.
    pub name: String,
    /// The kind of simulated drive that represents this device by default.
    pub kind: DriveKind,
    /// K: the number of requests that the drive accepts at the same time.
    pub depth: u32,
    /// The measured device and the method of measurement.
    pub identity: Identity,
    /// Facts that a reader of the figures must know, and the doubts about them.
    pub premises: Premises,
    /// Batch service times, at most one table for each operation and size.
    pub batch: Vec<MeasuredTable>,
    /// Times to complete q requests in flight when nothing more is sent.
    pub drain: Vec<MeasuredTable>,
    /// Times of q requests that have the drive's own priority, while other requests keep the drive
    /// full.
    pub priority: Vec<MeasuredTable>,
    /// Times of one request alone on the drive.
    pub single: Vec<SingleTimes>,
    /// Measured throughput of sequential and random requests.
    pub throughput: Vec<Throughput>,
    /// The longest times of batches of different requests.
    pub mixed: Vec<MixedBatches>,
    /// The cost model of batches of different requests.
    pub cost: Option<CostModel>,
    /// The longest time for which other requests starved a request.
    pub starvation_max: Option<Duration>,
    /// The requests with which `starvation_max` was measured; empty if it holds for all requests.
    pub starvation_of: Vec<StarvedKind>,
    /// Number of requests on the drive during that measurement, for entries of `starvation_of`
    /// without a depth; `None` means `depth`.
    pub starvation_depth: Option<u32>,
    /// The longest starvation at each family of places, one entry each; none of them exceeds
    /// `starvation_max`. Empty if only random places were measured.
    pub starvation_places: Vec<FamilyTimes>,
    /// Whether a request was observed that the drive never served; there is then no starvation
    /// bound.
    pub is_starvation_endless: bool,
    /// The longest time of a flush.
    pub flush_max: Option<Duration>,
    /// The errors of the times that `mechanics` predicts.
    pub prediction: Vec<PredictionErrors>,
    /// The mechanics of a hard disk.
    pub mechanics: Option<Box<Mechanics>>,
    /// The parts of a solid-state drive; [`Ssd::check`] accepts them.
    pub ssd: Option<Box<Ssd>>,
    /// Parameters fitted to measurements, kept unchanged.
    pub fit: Option<toml::Table>,
}

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
    premise: Vec<Premise>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    starvation_places: Vec<FamilyTimes>,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    prediction: Vec<PredictionErrors>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mechanics: Option<Spanned<Box<Mechanics>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssd: Option<Spanned<Box<Ssd>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<toml::Table>,
}

impl RawDrive {
    /// Checks the starvation times of the families of places, and raises the longest starvation to
    /// the longest of these times. Returns the first fault as a sentence.
    fn join_starvation(&mut self) -> Option<String> {
        let Some(longest) = &mut self.starvation_ns_max else {
            let is_bounded = !self.starvation_places.is_empty() && !self.starvation_endless;
            return is_bounded
                .then(|| "[[starvation_places]] are there without starvation_ns_max".to_owned());
        };
        places::join("starvation_places", std::slice::from_mut(longest), &self.starvation_places)
    }
}

impl DriveFile {
    /// Creates a drive file that states only a name, a kind and a depth.
    pub fn new(name: impl Into<String>, kind: DriveKind, depth: u32) -> Self {
        Self {
            name: name.into(),
            kind,
            depth,
            identity: Identity::default(),
            premises: Premises::default(),
            batch: Vec::new(),
            drain: Vec::new(),
            priority: Vec::new(),
            single: Vec::new(),
            throughput: Vec::new(),
            mixed: Vec::new(),
            cost: None,
            starvation_max: None,
            starvation_of: Vec::new(),
            starvation_depth: None,
            starvation_places: Vec::new(),
            is_starvation_endless: false,
            flush_max: None,
            prediction: Vec::new(),
            mechanics: None,
            ssd: None,
            fit: None,
        }
    }

    /// Reads the text of a drive file.
    ///
    /// # Errors
    /// The first fault, with its position and what to write instead.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let mut raw: RawDrive =
            toml::from_str(text).map_err(|error| FileError::from_toml(&error))?;
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
                "measure it with `tidegate profile DEVICE --only batch -o NEW.drive.toml`, or give a \
                 [[batch]] with op, size, ns_max",
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
        let of_starvation = raw.join_starvation();
        let batch = read_tables(raw.batch, "batch", depth)?;
        let faults = raw.single.iter().find_map(SingleTimes::fault);
        let faults = faults.or_else(|| raw.throughput.iter().find_map(Throughput::fault));
        let faults = faults.or_else(|| raw.prediction.iter().find_map(PredictionErrors::fault));
        let faults =
            faults.or_else(|| raw.mixed.iter_mut().find_map(MixedBatches::fault)).or(of_starvation);
        if let Some(fault) = faults {
            return Err(FileError::new(0..0, fault, "measure it again, or delete it"));
        }
        let cost = raw.cost.map(|cost| cost_section::read(cost, &batch, &raw.mixed)).transpose()?;
        Ok(Self {
            name: raw.name,
            kind: raw.kind,
            depth,
            identity: raw.identity,
            premises: raw.premise.into_iter().collect(),
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
            starvation_places: raw.starvation_places,
            is_starvation_endless: raw.starvation_endless,
            flush_max: raw.flush_ns_max.map(Duration::from_ns),
            prediction: raw.prediction,
            mechanics: raw.mechanics.map(read_mechanics).transpose()?,
            ssd: raw.ssd.map(read_ssd).transpose()?,
            fit: raw.fit,
        })
    }

    /// Returns the number of requests on the drive when the starvation bound was measured for
    /// requests of this operation and of this size or more; `None` if it was not measured for them.
    pub fn starvation_depth_of(&self, op: Op, size: Bytes) -> Option<u32> {
        let unsaid = self.starvation_depth.unwrap_or(self.depth);
        if self.starvation_of.is_empty() {
            return Some(unsaid);
        }
        let covering = self.starvation_of.iter().filter(|it| it.op == op && it.size >= size);
        covering.map(|kind| kind.depth.unwrap_or(unsaid)).max()
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
            starvation_places: self.starvation_places.clone(),
            starvation_endless: self.is_starvation_endless,
            flush_ns_max: self.flush_max.map(Duration::ns),
            identity: self.identity.clone(),
            premise: self.premises.iter().cloned().collect(),
            batch: self.batch.iter().map(write_table).collect(),
            drain: self.drain.iter().map(write_table).collect(),
            priority: self.priority.iter().map(write_table).collect(),
            single: self.single.clone(),
            throughput: self.throughput.clone(),
            mixed: self.mixed.clone(),
            cost: self.cost.as_ref().map(|cost| Spanned::new(0..0, cost_section::write(cost))),
            prediction: self.prediction.clone(),
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

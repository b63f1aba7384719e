// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The sections of a drive file that describe the parts of a drive, as `tidegate drive show`
//! reports them to people and programs.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_drive::mechanical::{Layout, ZoneFacts};
use tidegate_model::drive_file::Parts;
use tidegate_model::mechanics::{
    Bus, Cache, Faults, Mechanics, MechanicsError, Overhead, Queue, Seek,
};
use tidegate_model::ssd::Ssd;
use tidegate_model::{DriveFile, DriveKind};

use super::facts::parts;
use super::seek_facts::SeekFacts;
use crate::ns::Ns;
use crate::paragraph::Fact;

/// Returns the facts of a section for people.
pub(super) fn facts(section: Parts<'_>) -> Result<Vec<Fact>, MechanicsError> {
    match section {
        Parts::Mechanics(mechanics) => parts::mechanics(mechanics),
        Parts::Ssd(ssd) => {
            let section = serde_json::to_value(ssd).expect("a section is plain data");
            Ok(parts::section("Flash", &section))
        }
    }
}

/// The sections for programs, by name; `None` for a section that the file lacks.
pub(super) type ByName<'a> = BTreeMap<&'static str, Option<SectionReport<'a>>>;

/// Reports every section that a drive file can have.
pub(super) fn all(file: &DriveFile) -> Result<ByName<'_>, MechanicsError> {
    let named = DriveKind::ALL.into_iter().filter_map(|kind| Some((kind.section()?, kind)));
    let report = |(name, kind)| Ok((name, file.parts_of(kind).map(SectionReport::of).transpose()?));
    named.map(report).collect()
}

/// A section of a drive file, for programs.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum SectionReport<'a> {
    Mechanics(Box<MechanicsReport<'a>>),
    Ssd(&'a Ssd),
}

impl<'a> SectionReport<'a> {
    fn of(section: Parts<'a>) -> Result<Self, MechanicsError> {
        Ok(match section {
            Parts::Mechanics(mechanics) => {
                Self::Mechanics(Box::new(MechanicsReport::of(mechanics)?))
            }
            Parts::Ssd(ssd) => Self::Ssd(ssd),
        })
    }
}

#[derive(Serialize)]
pub(super) struct MechanicsReport<'a> {
    rpm: u32,
    surfaces: u32,
    cylinders: u32,
    sectors: u64,
    head_switch_ns: u64,
    write_settle_ns: i64,
    zero_latency: bool,
    seek: &'a Seek,
    seek_ns_one_cylinder: Ns,
    seek_ns_mean: Ns,
    seek_ns_full_stroke: Ns,
    zones: Vec<Zone>,
    overhead: &'a Overhead,
    bus: &'a Bus,
    cache: &'a Option<Cache>,
    queue: &'a Queue,
    faults: &'a Option<Faults>,
    chosen: &'a [String],
}

#[derive(Serialize)]
struct Zone {
    cylinder_first: u32,
    cylinder_last: u32,
    sectors_per_track: u32,
    sector_first: u64,
    sectors: u64,
}

impl<'a> MechanicsReport<'a> {
    fn of(mechanics: &'a Mechanics) -> Result<Self, MechanicsError> {
        let seek = SeekFacts::of(mechanics)?;
        Ok(Self {
            rpm: mechanics.rpm,
            surfaces: mechanics.surfaces,
            cylinders: mechanics.cylinders,
            sectors: mechanics.sectors,
            head_switch_ns: mechanics.head_switch_ns,
            write_settle_ns: mechanics.write_settle_ns,
            zero_latency: mechanics.zero_latency,
            seek: &mechanics.seek,
            seek_ns_one_cylinder: seek.one_cylinder.into(),
            seek_ns_mean: seek.mean.into(),
            seek_ns_full_stroke: seek.full_stroke.into(),
            zones: Layout::new(mechanics)?.zones().iter().map(Zone::of).collect(),
            overhead: &mechanics.overhead,
            bus: &mechanics.bus,
            cache: &mechanics.cache,
            queue: &mechanics.queue,
            faults: &mechanics.faults,
            chosen: &mechanics.chosen,
        })
    }
}

impl Zone {
    fn of(zone: &ZoneFacts) -> Self {
        Self {
            cylinder_first: zone.cylinder_first,
            cylinder_last: zone.cylinder_last,
            sectors_per_track: zone.sectors_per_track,
            sector_first: zone.start.get(),
            sectors: zone.sectors,
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate drive show`: the facts of a drive, with plots.

use serde::Serialize;
use tidegate_drive::mechanical::{Layout, ZoneFacts};
use tidegate_model::drive_file::{Identity, MeasuredTable, SingleTimes, Throughput};
use tidegate_model::mechanics::{
    Bus, Cache, Faults, Mechanics, MechanicsError, Overhead, Queue, Seek,
};
use tidegate_model::ssd::Ssd;
use tidegate_model::{Bytes, DriveFile, Op};

use super::list::{DriveReport, TableSize};
use super::seek_facts::SeekFacts;
use super::{chart, facts};
use crate::ns::Ns;
use crate::page::{Page, Report};
use crate::paragraph::{self, Fact};
use crate::plot::{Chart, svg, text};

/// The facts of a drive.
#[derive(Serialize)]
pub struct ShowReport<'a> {
    #[serde(flatten)]
    drive: DriveReport<'a, BatchTable<'a>>,
    identity: &'a Identity,
    drain: Vec<Table<'a>>,
    priority: Vec<Table<'a>>,
    single: &'a [SingleTimes],
    throughput: &'a [Throughput],
    fit: &'a Option<toml::Table>,
    starvation_ns_max: Option<Ns>,
    flush_ns_max: Option<Ns>,
    mechanics: Option<MechanicsReport<'a>>,
    ssd: Option<&'a Ssd>,
    #[serde(skip)]
    facts: Vec<Fact>,
    #[serde(skip)]
    charts: Vec<Chart>,
}

/// A batch table.
#[derive(Serialize)]
struct BatchTable<'a> {
    #[serde(flatten)]
    size: TableSize,
    samples: Option<u64>,
    ns_max: &'a [u64],
}

/// A table other than a batch table.
#[derive(Serialize)]
struct Table<'a> {
    op: Option<&'static str>,
    size_bytes: Option<u64>,
    samples: Option<u64>,
    ns_max: &'a [u64],
}

#[derive(Serialize)]
struct MechanicsReport<'a> {
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

impl<'a> ShowReport<'a> {
    /// Reports on a drive.
    ///
    /// # Errors
    /// If the file's mechanics contradict each other.
    pub fn of(file: &'a DriveFile) -> Result<Self, MechanicsError> {
        Ok(Self {
            drive: DriveReport::of(file, BatchTable::of),
            identity: &file.identity,
            drain: file.drain.iter().map(Table::of).collect(),
            priority: file.priority.iter().map(Table::of).collect(),
            single: &file.single,
            throughput: &file.throughput,
            fit: &file.fit,
            starvation_ns_max: Ns::of(file.starvation_max),
            flush_ns_max: Ns::of(file.flush_max),
            mechanics: file.mechanics.as_deref().map(MechanicsReport::of).transpose()?,
            ssd: file.ssd.as_deref(),
            facts: facts::all(file)?,
            charts: chart::of_drive(file)?,
        })
    }

    /// Draws the charts of the drive as an SVG picture; `None` if there is nothing to draw.
    pub fn draw(&self) -> Option<String> {
        (!self.charts.is_empty()).then(|| svg::draw(self.drive.name, &self.charts))
    }
}

impl Report for ShowReport<'_> {
    fn write(&self, page: &mut Page) {
        paragraph::write(&self.facts, page);
        for chart in &self.charts {
            writeln!(page);
            write!(page, "{}", text::draw(chart));
        }
    }
}

impl<'a> BatchTable<'a> {
    fn of(table: &'a MeasuredTable) -> Self {
        Self { size: TableSize::of(table), samples: table.samples, ns_max: &table.ns_max }
    }
}

impl<'a> Table<'a> {
    fn of(table: &'a MeasuredTable) -> Self {
        Self {
            op: table.op.map(Op::name),
            size_bytes: table.size.map(Bytes::get),
            samples: table.samples,
            ns_max: &table.ns_max,
        }
    }
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive show`: what is known of a drive, with plots.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use serde_json::{Value, json};
use tidegate_drive::BuildError;
use tidegate_drive::mechanical::{Layout, ZoneFacts};
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::mechanics::{Mechanics, MechanicsError};
use tidegate_model::{Bytes, DriveFile, Duration, Op};

use super::arguments::ShowArguments;
use super::chart;
use super::seek_facts::SeekFacts;
use super::{facts, list, paragraph};
use crate::failure::Failure;
use crate::input;
use crate::plot::{Chart, svg, text};
use crate::show::{self, out, outln};

/// Runs the command.
pub(crate) fn show(arguments: &ShowArguments) -> Result<(), Failure> {
    let file = input::drive_named(&arguments.drive)?;
    let charts = chart::of_drive(&file).map_err(unfit)?;
    if let Some(path) = &arguments.svg {
        write_svg(path, &file, &charts)?;
    }
    if arguments.json {
        outln!("{:#}", to_json(&file).map_err(unfit)?);
        return Ok(());
    }
    paragraph::print(&facts::all(&file).map_err(unfit)?);
    for chart in &charts {
        outln!();
        out!("{}", text::draw(chart));
    }
    if let Some(path) = &arguments.svg {
        outln!();
        show::labelled("Written", &path.display().to_string());
    }
    Ok(())
}

/// The mechanics do not fit together.
fn unfit(error: MechanicsError) -> Failure {
    Failure::unusable(&BuildError::from(error))
}

fn write_svg(path: &Path, file: &DriveFile, charts: &[Chart]) -> Result<(), Failure> {
    if charts.is_empty() {
        return Err(Failure::input(
            format!("there is nothing to draw of `{}`: no mechanics, no tables", file.name),
            "leave --svg out, or measure the drive with `tidegate profile`",
        ));
    }
    let picture = svg::draw(&file.name, charts);
    let write = || File::create_new(path)?.write_all(picture.as_bytes());
    write().map_err(|error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::input(
            format!("{} exists, and nothing that exists is overwritten", path.display()),
            "name a new file",
        ),
        _ => Failure::input(
            format!("cannot write {}: {error}", path.display()),
            "name a file in a folder that exists and may be written",
        ),
    })
}

fn to_json(file: &DriveFile) -> Result<Value, MechanicsError> {
    let mut value = list::to_json(file);
    value["identity"] = plain(&file.identity);
    for (table, measured) in file.batch.iter().zip(0..) {
        let entry: usize = measured;
        value["tables"][entry]["samples"] = json!(table.samples);
        value["tables"][entry]["ns_max"] = json!(table.ns_max);
    }
    value["drain"] = file.drain.iter().map(table_json).collect();
    value["priority"] = file.priority.iter().map(table_json).collect();
    value["single"] = plain(&file.single);
    value["throughput"] = plain(&file.throughput);
    value["fit"] = plain(&file.fit);
    value["starvation_ns_max"] = json!(file.starvation_max.map(Duration::ns));
    value["flush_ns_max"] = json!(file.flush_max.map(Duration::ns));
    value["mechanics"] = file.mechanics.as_deref().map(mechanics_json).transpose()?.into();
    value["ssd"] = plain(&file.ssd);
    Ok(value)
}

/// A table that is not among those of batches.
fn table_json(table: &MeasuredTable) -> Value {
    json!({
        "op": table.op.map(Op::name),
        "size_bytes": table.size.map(Bytes::get),
        "samples": table.samples,
        "ns_max": table.ns_max,
    })
}

fn mechanics_json(mechanics: &Mechanics) -> Result<Value, MechanicsError> {
    let seek = SeekFacts::of(mechanics)?;
    let zones = Layout::new(mechanics)?.zones();
    Ok(json!({
        "rpm": mechanics.rpm,
        "surfaces": mechanics.surfaces,
        "cylinders": mechanics.cylinders,
        "sectors": mechanics.sectors,
        "head_switch_ns": mechanics.head_switch_ns,
        "write_settle_ns": mechanics.write_settle_ns,
        "zero_latency": mechanics.zero_latency,
        "seek": plain(&mechanics.seek),
        "seek_ns_one_cylinder": seek.one_cylinder.ns(),
        "seek_ns_mean": seek.mean.ns(),
        "seek_ns_full_stroke": seek.full_stroke.ns(),
        "zones": zones.iter().map(zone_json).collect::<Vec<_>>(),
        "overhead": plain(&mechanics.overhead),
        "bus": plain(&mechanics.bus),
        "cache": plain(&mechanics.cache),
        "queue": plain(&mechanics.queue),
        "faults": plain(&mechanics.faults),
        "chosen": mechanics.chosen,
    }))
}

fn zone_json(zone: &ZoneFacts) -> Value {
    json!({
        "cylinder_first": zone.cylinder_first,
        "cylinder_last": zone.cylinder_last,
        "sectors_per_track": zone.sectors_per_track,
        "sector_first": zone.start.get(),
        "sectors": zone.sectors,
    })
}

/// A part of the file as the file has it.
fn plain(part: &impl serde::Serialize) -> Value {
    serde_json::to_value(part).expect("a drive file is plain data")
}

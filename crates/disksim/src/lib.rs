// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Imports drives from the parameter files of DiskSim and DIXtrac.
//!
//! ```text
//!   system (.parv) --> disk (.diskspecs) --> model (.model) --> layout
//!                                                           --> mechanism --> seek curve
//! ```
//! A file can also contain a part itself instead of naming the part's file. Files are recognised by
//! content, so they can be given in any order; files that are named but not given are searched for
//! beside the file that names them. No code here is specific to a drive: each parameter is
//! represented or reported.

mod bus;
mod content;
mod decimal;
mod disk_model;
mod disk_specs;
mod error;
mod files;
mod fit;
mod layout_g1;
mod layout_g4;
mod library;
mod parse;
mod report;
mod section;
mod seek;
mod seek_file;
mod sources;
mod tree;
mod words;

use std::path::PathBuf;

use tidegate_model::drive_file::{DriveFile, DriveKind, Identity};
use tidegate_model::mechanics::{Bus, Mechanics};
use tidegate_model::printable;

use bus::SectorTimes;
pub use content::FileKind;
use disk_model::DiskModel;
use disk_specs::DiskSpecs;
pub use error::{Fault, ImportError};
pub use files::Files;
use library::Library;
pub use report::{IgnoredParameter, Report, UsedFile};
use section::Section;
use sources::{Chain, section_of};

/// A drive and the report of its import.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// The drive, with its mechanics and without measurements.
    pub drive: DriveFile,
    /// The files used, and the parameters ignored or missing.
    pub report: Report,
}

/// Makes a drive from parameter files: from the given files, from all files of the given folders,
/// and from the files that they name.
///
/// # Errors
/// The fault, its file, and what to give.
///
/// # Complexity
/// Linear in the text of the files. Only the beginnings of files beside the given ones are read, to
/// recognise their kinds.
pub fn import(paths: &[PathBuf], files: &dyn Files) -> Result<Import, ImportError> {
    let mut report = Report::default();
    let library = Library::new(paths, files, &mut report)?;
    let disk = the_disk(&library, &mut report)?;
    let (depth, mechanics) = match disk.kind() {
        "dm_disk" => mechanics_alone(&disk, &library, &mut report)?,
        _ => whole_disk(&disk, &library, &mut report)?,
    };
    let mechanics = fit::fitted(mechanics, &disk.document.path, &mut report)?;
    note_unused(&library, &mut report);
    Ok(Import { drive: drive_file(depth, mechanics, &disk, &report), report })
}

/// Returns the only disk that the given files describe: the whole disk, or else only its mechanics.
fn the_disk(library: &Library<'_>, report: &mut Report) -> Result<Section, ImportError> {
    for kind in [FileKind::Disk, FileKind::Model] {
        let mut chain = Chain::new(library, kind);
        for document in library.given() {
            chain.follow(document)?;
        }
        match &chain.sections[..] {
            [] => chain.not_found.into_iter().next().map_or(Ok(()), Err)?,
            [disk] => {
                let path = disk.document.path.clone();
                let how = chain.ways.into_iter().find(|way| way.0 == path).map(|way| way.1);
                report.uses(path, kind, how);
                report.missing.extend(chain.not_found.iter().map(ToString::to_string));
                return Ok(disk.clone());
            }
            several => return Err(several_disks(several)),
        }
    }
    let given = library.given().iter().map(|document| document.path.clone()).collect();
    Err(ImportError::NoDisk { given })
}

fn several_disks(disks: &[Section]) -> ImportError {
    let shown = |disk: &Section| format!("{} in {}", disk.called(), disk.document.path.display());
    ImportError::SeveralDisks { disks: disks.iter().map(shown).collect() }
}

fn mechanics_alone(
    model: &Section,
    library: &Library<'_>,
    report: &mut Report,
) -> Result<(u32, Mechanics), ImportError> {
    report.missing.push(
        "no disksim_disk was given: no overheads, no cache, no queue, one request at a time"
            .to_owned(),
    );
    let parts = DiskModel::read(model, library, report)?;
    let specs = DiskSpecs::neutral();
    let queue = specs.queue(report).unwrap_or_default();
    Ok((specs.depth, mechanics(parts, &specs, queue, None, report)))
}

fn whole_disk(
    disk: &Section,
    library: &Library<'_>,
    report: &mut Report,
) -> Result<(u32, Mechanics), ImportError> {
    let specs = DiskSpecs::read(disk, report)?;
    let model = section_of(disk, "Model", FileKind::Model, library, report)?;
    let parts = DiskModel::read(&model, library, report)?;
    let queue = specs.queue(report).ok_or_else(|| {
        let place = disk.find("Scheduler").map_or(disk.block.kind, tree::Value::span);
        let policy = specs.scheduler.policy;
        disk.document.fault(
            place,
            format!("there is no scheduling policy {policy}"),
            "write 1 to 28",
        )
    })?;
    let bus = bus::of_disk(disk, library, report)?;
    Ok((specs.depth, mechanics(parts, &specs, queue, bus, report)))
}

fn mechanics(
    model: DiskModel,
    specs: &DiskSpecs,
    queue: tidegate_model::mechanics::Queue,
    bus: Option<SectorTimes>,
    report: &mut Report,
) -> Mechanics {
    let bus = bus.unwrap_or_default();
    Mechanics {
        chosen: report.missing.clone(),
        rpm: model.rpm,
        surfaces: model.surfaces,
        cylinders: model.cylinders,
        sectors: model.sectors,
        head_switch_ns: model.head_switch_ns,
        write_settle_ns: model.write_settle_ns,
        zero_latency: specs.zero_latency(report),
        write_seek_ns_min: specs.write_seek_ns_min,
        seek: model.seek,
        overhead: specs.overhead.clone(),
        // The slowest part of the path counts.
        bus: Bus {
            read_sector_ps: bus.read_ps.max(specs.sector_ps),
            write_sector_ps: bus.write_ps.max(specs.sector_ps),
            read_watermark_ppm: specs.read_watermark_ppm,
        },
        cache: specs.cache(),
        queue,
        faults: None,
        layout: model.layout,
    }
}

fn drive_file(depth: u32, mechanics: Mechanics, disk: &Section, report: &Report) -> DriveFile {
    let name = disk.name().unwrap_or("disk");
    let used = report.used.iter().filter_map(|used| used.path.file_name());
    let used: Vec<String> = used.map(|name| printable(&name.to_string_lossy())).collect();
    DriveFile {
        identity: Identity {
            model: Some(printable(name)),
            how: Some(format!("imported from the DiskSim parameters {}", used.join(", "))),
            ..Identity::default()
        },
        mechanics: Some(Box::new(mechanics)),
        ..DriveFile::new(file_name(name), DriveKind::Mechanical, depth)
    }
}

/// Returns a disk's name in the form of drive names: lower-case letters, digits and dashes.
fn file_name(name: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
    let name: String = name.chars().map(plain).flat_map(char::to_lowercase).take(100).collect();
    let words: Vec<&str> = name.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "disk".to_owned() } else { words.join("-") }
}

fn note_unused(library: &Library<'_>, report: &mut Report) {
    for document in library.given() {
        if !report.used.iter().any(|used| used.path == document.path) {
            report.note(format!("{} was not used", document.path.display()));
        }
    }
}

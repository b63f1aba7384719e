// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes simulated drives from drive files; no other module does.
//!
//! - [`build`] makes a drive for a workload. The workload's largest request decides the table, as
//!   in the proof: a size that was not measured is covered by the next larger measured size. The
//!   pseudo-disk also honours the costs of individual requests, because a proof may charge them.
//! - [`from_parts`] makes a drive from the file's parts, for any workload.
//! - [`from_table`] makes a drive from the table of one kind of request.
//! - [`for_any_requests`] makes a drive from parts or tables, for requests that are not known in
//!   advance.
//!
//! A file's parts are its `[mechanics]` or, without them, its `[ssd]` ([`DriveFile::parts`]). A
//! file without parts has only tables. A disk that is served or attached from such a file is a
//! pseudo-disk, which takes the longest times that the tables allow. A drive to be measured or
//! replayed must have parts: measuring a table would return the table.

use tidegate_model::drive_file::{MeasuredTable, Parts};
use tidegate_model::mechanics::MechanicsError;
use tidegate_model::ssd::SsdError;
use tidegate_model::{
    AccessTime, BatchTable, Bytes, DriveFile, DriveKind, Measurement, Op, Workload,
};

use crate::mechanical::{AccessModel, MechanicalDrive};
use crate::recorded::{QuantilesMissing, Recording};
use crate::{Drive, PseudoDisk, RecordedDrive, SsdDrive};

/// Why the requested kind of drive cannot be simulated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A recorded drive needs a drive file, but the workload defines its drive inline.
    #[error(
        "an inline drive has only batch_ns_max and no recorded times; simulate it as `pseudo`, \
         or name a drive file"
    )]
    NothingRecorded,
    /// The drive file has neither parts nor tables.
    #[error(
        "`{drive}` has neither mechanics nor chips nor tables: nothing says how long a request takes"
    )]
    NothingKnown {
        /// The drive file's name.
        drive: String,
    },
    /// The drive file lacks the section that describes the drive's parts.
    #[error(
        "drive `{drive}` has no [{section}] section; simulate it as `pseudo` or `recorded`, or \
         give a drive file that has one"
    )]
    SectionMissing {
        /// The drive file's name.
        drive: String,
        /// The section from which a drive of this kind is made.
        section: &'static str,
    },
    /// The drive's mechanics contradict each other.
    #[error("[mechanics] {0}; {help}", help = .0.help)]
    Mechanics(#[from] MechanicsError),
    /// The drive's parts contradict each other.
    #[error("[ssd] {0}; {help}", help = .0.help)]
    Ssd(#[from] SsdError),
    /// The drive file has no table that covers the workload's requests.
    #[error(
        "drive `{drive}` was never measured with {name} of {size} or more; measure it with \
         `{}`, or simulate it as `pseudo`",
        Measurement::of("batch").with([(*op, *size)]),
        name = op.name()
    )]
    NotMeasured {
        /// The drive file's name.
        drive: String,
        /// Read or write.
        op: Op,
        /// The workload's largest request.
        size: Bytes,
    },
    /// The table that covers the workload's requests has only maxima.
    #[error(
        "drive `{drive}`, {name} of {size} or more: {source}; measure the drive with `{}`, or \
         simulate it as `pseudo`",
        Measurement::of("batch").with([(*op, *size)]),
        name = op.name()
    )]
    QuantilesMissing {
        /// The drive file's name.
        drive: String,
        /// Read or write.
        op: Op,
        /// The workload's largest request.
        size: Bytes,
        /// The missing data.
        source: QuantilesMissing,
    },
}

/// Builds a simulated drive of this kind for a workload; `seed` determines everything random.
///
/// `pseudo` needs only the workload's own table; `recorded` draws from the tables of `file`; the
/// other kinds are made from the file's sections.
///
/// # Errors
/// [`BuildError`] if the file has no data for this kind.
pub fn build(
    kind: DriveKind,
    workload: &Workload,
    file: Option<&DriveFile>,
    seed: u64,
) -> Result<Box<dyn Drive + Send>, BuildError> {
    match kind {
        DriveKind::Pseudo => {
            let costs = workload.contracts.costs.clone();
            let table = workload.table.clone();
            Ok(Box::new(PseudoDisk::with_costs(workload.depth, table, costs, seed)))
        }
        DriveKind::Mechanical | DriveKind::Ssd => {
            let file = file.ok_or_else(|| missing(kind, &workload.drive_name))?;
            from_parts(kind, file, seed)
        }
        DriveKind::Recorded => {
            let file = file.ok_or(BuildError::NothingRecorded)?;
            let recording = recording(workload, file)?;
            Ok(Box::new(RecordedDrive::new(workload.depth, recording, seed)))
        }
    }
}

/// Returns the kinds of drives for which the file has data. The file's own kind is first; among the
/// others `pseudo` is last, because it always takes the longest times.
pub fn kinds(file: &DriveFile) -> Vec<DriveKind> {
    let has_data = |kind: &DriveKind| match kind {
        DriveKind::Mechanical | DriveKind::Ssd => file.parts_of(*kind).is_some(),
        DriveKind::Recorded => file.batch.iter().any(|table| Recording::new(table).is_ok()),
        DriveKind::Pseudo => !file.batch.is_empty(),
    };
    let mut kinds: Vec<DriveKind> = DriveKind::ALL.into_iter().filter(has_data).collect();
    kinds.sort_by_key(|&kind| (kind != file.kind, kind.takes_longest_times()));
    kinds
}

/// Returns the table of `file` that covers requests of this operation and size: of the same size,
/// or of the next larger measured size.
pub fn measured_table(file: &DriveFile, op: Op, size: Bytes) -> Option<&MeasuredTable> {
    let covers = |table: &&MeasuredTable| {
        table.op.is_none_or(|of| of == op) && table.size.is_none_or(|of| of >= size)
    };
    file.batch.iter().filter(covers).min_by_key(|table| table.size)
}

/// Builds a simulated drive from the sections of the file that describe its parts, for any
/// workload.
///
/// # Errors
/// [`BuildError`] if the section is missing or wrong, and for kinds that need a workload.
pub fn from_parts(
    kind: DriveKind,
    file: &DriveFile,
    seed: u64,
) -> Result<Box<dyn Drive + Send>, BuildError> {
    match file.parts_of(kind).ok_or_else(|| missing(kind, &file.name))? {
        Parts::Mechanics(mechanics) => {
            Ok(Box::new(MechanicalDrive::new(mechanics, file.depth, seed)?))
        }
        Parts::Ssd(ssd) => Ok(Box::new(SsdDrive::new(ssd, file.depth, seed)?)),
    }
}

/// Builds a pseudo-disk as slow as the table of `file` that covers requests of this operation and
/// size; `None` if no table does.
pub fn from_table(
    file: &DriveFile,
    op: Op,
    size: Bytes,
    seed: u64,
) -> Option<Box<dyn Drive + Send>> {
    let measured = measured_table(file, op, size)?;
    Some(Box::new(PseudoDisk::new(file.depth, measured.table.clone(), seed)))
}

/// A drive for requests that are not known in advance, with the limits of what it accepts.
pub struct AnyRequests {
    /// The drive.
    pub drive: Box<dyn Drive + Send>,
    /// The kind of drive that was made.
    pub kind: DriveKind,
    /// The number of requests that the drive accepts at the same time.
    pub depth: u32,
    /// The largest request for which the drive has times; `None`: any size.
    pub request_max: Option<Bytes>,
}

/// Makes a simulated drive for requests that are not known in advance: from its parts, or else a
/// pseudo-disk from its tables.
///
/// For each batch, a pseudo-disk takes the longest time that was measured with requests of the
/// largest size, reads or writes. The caller must split larger requests.
///
/// # Errors
/// [`BuildError`] if the parts do not fit together, or the file has neither parts nor tables.
pub fn for_any_requests(file: &DriveFile, seed: u64) -> Result<AnyRequests, BuildError> {
    if let Some(kind) = file.parts().map(Parts::kind) {
        let drive = from_parts(kind, file, seed)?;
        return Ok(AnyRequests { drive, kind, depth: file.depth, request_max: None });
    }
    let request_max = file.batch.iter().map(|table| table.size).max().flatten();
    let largest = file.batch.iter().filter(|table| table.size == request_max);
    let table = largest
        .map(|table| table.table.clone())
        .reduce(|one, other| slower(&one, &other))
        .ok_or_else(|| BuildError::NothingKnown { drive: file.name.clone() })?;
    let depth = file.depth.min(table.batch_max());
    let drive = Box::new(PseudoDisk::new(depth, table, seed));
    Ok(AnyRequests { drive, kind: DriveKind::Pseudo, depth, request_max })
}

/// Returns the longer of the two times for each batch size that both tables cover.
fn slower(one: &BatchTable, other: &BatchTable) -> BatchTable {
    let both = one.batch_max().min(other.batch_max());
    one.truncated(both).at_least(&other.truncated(both))
}

/// Returns the positioning model of this simulated drive for its host; `None` if the file has no
/// valid mechanics.
pub fn access_time(file: &DriveFile) -> Option<Box<dyn AccessTime>> {
    let model = AccessModel::new(file.mechanics.as_ref()?).ok()?;
    Some(Box::new(model))
}

/// Returns the positioning model of a real device, whose platter's angle is unknown; `None` if the
/// file has no valid mechanics.
pub fn access_time_of_device(file: &DriveFile) -> Option<Box<dyn AccessTime>> {
    let model = AccessModel::of_device(file.mechanics.as_ref()?).ok()?;
    Some(Box::new(model))
}

fn missing(kind: DriveKind, drive: &str) -> BuildError {
    let section = kind.section().unwrap_or("mechanics");
    BuildError::SectionMissing { drive: drive.to_owned(), section }
}

fn recording(workload: &Workload, file: &DriveFile) -> Result<Recording, BuildError> {
    let [reads, writes] = Op::ALL.map(|op| uses(workload, op));
    let size = workload.size_max();
    let single = |op| draw_from(file, op, size, Recording::new);
    match (reads, writes) {
        (true, false) => single(Op::Read),
        (false, _) => single(Op::Write),
        (true, true) => {
            let writes = table(file, Op::Write, size)?;
            // The writes are checked first, because `draw_from` below reports missing quantiles as
            // missing for reads.
            single(Op::Write)?;
            draw_from(file, Op::Read, size, |reads| Recording::of_both(reads, writes))
        }
    }
}

fn table(file: &DriveFile, op: Op, size: Bytes) -> Result<&MeasuredTable, BuildError> {
    measured_table(file, op, size).ok_or_else(|| BuildError::NotMeasured {
        drive: file.name.clone(),
        op,
        size,
    })
}

fn draw_from(
    file: &DriveFile,
    op: Op,
    size: Bytes,
    make: impl FnOnce(&MeasuredTable) -> Result<Recording, QuantilesMissing>,
) -> Result<Recording, BuildError> {
    make(table(file, op, size)?).map_err(|source| BuildError::QuantilesMissing {
        drive: file.name.clone(),
        op,
        size,
        source,
    })
}

fn uses(workload: &Workload, op: Op) -> bool {
    let tasks = workload.tasks.iter().map(|task| task.op);
    let loads = workload.best_effort.iter().map(|load| load.op);
    tasks.chain(loads).any(|used| used == op)
}

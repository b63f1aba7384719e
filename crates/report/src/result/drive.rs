// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The measurements of the drive behind a result.

use serde::{Deserialize, Serialize};
use tidegate_drive::mechanical::SeekCurve;
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::{Bytes, DriveFile, Op};

use crate::drive::seek_points;

/// The drive file's figures that pages draw.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriveTables {
    /// The drive's name.
    pub name: String,
    /// The date of the measurement, as the file states it.
    pub when: Option<String>,
    /// The place of the measurement, or the publication that states the figures.
    #[serde(rename = "where")]
    pub place: Option<String>,
    /// The method of the measurement.
    pub how: Option<String>,
    /// The longest times of batches.
    pub batch: Vec<TableRecord>,
    /// The longest times until the requests in flight are complete, if nothing more is sent.
    pub drain: Vec<TableRecord>,
    /// Pairs of a distance in cylinders and the seek time; empty without mechanics.
    pub seek_ns: Vec<(u64, u64)>,
}

/// The longest times in one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRecord {
    /// `read` or `write`; `None` if the table applies to both.
    pub op: Option<String>,
    /// The size of each request; `None` if the table applies to all sizes.
    pub size_bytes: Option<u64>,
    /// The number of samples per entry.
    pub samples: Option<u64>,
    /// The longest time of 1, 2, .. requests.
    pub ns_max: Vec<u64>,
}

impl DriveTables {
    /// Returns the figures of a drive file.
    pub fn of(file: &DriveFile) -> Self {
        let identity = &file.identity;
        let seek = file.mechanics.as_ref().and_then(|mechanics| {
            let curve = SeekCurve::new(&mechanics.seek, mechanics.cylinders).ok()?;
            Some(seek_points(mechanics, &curve))
        });
        Self {
            name: file.name.clone(),
            when: identity.when.clone(),
            place: identity.place.clone(),
            how: identity.how.clone(),
            batch: file.batch.iter().map(TableRecord::of).collect(),
            drain: file.drain.iter().map(TableRecord::of).collect(),
            seek_ns: seek.unwrap_or_default(),
        }
    }
}

impl TableRecord {
    fn of(table: &MeasuredTable) -> Self {
        Self {
            op: table.op.map(|op| Op::name(op).to_owned()),
            size_bytes: table.size.map(Bytes::get),
            samples: table.samples,
            ns_max: table.ns_max.clone(),
        }
    }
}

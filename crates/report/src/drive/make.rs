// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate drive make`: the tables that follow from a data sheet.

use serde::Serialize;
use tidegate_drive::data_sheet::DataSheet;
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::{Bytes, DriveFile, Premises};

use super::facts;
use crate::figures;
use crate::page::{Answer, Page, Report};
use crate::{paragraph, premises};

/// A drive file that was made from a data sheet.
#[derive(Serialize)]
pub struct MakeReport<'a> {
    drive: &'a str,
    depth: u32,
    tables: Vec<MadeTable>,
    expected_reads: Vec<ExpectedRead>,
    premises: &'a Premises,
    written: &'a str,
    #[serde(skip)]
    file: &'a DriveFile,
}

/// The first and the last entry of a table of longest times.
#[derive(Serialize)]
struct MadeTable {
    op: &'static str,
    size_bytes: u64,
    /// The longest time of one request.
    first_ns_max: u64,
    /// The longest time of the largest number of requests that the drive accepts at the same time.
    last_ns_max: u64,
}

/// The expected time of a read alone at a random place.
#[derive(Serialize)]
struct ExpectedRead {
    size_bytes: u64,
    expected_ns: u64,
}

impl<'a> MakeReport<'a> {
    /// Reports on a drive that was made from `sheet` and written to the file `written`.
    pub fn of(sheet: &DataSheet, drive: &'a DriveFile, written: &'a str) -> Self {
        let expected = |&size: &Bytes| ExpectedRead {
            size_bytes: size.get(),
            expected_ns: sheet.expected_read_ceil(size).ns(),
        };
        Self {
            drive: &drive.name,
            depth: drive.depth,
            tables: drive.batch.iter().filter_map(MadeTable::of).collect(),
            expected_reads: sheet.sizes.iter().map(expected).collect(),
            premises: &drive.premises,
            written,
            file: drive,
        }
    }
}

impl Report for MakeReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let drive = facts::sentence(self.file);
        Some(Answer::doubtful(format!("Made {}: {drive}; not measured.", self.written)))
    }

    fn write(&self, page: &mut Page) {
        writeln!(page);
        let mut all: Vec<_> = self.file.batch.iter().map(facts::table_fact).collect();
        all.extend(self.expected_reads.iter().map(|read| ("Expected", read.line())));
        all.extend(premises::facts(self.premises));
        paragraph::write(&all, page);
    }
}

impl MadeTable {
    fn of(table: &MeasuredTable) -> Option<Self> {
        Some(Self {
            op: table.op?.name(),
            size_bytes: table.size?.get(),
            first_ns_max: *table.ns_max.first()?,
            last_ns_max: *table.ns_max.last()?,
        })
    }
}

impl ExpectedRead {
    fn line(&self) -> String {
        let time = figures::ms_ceil(tidegate_model::Duration::from_ns(self.expected_ns));
        format!("a read of {} alone, at a random place: {time}", Bytes::new(self.size_bytes))
    }
}

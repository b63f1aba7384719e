// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate drive import`: the parameters that other simulators' files provide.

use serde::Serialize;
use tidegate_disksim::{IgnoredParameter, Report as Imported, UsedFile};
use tidegate_model::{Bytes, DriveFile};

use super::facts;
use crate::page::{Answer, Page, Report};
use crate::paragraph::{self, under};

/// The files and values that were used, left out and not found.
#[derive(Serialize)]
pub struct ImportReport<'a> {
    drive: &'a str,
    capacity_bytes: Option<u64>,
    rpm: Option<u32>,
    depth: u32,
    used: Vec<UsedReport>,
    left_out: Vec<LeftOutReport<'a>>,
    not_found: &'a [String],
    notes: &'a [String],
    written: Option<&'a str>,
    #[serde(skip)]
    file: &'a DriveFile,
}

/// A file, the values taken from it, and how it was found if the user did not name it.
#[derive(Serialize)]
struct UsedReport {
    file: String,
    gives: &'static str,
    found: Option<String>,
}

/// A parameter that the drive does not simulate.
#[derive(Serialize)]
struct LeftOutReport<'a> {
    name: &'a str,
    value: &'a str,
    block: &'a str,
}

impl<'a> ImportReport<'a> {
    /// Reports on a drive that was made from parameter files; `written` is the file that contains
    /// it, if any.
    pub fn of(drive: &'a DriveFile, report: &'a Imported, written: Option<&'a str>) -> Self {
        Self {
            drive: &drive.name,
            capacity_bytes: drive.capacity().map(Bytes::get),
            rpm: drive.mechanics.as_ref().map(|mechanics| mechanics.rpm),
            depth: drive.depth,
            used: report.used.iter().map(UsedReport::of).collect(),
            left_out: report.ignored.iter().map(LeftOutReport::of).collect(),
            not_found: &report.missing,
            notes: &report.notes,
            written,
            file: drive,
        }
    }

    /// Returns the parameters that the drive does not simulate, one per line.
    fn left_out(&self) -> Vec<String> {
        if self.left_out.is_empty() {
            return Vec::new();
        }
        let row = |it: &LeftOutReport<'_>| {
            vec![format!("{} = {}", it.name, it.value), format!("({})", it.block)]
        };
        let rows: Vec<Vec<String>> = self.left_out.iter().map(row).collect();
        let reason = "The simulated drive has no part that these parameters describe.".to_owned();
        paragraph::aligned(&rows).into_iter().chain([reason]).collect()
    }
}

impl Report for ImportReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let drive = facts::sentence(self.file);
        let written = self.written.map_or(String::new(), |file| format!(" into {file}"));
        Some(Answer::good(format!("Imported{written}: {drive}.")))
    }

    fn write(&self, page: &mut Page) {
        writeln!(page);
        let mut facts = under("Used", self.used.iter().map(UsedReport::line));
        facts.extend(under("Left out", self.left_out()));
        facts.extend(under("Not found", self.not_found.iter().cloned()));
        facts.extend(under("Note", self.notes.iter().cloned()));
        paragraph::write(&facts, page);
    }
}

impl UsedReport {
    fn of(used: &UsedFile) -> Self {
        let UsedFile { path, kind, how } = used;
        Self { file: path.display().to_string(), gives: kind.gives(), found: how.clone() }
    }

    fn line(&self) -> String {
        let found = self.found.as_ref().map_or(String::new(), |how| format!(" ({how})"));
        format!("{}: {}{found}", self.file, self.gives)
    }
}

impl<'a> LeftOutReport<'a> {
    fn of(ignored: &'a IgnoredParameter) -> Self {
        let IgnoredParameter { block, name, value } = ignored;
        Self { name, value, block }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate drive import`: the parameters that were taken from other simulators'
//! files.

use serde::Serialize;
use tidegate_disksim::{IgnoredParameter, Report as Imported, UsedFile};
use tidegate_model::DriveFile;

use super::facts;
use crate::page::{Page, Report};
use crate::paragraph::{self, Fact, under};

/// The files and values that were used, left out and not found.
#[derive(Serialize)]
pub struct ImportReport<'a> {
    written: &'a str,
    #[serde(skip)]
    facts: Vec<Fact>,
}

impl<'a> ImportReport<'a> {
    /// Reports on a drive that was made from parameter files and `written` to that file.
    pub fn of(drive: &DriveFile, report: &Imported, written: &'a str) -> Self {
        let mut facts = vec![("Imported", facts::sentence(drive))];
        facts.extend(under("Used", used(&report.used)));
        facts.extend(under("Left out", left_out(&report.ignored)));
        facts.extend(under("Not found", report.missing.iter().cloned()));
        facts.extend(under("Note", report.notes.iter().cloned()));
        facts.push(("Written", written.to_owned()));
        Self { written, facts }
    }
}

impl Report for ImportReport<'_> {
    fn write(&self, page: &mut Page) {
        paragraph::write(&self.facts, page);
    }
}

/// Returns each file, the values taken from it, and how it was found if it was not given.
fn used(used: &[UsedFile]) -> Vec<String> {
    let line = |file: &UsedFile| {
        let how = file.how.as_ref().map_or(String::new(), |how| format!(" ({how})"));
        format!("{}: {}{how}", file.path.display(), file.kind.gives())
    };
    used.iter().map(line).collect()
}

/// Returns the parameters that the drive does not simulate.
fn left_out(ignored: &[IgnoredParameter]) -> Vec<String> {
    if ignored.is_empty() {
        return Vec::new();
    }
    let rows: Vec<Vec<String>> = ignored
        .iter()
        .map(|one| vec![format!("{} = {}", one.name, one.value), format!("({})", one.block)])
        .collect();
    let reason = "The simulated drive has no part that these parameters describe.".to_owned();
    paragraph::aligned(&rows).into_iter().chain([reason]).collect()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate profile`. Docs/profile.md says what each part means; `null` is what was
//! not measured or does not apply.

mod findings;
mod tables;
mod text;

use serde::Serialize;
use tidegate_measure::{Profile, Warning};
use tidegate_model::DriveFile;
use tidegate_model::drive_file::Identity;

use crate::ns::Ns;
use crate::page::{Page, Report};

use findings::FindingReport;
use tables::{Cost, Flow, Single, Starts, Table};

/// Where a profile went, and what came of it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The drive file; none where none was asked for, or it could not be written.
    pub written: Option<String>,
    /// The journal, if it is still there.
    pub samples_file: Option<String>,
    /// What is to be said of the file that was added to.
    pub said: Option<String>,
    /// The drive file itself where it is not written.
    pub toml: Option<String>,
}

/// What was measured of a device.
#[derive(Serialize)]
pub struct ProfileReport<'a> {
    drive: &'a str,
    end: &'static str,
    written: Option<&'a str>,
    samples_file: Option<&'a str>,
    toml: Option<&'a str>,
    identity: &'a Identity,
    depth: u32,
    batch: Vec<Table<'a>>,
    drain: Vec<Table<'a>>,
    drain_starts: Vec<Starts>,
    priority: Vec<Table<'a>>,
    single: Vec<Single<'a>>,
    throughput: Vec<Flow<'a>>,
    starvation_ns_max: Option<Ns>,
    flush_ns_max: Option<Ns>,
    is_endless: bool,
    cost: Option<Cost<'a>>,
    has_mechanics: bool,
    fit: &'a Option<toml::Table>,
    findings: Vec<FindingReport>,
    warnings: Vec<WarningReport>,
    #[serde(skip)]
    profile: &'a Profile,
}

#[derive(Serialize)]
struct WarningReport {
    kind: &'static str,
    text: String,
}

impl<'a> ProfileReport<'a> {
    /// Reports a measurement; `stated` is the drive file as it is written or printed, which may
    /// have more than was measured now.
    pub fn of(profile: &'a Profile, stated: &'a DriveFile, outcome: &'a Outcome) -> Self {
        let file = &profile.file;
        let added = outcome.said.as_deref().map(WarningReport::of_addition);
        Self {
            drive: &stated.name,
            end: if profile.is_cancelled { "interrupted" } else { "complete" },
            written: outcome.written.as_deref(),
            samples_file: outcome.samples_file.as_deref(),
            toml: outcome.toml.as_deref(),
            identity: &stated.identity,
            depth: stated.depth,
            batch: file.batch.iter().map(Table::of).collect(),
            drain: file.drain.iter().map(Table::of).collect(),
            drain_starts: profile.starts.iter().map(Starts::of).collect(),
            priority: file.priority.iter().map(Table::of).collect(),
            single: file.single.iter().map(Single::of).collect(),
            throughput: file.throughput.iter().map(Flow::of).collect(),
            starvation_ns_max: Ns::of(stated.starvation_max),
            flush_ns_max: Ns::of(stated.flush_max),
            is_endless: profile.is_endless,
            cost: file.cost.as_ref().map(Cost::of),
            has_mechanics: stated.mechanics.is_some(),
            fit: &file.fit,
            findings: profile.findings.iter().map(FindingReport::of).collect(),
            warnings: profile.warnings.iter().map(WarningReport::of).chain(added).collect(),
            profile,
        }
    }
}

/// Tables of what is in the file; the file itself where it is not written.
impl Report for ProfileReport<'_> {
    fn write(&self, page: &mut Page) {
        if let Some(toml) = self.toml {
            write!(page, "{toml}");
        } else {
            text::write(self.profile, page);
        }
        if let Some(written) = self.written {
            page.labelled("Written", written);
        }
    }
}

impl WarningReport {
    fn of(warning: &Warning) -> Self {
        Self { kind: warning.kind(), text: warning.to_string() }
    }

    fn of_addition(text: &str) -> Self {
        Self { kind: "added_costs", text: text.to_owned() }
    }
}

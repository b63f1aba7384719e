// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate profile`. `docs/reference/json.md` explains each part; `null` means not
//! measured or not applicable.

mod findings;
mod tables;
mod text;

use serde::Serialize;
use tidegate_measure::{Profile, Warning};
use tidegate_model::drive_file::Identity;
use tidegate_model::{DriveFile, Grade, PremiseCode, Premises};

use crate::ns::Ns;
use crate::page::{Answer, Page, Report};

use findings::FindingReport;
use tables::{Cost, Flow, Prediction, Single, Starts, Table};

/// The destination of a profile, and the result of writing it.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The path of the written drive file; `None` if none was requested, or if it could not be
    /// written.
    pub written: Option<String>,
    /// The path of the journal, if it still exists.
    pub samples_file: Option<String>,
    /// A remark about the drive file that was extended.
    pub said: Option<String>,
    /// The drive file's text, if it was not written.
    pub toml: Option<String>,
}

/// The measurements of a device.
#[derive(Serialize)]
pub struct ProfileReport<'a> {
    drive: &'a str,
    end: &'static str,
    /// Whether contracts can rely on the drive file, and the reason.
    usable: bool,
    usable_because: String,
    written: Option<&'a str>,
    samples_file: Option<&'a str>,
    toml: Option<&'a str>,
    identity: &'a Identity,
    premises: &'a Premises,
    depth: u32,
    batch: Vec<Table<'a>>,
    drain: Vec<Table<'a>>,
    drain_starts: Vec<Starts>,
    priority: Vec<Table<'a>>,
    single: Vec<Single<'a>>,
    throughput: Vec<Flow<'a>>,
    prediction: Vec<Prediction>,
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
    /// Reports a measurement; `stated` is the drive file as written or printed, which can also
    /// contain earlier measurements.
    pub fn of(profile: &'a Profile, stated: &'a DriveFile, outcome: &'a Outcome) -> Self {
        let file = &profile.file;
        let added = outcome.said.as_deref().map(WarningReport::of_addition);
        let (usable, usable_because) = usable(profile, stated);
        Self {
            usable,
            usable_because,
            drive: &stated.name,
            end: if profile.is_cancelled { "interrupted" } else { "complete" },
            written: outcome.written.as_deref(),
            samples_file: outcome.samples_file.as_deref(),
            toml: outcome.toml.as_deref(),
            identity: &stated.identity,
            premises: &stated.premises,
            depth: stated.depth,
            batch: file.batch.iter().map(Table::of).collect(),
            drain: file.drain.iter().map(Table::of).collect(),
            drain_starts: profile.starts.iter().map(Starts::of).collect(),
            priority: file.priority.iter().map(Table::of).collect(),
            single: file.single.iter().map(Single::of).collect(),
            throughput: file.throughput.iter().map(Flow::of).collect(),
            prediction: file.prediction.iter().map(Prediction::of).collect(),
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

/// `check` does not refuse such a file, but calls each proof weak and names the doubt.
const INCOMPLETE: &str =
    "the measurement is not complete; until it is, every proof with this file is weak";

/// Returns whether contracts can rely on the drive file of a measurement, and the reason.
fn usable(profile: &Profile, stated: &DriveFile) -> (bool, String) {
    match usable_file(stated) {
        (true, _) if profile.is_cancelled => (false, INCOMPLETE.to_owned()),
        known => known,
    }
}

/// Returns whether contracts can rely on a drive file, and the reason.
pub(crate) fn usable_file(stated: &DriveFile) -> (bool, String) {
    let has = |code| stated.premises.of_code(code).next().is_some();
    if stated.batch.is_empty() {
        (false, "it has no table of batches".to_owned())
    } else if has(PremiseCode::Incomplete) {
        (false, INCOMPLETE.to_owned())
    } else if has(PremiseCode::Quick) {
        (false, "it was measured with --quick, for a first look".to_owned())
    } else {
        match stated.premises.grade() {
            Grade::Strong => (true, "the measurement is complete and leaves no doubt".to_owned()),
            Grade::Weak => (true, format!("complete, with doubts: {}", stated.premises.doubts())),
        }
    }
}

impl ProfileReport<'_> {
    /// Returns the closing line: whether contracts can rely on the drive file.
    pub fn usable(&self) -> Answer {
        let because = &self.usable_because;
        let text = |word: &str| format!("Usable for a contract: {word}, because {because}.");
        match (self.usable, self.premises.grade()) {
            (true, Grade::Strong) => Answer::good(text("yes")),
            (true, Grade::Weak) => {
                Answer::doubtful(format!("Usable for a contract: yes, but weakly: {because}."))
            }
            (false, Grade::Strong | Grade::Weak) => Answer::bad(text("no")),
        }
    }
}

/// Writes the tables of the file, or the file itself if it was not written.
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
        if self.toml.is_none() {
            writeln!(page);
            page.answer(&self.usable());
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

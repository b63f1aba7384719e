// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The result file of a service's statistics.

use serde::Serialize;
use tidegate_engine::control::wire::{
    Distributions, ExportDistribution, ExportFigures, Statistics,
};
use tidegate_model::{Grade, Premises};
use tidegate_report::{
    Answer, Note, Page, Report, ResultCommand, ResultFile, RunRecord, SourceRecord,
};

use super::tables;
use crate::failure::Failure;
use crate::result::Destination;

/// The statistics, and the premises of the bounds.
#[derive(Serialize)]
struct ServiceReport<'a> {
    version: &'a str,
    policy: &'a str,
    grade: Option<Grade>,
    #[serde(flatten)]
    seen: &'a Statistics,
    notes: Vec<Note>,
    premises: &'a Premises,
}

impl Report for ServiceReport<'_> {
    fn answer(&self) -> Option<Answer> {
        Some(tables::statistics_answer(self.seen))
    }

    fn write(&self, _page: &mut Page) {}
}

/// Writes the statistics and distributions of one instant, with the premises of their bounds.
pub(super) fn write(destination: &Destination, found: &Distributions) -> Result<(), Failure> {
    let Distributions { statistics: seen, status, distributions } = found;
    let report = ServiceReport {
        version: &status.version,
        policy: &status.policy,
        grade: status.grade,
        seen,
        notes: tables::notes(seen, Some(status)),
        premises: &status.premises,
    };
    let exports = seen.exports.iter().zip(distributions);
    let source = |(export, times): (&ExportFigures, &ExportDistribution)| SourceRecord {
        name: export.name.clone(),
        is_best_effort: export.deadline_ns.is_none(),
        response_ns_steps: times.response_ns_steps.clone(),
    };
    let run = RunRecord::of_sources(status.policy.clone(), exports.map(source).collect());
    destination.write(|| ResultFile::of(ResultCommand::Statistics, &report, vec![run]))
}

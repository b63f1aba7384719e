// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The result file of a service's statistics.

use serde::Serialize;
use tidegate_engine::control::wire::{
    Distributions, ExportDistribution, ExportFigures, Statistics, Status, Verb,
};
use tidegate_model::{Grade, Premises};
use tidegate_report::{Answer, Page, Report, ResultCommand, ResultFile, RunRecord, SourceRecord};

use super::{Client, tables};
use crate::failure::Failure;
use crate::result::Destination;

/// The statistics, and what the bounds rest on.
#[derive(Serialize)]
struct ServiceReport<'a> {
    version: &'a str,
    policy: &'a str,
    grade: Option<Grade>,
    #[serde(flatten)]
    seen: &'a Statistics,
    premises: &'a Premises,
}

impl Report for ServiceReport<'_> {
    fn answer(&self) -> Option<Answer> {
        Some(tables::statistics_answer(self.seen))
    }

    fn write(&self, _page: &mut Page) {}
}

/// Writes the statistics and distributions of one instant, with what their bounds rest on.
pub(super) fn write(
    destination: &Destination,
    client: &mut Client,
    found: &Distributions,
) -> Result<(), Failure> {
    let status: Status = client.ask(Verb::Status)?;
    let report = ServiceReport {
        version: &status.version,
        policy: &status.policy,
        grade: status.grade,
        seen: &found.statistics,
        premises: &status.premises,
    };
    let exports = found.statistics.exports.iter().zip(&found.distributions);
    let source = |(export, times): (&ExportFigures, &ExportDistribution)| SourceRecord {
        name: export.name.clone(),
        is_best_effort: export.deadline_ns.is_none(),
        response_ns_steps: times.response_ns_steps.clone(),
    };
    let run = RunRecord::of_sources(status.policy.clone(), exports.map(source).collect());
    destination.write(|| ResultFile::of(ResultCommand::Statistics, &report, vec![run]))
}

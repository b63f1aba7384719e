// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The requests, throughput and response times of each best-effort load in a run.

use serde::Serialize;
use tidegate_host::{Run, SourceMetrics};
use tidegate_model::{BestEffort, Workload};

use super::{PolicyReport, ResponseTimes, VolumeReport};
use crate::figures;
use crate::page::Page;

/// The results of one best-effort load.
#[derive(Debug, Serialize)]
pub(super) struct LoadReport<'a> {
    name: &'a str,
    #[serde(flatten)]
    volume: VolumeReport,
    /// The response times of the load's requests.
    #[serde(flatten)]
    response: ResponseTimes,
    #[serde(skip)]
    group: Option<u32>,
}

impl<'a> LoadReport<'a> {
    /// Reports each load of a workload.
    pub(super) fn all(workload: &'a Workload, run: &Run) -> Vec<Self> {
        let report = |(load, metrics): (&'a BestEffort, &SourceMetrics)| Self {
            name: &load.name,
            volume: VolumeReport::of(run.metrics.totals(std::slice::from_ref(metrics))),
            response: ResponseTimes::of(&metrics.responses),
            group: load.group,
        };
        workload.best_effort.iter().zip(run.metrics.loads()).map(report).collect()
    }
}

/// Writes a row for each entry of best effort, if there are several loads.
pub(super) fn write_loads(results: &[&PolicyReport<'_>], page: &mut Page) {
    if results.iter().all(|result| result.loads.len() < 2) {
        return;
    }
    let header = ["load", "together", "of each, least", "most", "requests"];
    let mut rows = Vec::new();
    for result in results {
        let mut heading = vec![String::new(); header.len()];
        heading[0] = result.policy.to_string();
        rows.push(heading);
        let is_one =
            |a: &LoadReport<'_>, b: &LoadReport<'_>| a.group.is_some() && a.group == b.group;
        rows.extend(result.loads.chunk_by(is_one).map(load_row));
    }
    page.paragraph("Throughput of best effort:");
    writeln!(page);
    page.table(&header, rows, 1);
    writeln!(page);
}

/// Returns the row of an entry of best effort.
fn load_row(same: &[LoadReport<'_>]) -> Vec<String> {
    let (first, last) = (&same[0], &same[same.len() - 1]);
    let name = match same.len() {
        1 => first.name.to_owned(),
        _ => figures::numbered(first.name, last.name),
    };
    let rates = || same.iter().map(|it| it.volume.throughput_bytes_per_s.unwrap_or_default());
    let of_each = |rate: Option<u64>| match same.len() {
        1 => String::new(),
        _ => figures::throughput(rate.unwrap_or_default()),
    };
    vec![
        format!("  {name}"),
        figures::throughput(rates().sum()),
        of_each(rates().min()),
        of_each(rates().max()),
        same.iter().map(|it| it.volume.requests).sum::<u64>().to_string(),
    ]
}

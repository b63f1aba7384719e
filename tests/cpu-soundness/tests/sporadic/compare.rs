// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares bounds with simulated responses.

use tidegate_cpu_analysis::CpuThreadAssessment;
use tidegate_cpu_sim::JobMetrics;
use tidegate_model::Duration;

/// Describes the first response beyond its bound. Until then, calls `note` for each thread that has
/// a bound and a response, with its index, the bound and the longest response.
pub(crate) fn first_broken(
    rows: &[CpuThreadAssessment],
    metrics: &[JobMetrics],
    mut note: impl FnMut(usize, Duration, Duration),
) -> Option<String> {
    rows.iter().zip(metrics).enumerate().find_map(|(index, (row, metrics))| {
        let (bound, longest) = row.response_max().zip(metrics.responses.max())?;
        note(index, bound, longest);
        (longest > bound).then(|| format!("{}: {longest} > {bound}", metrics.name))
    })
}

/// Returns whether any response is beyond its bound.
pub(crate) fn is_broken(rows: &[CpuThreadAssessment], metrics: &[JobMetrics]) -> bool {
    first_broken(rows, metrics, |_, _, _| ()).is_some()
}

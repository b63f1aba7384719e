// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The measured interference that a workload includes, as its file states it.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use tidegate_model::entry::{named, within_time_max};
use tidegate_model::units::Duration;
use tidegate_model::{FileError, InterferenceBound};

/// Measured interference, counted in addition to the tasks.
///
/// The program that reads the workload file also reads the profile, as it does for a drive file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuInterference {
    /// The path of the `*.cpu.toml`, relative to the workload file.
    pub file: String,
    /// The byte range of that path in the workload file.
    pub span: Range<usize>,
    /// The bound of the profile that is used.
    pub bound: InterferenceBound,
    /// The margin added to the bound in every window, to cover interference that the measurement
    /// can have missed. If `points` divides a window into several, each part includes the margin.
    pub margin: Duration,
}

/// A `[[cpu_interference]]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCpuInterference {
    file: Spanned<String>,
    bound: Option<Spanned<String>>,
    #[serde(default)]
    margin: Duration,
}

pub(super) fn read_interference(raw: &RawCpuInterference) -> Result<CpuInterference, FileError> {
    let span = raw.file.span();
    within_time_max(raw.margin, span.clone(), "margin")?;
    let all = &InterferenceBound::ALL;
    let bound =
        named(raw.bound.as_ref(), "bound of interference", InterferenceBound::from_name, all)?;
    Ok(CpuInterference {
        file: raw.file.get_ref().clone(),
        span,
        bound: bound.unwrap_or(InterferenceBound::Demand),
        margin: raw.margin,
    })
}

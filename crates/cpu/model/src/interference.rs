// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which measured interference a workload counts with, as its file says it.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use tidegate_model::FileError;
use tidegate_model::entry::within_time_max;
use tidegate_model::names;
use tidegate_model::units::Duration;

names! {
    /// Which bound of a measurement stands for it.
    pub enum InterferenceBound {
        /// The line above the demand that was measured (5.4, fit 1).
        Demand => "demand",
        /// The hyperbola above the load that was measured (5.4, fit 2).
        Load => "load",
        /// The measured demand itself, as a staircase.
        Points => "points",
    }
}

/// Interference that was measured and is counted beside the tasks.
///
/// The file is not read here: whoever reads the workload file does, as with a drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuInterference {
    /// The `*.cpu.toml`, relative to the workload file.
    pub file: String,
    /// Where that stands.
    pub span: Range<usize>,
    /// Which of its bounds.
    pub bound: InterferenceBound,
    /// Added to it in every window: what a measurement may have missed. Windows that `points` makes
    /// of several have it in each.
    pub margin: Duration,
}

/// `[[cpu_interference]]`.
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
    let bound = super::file::named(
        raw.bound.as_ref(),
        "bound of interference",
        InterferenceBound::from_name,
        all,
    )?;
    Ok(CpuInterference {
        file: raw.file.get_ref().clone(),
        span,
        bound: bound.unwrap_or(InterferenceBound::Demand),
        margin: raw.margin,
    })
}

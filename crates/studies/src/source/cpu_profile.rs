// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Processor profiles in the study's folder, as `tidegate cpu profile` measured them on a real
//! machine.

use serde::Deserialize;
use tidegate_cpu_analysis::{DemandBound, Ratio, Source};
use tidegate_cpu_model::{CpuProfile, StolenPoint};
use tidegate_model::Duration;

use super::{Failed, Measures, Surroundings, unknown};
use crate::cell::Cell;

/// The parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// The profiles in the study's folder, one for each run of the same measurement; no templates.
    files: Vec<String>,
    /// The length of the intervals, which each profile must contain.
    interval: Duration,
    /// Two causes whose bounds are compared with the profiles.
    #[serde(default)]
    causes: Option<Causes>,
}

/// A machine that was measured by itself, and a periodic load that then ran on it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Causes {
    /// The machine's profile in the study's folder.
    machine: String,
    execution: Duration,
    period: Duration,
}

/// The stolen time in intervals of one length, and its bounds.
pub(super) struct Stolen {
    /// The median of the runs.
    point: StolenPoint,
    explained: Option<Explained>,
}

/// The bounds of the causes in such an interval, in ns rounded up.
struct Explained {
    /// The load's refined bound (5.3.0.5).
    load: u64,
    /// The machine's line plus the line above the load's demand (5.3.0.6), at most the interval.
    sum: u64,
}

const KNOWN: &str =
    "stolen_ns, stolen_load; with `causes` load_ns, sum_ns, exceeds_load, is_covered";

impl Parameters {
    pub(super) fn run(self, surroundings: &Surroundings<'_>) -> Result<Stolen, Failed> {
        let points = self.files.iter().map(|file| point(file, self.interval, surroundings));
        let mut points = points.collect::<Result<Vec<_>, _>>()?;
        points.sort_by_key(|point| point.stolen_max);
        // Of an even number of runs, the lower of the two in the middle.
        let median = points.len().checked_sub(1).map(|last| points[last / 2]);
        let point = median.ok_or_else(|| Failed::of("`files` is empty"))?;
        let explained = self.causes.map(|causes| causes.explained(self.interval, surroundings));
        Ok(Stolen { point, explained: explained.transpose()? })
    }
}

impl Causes {
    fn explained(
        &self,
        interval: Duration,
        surroundings: &Surroundings<'_>,
    ) -> Result<Explained, Failed> {
        if self.period.is_zero() {
            return Err(Failed::of("the period of `causes` is zero"));
        }
        let no_line = || Failed::Fault(format!("{} has no [fit.demand]", self.machine));
        let line = read(&self.machine, surroundings)?.demand_fit.ok_or_else(no_line)?;
        let load = Source::new(self.execution, self.period);
        let demand_ns = |bound| {
            let demand = load.demand(bound, interval).and_then(Ratio::ceil);
            demand.and_then(|ns| u64::try_from(ns).ok()).unwrap_or(u64::MAX)
        };
        let machine = line.demand_ns(interval.ns()).unwrap_or(u64::MAX);
        let sum = machine.saturating_add(demand_ns(DemandBound::Linear));
        Ok(Explained { load: demand_ns(DemandBound::Refined), sum: sum.min(interval.ns()) })
    }
}

/// Returns the longest stolen time of a profile in intervals of this length.
fn point(
    file: &str,
    interval: Duration,
    surroundings: &Surroundings<'_>,
) -> Result<StolenPoint, Failed> {
    let profile = read(file, surroundings)?;
    let found = profile.points.iter().find(|point| point.interval == interval);
    found.copied().ok_or_else(|| Failed::Fault(format!("{file} has no intervals of {interval}")))
}

fn read(file: &str, surroundings: &Surroundings<'_>) -> Result<CpuProfile, Failed> {
    let profile = CpuProfile::parse(surroundings.file(file)?);
    profile.map_err(|error| Failed::Fault(format!("{file}: {error}")))
}

impl Measures for Stolen {
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let stolen = self.point.stolen_max.ns();
        Ok(Some(match (name, &self.explained) {
            ("stolen_ns", _) => Cell::of(stolen),
            ("stolen_load", _) => {
                Cell::Float(tidegate_stats::float::of(self.point.load_ppb()) / 1e9)
            }
            ("load_ns", Some(bounds)) => Cell::of(bounds.load),
            ("sum_ns", Some(bounds)) => Cell::of(bounds.sum),
            ("exceeds_load", Some(bounds)) => Cell::of(u64::from(stolen > bounds.load)),
            ("is_covered", Some(bounds)) => Cell::of(u64::from(stolen <= bounds.sum)),
            _ => return Err(unknown(name, KNOWN)),
        }))
    }
}

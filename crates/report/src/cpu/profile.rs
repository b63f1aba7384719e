// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate cpu profile`: the processor time that other threads take.

mod text;

use serde::Serialize;
use tidegate_cpu_measure::fit::{self, FittedTask};
use tidegate_cpu_measure::{Calibration, Coverage, CpuMeasurement, CpuProfileEnd};
use tidegate_cpu_model::{CpuConditions, DemandFit, LoadFit, StolenPoint};

use super::charts;
use crate::ns::Ns;
use crate::page::{Answer, Page, Report};
use crate::plot::{Chart, svg};

/// The processor time that other threads take.
#[derive(Serialize)]
pub struct CpuProfileReport<'a> {
    name: &'a str,
    end: &'static str,
    written: Option<&'a str>,
    toml: Option<&'a str>,
    conditions: &'a CpuConditions,
    interval_ns: Vec<Ns>,
    stolen_ns_max: Vec<Ns>,
    demand_ns: Vec<Ns>,
    demand_fit: Option<DemandFitReport>,
    load_fit: Option<LoadFitReport>,
    trials: u64,
    gaps: u64,
    gap_ns_max: Ns,
    wake_up_ns_max: Ns,
    measured_ns: Ns,
    stolen_ns: Ns,
    waited_ns: Option<Ns>,
    hypervisor_ns: Option<Ns>,
    gap_step_ns: Ns,
    wall_ns: Ns,
    warnings: &'a [String],
    calibration: Option<CalibrationReport>,
    #[serde(skip)]
    charts: Vec<Chart>,
    #[serde(skip)]
    measured: &'a CpuMeasurement,
    #[serde(skip)]
    known: Option<&'a Calibration>,
}

/// The line that bounds the demand.
#[derive(Serialize)]
struct DemandFitReport {
    utilization_ppb: u64,
    offset_ns: u64,
    task: Option<TaskReport>,
}

/// The hyperbola that bounds the load.
#[derive(Serialize)]
struct LoadFitReport {
    utilization_ppb: u64,
    period_ns: u64,
    task: Option<TaskReport>,
}

/// The periodic task that takes the same amount of time.
#[derive(Serialize)]
struct TaskReport {
    execution_ns: Ns,
    period_ns: Ns,
}

#[derive(Serialize)]
struct CalibrationReport {
    thief: TaskReport,
    is_thief_above: bool,
    idle_ns: Vec<Ns>,
    lines: CoverageReport,
    linear: CoverageReport,
    refined: CoverageReport,
}

#[derive(Serialize)]
struct CoverageReport {
    covered: usize,
    points: usize,
    by_any: usize,
    excess_ns_max: Ns,
}

/// Draws the charts of a measurement as an SVG picture.
pub fn draw_profile(measured: &CpuMeasurement) -> String {
    svg::draw(&measured.profile.name, &charts::of(&measured.profile))
}

impl<'a> CpuProfileReport<'a> {
    /// Reports a measurement; `toml` is its profile, and `written` the file that contains it, if
    /// any.
    pub fn of(
        measured: &'a CpuMeasurement,
        calibration: Option<&'a Calibration>,
        written: Option<&'a str>,
        toml: &'a str,
    ) -> Self {
        let CpuMeasurement { profile, tally, host, .. } = measured;
        let stolen = |points: &[StolenPoint]| -> Vec<Ns> {
            points.iter().map(|point| point.stolen_max.into()).collect()
        };
        Self {
            name: &profile.name,
            end: match measured.end {
                CpuProfileEnd::Complete => "complete",
                CpuProfileEnd::TimeOver => "time over",
                CpuProfileEnd::Cancelled => "interrupted",
            },
            written,
            toml: written.is_none().then_some(toml),
            conditions: &profile.conditions,
            interval_ns: profile.points.iter().map(|point| point.interval.into()).collect(),
            stolen_ns_max: stolen(&profile.points),
            demand_ns: stolen(&profile.running_max()),
            demand_fit: profile.demand_fit.map(DemandFitReport::of),
            load_fit: profile.load_fit.map(LoadFitReport::of),
            trials: tally.trials(),
            gaps: tally.gaps(),
            gap_ns_max: tally.gap_max().into(),
            wake_up_ns_max: tally.wake_up_max().into(),
            measured_ns: tally.measured().into(),
            stolen_ns: tally.stolen().into(),
            waited_ns: Ns::of(host.waited),
            hypervisor_ns: host.steal.map(|it| it.stolen().into()),
            gap_step_ns: measured.steps.gap.into(),
            wall_ns: measured.took.into(),
            warnings: &measured.warnings,
            calibration: calibration.map(CalibrationReport::of),
            charts: charts::of(profile),
            measured,
            known: calibration,
        }
    }
}

impl Report for CpuProfileReport<'_> {
    fn answer(&self) -> Option<Answer> {
        Some(text::answer(self.measured, self.known))
    }

    fn write(&self, page: &mut Page) {
        text::write(self.measured, self.known, &self.charts, page);
        writeln!(page);
        if let Some(name) = self.written {
            page.labelled("Written", name);
        }
        if let Some(toml) = self.toml {
            write!(page, "{toml}");
        }
    }
}

impl DemandFitReport {
    fn of(fit: DemandFit) -> Self {
        let DemandFit { utilization_ppb, offset_ns } = fit;
        Self { utilization_ppb, offset_ns, task: TaskReport::of(fit::task_of_demand(fit)) }
    }
}

impl LoadFitReport {
    fn of(fit: LoadFit) -> Self {
        let LoadFit { utilization_ppb, period_ns } = fit;
        Self { utilization_ppb, period_ns, task: TaskReport::of(fit::task_of_load(fit)) }
    }
}

impl TaskReport {
    fn of(thief: FittedTask) -> Option<Self> {
        thief.map(|(execution, period)| Self {
            execution_ns: execution.into(),
            period_ns: period.into(),
        })
    }
}

impl CalibrationReport {
    fn of(found: &Calibration) -> Self {
        let thief = found.thief;
        Self {
            thief: TaskReport {
                execution_ns: thief.execution.into(),
                period_ns: thief.period.into(),
            },
            is_thief_above: found.is_above,
            idle_ns: found.idle.iter().map(|point| point.stolen_max.into()).collect(),
            lines: CoverageReport::of(found.lines),
            linear: CoverageReport::of(found.linear),
            refined: CoverageReport::of(found.refined),
        }
    }
}

impl CoverageReport {
    fn of(found: Coverage) -> Self {
        Self {
            covered: found.covered,
            points: found.all,
            by_any: found.by_any,
            excess_ns_max: found.excess_max.into(),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text of `tidegate cpu profile`.

use tidegate_cpu_measure::fit::{self, FittedTask};
use tidegate_cpu_measure::{Calibration, CpuMeasurement, CpuProfileEnd};
use tidegate_cpu_model::running_max;

use crate::figures;
use crate::page::{Answer, Page};
use crate::plot::Chart;

/// The number of interval lengths in the table; the file contains all.
const ROWS: usize = 10;

/// States how much time other threads took, or why the profile cannot be relied on.
pub(super) fn answer(measured: &CpuMeasurement, calibration: Option<&Calibration>) -> Answer {
    let points = running_max(&measured.profile.points);
    let taken = points.last().map_or_else(String::new, |longest| {
        let (taken, interval) = (figures::ms_ceil(longest.stolen_max), longest.interval);
        format!("other threads took at most {taken} in {interval} or less")
    });
    let interrupted = measured.end == CpuProfileEnd::Cancelled;
    match calibration {
        _ if interrupted => Answer::bad(format!("INCOMPLETE: interrupted; until then {taken}.")),
        Some(calibration) if !calibration.is_covered() => {
            Answer::bad(format!("NOT COVERED: {}; {taken}.", calibration.says()))
        }
        Some(calibration) => Answer::good(format!("COVERED: {}; {taken}.", calibration.says())),
        None if measured.warnings.is_empty() => Answer::good(format!("MEASURED: {taken}.")),
        None => Answer::doubtful(format!("MEASURED, with warnings: {taken}.")),
    }
}

/// Prints tables, plots and fits.
pub(super) fn write(
    measured: &CpuMeasurement,
    calibration: Option<&Calibration>,
    charts: &[Chart],
    page: &mut Page,
) {
    let profile = &measured.profile;
    let conditions = &profile.conditions;
    writeln!(page);
    page.labelled(
        "Processor",
        format!("{}, {}", conditions.cpu, conditions.place.as_deref().unwrap_or("")),
    );
    for line in &conditions.host {
        page.labelled("Host", line);
    }
    writeln!(page);
    write_table(measured, page);
    for chart in charts {
        writeln!(page);
        page.chart(chart);
    }
    writeln!(page);
    if let Some(fit) = profile.demand_fit {
        let line = format!(
            "demand in D is at most {} + {} D{}",
            tidegate_model::Duration::from_ns(fit.offset_ns),
            percent(fit.utilization_ppb),
            as_task(fit::task_of_demand(fit))
        );
        page.labelled("Line", line);
    }
    if let Some(fit) = profile.load_fit {
        let (u, task) = (percent(fit.utilization_ppb), as_task(fit::task_of_load(fit)));
        page.labelled("Hyperbola", format!("utilisation {u}{task}"));
    }
    if let Some(calibration) = calibration {
        write_calibration(calibration, page);
    }
    write_speed(measured, page);
}

fn write_table(measured: &CpuMeasurement, page: &mut Page) {
    let points = &measured.profile.points;
    let raised = running_max(points);
    let step = points.len().div_ceil(ROWS).max(1);
    let shown = (0..points.len()).filter(|index| (index + 1).is_multiple_of(step));
    let row = |index: usize| {
        let (point, raised) = (points[index], raised[index]);
        vec![
            figures::ms_ceil(point.interval),
            figures::ms_ceil(point.stolen_max),
            figures::ms_ceil(raised.stolen_max),
            percent(raised.load_ppb()),
        ]
    };
    let header = ["interval", "most taken", "shorter included", "load"];
    page.table(&header, shown.map(row).collect(), 0);
}

fn write_calibration(calibration: &Calibration, page: &mut Page) {
    let thief = calibration.thief;
    let name = format!("the load of {} in {}", thief.execution, thief.period);
    page.labelled(
        "Calibration",
        format!("{name} (5.3.0.6) plus the line of the machine alone: {}", calibration.says()),
    );
    if !calibration.is_above {
        return;
    }
    let says = calibration.linear.says();
    page.labelled(
        "",
        format!("with the measurement of the machine alone, not the line above: {says}"),
    );
    page.labelled("", format!("with the refined bound (5.3.0.5): {}", calibration.refined.says()));
}

/// Writes the duration of the measurement, compared with that of measuring one interval length
/// after the other.
fn write_speed(measured: &CpuMeasurement, page: &mut Page) {
    let tally = &measured.tally;
    let lengths: u64 = tally.points().iter().map(|point| point.interval.ns()).sum();
    let needed = u128::from(lengths) * u128::from(tally.trials());
    let needed = u64::try_from(needed).map_or_else(
        |_| "centuries".to_owned(),
        |ns| tidegate_model::Duration::from_ms(ns / 1_000_000).to_string(),
    );
    let took = tidegate_model::Duration::from_ms(measured.took.ns() / 1_000_000);
    let what = format!(
        "{took} for {} trials of the longest interval; measured one length after the other, the \
         intervals add up to {needed}",
        tally.trials()
    );
    page.labelled("Took", what);
}

fn as_task(thief: FittedTask) -> String {
    thief.map_or_else(String::new, |(execution, period)| {
        format!(": like a task of {} in {}", figures::ms_ceil(execution), figures::ms_ceil(period))
    })
}

/// Formats parts per billion as a percentage, rounded up.
fn percent(ppb: u64) -> String {
    let hundredths = ppb.div_ceil(100_000);
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

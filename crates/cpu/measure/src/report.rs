// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a profile file from the collected data, with the host's conditions.

use std::time::SystemTime;

use tidegate_cpu_model::{CpuConditions, CpuProfile};
use tidegate_model::Duration;
use tidegate_platform::identity;
use tidegate_platform::realtime::RealTime;

use super::fit;
use super::measurement::{CpuMeasurement, CpuProfileParams, Found};
use super::plan;
use super::synthetic_load::SyntheticLoadReport;
use super::tally::Tally;

/// A longer step means that reading the clock hides the time that interrupts take.
const STEP_SLOW: Duration = Duration::from_us(1);

pub(super) fn measurement(
    params: &CpuProfileParams,
    found: Found,
    synthetic_load: Option<SyntheticLoadReport>,
    measured_at: SystemTime,
) -> CpuMeasurement {
    let profile = profile(params, &found, synthetic_load, measured_at);
    let warnings = warnings(params, &found, synthetic_load);
    let Found { tally, steps, real_time, host, cut, took, end, .. } = found;
    CpuMeasurement {
        profile,
        tally,
        steps,
        real_time,
        host,
        cut,
        synthetic_load,
        took,
        end,
        warnings,
    }
}

/// Returns the profile of the data so far, with its conditions.
pub(super) fn profile(
    params: &CpuProfileParams,
    found: &Found,
    synthetic_load: Option<SyntheticLoadReport>,
    measured_at: SystemTime,
) -> CpuProfile {
    let points = found.tally.points().to_vec();
    let conditions = CpuConditions {
        cpu: params.cpu,
        priority: granted(found.real_time).map(u32::from),
        trials: Some(found.tally.trials()),
        thief: params.synthetic_load.map(|it| format!("{}/{}", it.execution, it.period)),
        when: Some(humantime::format_rfc3339_seconds(measured_at).to_string()),
        place: Some(place()),
        how: Some(how(params, found)),
        host: host_lines(params, found, synthetic_load),
    };
    CpuProfile {
        name: params.name.clone(),
        conditions,
        demand_fit: Some(fit::demand_fit(&points)),
        load_fit: Some(fit::load_fit(&points)),
        points,
    }
}

fn granted(real_time: Option<RealTime>) -> Option<u8> {
    real_time.and_then(|it| it.scheduling.ok())
}

fn place() -> String {
    let model = identity::processor_model().unwrap_or_else(|| "an unnamed processor".to_owned());
    let below = if identity::is_virtual() { ", virtual" } else { "" };
    format!("{model}{below}, Linux {}", identity::kernel_release())
}

fn how(params: &CpuProfileParams, found: &Found) -> String {
    format!(
        "the most stolen in any window of {} intervals of {}; the clock is read every {}, gaps of at \
         least {} count; seed {}",
        found.tally.stretches(),
        found.stretch,
        found.steps.median,
        found.steps.gap,
        params.seed
    )
}

/// Returns lines about the other programs that ran, and about the causes of stolen time.
fn host_lines(
    params: &CpuProfileParams,
    found: &Found,
    synthetic_load: Option<SyntheticLoadReport>,
) -> Vec<String> {
    let (tally, host) = (&found.tally, &found.host);
    let mut lines = Vec::new();
    lines.extend(found.real_time.map(|it| it.to_string()));
    lines.push(format!(
        "total stolen time: {} of {}, in {} gaps; longest gap {}, latest wake-up {}",
        tally.stolen(),
        tally.measured(),
        tally.gaps(),
        tally.gap_max(),
        tally.wake_up_max()
    ));
    lines.extend(host.waited.map(|waited| {
        format!(
            "for {waited} of it the thread was ready while others ran; the rest is due to interrupts, \
             wake-ups and the hypervisor"
        )
    }));
    lines.extend(host.steal.map(|steal| {
        format!(
            "the hypervisor took {} of this processor during the measurement, in ticks of 10ms",
            steal.stolen()
        )
    }));
    if !host.interrupts.is_empty() {
        let named = host.interrupts.iter().map(|(name, count)| format!("{name} {count}"));
        let named: Vec<String> = named.collect();
        lines.push(format!("interrupts of this processor meanwhile: {}", named.join(", ")));
    }
    lines.extend(host.throttling.map(|it| it.to_string()));
    lines.extend(identity::clock_source().map(|name| format!("clock {name}")));
    lines.extend(synthetic_load.zip(params.synthetic_load).map(|(report, synthetic_load)| {
        format!(
            "a synthetic load of {} in {} executed {} in {} jobs, {}",
            synthetic_load.execution,
            synthetic_load.period,
            report.executed,
            report.jobs,
            report.priority.map_or_else(
                || "without real-time priority".to_owned(),
                |it| format!("SCHED_FIFO {it}")
            )
        )
    }));
    lines
}

/// Returns the warnings about conditions that may have distorted the measurement.
fn warnings(
    params: &CpuProfileParams,
    found: &Found,
    synthetic_load: Option<SyntheticLoadReport>,
) -> Vec<String> {
    let mut warnings = Vec::new();
    if granted(found.real_time).is_none() {
        let why =
            found.real_time.map_or_else(|| "it was not requested".to_owned(), |it| it.to_string());
        warnings.push(format!(
            "measured without real-time priority ({why}): the time of every other thread counts as \
             stolen, even that of threads that would not delay a real-time task. The profile is not a \
             bound for real-time tasks, and is far too pessimistic at best"
        ));
    } else if let Some(Err(error)) = found.real_time.map(|it| it.memory) {
        warnings.push(format!("memory is not locked ({error}): page faults count as stolen"));
    }
    let host = &found.host;
    if plan::is_throttled(found.stretch, host.throttling) && granted(found.real_time).is_some() {
        let throttling = host.throttling.map(|it| it.to_string()).unwrap_or_default();
        warnings.push(format!(
            "{throttling}, and one interval is {}: what looks like stolen time is the kernel's \
             throttling. Measure shorter intervals, or write -1 to \
             /proc/sys/kernel/sched_rt_runtime_us meanwhile",
            params.intervals.longest
        ));
    } else if host.gaps_like_throttling > 0 && granted(found.real_time).is_some() {
        warnings.push(format!(
            "{} gaps are as long as the kernel throttles real-time threads: this thread and threads \
             above it may have used up their common share",
            host.gaps_like_throttling
        ));
    }
    if let Some(steal) = host.steal.filter(|steal| steal.stolen_ticks > 0) {
        warnings.push(format!(
            "the hypervisor took {} of the processor (ticks of 10ms): the figures include that time, \
             and nothing on this machine bounds it",
            steal.stolen()
        ));
    }
    if found.steps.median > STEP_SLOW {
        warnings.push(format!(
            "reading the clock takes {}, so gaps shorter than {} are not seen. The clock is {}",
            found.steps.median,
            found.steps.gap,
            identity::clock_source().unwrap_or_else(|| "unknown".to_owned())
        ));
    }
    if found.cut > 0 {
        warnings.push(format!(
            "{} measurements ended early because they had too many gaps; the longest intervals have \
             fewer trials, and {} of {} lengths have none and are omitted",
            found.cut,
            found.tally.unseen(),
            params.intervals.count
        ));
    }
    warnings.extend(too_short(&found.tally));
    if synthetic_load.is_some_and(|it| it.priority.is_none()) {
        warnings
            .push("the synthetic load has no higher priority, so it may steal little".to_owned());
    }
    if synthetic_load.is_some_and(|it| it.ended_early) {
        let warning = "the synthetic load ended before the measurement, which took too long";
        warnings.push(format!("{warning}: part of the data is without it"));
    }
    warnings
}

/// Returns the warning that a measurement was too short for its maxima to be a bound.
///
/// The later part of a measurement is at least as long as the earlier part. So if it added at most
/// `growth`, a repetition is expected to add about as much again: that is the margin. Only a
/// measurement of at least twice the time can show more.
fn too_short(tally: &Tally) -> Option<String> {
    let growth = tally.growth()?;
    let (lengths, all) = (growth.lengths, tally.points().len());
    Some(format!(
        "too short to be a bound: at {lengths} of {all} lengths the later part of the measurement \
         took more time than the first, by up to {} (intervals of {}). Measure for at least {}, \
         until nothing is added; until then, allow a margin of {} at every length",
        growth.most,
        growth.interval,
        tally.measured() * 2,
        growth.most
    ))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a file of what the thread found, with what the host did to it.

use std::time::SystemTime;

use tidegate_cpu_model::{CpuConditions, CpuProfile};
use tidegate_model::Duration;
use tidegate_platform::identity;
use tidegate_platform::realtime::RealTime;

use super::fit;
use super::plan;
use super::profile::{CpuMeasurement, CpuProfileParams, Found};
use super::thief::ThiefReport;

/// A clock that takes longer to read hides what interrupts take.
const STEP_SLOW: Duration = Duration::from_us(1);

pub(super) fn measurement(
    params: &CpuProfileParams,
    found: Found,
    thief: Option<ThiefReport>,
    measured_at: SystemTime,
) -> CpuMeasurement {
    let profile = profile(params, &found, thief, measured_at);
    let warnings = warnings(params, &found, thief);
    let Found { tally, steps, real_time, host, cut, took, end, .. } = found;
    CpuMeasurement { profile, tally, steps, real_time, host, cut, thief, took, end, warnings }
}

/// What was found until now, with the conditions under which it was.
pub(super) fn profile(
    params: &CpuProfileParams,
    found: &Found,
    thief: Option<ThiefReport>,
    measured_at: SystemTime,
) -> CpuProfile {
    let points = found.tally.points().to_vec();
    let conditions = CpuConditions {
        cpu: params.cpu,
        priority: granted(found.real_time).map(u32::from),
        trials: Some(found.tally.trials()),
        thief: params.thief.map(|it| format!("{}/{}", it.execution, it.period)),
        when: Some(humantime::format_rfc3339_seconds(measured_at).to_string()),
        place: Some(place()),
        how: Some(how(params, found)),
        host: host_lines(params, found, thief),
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
    let model =
        identity::processor_model().unwrap_or_else(|| "a processor without a name".to_owned());
    let below = if identity::is_virtual() { ", virtual" } else { "" };
    format!("{model}{below}, Linux {}", identity::kernel_release())
}

fn how(params: &CpuProfileParams, found: &Found) -> String {
    format!(
        "the most stolen in any window of {} stretches of {}; the clock is read every {}, gaps from {} on \
         count; seed {}",
        found.tally.stretches(),
        found.stretch,
        found.steps.median,
        found.steps.gap,
        params.seed
    )
}

/// What ran beside it, and who took the time.
fn host_lines(params: &CpuProfileParams, found: &Found, thief: Option<ThiefReport>) -> Vec<String> {
    let (tally, host) = (&found.tally, &found.host);
    let mut lines = Vec::new();
    lines.extend(found.real_time.map(|it| it.to_string()));
    lines.push(format!(
        "stolen in all: {} of {}, in {} gaps; the longest {}, the latest wake-up {}",
        tally.stolen(),
        tally.measured(),
        tally.gaps(),
        tally.gap_max(),
        tally.wake_up_max()
    ));
    lines.extend(host.waited.map(|waited| {
        format!(
            "{waited} of it the thread was ready and others ran; the rest are interrupts, waking up and \
             the hypervisor"
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
    lines.extend(thief.zip(params.thief).map(|(report, thief)| {
        format!(
            "a synthetic thief of {} in {} executed {} in {} jobs, {}",
            thief.execution,
            thief.period,
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

/// What may have spoilt it.
fn warnings(params: &CpuProfileParams, found: &Found, thief: Option<ThiefReport>) -> Vec<String> {
    let mut warnings = Vec::new();
    if granted(found.real_time).is_none() {
        let why =
            found.real_time.map_or_else(|| "nobody asked for it".to_owned(), |it| it.to_string());
        warnings.push(format!(
            "measured without real-time priority ({why}): every thread of the processor counts as a \
             thief, also those that a real-time task would not notice. The profile bounds nothing \
             for real-time tasks; it is far too pessimistic at best"
        ));
    } else if let Some(Err(error)) = found.real_time.map(|it| it.memory) {
        warnings.push(format!("memory is not locked ({error}): page faults count as stolen"));
    }
    let host = &found.host;
    if plan::is_throttled(found.stretch, host.throttling) && granted(found.real_time).is_some() {
        let throttling = host.throttling.map(|it| it.to_string()).unwrap_or_default();
        warnings.push(format!(
            "{throttling}, and one interval is {}: what looks like a thief is the kernel's \
             throttling. Measure shorter intervals, or write -1 to \
             /proc/sys/kernel/sched_rt_runtime_us meanwhile",
            params.intervals.longest
        ));
    } else if host.gaps_like_throttling > 0 && granted(found.real_time).is_some() {
        warnings.push(format!(
            "{} gaps are as long as the kernel throttles real-time threads: together with threads \
             above it they may have used up what they share",
            host.gaps_like_throttling
        ));
    }
    if let Some(steal) = host.steal.filter(|steal| steal.stolen_ticks > 0) {
        warnings.push(format!(
            "the hypervisor took {} of the processor (ticks of 10ms): that is in the figures, and \
             nothing on this machine bounds it",
            steal.stolen()
        ));
    }
    if found.steps.median > STEP_SLOW {
        warnings.push(format!(
            "reading the clock takes {}: what takes less than {} is not seen. The clock is {}",
            found.steps.median,
            found.steps.gap,
            identity::clock_source().unwrap_or_else(|| "unknown".to_owned())
        ));
    }
    if found.cut > 0 {
        warnings.push(format!(
            "{} stretches ended early: more gaps than there is room for; the longest intervals \
             have fewer trials, and {} of {} lengths none: they are left out",
            found.cut,
            found.tally.unseen(),
            params.intervals.count
        ));
    }
    if thief.is_some_and(|it| it.priority.is_none()) {
        warnings.push("the synthetic thief has no priority above: it may steal little".to_owned());
    }
    if thief.is_some_and(|it| it.ended_early) {
        let warning = "the synthetic thief ended before the measurement, which took too long";
        warnings.push(format!("{warning}: part of this is without it"));
    }
    warnings
}

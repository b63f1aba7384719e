// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The host's time under measured interference: the response times of its threads, computed from
//! their execution times.

use tidegate_cpu_model::{CpuProfile, Priority};
use tidegate_model::{Duration, FileError, HostInterference, HostSection, HostTime};

use super::assessment::of_demand;
use super::interference::MeasuredDemand;
use super::level::Level;
use super::response::STEPS_MAX;

/// The longest time that a host can take: 36 years, as in files.
const TIME_NS_MAX: u64 = 1 << 60;

/// Returns the host's times and their premises, given execution times and a profile of the
/// processor.
///
/// For an execution time e, the least w with `w >= e + A(w)`, where A is
/// [`MeasuredDemand::demand_ns`]. A thread that is ready throughout a window of length w executes
/// for all of it except the time that is stolen.
///
/// # Source
/// `docs/theory/host-time.md` section 30, by equation 16.2 with one job and no other tasks.
///
/// # Assumptions
/// The profile covers every thread that is more urgent than the host's threads: each ran during the
/// measurement, at a priority above the measuring thread's. This function checks only that the
/// profile states a priority, and that every thread of the host is above it.
///
/// # Errors
/// If the profile lacks the bound, does not see all more urgent threads, or leaves the host's
/// threads too little of the processor. The error has the position of the `[host]` table in the
/// file.
pub fn under_interference(
    executions: HostTime,
    interference: &HostInterference,
    profile: &CpuProfile,
) -> Result<HostSection, FileError> {
    let fault = |span: &std::ops::Range<usize>, message: String, help: &str| {
        FileError::new(span.clone(), message, help)
    };
    let HostInterference { file, span, priority, priority_span, bound, margin } = interference;
    match profile.conditions.priority {
        Some(measured) if measured < *priority => {}
        Some(measured) => {
            return Err(fault(
                priority_span,
                format!(
                    "{file} was measured at priority {measured}, so it does not show all threads that \
                     are as urgent as priority {priority}"
                ),
                "measure it with `tidegate cpu profile --priority` below the threads' priority",
            ));
        }
        None => {
            return Err(fault(
                span,
                format!("{file} was measured without a real-time priority"),
                "measure it with `tidegate cpu profile --priority` below the threads' priority",
            ));
        }
    }
    let measured = MeasuredDemand::new(profile, *bound, *margin).map_err(|error| {
        fault(span, error.to_string(), "write bound = \"points\", which every profile has")
    })?;
    let measured = [measured];
    let level = Level::new(&measured);
    let response = |execution: Duration| {
        let mut steps = STEPS_MAX;
        if execution.is_zero() {
            return Ok(execution);
        }
        let response = level.completion_ns(execution.ns(), 0, &mut steps);
        let response = response.filter(|&response| response <= TIME_NS_MAX);
        response.map(Duration::from_ns).ok_or_else(|| {
            fault(
                span,
                format!("the interference in {file} leaves the host's threads no time"),
                "give the threads a processor with less interference, or another bound",
            )
        })
    };
    let times = HostTime {
        release: response(executions.release)?,
        submit: response(executions.submit)?,
        complete: response(executions.complete)?,
        reply: response(executions.reply)?,
    };
    let longest = times.steps().map(|(_, time)| time).into_iter().max().unwrap_or_default();
    let premises = of_demand(&measured[0], longest, Some(Priority(*priority)));
    Ok(HostSection { times, interference: None, premises: premises.into_iter().collect() })
}

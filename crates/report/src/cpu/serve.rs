// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate cpu serve`: the time that a thread got from its server.

use serde::Serialize;
use tidegate_cpu_live::{ThreadServerEnd, ThreadServerParams, ThreadServerReport};
use tidegate_model::Duration;

use crate::figures::{count, ms_ceil};
use crate::ns::Ns;
use crate::page::{Answer, Page, Report};

/// The time that a thread got from its server.
#[derive(Serialize)]
pub struct ServeReport<'a> {
    thread: i32,
    cpu: u32,
    priority: u8,
    server: &'static str,
    budget_ns: Ns,
    period_ns: Ns,
    end: &'static str,
    wall_ns: Ns,
    executed_ns: Ns,
    background_ns: Ns,
    executed_in_period_ns_max: Ns,
    exhaustions: u64,
    enforcement_delay_ns_max: Ns,
    lateness_ns_max: Ns,
    looks: u64,
    manager_ns: Ns,
    not_put_back: Option<String>,
    #[serde(skip)]
    params: &'a ThreadServerParams,
    #[serde(skip)]
    report: &'a ThreadServerReport,
}

impl<'a> ServeReport<'a> {
    /// Reports on a thread that was served with these parameters.
    pub fn of(params: &'a ThreadServerParams, report: &'a ThreadServerReport) -> Self {
        let counts = &report.counts;
        Self {
            thread: params.thread.raw(),
            cpu: params.cpu,
            priority: params.priority,
            server: params.server.kind.name(),
            budget_ns: params.server.budget.into(),
            period_ns: params.server.period.into(),
            end: end(report.end),
            wall_ns: report.took.into(),
            executed_ns: counts.executed.into(),
            background_ns: counts.background.into(),
            executed_in_period_ns_max: counts.window_max.into(),
            exhaustions: counts.exhaustions,
            enforcement_delay_ns_max: counts.overrun_max.into(),
            lateness_ns_max: report.lateness_max.into(),
            looks: counts.looks,
            manager_ns: report.manager.into(),
            not_put_back: report.not_put_back.map(|fault| fault.to_string()),
            params,
            report,
        }
    }
}

impl Report for ServeReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let Self { end, params, report, .. } = self;
        let text = format!(
            "SERVED: {end} after {}; the thread executed at most {} in any {}, its budget is {}.",
            ms_ceil(report.took),
            ms_ceil(report.counts.window_max),
            params.server.period,
            params.server.budget,
        );
        let is_within = report.counts.window_max <= params.server.budget;
        Some(if is_within { Answer::good(text) } else { Answer::doubtful(text) })
    }

    fn write(&self, page: &mut Page) {
        let (params, report) = (self.params, self.report);
        let counts = &report.counts;
        writeln!(page);
        let executed = format!(
            "{} at its priority ({}), {} in the background ({})",
            ms_ceil(counts.executed),
            share(counts.executed, report.took),
            ms_ceil(counts.background),
            share(counts.background, report.took)
        );
        page.labelled("Executed", executed);
        let window = format!(
            "at most {} in any {}, as far as the checks show; budget {}, used up {}",
            ms_ceil(counts.window_max),
            params.server.period,
            params.server.budget,
            count(counts.exhaustions, "time")
        );
        page.labelled("Budget", window);
        let delay = format!(
            "at most {} beyond the budget; the latest check came {} late",
            ms_ceil(counts.overrun_max),
            ms_ceil(report.lateness_max)
        );
        page.labelled("Enforcement", delay);
        let cost = format!(
            "{}, {} of the processor",
            count(counts.looks, "check"),
            share(report.manager, report.took)
        );
        page.labelled("Manager", cost);
        if report.end != ThreadServerEnd::ThreadGone && report.not_put_back.is_none() {
            page.labelled("Thread", format!("{} again", report.before));
        }
    }
}

/// Formats a share of time in hundredths of a percent, rounded up.
fn share(part: Duration, whole: Duration) -> String {
    let parts = u128::from(part.ns()) * 10_000;
    let parts = parts.div_ceil(u128::from(whole.ns().max(1)));
    format!("{}.{:02} %", parts / 100, parts % 100)
}

fn end(end: ThreadServerEnd) -> &'static str {
    match end {
        ThreadServerEnd::Stopped => "stopped",
        ThreadServerEnd::TimeOver => "time over",
        ThreadServerEnd::ThreadGone => "the thread has ended",
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate run`: policies, one after the other, on a device.

use serde::Serialize;
use tidegate_host::BatchWatch;
use tidegate_model::{Bytes, Duration, PolicyName, Premises};
use tidegate_stats::Distribution;

use crate::arrivals;
use crate::figures;
use crate::ns::Ns;
use crate::origin::Origin;
use crate::page::{Answer, Page, Report, Table, Tone};
use crate::premises;
use crate::runs::{self, NotApplicable, P50, P99, P999, PolicyReport, Requested, verdict};

/// The facts that are known before the first policy runs.
#[derive(Debug, Clone)]
pub struct RunHead {
    /// The name of the drive, on whose table the bounds rely.
    pub drive: String,
    /// The device.
    pub device: String,
    /// The device's size.
    pub size: Bytes,
    /// Whether the kernel granted all of the requested real-time scheduling.
    pub real_time_granted: bool,
    /// The granted real-time scheduling, in words.
    pub real_time: String,
    /// How tasks arrive, as [`crate::arrivals()`] describes it.
    pub arrivals: Option<String>,
    /// The seed of the positions of all requests.
    pub seed: u64,
    /// The premises of every policy's verdict.
    pub premises: Premises,
    /// The command that prints doubts and notes in full.
    pub more: String,
    /// The version of the program, and the files that it read.
    pub origin: Origin,
}

/// One policy's run on the device.
pub struct DeviceRun<'a> {
    /// The policy's results.
    pub result: PolicyReport<'a>,
    /// The host's lateness in releasing jobs.
    pub host_lateness: Distribution,
    /// The device's service times of requests.
    pub device_time: Distribution,
    /// The comparison of batches with the table.
    pub batches: BatchWatch,
}

/// Policies, one after the other, on a device.
#[derive(Debug, Serialize)]
pub struct RunReport<'a> {
    drive: &'a str,
    model: &'static str,
    device: &'a str,
    size_bytes: u64,
    real_time: &'a str,
    real_time_granted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    arrivals: Option<&'a str>,
    seed: u64,
    policies: Vec<Requested<RanPolicy<'a>>>,
    /// Policies that do not apply, with the reasons.
    not_applicable: Vec<NotApplicable>,
    origin: &'a Origin,
    #[serde(skip)]
    not_run: Vec<PolicyName>,
    #[serde(skip)]
    head: &'a RunHead,
}

#[derive(Debug, Serialize)]
struct RanPolicy<'a> {
    #[serde(flatten)]
    result: PolicyReport<'a>,
    requests_failed: u64,
    host_lateness: Option<Times>,
    device_time: Option<Times>,
    batches: u64,
    overruns: u64,
    overruns_tolerated: u64,
    overrun_ns_max: Ns,
}

/// The summary of a distribution of times.
#[expect(clippy::struct_field_names, reason = "keys of the JSON output")]
#[derive(Debug, Serialize)]
struct Times {
    ns_min: Option<Ns>,
    ns_mean: Option<Ns>,
    ns_p50: Option<Ns>,
    ns_p99: Option<Ns>,
    ns_p999: Option<Ns>,
    ns_max: Option<Ns>,
}

impl RunHead {
    /// Writes the conditions of the run: device, drive file, host, seed and premises.
    fn write(&self, results: &[&PolicyReport<'_>], page: &mut Page) {
        page.labelled("Device", format!("{}, {}", self.device, self.size));
        page.labelled("Drive", format!("proved by the table of {}", self.drive));
        page.labelled("Host", &self.real_time);
        arrivals::write(self.arrivals.as_deref(), page);
        page.labelled("Seed", format!("{}: fixes the places of all requests", self.seed));
        premises::write_short(&verdict::premises(&self.premises, results), &self.more, page);
    }
}

impl<'a> RunReport<'a> {
    /// Reports all runs, and the policies that an interruption left out.
    pub fn of(
        head: &'a RunHead,
        runs: Vec<DeviceRun<'a>>,
        not_run: &[PolicyName],
        not_applicable: Vec<NotApplicable>,
    ) -> Self {
        Self {
            drive: &head.drive,
            model: "device",
            device: &head.device,
            size_bytes: head.size.get(),
            real_time: &head.real_time,
            real_time_granted: head.real_time_granted,
            arrivals: head.arrivals.as_deref(),
            seed: head.seed,
            policies: Requested::all(runs.into_iter().map(RanPolicy::of), not_run),
            not_applicable,
            origin: &head.origin,
            not_run: not_run.to_vec(),
            head,
        }
    }

    /// Returns whether every requested policy ran, and the deciding policies kept every deadline.
    /// The policies that promise all deadlines decide; if none does, all policies decide.
    pub fn is_kept(&self) -> bool {
        verdict::is_kept(&self.results(), &self.not_run)
    }

    fn results(&self) -> Vec<&PolicyReport<'a>> {
        self.ran().into_iter().map(|ran| &ran.result).collect()
    }

    fn ran(&self) -> Vec<&RanPolicy<'a>> {
        self.policies.iter().filter_map(Requested::ran).collect()
    }
}

impl Report for RunReport<'_> {
    fn answer(&self) -> Option<Answer> {
        Some(verdict::answer(&self.results(), &self.not_run))
    }

    fn write(&self, page: &mut Page) {
        writeln!(page);
        let ran = self.ran();
        runs::text::write(&self.results(), page);
        for policy in &self.not_applicable {
            policy.write(page);
        }
        runs::write_not_run(&self.not_run, page);
        write_host(&ran, page);
        self.head.write(&self.results(), page);
    }
}

impl<'a> RanPolicy<'a> {
    fn of(run: DeviceRun<'a>) -> Self {
        Self {
            requests_failed: run.result.requests_failed(),
            result: run.result,
            host_lateness: Times::of(&run.host_lateness),
            device_time: Times::of(&run.device_time),
            batches: run.batches.batches,
            overruns: run.batches.overruns,
            overruns_tolerated: run.batches.tolerated_overruns,
            overrun_ns_max: run.batches.overrun_max.into(),
        }
    }

    fn overrun(&self) -> Option<Duration> {
        (self.overruns > 0).then_some(self.overrun_ns_max.0)
    }

    /// Returns the cause of an exceeded bound, if there is one.
    fn end(&self) -> Option<String> {
        let excess = self.result.excesses().map(|(_, _, excess)| excess).max()?;
        let why = suspect(self.overrun(), Times::pick(self.host_lateness.as_ref(), |it| it.ns_max));
        Some(format!("{}: a bound by {}; {why}", self.result.policy(), figures::ms_ceil(excess)))
    }
}

impl Times {
    /// Returns the times; `None` if nothing was recorded.
    fn of(times: &Distribution) -> Option<Self> {
        (times.count() > 0).then(|| Self {
            ns_min: Ns::of(times.min()),
            ns_mean: Ns::of(times.mean()),
            ns_p50: Ns::of(times.quantile(P50)),
            ns_p99: Ns::of(times.quantile(P99)),
            ns_p999: Ns::of(times.quantile(P999)),
            ns_max: Ns::of(times.max()),
        })
    }

    fn pick(times: Option<&Self>, of: fn(&Self) -> Option<Ns>) -> Option<Duration> {
        times.and_then(of).map(|it| it.0)
    }
}

/// Writes the host's and the device's figures, which do not depend on the policy.
fn write_host(ran: &[&RanPolicy<'_>], page: &mut Page) {
    writeln!(page);
    page.paragraph("Host and device:");
    writeln!(page);
    let header = [
        "policy",
        "lateness_p99",
        "lateness_max",
        "device_p50",
        "device_max",
        "batches",
        "overruns",
        "tolerated",
        "worst",
    ];
    let rows = ran.iter().map(|ran| {
        let (lateness, device) = (ran.host_lateness.as_ref(), ran.device_time.as_ref());
        vec![
            ran.result.policy().to_string(),
            figures::bound(Times::pick(lateness, |it| it.ns_p99)),
            figures::bound(Times::pick(lateness, |it| it.ns_max)),
            figures::bound(Times::pick(device, |it| it.ns_p50)),
            figures::bound(Times::pick(device, |it| it.ns_max)),
            ran.batches.to_string(),
            ran.overruns.to_string(),
            ran.overruns_tolerated.to_string(),
            figures::bound(ran.overrun()),
        ]
    });
    let tones = ran.iter().map(|ran| (ran.overruns > 0).then_some(Tone::Doubtful)).collect();
    let optional = ["device_p50", "lateness_p99", "tolerated"];
    page.put(Table::new(&header, rows.collect(), 1).toned(tones).optional(&optional));
    writeln!(page);
    page.legend(
        "Lateness: from the instant a job is due to the instant the host releases it; it is part of \
         the response. An overrun is a batch that took longer than the drive file says: no proof \
         holds for what it delays, unless the verdict tolerates it.",
    );
    writeln!(page);
    for ran in ran.iter().filter(|ran| ran.overruns > 0) {
        let Some(overrun) = ran.overrun() else { continue };
        let (policy, worst) = (ran.result.policy(), figures::ms_ceil(overrun));
        let (overruns, batches) = (ran.overruns, ran.batches);
        let tolerated = match ran.overruns_tolerated {
            0 => String::new(),
            count => format!("; the verdict tolerates {count} of them"),
        };
        let text = format!(
            "{policy}: {overruns} of {batches} batches took longer than the drive file says, by up \
             to {worst}{tolerated}"
        );
        page.labelled_as("Overruns", text, Some(Tone::Doubtful));
    }
    for end in ran.iter().filter_map(|ran| ran.end()) {
        page.labelled_as("Exceeded", end, Some(Tone::Doubtful));
    }
}

/// Returns the suspected cause of an exceeded bound. A host that is late at releases is also late
/// at completions, and the latter lateness counts as part of a batch's time.
fn suspect(overrun_max: Option<Duration>, lateness_max: Option<Duration>) -> &'static str {
    match overrun_max {
        None => "the drive file was kept, so the host was late: see lateness",
        Some(overrun) if lateness_max.is_some_and(|lateness| lateness >= overrun) => {
            "no batch overran the file by more than the host was late, so it may be the host as \
             well as the device: see lateness"
        }
        Some(_) => "the device took longer than its file says: measure it with more samples",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_is_not_blamed_for_what_the_host_may_have_done() {
        let [ms_2, ms_3] = [2, 3].map(|ms| Some(Duration::from_ms(ms)));
        assert!(suspect(None, ms_2).contains("the host was late"));
        for lateness_max in [ms_2, ms_3] {
            assert!(suspect(ms_2, lateness_max).contains("the host as well as the device"));
        }
        for lateness_max in [None, ms_2] {
            assert!(suspect(ms_3, lateness_max).contains("the device took longer"));
        }
    }
}

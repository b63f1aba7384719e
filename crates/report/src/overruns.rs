// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The forecast of overruns, from the table's samples, their dependence and the load. It is a
//! statement about the measured drive; no proof relies on it.

use serde::Serialize;
use tidegate_analysis::{Answer, Assessment};
use tidegate_model::{BestEffort, DriveContract, Duration, Intensity, Sampling, Workload};
use tidegate_stats::overrun_rate::{self, Entries};

use crate::figures;
use crate::ns::Ns;
use crate::page::Page;

/// The confidence of the forecast, in parts per million.
const CONFIDENCE_PPM: u32 = 990_000;
/// The complement of the confidence.
const DOUBT_PPM: u32 = 10_000;
/// Nanoseconds in 10^6 s.
const MEGASECOND_NS: u128 = 1_000_000_000_000_000;

/// The reason why there is no forecast for requests at places other than those of the samples.
const UNKNOWN: &str = "unknown: the samples behind the table are those of random places, and the \
                       requests are not known to lie at random";

/// The reason why samples at random places give no forecast for an order by position.
const OF_ORDER: &str = "unknown: positions decide the order of the requests, and the samples behind \
                        the table were served in another order";

/// The reason why there is no forecast for drain(n): its samples were taken in other situations.
const OF_DRAINS: &str = "unknown: a drain depends on what was sent before, and the samples followed \
                         other requests than these";
/// The reason why there is no forecast for starvation times: their samples were taken in other
/// situations.
const OF_STARVATION: &str = "unknown: a wait depends on the requests that pass it, and the samples \
                             were passed by others than these";
/// The reason why there is no forecast for times with priority: their samples were taken in other
/// situations.
const OF_PRIORITY: &str = "unknown: a time with priority depends on the other requests on the drive, \
                           and the samples had others than these";
/// The reason why there is no forecast for bounds from costs: the costs were fitted to other
/// batches.
const OF_COSTS: &str = "unknown: the bounds rest on costs, which were fitted to batches of other \
                        mixtures";

/// The forecast of batches that take longer than the table.
#[derive(Debug, Serialize)]
pub(crate) struct OverrunForecast {
    contract: &'static str,
    samples: u64,
    samples_effective: u64,
    confidence_ppm: u32,
    /// The largest probability that a batch exceeds its table entry, in parts per 10^12.
    exceedance_ppt_max: u64,
    /// The largest number of batches in 10^6 s; null if the load does not limit it.
    batches_per_megasecond_max: Option<u64>,
    /// The shortest mean time between two overruns.
    interval_ns_min: Option<Ns>,
}

impl OverrunForecast {
    /// Returns the forecast for batches; `None` if the bounds rely on another contract or on costs,
    /// if positions decide the order of requests, or if the samples of the table are unknown.
    pub(crate) fn of(workload: &Workload, assessment: &Assessment) -> Option<Self> {
        let contract = contract(workload, assessment)?;
        if assessment.serves_by_position(workload) {
            return None;
        }
        let sampling = &workload.contracts.sampling;
        if sampling.is_empty() {
            return None;
        }
        let entries = if assessment.batch_max == 1 { Entries::One } else { Entries::Mixture };
        // A batch of reads and writes exceeds the sum of two entries only if it exceeds one of
        // them.
        let doubt_ppm = (DOUBT_PPM / u32::try_from(sampling.len()).ok()?).max(1);
        let of_table = |table: &Sampling| {
            overrun_rate::exceedance_ppt(table.independent(), doubt_ppm, entries)
        };
        let exceedance = sampling.iter().map(of_table).sum::<u64>().min(overrun_rate::WHOLE_PPT);
        let rate = batches_per_megasecond(workload, assessment);
        let interval = rate.and_then(|rate| overrun_rate::interval(exceedance, rate));
        Some(Self {
            contract: contract.name(),
            samples: sampling.iter().map(|table| table.samples).min()?,
            samples_effective: sampling.iter().map(Sampling::independent).min()?,
            confidence_ppm: CONFIDENCE_PPM,
            exceedance_ppt_max: exceedance,
            batches_per_megasecond_max: rate.and_then(|rate| u64::try_from(rate).ok()),
            interval_ns_min: Ns::of(interval),
        })
    }

    /// Returns the reason why there is no forecast although the bounds rely on measured times;
    /// `None` if there is a forecast, or if the deadlines are not proven.
    pub(crate) fn unknown(workload: &Workload, assessment: &Assessment) -> Option<&'static str> {
        let contract = assessment.policy.facts().theorem.ok()?.facts().contract;
        if workload.tasks.is_empty() || assessment.answer != Answer::Proven {
            return None;
        }
        match contract {
            DriveContract::Batches if assessment.rests_on_costs() => Some(OF_COSTS),
            DriveContract::Batches if workload.contracts.samples_withheld => Some(UNKNOWN),
            DriveContract::Batches => {
                let is_withheld = assessment.serves_by_position(workload);
                (is_withheld && !workload.contracts.sampling.is_empty()).then_some(OF_ORDER)
            }
            DriveContract::Drain => Some(OF_DRAINS),
            DriveContract::Starvation => Some(OF_STARVATION),
            DriveContract::Priority => Some(OF_PRIORITY),
        }
    }

    /// Writes the forecast.
    pub(crate) fn write(&self, page: &mut Page) {
        let (all, effective) = (self.samples, self.samples_effective);
        let worth = if effective < all {
            format!(", worth {} independent ones,", figures::thousands(effective))
        } else {
            String::new()
        };
        let samples = figures::count(figures::thousands(all), "sample") + &worth;
        let often = match (self.batches_per_megasecond_max, self.interval_ns_min) {
            (Some(rate), Some(Ns(interval))) => {
                format!(
                    ": at up to {} a second, one every {}",
                    batches_a_second(rate),
                    long(interval)
                )
            }
            _ => String::new(),
        };
        let text = format!(
            "{samples} do not rule out, with 99 % confidence, that 1 batch in {} takes \
             longer than the table{often}",
            figures::thousands(overrun_rate::WHOLE_PPT / self.exceedance_ppt_max.max(1))
        );
        page.labelled("Evidence", text);
    }
}

/// Returns the contract of the bounds if it is the batch contract and batches are timed by the
/// table and not by costs.
fn contract(workload: &Workload, assessment: &Assessment) -> Option<DriveContract> {
    let contract = assessment.policy.facts().theorem.ok()?.facts().contract;
    let is_of_batches = match contract {
        DriveContract::Batches => true,
        DriveContract::Drain | DriveContract::Starvation | DriveContract::Priority => false,
    };
    let is_by_table = !workload.tasks.is_empty() && !assessment.rests_on_costs();
    (is_of_batches && is_by_table).then_some(contract)
}

/// Returns the largest number of batches in 10^6 s; `None` if neither the load nor the shortest
/// measured batch limits it.
///
/// Each batch contains a request, so there are at most as many batches as requests. A drive that
/// serves one batch after the other completes at most one batch in the time of the shortest batch.
fn batches_per_megasecond(workload: &Workload, assessment: &Assessment) -> Option<u128> {
    let of_task = |task: &tidegate_model::Task| {
        (u128::from(task.requests) * MEGASECOND_NS).div_ceil(u128::from(task.period.ns()))
    };
    let tasks = workload.tasks.iter().map(of_task).sum::<u128>();
    let loads = workload.best_effort.iter().filter(|_| assessment.serves_best_effort(workload));
    let loads = loads.map(requests_per_megasecond).sum::<Option<u128>>();
    let shortest = workload.contracts.sampling.iter().map(|table| table.time_min);
    let shortest = shortest.collect::<Option<Vec<Duration>>>();
    let by_time = shortest
        .and_then(|times| times.into_iter().min())
        .map(|time| MEGASECOND_NS.div_ceil(u128::from(time.ns().max(1))));
    let by_load = loads.map(|loads| tasks + loads);
    by_load.into_iter().chain(by_time).min()
}

/// Returns the largest number of requests of a load in 10^6 s; `None` if nothing limits it.
fn requests_per_megasecond(load: &BestEffort) -> Option<u128> {
    match load.intensity {
        Intensity::Outstanding(_) => None,
        Intensity::Stream { period, requests, .. } => {
            let requests = u128::from(requests) * MEGASECOND_NS;
            Some(requests.div_ceil(u128::from(period.ns())))
        }
        Intensity::Rate(rate) | Intensity::Paced { rate, .. } => {
            let bytes = u128::from(rate.bytes_per_s()) * 1_000_000;
            Some(bytes.div_ceil(u128::from(load.size.get().max(1))))
        }
    }
}

/// Formats a rate in batches per second, rounded up: `120 batches`, `0.4 batches`.
fn batches_a_second(per_megasecond: u64) -> String {
    match per_megasecond.div_ceil(1_000_000) {
        whole if whole >= 10 => format!("{} batches", figures::thousands(whole)),
        _ => {
            let tenths = per_megasecond.div_ceil(100_000);
            format!("{}.{} batches", tenths / 10, tenths % 10)
        }
    }
}

/// Formats a long time, rounded down: `7.4 s`, `12 min`, `3.1 h`, `45 days`.
fn long(time: Duration) -> String {
    let ms = time.ns() / 1_000_000;
    let units = [(86_400_000, "days"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
    let Some((unit, name)) = units.into_iter().find(|&(unit, _)| ms >= unit) else {
        return format!("{ms} ms");
    };
    match ms / unit {
        whole if whole >= 10 => format!("{} {name}", figures::thousands(whole)),
        whole => format!("{whole}.{} {name}", ms % unit * 10 / unit),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use tidegate_model::{DriveFile, PolicyName, WorkloadFile};

    use super::*;
    use crate::page::Look;
    use crate::{CheckReport, Report as _};

    const DRIVE: &str = r#"
name = "disk"
kind = "recorded"
depth = 2

[[batch]]
op = "read"
size = "128KiB"
ns_max = [10_000_000, 20_000_000]
ns_p50 = [5_000_000, 9_000_000]
ns_p99 = [6_000_000, 10_000_000]
ns_p999 = [7_000_000, 11_000_000]
samples = 100_000

"#;

    /// Returns the JSON and the text of a check of one task with requests at `place`.
    pub(crate) fn checked(place: &str) -> (serde_json::Value, String) {
        checked_beside(place, "", PolicyName::Dqf)
    }

    /// Returns the JSON and the text of a check of one task with requests at `place`, with more
    /// lines in its file.
    pub(crate) fn checked_beside(
        place: &str,
        more: &str,
        policy: PolicyName,
    ) -> (serde_json::Value, String) {
        let families = tidegate_model::drive_file::PlaceFamily::ALL.map(|family| {
            format!(
                "[[batch.families]]\nplaces = \"{family}\"\nns_max = [10_000_000, 20_000_000]\n"
            )
        });
        let drive = DriveFile::parse(&format!("{DRIVE}{}", families.concat())).unwrap();
        let text = format!(
            "drive = \"disk\"\n[[task]]\nname = \"t\"\nperiod = \"1s\"\nsize = \"128KiB\"\n\
             class = \"soft\"\nplace = {place}\n{more}"
        );
        let workload = WorkloadFile::parse(&text).unwrap().bind(&drive).unwrap();
        let report = CheckReport::of(&workload, policy);
        let mut page = Page::new(Look { columns: 10_000, ..Look::default() });
        report.write(&mut page);
        (serde_json::to_value(&report).unwrap(), page.into_text())
    }

    /// Goal: the samples behind a table were taken at random places, so there is no forecast for
    /// requests at other places. Method: the same task at random places and at others.
    #[test]
    fn nothing_is_predicted_of_places_that_are_set() {
        let (json, text) = checked("\"random\"");
        assert!(json["overruns"].is_object(), "{json}");
        assert!(text.contains("100,000 samples do not rule out"), "{text}");
        for place in ["\"sequential\"", "{ from = \"0%\", to = \"0.5%\" }"] {
            let (json, text) = checked(place);
            assert!(json["overruns"].is_null(), "{json}");
            assert!(json["overruns_unknown"].as_str().unwrap().contains("random places"), "{json}");
            assert!(text.contains("Evidence  "), "{text}");
            assert!(!text.contains("do not rule out"), "{text}");
        }
    }

    /// Goal: if positions decide the order of requests, there is no forecast and the proof is weak,
    /// because the samples were served in another order. Method: the same workload under every
    /// order, under policies that order tasks by position, and without best effort to order.
    #[test]
    fn nothing_is_predicted_of_an_order_by_position() {
        use PolicyName::{Dqf, Edf, ScanEdf};
        let ordered = |order: &str, load: &str| {
            format!("{load}[policy]\nname = \"dqf\"\nbest_effort_order = \"{order}\"\n")
        };
        let load = "[[best_effort]]\nname = \"b\"\nsize = \"128KiB\"\noutstanding = 8\n";
        let codes = |json: &serde_json::Value| {
            let premises = json["premises"].as_array().unwrap().iter();
            premises.filter(|it| it["code"] == "places_by_order").count()
        };
        for (policy, more, is_by_position) in [
            (Dqf, ordered("fifo", load), false),
            (Dqf, ordered("elevator", load), true),
            (Dqf, ordered("nearest", load), true),
            (Dqf, ordered("elevator", ""), false),
            (Edf, ordered("fifo", load), false),
            (Edf, ordered("elevator", load), true),
            (ScanEdf, ordered("fifo", ""), true),
        ] {
            let (json, text) = checked_beside("\"random\"", &more, policy);
            assert_eq!(json["overruns"].is_null(), is_by_position, "{policy} {more}: {json}");
            assert_eq!(text.contains("served in another order"), is_by_position, "{policy} {text}");
            assert_eq!(codes(&json), usize::from(is_by_position), "{policy} {more}: {json}");
            let grade = if is_by_position { "weak" } else { "strong" };
            assert_eq!(json["grade"], grade, "{policy} {more}: {json}");
            let is_soft = json["tasks"][0]["soft"].as_array().is_some_and(|it| !it.is_empty());
            assert!(!(is_soft && is_by_position), "{policy} {more}: {json}");
            assert!(is_soft || is_by_position || policy == Edf, "{policy} {more}: {json}");
        }
    }

    #[test]
    fn times_and_rates_are_rounded_in_the_safe_direction() {
        let told = [999, 1_999, 59_999, 60_000, 3_600_000 * 47, 86_400_000 * 100]
            .map(|ms| long(Duration::from_ms(ms)));
        assert_eq!(told, ["999 ms", "1.9 s", "59 s", "1.0 min", "1.9 days", "100 days"]);
        let told = [1, 100_001, 9_999_999, 119_000_001, 1_234_000_000].map(batches_a_second);
        let expected = ["0.1 batches", "0.2 batches", "10 batches", "120 batches", "1,234 batches"];
        assert_eq!(told, expected);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The record of a run: its options, its date and its host.
//!
//! A resumed measurement has rounds of several runs. Each run leaves its record in the journal. A
//! drive file names only the runs whose rounds it contains:
//!
//! ```text
//!   begins ----> options, date, host            one line
//!   measures --> load of other programs so far          a line a second if it changed
//!   killed ----> the journal has the record so far
//! ```

use serde::{Deserialize, Serialize};
use tidegate_model::drive_file::Identity;

use crate::kind::distinct;
use crate::load::Load;
use crate::warning::Warning;

/// The text that replaces the options of rounds without a record.
const UNKNOWN: &str = "options that were not kept";

/// The text that replaces the host of a run whose record does not describe it.
const HOST_UNKNOWN: &str = "what the host did was not kept";

/// The record of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    /// The options that repeat the run.
    pub(crate) options: String,
    /// The date of the run; `None` for a simulated drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) when: Option<String>,
    /// The known facts about the host at the beginning, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) host: Vec<String>,
    /// Whether the run had real-time scheduling and locked memory; `None` for a simulated drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) is_real_time: Option<bool>,
    /// The load of other programs during the run, if known.
    #[serde(skip)]
    pub(crate) load: Load,
}

impl RunRecord {
    /// Returns the record of a run whose options alone are known.
    pub(crate) fn of_options(options: impl Into<String>) -> Self {
        let (when, host, is_real_time, load) = (None, Vec::new(), None, Load::default());
        Self { options: options.into(), when, host, is_real_time, load }
    }

    /// Returns the record of rounds about which nothing is known.
    pub(crate) fn unknown() -> Self {
        Self::of_options(UNKNOWN)
    }

    fn lines(&self) -> Vec<String> {
        self.host.iter().cloned().chain(self.load.lines()).collect()
    }
}

/// The runs of one drive file in order, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Runs(Vec<RunRecord>);

impl Runs {
    /// Returns the runs of a drive file.
    ///
    /// # Panics
    /// If there are none.
    pub(crate) fn new(runs: Vec<RunRecord>) -> Self {
        assert!(!runs.is_empty(), "a drive file is of a run");
        Self(runs)
    }

    /// Returns the options of the last run, then the different options of earlier runs: `OPTIONS;
    /// after rounds made with OPTIONS; `.
    pub(crate) fn options(&self) -> String {
        let (last, earlier) = self.0.split_last().expect("at least one");
        let told = distinct([last].into_iter().chain(earlier).map(|run| &run.options));
        let earlier = told[1..].iter().map(|it| format!("after rounds made with {it}; "));
        format!("{}; {}", last.options, earlier.collect::<String>())
    }

    /// Returns the dates of the runs.
    pub(crate) fn when(&self) -> Option<String> {
        let dates: Vec<_> = self.0.iter().filter_map(|run| run.when.as_deref()).collect();
        (!dates.is_empty()).then(|| dates.join(", gone on with "))
    }

    /// Returns the state of the host, each line once. A line that does not apply to all runs begins
    /// with the name of its run.
    pub(crate) fn host(&self) -> Vec<String> {
        let lines: Vec<_> = self.0.iter().map(RunRecord::lines).collect();
        // Other modules look for exactly this line.
        let is_plain = |line: &String| {
            line == Identity::DEFERS_WRITES || lines.iter().all(|known| known.contains(line))
        };
        let told = self.0.iter().zip(&lines).flat_map(|(run, known)| {
            let of_run = run.when.as_deref().unwrap_or("an unknown time");
            let own = move |line: &String| {
                if is_plain(line) { line.clone() } else { format!("run of {of_run}: {line}") }
            };
            let unknown = known.is_empty().then(|| format!("run of {of_run}: {HOST_UNKNOWN}"));
            known.iter().map(own).chain(unknown)
        });
        distinct(told)
    }

    /// Returns warnings about the host's state during the runs.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let is_late = self.0.iter().any(|run| run.is_real_time != Some(true));
        let load = Load::sum(self.0.iter().map(|run| run.load));
        let stolen = load
            .processor()
            .filter(|time| time.stolen_ticks > 0)
            .map(|time| Warning::Stolen { ticks: time.stolen_ticks, ppm: time.stolen_ppm() });
        let other = load.other().filter(|load| load.reads > 0 || load.writes > 0);
        let mut warmth = self.0.iter().filter_map(|run| run.load.warmth()).flatten();
        let warm = warmth.find(|it| it.is_too_warm());
        let of_device = other.map(Warning::OtherLoad).into_iter().chain(warm.map(Warning::TooWarm));
        is_late.then_some(Warning::NotRealTime).into_iter().chain(stolen).chain(of_device).collect()
    }
}

#[cfg(test)]
mod tests {
    use tidegate_device::load::Completed;

    use super::*;

    fn run(hour: u32, host: &[&str], is_real_time: bool, other: [u64; 2]) -> RunRecord {
        let [reads, writes] = other;
        let load = Load::new(None, Some(Completed { reads, writes }));
        RunRecord {
            when: Some(format!("2026-05-04T{hour:02}:00:00Z")),
            host: host.iter().map(|&line| line.to_owned()).collect(),
            is_real_time: Some(is_real_time),
            load,
            ..RunRecord::of_options("tidegate profile")
        }
    }

    /// Goal: a quiet last run does not hide that an earlier run had other load and no real-time
    /// scheduling.
    #[test]
    fn every_run_has_its_own_host() {
        let cache = Identity::DEFERS_WRITES;
        let first = run(3, &["kernel 6", "no real-time scheduling", cache], false, [7, 1]);
        let second = run(5, &["kernel 6", "real-time scheduling"], true, [2, 0]);
        let runs = Runs::new(vec![first, second.clone()]);
        let dates = "2026-05-04T03:00:00Z, gone on with 2026-05-04T05:00:00Z";
        assert_eq!(runs.when().as_deref(), Some(dates));
        let expected = [
            "kernel 6",
            "run of 2026-05-04T03:00:00Z: no real-time scheduling",
            cache,
            "run of 2026-05-04T03:00:00Z: other load: 7 reads, 1 writes completed",
            "run of 2026-05-04T05:00:00Z: real-time scheduling",
            "run of 2026-05-04T05:00:00Z: other load: 2 reads, 0 writes completed",
        ];
        assert_eq!(runs.host(), expected);
        let other = Warning::OtherLoad(Completed { reads: 9, writes: 1 });
        assert_eq!(runs.warnings(), [Warning::NotRealTime, other]);
        let alone = Runs::new(vec![RunRecord { load: Load::default(), ..second }]);
        assert_eq!(alone.warnings(), []);
        assert_eq!(alone.host(), ["kernel 6", "real-time scheduling"]);
    }

    #[test]
    fn what_is_not_known_of_a_run_is_said() {
        let runs = Runs::new(vec![RunRecord::unknown(), run(5, &["kernel 6"], true, [0, 0])]);
        assert_eq!(runs.host()[0], "run of an unknown time: what the host did was not kept");
        assert_eq!(runs.warnings(), [Warning::NotRealTime], "nobody knows that it had it");
        assert!(runs.options().ends_with("after rounds made with options that were not kept; "));
    }
}

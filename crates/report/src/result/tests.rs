// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a result is read back unchanged, other versions are refused with their number, and the
//! reference lists every key. Method: a short simulation, its text, and the page.

use std::collections::BTreeSet;

use serde::Serialize;
use tidegate_analysis::assess;
use tidegate_drive::PseudoDisk;
use tidegate_host::BusyIntervals;
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_policy::Dqf;
use tidegate_sim::{Length, SimParams, simulate};

use super::*;
use crate::page::{Answer, Page};

const PAGE: &str = include_str!("../../../../docs/reference/result.md");

const WORKLOAD: &str = "\
[drive]
kind = \"pseudo\"
batch_ns_max = [5_000_000, 8_000_000]
[[task]]
name = \"camera\"
period = \"30ms\"
size = \"4KiB\"
[[best_effort]]
name = \"backup\"
outstanding = 3
size = \"4KiB\"
";

#[derive(Serialize)]
struct Example {
    seed: u64,
}

impl Report for Example {
    fn answer(&self) -> Option<Answer> {
        Some(Answer::good("KEPT."))
    }

    fn write(&self, _page: &mut Page) {}
}

/// Returns the result of 200 jobs under `dqf`.
fn result() -> ResultFile {
    let file = WorkloadFile::parse(WORKLOAD).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { unreachable!("an inline drive") };
    let workload = file.bind(drive).unwrap();
    let params = SimParams::new(&workload, Length::Jobs(200));
    let drive = PseudoDisk::new(2, workload.table.clone(), 1);
    let mut busy = BusyIntervals::with_room(8);
    let run = simulate(&params, Dqf::new(2, 2, 64), drive, &mut busy);
    let mut record = RunRecord::of(PolicyName::Dqf, &run.metrics, busy.into_longest().as_ref());
    record.curves = CurvesRecord::all(&workload, &assess(&workload, PolicyName::Dqf));
    let curves = record.curves.clone();
    let result = ResultFile::of(ResultCommand::Sim, &Example { seed: 1 }, vec![record]);
    let result = result.with_curves(curves);
    let drive = tidegate_drive::builtin::text("maxtor-atlas-10k-v").unwrap();
    let drive = DriveFile::parse(drive).unwrap();
    result.with_drive(Some(&drive)).made_at("2026-01-02".to_owned())
}

#[test]
fn a_result_is_read_as_it_was_written() {
    let result = result();
    assert_eq!(ResultFile::read(&result.to_text()).unwrap(), result);
    assert_eq!(result.report, serde_json::json!({ "answer": "KEPT.", "seed": 1 }));
    let run = &result.runs[0];
    let jobs = run.sources[0].response_ns_steps.iter().map(|step| step.1).sum::<u64>();
    assert_eq!((run.sources[0].name.as_str(), jobs), ("camera", 200));
    assert!(!run.sources[0].is_best_effort && run.sources[1].is_best_effort);
    // The only task's longest response is the longest busy interval.
    let longest = run.longest_busy_interval.as_ref().unwrap();
    let response_max = run.sources[0].response_ns_steps.last().unwrap().0;
    assert_eq!(longest.end_ns - longest.begin_ns, response_max);
}

/// Goal: results of version 1 are still read. Method: a result without the keys of version 2.
#[test]
fn a_result_of_version_1_lacks_what_version_2_added() {
    let mut text: Value = serde_json::from_str(&result().to_text()).unwrap();
    text["version"] = Value::from(1);
    for key in ["made", "drive"] {
        text.as_object_mut().unwrap().remove(key);
    }
    let read = ResultFile::read(&text.to_string()).unwrap();
    assert_eq!((&read.made, &read.drive), (&None, &None));
    assert_eq!(read.runs[0].sources, result().runs[0].sources);
}

/// Goal: results of version 2 are still read. Method: a result without the key of version 3.
#[test]
fn a_result_of_version_2_lacks_what_version_3_added() {
    let mut text: Value = serde_json::from_str(&result().to_text()).unwrap();
    text["version"] = Value::from(2);
    text["runs"][0].as_object_mut().unwrap().remove("over_time");
    let read = ResultFile::read(&text.to_string()).unwrap();
    assert_eq!(read.runs[0].over_time, None);
    assert_eq!(read.runs[0].sources, result().runs[0].sources);
}

/// Goal: results of version 3 are still read. Method: a result without the keys of version 4.
#[test]
fn a_result_of_version_3_lacks_what_version_4_added() {
    let mut text: Value = serde_json::from_str(&result().to_text()).unwrap();
    text["version"] = Value::from(3);
    text.as_object_mut().unwrap().remove("curves");
    text["runs"][0].as_object_mut().unwrap().remove("curves");
    let read = ResultFile::read(&text.to_string()).unwrap();
    assert!(read.curves.is_empty() && read.runs[0].curves.is_empty());
    assert_eq!(read.runs[0].sources, result().runs[0].sources);
}

/// Goal: no file can show curves with a bound that they contradict. Method: a file in which one
/// number is changed, or two numbers are such that the sum of the parts stays the same.
#[test]
fn curves_that_contradict_their_bound_are_refused() {
    let drawn = result().curves[0].drawn.clone().unwrap();
    assert_eq!(Some(drawn.to_ns - drawn.from_ns), result().curves[0].bound_ns);
    let changes: [fn(&mut CurvesRecord, &mut DrawnRecord); 11] = [
        |it, _| it.bound_ns = it.bound_ns.map(|ns| ns + 1),
        |it, _| it.bound_ns = None,
        |_, it| it.to_ns = 0,
        |_, it| it.served_ns_steps.push((0, 0)),
        // In these cases, the sum of the parts is still the bound.
        |_, it| (it.from_ns, it.to_ns) = (it.from_ns + 1, it.to_ns + 1),
        |_, it| (it.to_ns, it.outside_ns) = (it.to_ns - 1, it.outside_ns + 1),
        |_, it| it.requests += 1,
        // In these cases, the service is earlier, later, or less; or more is requested.
        |_, it| it.served_ns_steps.iter_mut().for_each(|step| step.0 -= 1),
        |_, it| it.served_ns_steps.iter_mut().for_each(|step| step.0 += 1),
        |_, it| _ = it.served_ns_steps.pop(),
        |_, it| it.shows = Shows::Meeting,
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut other = result();
        let mut drawn = other.curves[0].drawn.take().unwrap();
        change(&mut other.curves[0], &mut drawn);
        other.curves[0].drawn = Some(drawn);
        let refusal = ResultFile::read(&other.to_text()).unwrap_err().to_string();
        assert!(refusal.contains("curves"), "{index}: {refusal}");
    }
    let text = result().to_text().replace("\"argument\":\"batches\"", "\"argument\":\"other\"");
    assert!(ResultFile::read(&text).unwrap_err().to_string().contains("unknown argument"));
}

/// Goal: a result contains the run's data over time, and its charts show them.
#[test]
fn a_run_is_kept_over_time() {
    let result = result();
    let over_time = result.runs[0].over_time.as_ref().unwrap();
    let entries: Vec<_> =
        over_time.entries.iter().map(|it| (it.name.as_str(), it.is_best_effort)).collect();
    assert_eq!(entries, [("camera", false), ("backup", true)]);
    assert_eq!(over_time.entries[0].bytes.iter().sum::<u64>(), 200 * 4096);
    assert_eq!((&over_time.tokens_per_s[..], over_time.token_unit), (&[][..], None));
    let titles: Vec<String> = over_time.charts().into_iter().map(|it| it.title).collect();
    assert_eq!(titles, ["throughput of camera", "throughput of backup"]);
    let mut broken = over_time.clone();
    broken.entries[0].misses.pop();
    assert!(over_time.check().is_ok() && broken.check().is_err());
}

#[test]
fn other_versions_and_other_files_are_refused_by_name() {
    let refusal = |text: &str| ResultFile::read(text).unwrap_err().to_string();
    let text = result().to_text();
    for version in [0, 5] {
        let other = text.replacen("\"version\":4", &format!("\"version\":{version}"), 1);
        let found = refusal(&other);
        assert!(found.contains(&format!("version {version} ")), "{found}");
        assert!(found.contains("reads versions 1 to 4"), "{found}");
    }
    for foreign in ["", "{}", "drive = 1", "{\"format\": 1}", "{\"format\":\"x\",\"version\":1}"] {
        assert!(refusal(foreign).starts_with("it is not a result file"), "{foreign}");
    }
    // A newer version can have other keys, and is refused by its number alone.
    let newer = format!("{{\"format\":\"{FORMAT}\",\"version\":7}}");
    assert!(refusal(&newer).contains("version 7 "));
    let damaged = text.replacen("\"runs\"", "\"rans\"", 1);
    assert!(refusal(&damaged).starts_with("it is a damaged result file"));
    assert!(refusal(&text[..text.len() / 2]).starts_with("it is not a result file"));
}

#[test]
fn the_reference_lists_every_key() {
    let written: Value = serde_json::from_str(&result().to_text()).unwrap();
    let mut keys = BTreeSet::new();
    collect(&written, "", &mut keys);
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let listed: BTreeSet<String> = rows.map(str::to_owned).collect();
    assert_eq!(listed, keys);
    let version = format!("| `version` | {VERSION} |");
    assert!(PAGE.contains(&version), "the page must have the row: {version}");
}

/// Collects the keys of objects, with the path to each. `json.md` documents the report's own keys.
fn collect(value: &Value, path: &str, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                if path != "report" {
                    collect(value, &path, keys);
                }
                keys.insert(path);
            }
        }
        Value::Array(list) => {
            let path = format!("{path}[]");
            for value in list {
                collect(value, &path, keys);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

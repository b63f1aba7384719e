// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: each figure in a text also appears in the JSON of the same command. Method: every number
//! of the text is read with its unit, and searched for among the numbers of the object; the
//! object's `answer` is left out, because it repeats the text.

use serde_json::Value;
use tidegate_analysis::assess;
use tidegate_drive::PseudoDisk;
use tidegate_host::BatchWatch;
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{Bytes, Duration, PolicyName};
use tidegate_report::run::{DeviceRun, RunHead};
use tidegate_report::{FileOrigin, Look, Origin, PolicyReport, Report as _, RunReport};
use tidegate_sim::{Length, SimParams, simulate};
use tidegate_stats::{Distribution, Memory};

use crate::service::listen;
use crate::{folder, run};

/// A width at which no column is left out and no line is wrapped.
const WIDE: &str = "10000";

/// Commands to compare, each with the options that its JSON needs too.
const COMMANDS: &[&str] = &[
    "tidegate check inline.toml",
    "tidegate check doubts.toml",
    "tidegate check tight.toml",
    "tidegate check recorder.toml --explain",
    "tidegate check soft.toml --batch 2",
    "tidegate check cost.toml",
    "tidegate check workloads/machine.workload.toml",
    "tidegate sim recorder.toml --jobs 50 --policy noop,fifo,dqf",
    "tidegate sim recorded.toml --jobs 50",
    "tidegate cpu check processor.toml",
    "tidegate cpu check disturbed.toml",
    "tidegate cpu sim processor.toml --duration 1s",
    "tidegate cpu sim disturbed.toml --duration 1s",
    "tidegate serve workloads/media.serve.toml --print",
    "tidegate ctl good.ctl status",
    "tidegate drive compare fujitsu-max3036rc ibm-36z15",
    "tidegate profile fujitsu-max3036rc --plan --seed 1 --depth 4",
    "rm -f p.toml; tidegate profile fujitsu-max3036rc --depth 3 --samples 3 --seed 1 -o p.toml",
    "rm -f p.toml; tidegate profile nvme-ssd --depth 3 --samples 3 --seed 1 -o p.toml",
    "rm -f i.toml; tidegate drive import disk -o i.toml",
    "tidegate drive list",
    "tidegate cpu conformance",
];

/// Words before or after a number that is not a figure of the result, with the reasons.
const NO_FIGURES: &[(&str, &str)] = &[
    ("b(", "an argument of the table"),
    ("drain(", "an argument of the table"),
    ("p99", "a quantile, which a key names"),
    ("p50", "a quantile, which a key names"),
    ("99.9 %", "a quantile, which a key names"),
    ("99 %", "a quantile or the stated confidence"),
    ("100 %", "the sense of a load, in the legend"),
    ("of 1", "a part of a name or a count of one"),
    ("up to ", "the drive's depth, which `drive show --json` has"),
    ("min ", "the smaller part of a time of two units"),
    (" h ", "the smaller part of a time of two units"),
    ("section", "a place in the docs"),
    ("(5.3.0", "a place in the literature"),
    ("SCHED_FIFO", "the name of a class"),
    ("--", "an option"),
];

/// Labels of lines without figures of their own, with the reasons.
const NO_FIGURES_UNDER: &[(&str, &str)] = &[
    ("Drained", "the drain table, read at deadlines that never change"),
    ("Rotation", "the measured turn, whose key is in another unit"),
];

/// A number and its unit.
#[derive(Debug, Clone, Copy)]
struct Figure {
    value: f64,
    /// The value of one unit in the last digit.
    last: f64,
}

/// Returns the factors between a figure with this unit and its form in the JSON.
fn factors(unit: &str) -> &'static [f64] {
    match unit {
        "us" => &[1e3],
        "s" => &[1e9, 1.0],
        "min" => &[6e10],
        "h" => &[3.6e12],
        "%" => &[1e4, 1e7],
        "x" => &[1e6, 1.0],
        "KiB" => &[1024.0],
        "MiB" => &[1_048_576.0, 1.0],
        "GiB" => &[1_073_741_824.0],
        "ms" | "MB" | "MB/s" => &[1e6],
        "GB" => &[1e9],
        // These are parts of a sum in MiB.
        "for" => &[1.0, 1_048_576.0],
        // This includes "ns" and "B".
        _ => &[1.0],
    }
}

/// Returns the numbers on a line that are figures, with the text before each.
fn figures(line: &str) -> Vec<(String, Vec<Figure>)> {
    let line: Vec<char> = line.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if !line[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        let is_part = |at: usize| {
            let is_digit = |at: usize| line.get(at).is_some_and(char::is_ascii_digit);
            is_digit(at) || [',', '.'].contains(&line[at]) && is_digit(at + 1)
        };
        while at < line.len() && is_part(at) {
            at += 1;
        }
        let text: String = line[start..at].iter().collect();
        let is_in_word =
            start > 0 && (line[start - 1].is_alphanumeric() || "-_.".contains(line[start - 1]));
        let rest: String = line[at..].iter().collect();
        let unit: String =
            rest.trim_start_matches(' ').chars().take_while(|c| !" ,;:.)".contains(*c)).collect();
        let before: String = line[start.saturating_sub(12)..start].iter().collect();
        let around = format!("{before}{text}{}", rest.chars().take(3).collect::<String>());
        if is_in_word || NO_FIGURES.iter().any(|(word, _)| around.contains(word)) {
            continue;
        }
        let digits = text.replace(',', "");
        let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len());
        // A version number has several points and is not a figure.
        let Ok(value) = digits.parse::<f64>() else { continue };
        let last = 10f64.powi(-i32::try_from(decimals).unwrap());
        let of = |factor: &f64| Figure { value: value * factor, last: last * factor };
        found.push((format!("{text}{unit}"), factors(&unit).iter().map(of).collect()));
    }
    found
}

fn exact(count: usize) -> f64 {
    u32::try_from(count).expect("a list on a screen is short").into()
}

/// Collects the numbers of an object, and those that follow from them by counting, by sums over a
/// list, and by differences of two neighbouring values.
fn collect(value: &Value, known: &mut Vec<f64>) {
    match value {
        Value::Number(number) => known.extend(number.as_f64()),
        Value::String(text) => {
            let of = |(_, figures): (String, Vec<Figure>)| figures.into_iter().map(|it| it.value);
            known.extend(figures(text).into_iter().flat_map(of));
        }
        Value::Array(list) => {
            known.push(exact(list.len()));
            for it in list {
                collect(it, known);
            }
            let numbers: Vec<f64> = list.iter().filter_map(Value::as_f64).collect();
            known.extend((!numbers.is_empty()).then(|| numbers.iter().sum::<f64>()));
            let first = list.first().and_then(Value::as_object);
            for key in first.into_iter().flat_map(|it| it.keys()) {
                let values = list.iter().filter_map(|it| it[key].as_f64());
                known.push(values.sum());
                let is_true = list.iter().filter(|it| it[key] == Value::Bool(true));
                known.push(exact(is_true.count()));
            }
        }
        Value::Object(object) => {
            let values = object.iter().filter(|(key, _)| *key != "answer").map(|(_, it)| it);
            values.clone().for_each(|it| collect(it, known));
            // The sum of real time and best effort.
            let rates = object.values().filter_map(|it| it["throughput_bytes_per_s"].as_f64());
            known.push(rates.sum());
            // The N in a probability of 1 in N.
            for (key, whole) in [("exceedance_ppt_max", 1e12), ("miss_ppb_max", 1e9)] {
                known
                    .extend(object.get(key).and_then(Value::as_f64).map(|it| (whole / it).floor()));
            }
            // Columns of a table of batches: the time per request, and the speed-up of the median
            // batch over its requests one at a time.
            let list = |key| object.get(key).and_then(Value::as_array).into_iter().flatten();
            for (index, ns) in list("ns_max").filter_map(Value::as_f64).enumerate() {
                known.push((ns / exact(index + 1)).floor());
            }
            let medians: Vec<f64> = list("ns_p50").filter_map(Value::as_f64).collect();
            for (index, ns) in medians.iter().enumerate() {
                known.push(medians[0] * exact(index + 1) / ns);
            }
            let numbers: Vec<f64> = values.filter_map(Value::as_f64).collect();
            for (index, a) in numbers.iter().enumerate() {
                known.extend(numbers[..index].iter().map(|b| (a - b).abs()));
                known.extend(numbers[..index].iter().map(|b| a * b));
                known.extend(numbers[..index].iter().map(|b| a + b));
            }
        }
        Value::Null | Value::Bool(_) => (),
    }
}

/// Returns the figures of a text that the object does not contain, with their lines.
fn missing_in(object: &Value, text: &str) -> Vec<String> {
    let mut known = Vec::new();
    collect(object, &mut known);
    let is_known = |it: &Figure| known.iter().any(|known| (known - it.value).abs() <= it.last);
    let has_figures = |line: &str| !NO_FIGURES_UNDER.iter().any(|it| line.starts_with(it.0));
    // The ticks of a chart are not figures: neither those beside it nor those in the line below it.
    let is_axis = |before: &str, line: &str| line.contains(['┤', '└']) || before.contains('└');
    let before = std::iter::once("").chain(text.lines());
    let figures = before
        .zip(text.lines())
        .filter(|(before, line)| has_figures(line) && !is_axis(before, line))
        .flat_map(|(_, line)| figures(line).into_iter().map(move |it| (it, line)));
    let missing = figures.filter(|((_, values), _)| !values.iter().any(is_known));
    missing.map(|((figure, _), line)| format!("{figure} of: {line}")).collect()
}

/// Goal: each figure in the text of `run` also appears in its JSON. Method: the times of a real run
/// differ from run to run, so a simulation with invented times of host and device is reported as
/// text and as JSON.
#[test]
fn each_figure_of_a_run_stands_in_the_json() {
    let text = std::fs::read_to_string("tests/screens/files/inline.toml").unwrap();
    let file = WorkloadFile::parse(&text).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { unreachable!("it is inline") };
    let workload = file.bind(drive).unwrap();
    let params = SimParams::new(&workload, Length::Jobs(20));
    let ran = [PolicyName::Dqf, PolicyName::Noop].map(|policy| {
        let assessment = assess(&workload, policy);
        let plan = assessment.plan(&workload);
        let policy = tidegate_policy::build(policy, &plan, None).unwrap();
        let disk = PseudoDisk::new(workload.depth, workload.table.clone(), 1);
        let run = simulate(&params, policy, disk, &mut ());
        let times = |us: u64| {
            let mut times = Distribution::new(Memory::AsNeeded);
            (1..=1000).for_each(|part| times.record(Duration::from_us(us + part)));
            times
        };
        let mut batches = BatchWatch::new(&plan.limits);
        (batches.batches, batches.overruns, batches.tolerated_overruns) = (4711, 17, 5);
        batches.overrun_max = Duration::from_us(1234);
        DeviceRun {
            result: PolicyReport::of(&workload, assessment, &run, 1),
            host_lateness: times(77),
            device_time: times(3000),
            batches,
        }
    });
    let file = FileOrigin { name: "w".to_owned(), sha256: String::new(), modified: None };
    let head = RunHead {
        drive: "inline".to_owned(),
        device: "/dev/sdx".to_owned(),
        size: Bytes::new(1_000_204_886_016),
        real_time_granted: false,
        real_time: "SCHED_FIFO refused".to_owned(),
        arrivals: None,
        seed: 41,
        premises: workload.premises.clone(),
        more: String::new(),
        origin: Origin { version: "", commit: "", workload: file, drive: None },
    };
    let report = RunReport::of(&head, ran.into(), &[PolicyName::Fifo], Vec::new());
    let object = serde_json::from_str(&report.to_json()).unwrap();
    let text = report.to_text(Look { columns: 10_000, is_coloured: false });
    assert!(text.contains("4711"), "{text}");
    let missing = missing_in(&object, &text);
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn each_figure_of_a_text_stands_in_the_json() {
    let mut missing = Vec::new();
    for command in COMMANDS {
        let folder = folder();
        listen(folder.path(), "good");
        let text = run(command, folder.path(), WIDE);
        let text = String::from_utf8(text.stdout).unwrap();
        let object = run(&format!("{command} --json"), folder.path(), WIDE);
        let object: Value = serde_json::from_slice(&object.stdout).unwrap();
        missing.extend(missing_in(&object, &text).into_iter().map(|it| format!("{command}: {it}")));
    }
    assert!(missing.is_empty(), "{} missing:\n{}", missing.len(), missing.join("\n"));
}

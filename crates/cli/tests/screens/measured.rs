// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the screens of measurements and runs stay as they are. Method: snapshots in which each
//! figure is `#`; plots and lines about the host are left out. If the folder of the build output
//! has no direct I/O, the test of `profile` and `run` prints the reason and passes.

use std::path::Path;

use crate::widths::assert_fits;
use crate::{COLUMNS, assert_snapshot, folder, run};

/// A width at which no line is wrapped.
const WIDE: &str = "10000";

/// Labels of lines that appear only on some hosts.
const OF_THE_HOST: [&str; 14] = [
    "Doubt",
    "Drained",
    "Evidence",
    "Exceeded",
    "Host",
    "Hyperbola",
    "Line",
    "Note",
    "Notes",
    "Overruns",
    "Processor",
    "Samples",
    "Tail",
    "Usable for a contract:",
];

/// Words that appear only on some hosts.
const WORDS_OF_THE_HOST: [&str; 2] = ["EXCEEDED", "tolerated"];

/// Runs a command line and returns it with its standard output, without figures; if it fails,
/// prints the reason and returns `None`.
fn printed(line: &str, folder: &Path) -> Option<String> {
    let output = run(line, folder, WIDE);
    // A deadline can be missed here.
    if output.status.code().is_none_or(|code| code > 1) {
        println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    Some(format!("$ {line}\n{}\n", text.lines().filter_map(without_figures).collect::<String>()))
}

/// Replaces the figures of a line by `#`; returns `None` for plots, rows of figures, and lines about
/// the host.
fn without_figures(line: &str) -> Option<String> {
    let is_figure = |word: &str| word == "-" || word.contains(|c: char| c.is_ascii_digit());
    let words = line.split_whitespace().filter(|word| !WORDS_OF_THE_HOST.contains(word));
    let mut words: Vec<&str> = words.map(|word| if is_figure(word) { "#" } else { word }).collect();
    words.dedup_by(|word, before| *word == "#" && *before == "#");
    let is_of_figures = words.iter().all(|word| ["#", "%", "ms"].contains(word));
    let is_of_host = OF_THE_HOST.iter().any(|label| line.starts_with(&format!("{label:<12} ")));
    // A deadline can be missed here.
    let is_answer = ["KEPT", "MISSED", "MEASURED"].iter().any(|word| line.contains(word));
    let is_left_out = is_of_figures || is_of_host || is_answer || !line.is_ascii();
    (!is_left_out).then(|| words.join(" ") + "\n")
}

#[test]
fn measured_profile_and_run() {
    let folder = folder();
    let lines = [
        "tidegate profile disk.img --create 8MiB --size 64KiB --depth 4 --samples 20 --seed 1 \
         --only batch,drain,throughput --name here -o d.toml",
        "tidegate run run.toml --device disk.img --policy noop,fifo --jobs 3",
    ];
    let screens: Option<String> = lines.iter().map(|line| printed(line, folder.path())).collect();
    if let Some(screens) = screens {
        assert_snapshot("measured_profile_and_run", &screens);
    }
}

/// Goal: measured screens fit their terminal too. Method: they are taken at every width. Their
/// figures differ from run to run, so the test checks only the width of the lines, and that the
/// first line is an answer.
#[test]
fn measured_screens_fit() {
    let folder = folder();
    let made = "tidegate profile disk.img --create 8MiB --size 64KiB --depth 4 --samples 20 --seed 1 \
                --only batch --name here -o d.toml";
    if printed(made, folder.path()).is_none() {
        return;
    }
    let lines = [
        ("tidegate run run.toml --device disk.img --policy noop,fifo --jobs 3", "KEPT MISSED"),
        (
            "tidegate cpu profile --trials 5 --longest 2ms --lengths 4 --seed 1 -o WIDTH.cpu.toml",
            "MEASURED",
        ),
    ];
    for columns in COLUMNS {
        for (line, answers) in lines {
            let line = line.replace("WIDTH", columns);
            let output = run(&line, folder.path(), columns);
            let text = String::from_utf8(output.stdout).unwrap();
            if output.status.code().is_none_or(|code| code > 1) {
                println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
                continue;
            }
            assert_fits(&line, &text, columns);
            let is_answer = answers.split(' ').any(|word| text.starts_with(word));
            assert!(is_answer, "{line}: {text}");
        }
    }
}

#[test]
fn measured_cpu_profile() {
    let line = "tidegate cpu profile --trials 20 --longest 5ms --lengths 10 --seed 1 -o a.cpu.toml";
    if let Some(screen) = printed(line, folder().path()) {
        assert_snapshot("measured_cpu_profile", &screen);
    }
}

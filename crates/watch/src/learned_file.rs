// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes the learnt sources to a workload file: a draft for a person to read and correct.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tidegate_model::workload_file::Unit;
use tidegate_model::{Duration, PolicyName, count, printable};

use crate::learn::{Learnt, LearntPlace, Rhythm};

/// The facts for the file's first lines.
#[derive(Debug, Clone, Copy)]
pub struct FileHead<'a> {
    /// The device as the user named it.
    pub device: &'a str,
    /// The drive that the file names.
    pub drive: &'a str,
    /// The duration of the watch.
    pub duration: Duration,
    /// The number of events that were lost.
    pub lost: u64,
    /// The number of requests of sources that were not followed.
    pub left_out: u64,
}

/// Returns the text of a workload file; `None` if no request was observed.
pub fn workload_text(head: FileHead<'_>, learnt: &[Learnt]) -> Option<String> {
    if learnt.is_empty() {
        return None;
    }
    let mut text = String::new();
    write_head(&mut text, head);
    let of_tasks: BTreeSet<&str> = learnt
        .iter()
        .filter(|it| it.rhythm.is_some())
        .filter_map(|it| it.unit.as_deref())
        .collect();
    let mut names = BTreeSet::new();
    for source in learnt {
        let name = new_name(source, learnt, &mut names);
        let has_unit = source.rhythm.is_some()
            || !source.unit.as_deref().is_some_and(|it| of_tasks.contains(it));
        write_entry(&mut text, &name, source, has_unit);
    }
    Some(text)
}

fn write_head(text: &mut String, head: FileHead<'_>) {
    let FileHead { device, drive, duration, lost, left_out } = head;
    let _ = writeln!(
        text,
        "# A draft, learnt from {} in {}. Read it and correct it: it shows what programs did, not\n\
         # what they may do. A period is the median gap, rounded down; requests and sizes are the largest.",
        printable(device),
        seconds(duration)
    );
    if lost > 0 {
        let _ = writeln!(
            text,
            "# The kernel lost {}, so figures can be too small.",
            count(lost, "event")
        );
    }
    if left_out > 0 {
        let _ = writeln!(text, "# Left out: {} of further programs.", count(left_out, "request"));
    }
    let _ = writeln!(
        text,
        "drive = {}\n\n[policy]\nname = \"{}\"",
        quoted(drive),
        PolicyName::MqDeadlineTuned.name()
    );
}

fn write_entry(text: &mut String, name: &str, source: &Learnt, has_unit: bool) {
    let Learnt { op, requests, size_max, size_median, .. } = source;
    let title =
        source.unit.as_deref().map_or(String::new(), |unit| format!(" of {}", printable(unit)));
    let _ = writeln!(
        text,
        "\n# {}{title}: {requests} {}{}",
        printable(&source.name),
        op.name(),
        if *requests == 1 { "" } else { "s" }
    );
    if let Some(response) = source.response_max {
        let _ = writeln!(text, "# longest response {}", ms(response));
    }
    if size_median != size_max {
        let _ = writeln!(text, "# half of the requests have at most {size_median}");
    }
    if source.untimed > 0 {
        let what = if source.rhythm.is_some() { "this period is" } else { "no period was found" };
        let timed = requests - source.untimed;
        let _ =
            writeln!(text, "# {what} from the first {timed} of them: memory has room for no more");
    }
    match &source.rhythm {
        Some(rhythm) => write_task(text, name, source, rhythm),
        None => write_load(text, name, source),
    }
    let _ = writeln!(text, "size = \"{size_max}\"\nop = \"{}\"", op.name());
    let _ = writeln!(text, "place = {}", place(source.place));
    match &source.unit {
        Some(unit) if !Unit::is_name(unit) => {
            let _ = writeln!(text, "# a workload cannot name the unit {}", printable(unit));
        }
        Some(unit) if has_unit => drop(writeln!(text, "unit = {}", quoted(unit))),
        Some(unit) => drop(writeln!(
            text,
            "# {unit} has a task too, and a unit has one I/O class: give this load a unit of its own"
        )),
        None => {}
    }
}

fn write_task(text: &mut String, name: &str, source: &Learnt, rhythm: &Rhythm) {
    let Rhythm { period, median, gap_min, gap_max, jitter, jobs, requests, requests_max } = rhythm;
    let _ = writeln!(
        text,
        "# {}, {} to {} apart; median {}, and 99 of 100 gaps within {} of it",
        count(jobs, "job"),
        ms(*gap_min),
        ms(*gap_max),
        ms(*median),
        ms(*jitter)
    );
    if requests_max > requests {
        let _ = writeln!(text, "# 99 of 100 jobs had at most {requests} of the requests below");
    }
    match (source.is_real_time, &source.unit) {
        (true, _) => {}
        (false, Some(_)) => text
            .push_str("# its class was not real time; `tidegate tune --install` gives it that\n"),
        (false, None) => text.push_str(
            "# its class was not real time: run it as a service, or under `ionice -c realtime`\n",
        ),
    }
    let _ = writeln!(
        text,
        "[[task]]\nname = {}\nperiod = \"{period}\"          # the deadline, unless you state one\n\
         requests = {requests_max}",
        quoted(name)
    );
}

fn write_load(text: &mut String, name: &str, source: &Learnt) {
    if source.is_real_time {
        let _ = writeln!(text, "# its class was real time, which a load must not have");
    }
    let _ = writeln!(
        text,
        "[[best_effort]]\nname = {}\noutstanding = {}         # the most at once",
        quoted(name),
        source.outstanding_max.max(1)
    );
}

/// Returns a name that no entry has yet: the unit's or the process's name, with the operation if
/// the source both reads and writes.
fn new_name(source: &Learnt, all: &[Learnt], names: &mut BTreeSet<String>) -> String {
    let stem =
        source.unit.as_deref().map_or(&*source.name, |unit| unit.trim_end_matches(".service"));
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let stem: String = stem.chars().map(plain).collect();
    let stem = match stem.trim_matches('-') {
        "" => "source".to_owned(),
        stem => stem.to_owned(),
    };
    let same = |other: &Learnt| (&other.unit, &other.name) == (&source.unit, &source.name);
    let has_both = all.iter().any(|other| same(other) && other.op != source.op);
    let base = if has_both { format!("{stem}-{}", source.op.name()) } else { stem };
    let numbered = (2..).map(|number: u32| format!("{base}-{number}"));
    let mut candidates = [base.clone()].into_iter().chain(numbered);
    let name = candidates.find(|name| !names.contains(name)).expect("there are more numbers");
    names.insert(name.clone());
    name
}

fn place(place: LearntPlace) -> String {
    match place {
        LearntPlace::Random => "\"random\"".to_owned(),
        LearntPlace::Sequential => "\"sequential\"".to_owned(),
        LearntPlace::Range { from_percent, to_percent } => {
            format!("{{ from = \"{from_percent}%\", to = \"{to_percent}%\" }}")
        }
    }
}

/// Formats a text as a basic string of TOML.
fn quoted(text: &str) -> String {
    let escaped = printable(text).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

fn ms(time: Duration) -> String {
    let us = time.ns().div_ceil(1_000);
    format!("{}.{:03}ms", us / 1_000, us % 1_000)
}

fn seconds(time: Duration) -> String {
    let tenths = time.ns() / 100_000_000;
    format!("{}.{}s", tenths / 10, tenths % 10)
}

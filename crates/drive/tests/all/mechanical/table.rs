// SPDX-License-Identifier: MIT OR Apache-2.0
//! Case tables for a disk: its figures, the host's requests, and when each request completes.
//!
//! A table has blocks, with an empty line between them:
//!
//! ```text
//! what this block shows
//!   with zero_latency = true; queue.scheduler = "satf"
//!   5_000 write 0+98 -> 19_800 | 5_000 read 60+1 -> 6_100    // a comment
//! ```
//!
//! A line that begins with `with` changes the table's disk for the lines below it, by figures of a
//! drive file; a figure of the zone changes every zone. Any other line is a run of a new disk. Each
//! entry is an instant in microseconds and a flush, or a request with its first sector and its
//! number of sectors (`fua` or `ordered` comes before them). After the arrow comes the instant of
//! completion, in microseconds: exact, or with `<` or `>` before it; `failed` comes first if the
//! request must fail. Requests of one instant are one batch. A run that ends with `|` continues on
//! the next line.

use std::collections::BTreeMap;

use tidegate_drive::{Completion, Drive};
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{Op, Outcome, Request, RequestId, Tag, Time};
use toml::{Table, Value};

use super::disk_support::{Host, request, us};

/// Checks every run of a table on the disk that its `with` lines make of `disk`.
pub(crate) fn check(disk: &Mechanics, table: &str) {
    for block in table.split("\n\n") {
        let lines = block.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
        let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let (says, lines) = lines.split_first().expect("what the block shows");
        let (mut disk, mut run) = (disk.clone(), String::new());
        for line in lines {
            if let Some(figures) = line.strip_prefix("with ") {
                disk = changed(&disk, figures);
                continue;
            }
            run.push_str(line);
            if !line.ends_with('|') {
                check_run(&disk, &run, says);
                run.clear();
            }
        }
        assert_eq!(run, "", "{says}: a run without an end");
    }
}

/// Returns the disk with other figures.
pub(crate) fn changed(disk: &Mechanics, figures: &str) -> Mechanics {
    let mut disk = Value::try_from(disk).expect("plain figures");
    let figures: Table = toml::from_str(&figures.replace("; ", "\n")).expect("figures");
    merge(&mut disk, Value::Table(figures));
    disk.try_into().expect("figures of a disk")
}

fn merge(into: &mut Value, figures: Value) {
    match (into, figures) {
        (Value::Table(into), Value::Table(figures)) => {
            for (name, figure) in figures {
                merge(into.entry(name).or_insert(Value::Table(Table::new())), figure);
            }
        }
        (Value::Array(zones), figures @ Value::Table(_)) => {
            for zone in zones {
                merge(zone, figures.clone());
            }
        }
        (into, figure) => *into = figure,
    }
}

/// Sends the requests of a run to a new disk and compares their completions.
fn check_run(disk: &Mechanics, run: &str, says: &str) {
    let steps: Vec<(&str, &str)> =
        run.split('|').map(|step| step.split_once("->").unwrap_or((step, ""))).collect();
    let mut batches: BTreeMap<Time, Vec<(RequestId, &str)>> = BTreeMap::new();
    for (id, (asked, _)) in (1..).zip(&steps) {
        let (at, asked) = asked.trim().split_once(' ').expect("an instant and a request");
        batches.entry(us(number(at))).or_default().push((RequestId(id), asked));
    }
    let (mut host, mut done) = (Host::new(disk, 8), Vec::new());
    for (at, batch) in batches {
        host.go_to(at, &mut done);
        let is_flush = |asked: &(RequestId, &str)| asked.1 == "flush";
        let (flushes, requests): (Vec<_>, Vec<_>) = batch.into_iter().partition(is_flush);
        let requests: Vec<Request> =
            requests.iter().map(|&(id, asked)| parsed(id, asked)).collect();
        host.drive.submit(at, &requests);
        for (id, _) in flushes {
            host.drive.flush(at, id);
        }
    }
    host.drain(&mut done);
    assert_eq!(done.len(), steps.len(), "{says}: {run}: {done:?}");
    for (id, (asked, expected)) in (1..).zip(steps) {
        let completion = done.iter().find(|done| done.id == RequestId(id)).expect("it comes back");
        assert!(
            is_as(completion, expected),
            "{says}: {} -> {}: {done:?}",
            asked.trim(),
            expected.trim()
        );
    }
}

fn number(text: &str) -> u64 {
    text.replace('_', "").parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}

/// Returns the request that these words describe.
fn parsed(id: RequestId, asked: &str) -> Request {
    let words: Vec<&str> = asked.split_whitespace().collect();
    let [flags @ .., op, range] = &words[..] else { panic!("{asked}: no request") };
    let (start, sectors) = range.split_once('+').expect("sectors from a sector on");
    let op = match *op {
        "read" => Op::Read,
        "write" => Op::Write,
        other => panic!("{other}: neither a read nor a write"),
    };
    let mut request = request(id.0, op, number(start), number(sectors));
    for flag in flags {
        match *flag {
            "fua" => request.fua = true,
            "ordered" => request.tag = Tag::Ordered,
            other => panic!("{other}: unknown"),
        }
    }
    request
}

/// Returns whether a request completed as expected; if the table gives no time, any time is
/// accepted.
fn is_as(completion: &Completion, expected: &str) -> bool {
    let expected = expected.trim();
    let time = expected.strip_prefix("failed");
    let outcome = if time.is_some() { Outcome::Failed } else { Outcome::Done };
    let time = time.unwrap_or(expected).trim();
    let is_in_time = match time.split_once(' ') {
        Some(("<", time)) => completion.at < us(number(time)),
        Some((">", time)) => completion.at > us(number(time)),
        Some(_) => panic!("{expected}: neither < nor >"),
        None => time.is_empty() || completion.at == us(number(time)),
    };
    completion.outcome == outcome && is_in_time
}

/// Canary: a time that is a microsecond off is found.
#[test]
#[should_panic(expected = "off by one: 6_000 read 50+8 -> 15_801")]
fn wrong_time_is_found() {
    check(
        &super::disk_support::plain(),
        "off by one\n 0 read 50+8 -> 5_800 | 6_000 read 50+8 -> 15_801",
    );
}

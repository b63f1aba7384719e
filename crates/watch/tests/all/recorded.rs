// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: pages of real kernels are decoded as the kernels decode them. Method:
//! `tests/vm/bench/record.py` recorded a page of each kernel, its format files, and the text that
//! the kernel prints for the page.

use std::fs;
use std::path::PathBuf;

use tidegate_model::Lba;
use tidegate_watch::{Event, EventKind, Extent, Formats, IoClass, Operation, PageLayout, records};

use crate::common::{at, watcher};

const KERNELS: [&str; 2] = ["6.1", "6.12"];

fn file(kernel: &str, name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kernel).join(name)
}

fn text(kernel: &str, name: &str) -> String {
    fs::read_to_string(file(kernel, name)).unwrap()
}

fn formats(kernel: &str) -> Formats {
    let names = [
        "block_bio_queue",
        "block_rq_issue",
        "block_rq_requeue",
        "block_rq_complete",
        "block_bio_complete",
    ];
    let texts = names.map(|name| text(kernel, name));
    Formats::new(texts.each_ref().map(String::as_str)).unwrap()
}

fn decoded(kernel: &str) -> Vec<Event> {
    let page = fs::read(file(kernel, "page")).unwrap();
    let layout = PageLayout::parse(&text(kernel, "header_page"));
    let formats = formats(kernel);
    records(&page, layout).into_iter().filter_map(|record| formats.event(record)).collect()
}

/// An event as the kernel prints it: microseconds, name, thread, extent, class.
#[derive(Debug, PartialEq)]
struct Printed {
    us: u64,
    name: &'static str,
    thread: Option<(u32, String)>,
    extent: Extent,
    class: Option<IoClass>,
}

/// Parses `load-73  [000] .....  3.123456: block_rq_issue: 8,0 R 65536 () 128 + 128 be,0,4 [load]`.
fn parse(line: &str) -> Printed {
    let (before, after) = line.split_once(": block_").unwrap();
    let (event, words) = after.split_once(": ").unwrap();
    let words: Vec<&str> = words.split_whitespace().collect();
    let plus = words.iter().position(|word| *word == "+").unwrap();
    let sectors = words[plus + 1].parse().unwrap();
    let start = Lba::new(words[plus - 1].parse().unwrap());
    let extent = Extent { op: Operation::of_letters(words[1], sectors), start, sectors };
    let (seconds, micros) = before.split_whitespace().last().unwrap().split_once('.').unwrap();
    let us = seconds.parse::<u64>().unwrap() * 1_000_000 + micros.parse::<u64>().unwrap();
    let thread = before.split_once(" [").unwrap().0.trim().rsplit_once('-').unwrap().1;
    let command = words.last().unwrap().trim_matches(['[', ']']).to_owned();
    let class = match words[plus + 2].split(',').next().unwrap() {
        "rt" => Some(IoClass::RealTime),
        "be" | "none" => Some(IoClass::BestEffort),
        _ => None,
    };
    let (name, thread, class) = match event {
        "bio_queue" => ("queue", Some((thread.parse().unwrap(), command)), None),
        "rq_issue" => ("issue", None, class),
        "rq_requeue" => ("requeue", None, None),
        _ => ("complete", None, None),
    };
    Printed { us, name, thread, extent, class }
}

fn printed(event: &Event) -> Printed {
    let us = (event.at.ns() + 500) / 1_000;
    let of = |name, extent| Printed { us, name, thread: None, extent, class: None };
    match &event.kind {
        EventKind::Queued { extent, by, .. } => {
            Printed { thread: Some((by.thread, by.name.clone())), ..of("queue", *extent) }
        }
        EventKind::Issued { extent, class, .. } => {
            Printed { class: *class, ..of("issue", *extent) }
        }
        EventKind::Requeued { extent } => of("requeue", *extent),
        EventKind::Completed { extent, .. } => of("complete", *extent),
        EventKind::Ended { extent } => of("end", *extent),
    }
}

#[test]
fn pages_are_read_as_the_kernel_prints_them() {
    for kernel in KERNELS {
        let text = text(kernel, "text");
        let events = decoded(kernel);
        assert!(events.len() > 20, "{kernel}: {} events", events.len());
        for (event, line) in events.iter().zip(text.lines()) {
            assert_eq!(printed(event), parse(line), "{kernel}: {line}");
        }
    }
}

#[test]
fn only_newer_kernels_tell_the_class() {
    assert_eq!(KERNELS.map(|kernel| formats(kernel).tell_class()), [false, true]);
}

/// Goal: dispatches and completions of a real trace are matched with their requests. Method:
/// without another tool; each request that was queued within the page must have completed or be
/// pending, and no sector or completion may be foreign.
#[test]
fn requests_of_a_recorded_page_are_paired() {
    for kernel in KERNELS {
        let mut watcher = watcher(None, None);
        let events = decoded(kernel);
        let queued = |event: &&Event| matches!(event.kind, EventKind::Queued { .. });
        let came = events.iter().filter(queued).count();
        for event in events {
            watcher.observe(event);
        }
        let seen = watcher.seen(at(0));
        assert_eq!(
            usize::try_from(seen.accounts.requests()).unwrap() + seen.pending,
            came,
            "{kernel}"
        );
        assert!(seen.pending < came / 2, "{kernel}: {} of {came}", seen.pending);
        assert_eq!((seen.foreign_sectors, seen.device.record().foreign), (0, 0), "{kernel}");
    }
}

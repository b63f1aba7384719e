// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the page of a watch is valid in both formats, and has the counts of its events. Method: a
//! script of events, and a strict parser that shares no code with the library that formats the
//! page.

use tidegate_metrics::Format;
use tidegate_metrics::page::Page;
use tidegate_watch::metrics;

use crate::common::{at, feed, watcher};
use crate::declared::{declared, declared_of};
use crate::on_device::limits;

/// A camera keeps its bound of 200 us once and exceeds it once; a backup reads; an undeclared
/// program is in the real-time class; and events are lost.
const SCRIPT: &str = r"
    0      queue R 0+8 c@camera!
    1      issue R 0+8 rt
    51     complete R 0+8
    1100   queue R 8+8 c@camera!
    1101   issue R 8+8 rt
    1400   complete R 8+8
    2000   queue R 100+16 cp@backup
    2001   issue R 100+16 be
    2100   complete R 100+16 failed
    3000   queue R 200+8 rogue!
    3001   issue R 200+8 rt
    3010   complete R 200+8
    3100   issue F 0+0
    3130   complete F 0+0
    3200   lose 5
";

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-9
}

#[test]
fn a_page_tells_what_was_seen() {
    type Case = (&'static str, &'static [(&'static str, &'static str)], f64);
    const DEVICE: (&str, &str) = ("device", "sdb");
    const CAMERA: (&str, &str) = ("unit", "camera.service");
    let mut watcher = watcher(Some(declared()), Some(&limits()));
    feed(&mut watcher, SCRIPT);
    let seen = watcher.seen(at(5_000));
    let open_metrics = metrics("sdb", &seen, true).into_text(Format::OpenMetrics);
    let prometheus = metrics("sdb", &seen, true).into_text(Format::Prometheus);
    let pages = [Page::parse(&open_metrics), Page::parse_prometheus(&prometheus)];
    let cases: [Case; 20] = [
        ("info", &[DEVICE, ("class_from", "request")], 1.0),
        ("duration_seconds", &[DEVICE], 0.005),
        ("lost_events_total", &[DEVICE], 5.0),
        ("in_flight_max", &[DEVICE], 1.0),
        ("flushes_total", &[DEVICE], 1.0),
        ("flush_max_seconds", &[DEVICE], 0.000_03),
        ("entry_response_seconds_count", &[CAMERA, ("entry", "camera")], 2.0),
        ("entry_response_seconds_sum", &[CAMERA], 0.000_351),
        ("entry_response_seconds_bucket", &[CAMERA, ("le", "0.0001")], 1.0),
        ("entry_response_max_seconds", &[CAMERA], 0.000_3),
        ("entry_bound_seconds", &[CAMERA, ("entry", "camera")], 0.000_2),
        ("entry_exceeded_total", &[CAMERA, ("entry", "camera")], 1.0),
        ("entry_failed_total", &[("entry", "backup")], 1.0),
        ("undeclared_total", &[("process", "rogue"), ("class", "realtime")], 1.0),
        ("source_response_seconds_count", &[CAMERA, ("class", "realtime")], 2.0),
        ("source_transferred_bytes_total", &[("process", "cp")], 8192.0),
        ("source_failed_total", &[("process", "cp")], 1.0),
        ("drive_overruns_total", &[DEVICE, ("contract", "batches")], 0.0),
        ("drive_overruns_void_total", &[DEVICE, ("contract", "batches")], 0.0),
        ("entry_waiting", &[CAMERA, ("op", "read"), ("size", "4KiB")], 0.0),
    ];
    for page in pages {
        let page = page.unwrap_or_else(|fault| panic!("{fault}\n{open_metrics}\n{prometheus}"));
        for (name, labels, value) in cases {
            let found = page.value(&format!("tidegate_watch_{name}"), labels);
            assert!(near(found, value), "{name} {labels:?}: {found}");
        }
        for name in page.samples() {
            assert!(name.starts_with("tidegate_watch_"), "{name}");
        }
    }
}

/// Goal: no series is on the page twice, even if there are a task `cam` and tasks named `cam-1` and
/// `cam-2`, or if a process has the name of the row that further sources share.
#[test]
fn no_two_series_have_the_same_labels() {
    let task = |count: &str, size: &str| {
        format!(
            "[[task]]\nname = \"cam\"\n{count}period = \"1ms\"\nsize = \"{size}\"\nunit = \"a.service\"\n"
        )
    };
    let drive = "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [10_000, 20_000, 30_000]\n";
    let tasks = [task("count = 2\n", "4KiB"), task("", "64KiB")].concat();
    let mut watcher = watcher(Some(declared_of(&format!("{drive}{tasks}"))), None);
    let processes = (0..600).map(|index| format!("p{index}"));
    for (us, name) in (0..).step_by(10).zip(["others".to_owned()].into_iter().chain(processes)) {
        let (issued, completed) = (us + 1, us + 2);
        let script = format!(
            "{us} queue R 0+8 {name}!\n{issued} issue R 0+8 rt\n{completed} complete R 0+8"
        );
        feed(&mut watcher, &script);
    }
    let text = metrics("sdb", &watcher.seen(at(10_000)), true).into_text(Format::Prometheus);
    // The parser refuses a page with the same series twice.
    let page = Page::parse_prometheus(&text).unwrap();
    assert_eq!(page.count("tidegate_watch_entry_failed_total"), 2);
    // Of 601 processes, 512 are named, and `others` is one of them.
    let undeclared = "tidegate_watch_undeclared_total";
    assert_eq!(page.count(undeclared), 512);
    assert!(near(page.value(undeclared, &[("process", "others")]), 90.0), "{text}");
}

#[test]
fn a_watch_without_a_workload_has_no_entries() {
    let mut watcher = watcher(None, None);
    let text = metrics("sdb", &watcher.seen(at(1)), false).into_text(Format::Prometheus);
    Page::parse_prometheus(&text).unwrap();
    feed(&mut watcher, SCRIPT);
    let text = metrics("sdb", &watcher.seen(at(5_000)), false).into_text(Format::Prometheus);
    let page = Page::parse_prometheus(&text).unwrap();
    assert!(!page.has("tidegate_watch_entry_bound_seconds"), "{text}");
    assert_eq!(page.count("tidegate_watch_source_failed_total"), 3, "{text}");
}

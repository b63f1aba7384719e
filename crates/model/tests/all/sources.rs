// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sources of the literature in workload files: many identical sources, streams of best effort,
//! runs of sequential requests, and sources that start late or stop early.

use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{DriveFile, Duration, FileError, Intensity, Place, Workload};

use crate::common::Fault;

const DRIVE: &str = "name = \"d\"\nkind = \"pseudo\"\ndepth = 2\n[[batch]]\nop = \"read\"\n\
                     size = \"4KiB\"\nns_max = [5_000_000, 8_000_000]\n";

fn bind(text: &str) -> Result<Workload, FileError> {
    WorkloadFile::parse(text)?.bind(&DriveFile::parse(DRIVE).unwrap())
}

/// Returns a file with one load of these lines.
fn load(lines: &str) -> String {
    format!("drive = \"d\"\n[[best_effort]]\nname = \"l\"\nsize = \"4KiB\"\n{lines}")
}

/// Returns a file with one task of these lines.
fn task(lines: &str) -> String {
    format!("drive = \"d\"\n[[task]]\nname = \"t\"\nperiod = \"300ms\"\nsize = \"4KiB\"\n{lines}")
}

#[test]
fn a_count_makes_numbered_loads() {
    let workload = bind(&load("count = 450\noutstanding = 1\n")).unwrap();
    let loads = &workload.best_effort;
    assert_eq!(loads.len(), 450);
    assert_eq!((&*loads[0].name, &*loads[449].name), ("l-1", "l-450"));
    assert!(loads.iter().all(|it| it.group == Some(0)));
    assert_eq!(loads[0].intensity, Intensity::Outstanding(1));
    let alone = bind(&load("outstanding = 1\n")).unwrap();
    assert_eq!((&*alone.best_effort[0].name, alone.best_effort[0].group), ("l", None));
}

#[test]
fn a_load_with_a_period_is_a_stream() {
    let of = |lines: &str| bind(&load(lines)).unwrap().best_effort[0].intensity;
    let period = Duration::from_ms(200);
    let stream = |requests, outstanding| Intensity::Stream { period, requests, outstanding };
    assert_eq!(of("period = \"200ms\"\n"), stream(1, None));
    assert_eq!(of("period = \"200ms\"\nrequests = 5\noutstanding = 2\n"), stream(5, Some(2)));
    assert_eq!(stream(5, Some(2)).requests_max(), Some(10));
    assert_eq!(stream(5, None).requests_max(), None);
}

#[test]
fn a_source_starts_late_and_stops_early() {
    let ms = Duration::from_ms;
    let late = bind(&load("outstanding = 1\nstart = \"10s\"\nstop = \"20s\"\n")).unwrap();
    let load = &late.best_effort[0];
    assert_eq!((load.start, load.stop), (ms(10_000), Some(ms(20_000))));
    let late = bind(&task("start = \"10s\"\nstop = \"20s\"\noffset = \"5ms\"\n")).unwrap();
    let task = &late.tasks[0];
    assert_eq!((task.offset, task.stop), (ms(10_005), Some(ms(20_000))));
}

#[test]
fn periods_of_numbered_tasks_can_step() {
    let period = "count = 3\nperiod = { from = \"300ms\", step = \"1ms\" }\n";
    let file = |lines: &str| task(lines).replace("period = \"300ms\"\n", "");
    let times = |lines: &str| {
        let tasks = bind(&file(lines)).unwrap().tasks;
        tasks.iter().map(|it| (it.period.ns() / 1_000_000, it.deadline.ns() / 1_000_000)).collect()
    };
    let all: Vec<_> = times(period);
    assert_eq!(all, [(300, 300), (301, 301), (302, 302)]);
    let all: Vec<_> = times(&format!("{period}deadline = \"50ms\"\n"));
    assert_eq!(all, [(300, 50), (301, 50), (302, 50)]);
    let of = |lines: &str| Fault::of(&file(lines), bind);
    let late = "the jitter of 300ms is not below the period of 300ms";
    of(&format!("{period}jitter = \"300ms\"\n")).says(late, "\"300ms\"", "a jitter below");
    let long = "count = 99999\nperiod = { from = \"1s\", step = \"10days\" }\n";
    let written = "{ from = \"1s\", step = \"10days\" }";
    of(long).says("the last period exceeds 36 years", written, "a shorter time");
}

#[test]
fn a_task_without_a_period_is_a_closed_loop() {
    let file = |lines: &str| task(lines).replace("period = \"300ms\"\n", "");
    let workload = bind(&file("deadline = \"1s\"\noutstanding = 2\n")).unwrap();
    let client = &workload.tasks[0];
    assert!(client.is_closed_loop() && client.period_stated().is_none());
    assert_eq!((client.deadline, client.outstanding_max), (Duration::from_ms(1_000), Some(2)));
    let of = |lines: &str| Fault::of(&file(lines), bind);
    let none = "missing field `period`";
    for lines in ["", "deadline = \"1s\"\n", "outstanding = 1\n"] {
        of(lines).says(none, "\"t\"", "`deadline` and outstanding = 1");
    }
    let closed = "deadline = \"1s\"\noutstanding = 1\n";
    let jitter = "`jitter` needs a period, and the task has none";
    of(&format!("{closed}jitter = \"1ms\"\n")).says(jitter, "\"1ms\"", "delete the line");
    let arrivals = "`arrivals` needs a period";
    of(&format!("{closed}arrivals = \"sporadic\"\n")).says(arrivals, "\"sporadic\"", "");
}

#[test]
fn a_place_can_be_a_run() {
    let place = |text: &str| bind(&task(&format!("place = {text}\n"))).map(|it| it.tasks[0].place);
    assert_eq!(place("{ run = 8 }").unwrap(), Place::Runs { length: 8 });
    let fault = |text: &str| Fault::of(&task(&format!("place = {text}\n")), bind).message;
    assert!(fault("{ run = 1 }").contains("a run of fewer than 2 requests is not sequential"));
    let both = fault("{ run = 8, from = \"0%\", to = \"20%\" }");
    assert!(both.contains("`run` excludes `from` and `to`"), "{both}");
    assert!(fault("{ from = \"0%\" }").contains("missing field `to`"));
    assert!(fault("{ to = \"20%\" }").contains("missing field `from`"));
    assert!(fault("{}").contains("the place is empty"));
}

#[test]
fn faults_are_named_where_they_stand() {
    let of = |lines: &str| Fault::of(&load(lines), bind);
    of("count = 0\noutstanding = 1\n").says("count is 0: the entry describes no load", "0", "");
    of("period = \"0ms\"\n").says("the period is zero", "\"0ms\"", "above zero");
    of("period = \"1ms\"\nrate = \"1MB/s\"\n").says(
        "the load has both `rate` and `period`",
        "\"1MB/s\"",
        "keep one of them",
    );
    of("outstanding = 4\nrequests = 2\n").says("the load has no `period`", "2", "`outstanding`");
    of("period = \"1ms\"\nrequests = 0\n").says("a job of 0 requests", "0", "how many");
    let fast = "the load releases more than a million requests each second";
    of("period = \"1ms\"\nrequests = 1001\n").says(fast, "1001", "a longer period");
    of("period = \"999ns\"\n").says(fast, "\"999ns\"", "a longer period");
    of("").says("none of `outstanding`, `rate` and `period`", "\"l\"", "period = \"100ms\"");
    let never = "it stops at 2s and starts at 3s, so it releases nothing";
    of("outstanding = 1\nstart = \"3s\"\nstop = \"2s\"\n").says(never, "\"2s\"", "after `start`");
    let at_once = "requests at one instant, more than 1048576";
    of("count = 3\noutstanding = 400000\n").says(at_once, "400000", "smaller");
    of("period = \"2h\"\nrequests = 4294967295\n").says(at_once, "4294967295", "smaller");
    of("period = { from = \"1s\", step = \"1ms\" }\n").says(
        "the periods of loads have no steps",
        "{ from = \"1s\", step = \"1ms\" }",
        "one time",
    );
    let of = |lines: &str| Fault::of(&task(lines), bind);
    of("requests = 2000000\n").says(at_once, "2000000", "smaller");
    let early = "the first job of `t` arrives at 10s, and it stops at 1s";
    of("offset = \"10s\"\nstop = \"1s\"\n").says(early, "\"1s\"", "a later `stop`");
    of("offset = { step = \"1s\" }\n").says("this entry has one", "{ step = \"1s\" }", "`count`");
    of("stop = \"0ms\"\n").says("it stops at 0ms and starts at 0ms", "\"0ms\"", "delete the entry");
    let bunched = "bunched tasks choose their own instants, so `start` has no effect";
    of("arrivals = \"bunched\"\nstart = \"1s\"\n").says(bunched, "\"1s\"", "delete the line");
    let two = "[[best_effort]]\nname = \"l-1\"\nsize = \"4KiB\"\noutstanding = 1\n";
    Fault::of(&load(&format!("count = 2\noutstanding = 1\n{two}")), bind).says(
        "this is a second source named `l-1`",
        "\"l-1\"",
        "",
    );
}

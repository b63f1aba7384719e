// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: requests of units are compared with the entries that the workload declares for them.
//! Method: one workload, and scripts in which a unit keeps its contract or breaks it in one way.

use tidegate_model::workload_file::DriveReference;
use tidegate_model::{Duration, WorkloadFile};
use tidegate_watch::{Declared, Event, EventKind, Operation, Pacer, Streams, Watcher};

use crate::common::{ByName, at, extent, feed, submitter, us, watcher};

/// A unit with four tasks, two of which are cameras that each send one request of 4 KiB in 1 ms; a
/// task without a unit; a task with jitter; a backup with two requests at the same time.
const WORKLOAD: &str = r#"
[drive]
kind = "pseudo"
batch_ns_max = [10_000, 20_000, 30_000]
[[task]]
name = "camera"
count = 2
period = "1ms"
size = "4KiB"
unit = "camera.service"
[[task]]
name = "index"
period = "1ms"
size = "64KiB"
unit = "camera.service"
[[task]]
name = "clock"
period = "3ms"
size = "64KiB"
unit = "camera.service"
[[task]]
name = "nameless"
period = "1s"
size = "4KiB"
[[task]]
name = "late"
period = "1ms"
jitter = "400us"
deadline = "500us"
size = "4KiB"
unit = "late.service"
[[best_effort]]
name = "backup"
outstanding = 2
size = "8KiB"
unit = "backup.service"
"#;

pub(crate) fn declared() -> Declared {
    declared_of(WORKLOAD)
}

/// Returns the entries of a workload with up to six tasks. The first task has a bound of 100 us,
/// the second a bound of 200 us, and so on.
pub(crate) fn declared_of(workload: &str) -> Declared {
    let file = WorkloadFile::parse(workload).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { panic!("the drive is inline") };
    let workload = file.bind(drive).unwrap();
    let bound = |index: u64| Some(Duration::from_us(100 * (index + 1)));
    Declared::of(&file, &workload, &(0..6).map(bound).collect::<Vec<_>>())
}

/// Returns, for each entry, the number of its requests: completed, above the bound, beyond the
/// contract, larger than declared, and in another class.
fn records(script: &str) -> Vec<(String, [u64; 5])> {
    let mut watcher = watcher(Some(declared()), None);
    feed(&mut watcher, script);
    let seen = watcher.seen(at(10));
    let entries = seen.declared.unwrap().entries();
    let record = entries.map(|(entry, it)| {
        (
            entry.name.clone(),
            [it.responses.count(), it.exceeded, it.beyond, it.larger, it.other_class],
        )
    });
    record.filter(|(_, figures)| *figures != [0; 5]).collect()
}

#[test]
fn requests_belong_to_the_entry_of_their_unit_and_size() {
    for (name, script, expected) in [
        (
            "a unit within its contract, one response above the bound of the second camera",
            "1 queue R 0+8 c!@camera\n2 queue R 100+8 c!@camera\n3 complete R 0+8\n203 complete R 100+8",
            vec![("camera", [2, 1, 0, 0, 0])],
        ),
        (
            "the size decides between entries of a unit",
            "1 queue R 0+128 c!@camera\n2 complete R 0+128\n3 queue R 0+64 c!@camera\n4 complete R 0+64",
            vec![("index, clock", [2, 0, 0, 0, 0])],
        ),
        (
            "entries of one unit, operation and size share their contracts",
            "1 queue R 0+128 c!@camera\n2 queue R 0+128 c!@camera\n3 queue R 0+128 c!@camera\n\
             995 queue R 0+128 c!@camera",
            vec![("index, clock", [0, 0, 1, 0, 0])],
        ),
        (
            "a third request within a period is beyond the contract, and takes nothing of it",
            "1 queue R 0+8 c!@camera\n2 queue R 8+8 c!@camera\n3 queue R 16+8 c!@camera\n\
             995 queue R 24+8 c!@camera\n2000 complete R 0+32",
            vec![("camera", [4, 4, 1, 0, 0])],
        ),
        (
            "a job that is late, and the next that is not: a contract with jitter is kept",
            "1 queue R 0+8 c!@late\n592 queue R 8+8 c!@late\n600 complete R 0+16",
            vec![("late", [2, 0, 0, 0, 0])],
        ),
        (
            "jobs that are closer than by the jitter are beyond the contract",
            "1 queue R 0+8 c!@late\n589 queue R 8+8 c!@late",
            vec![("late", [0, 0, 1, 0, 0])],
        ),
        (
            "larger than any entry",
            "1 queue R 0+256 c!@camera\n2 complete R 0+256",
            vec![("index, clock", [1, 0, 0, 1, 0])],
        ),
        (
            "a task below real time, which is compared too",
            "1 queue R 0+8 c@camera\n300 complete R 0+8",
            vec![("camera", [1, 1, 0, 0, 1])],
        ),
        (
            "what the kernel ends without a request is not asked for",
            "1 queue R 0+8 c!@camera\n1 end R 0+8\n1 queue R 0+8 c!@camera\n1 end R 0+8\n\
             1 queue R 0+8 c!@camera\n2 queue R 8+8 c!@camera\n9 complete R 0+16",
            vec![("camera", [2, 0, 0, 0, 0])],
        ),
        (
            "a task below real time, and a load in it",
            "1 queue R 0+8 c@camera\n2 complete R 0+8\n3 queue R 0+8 b!@backup\n4 complete R 0+8",
            vec![("camera", [1, 0, 0, 0, 1]), ("backup", [1, 0, 0, 0, 1])],
        ),
        (
            "a load with three requests at once",
            "1 queue R 0+8 b@backup\n2 queue R 8+8 b@backup\n3 queue R 16+8 b@backup\n9 complete R 0+24\n\
             10 queue R 0+8 b@backup\n11 complete R 0+8",
            vec![("backup", [4, 0, 1, 0, 0])],
        ),
        (
            "an operation that the unit does not declare, and other units",
            "1 queue W 0+8 c@camera\n2 complete W 0+8\n3 queue R 0+8 d@disk\n4 complete R 0+8",
            vec![],
        ),
    ] {
        let expected: Vec<_> =
            expected.into_iter().map(|(name, figures)| (name.to_owned(), figures)).collect();
        assert_eq!(records(script), expected, "{name}");
    }
}

#[test]
fn undeclared_real_time_and_entries_without_a_unit_are_named() {
    let mut watcher = watcher(Some(declared()), None);
    feed(
        &mut watcher,
        "1 queue W 0+8 c!@camera\n2 complete W 0+8\n3 queue R 0+8 d!\n4 complete R 0+8",
    );
    let seen = watcher.seen(at(10));
    let declared = seen.declared.unwrap();
    let undeclared: Vec<_> =
        declared.undeclared().iter().map(|(source, count)| (source.title(), *count)).collect();
    assert_eq!(undeclared, [("d", 1), ("camera.service", 1)]);
    assert_eq!(declared.without_unit(), ["nameless"]);
    let bounds: Vec<_> = declared.entries().map(|(entry, _)| entry.bound()).collect();
    assert_eq!(bounds, [Some(us(200)), Some(us(400)), Some(us(600)), None]);
}

/// Goal: a request that waits longer than its bound counts before it completes. Method: it waits
/// while time passes, when events are lost, and when it is given up; a request that waited less
/// never counts.
#[test]
fn requests_that_wait_beyond_their_bound_count() {
    let camera = |watcher: &Watcher<ByName>| {
        let seen = watcher.seen(at(10));
        let (_, record) = &seen.declared.unwrap().entries().next().unwrap();
        (record.waiting, record.waiting_max, record.exceeded, record.responses.max())
    };
    let begin = "1 queue R 0+8 c!@camera\n2 complete R 0+8\n10 queue R 100+8 c!@camera";
    let mut watcher = watcher(Some(declared()), None);
    feed(&mut watcher, begin);
    watcher.wait_until(at(210));
    assert_eq!(camera(&watcher), (0, None, 0, Some(us(1))), "within the bound");
    watcher.wait_until(at(53_000_010));
    assert_eq!(camera(&watcher), (1, Some(us(53_000_000)), 0, Some(us(1))), "it waits");
    feed(&mut watcher, "53000020 complete R 100+8");
    watcher.wait_until(at(53_000_030));
    assert_eq!(camera(&watcher), (0, None, 1, Some(us(53_000_010))), "it ends, and counts once");
    feed(&mut watcher, "53001000 queue R 100+8 c!@camera");
    watcher.wait_until(at(53_001_100));
    feed(&mut watcher, "53009000 lose 1");
    let longest = Some(us(53_000_010));
    assert_eq!(camera(&watcher), (0, None, 1, longest), "its end may be among the lost events");
    feed(&mut watcher, "53010000 queue R 100+8 c!@camera");
    watcher.wait_until(at(53_011_000));
    feed(&mut watcher, "53012000 lose 1");
    assert_eq!(camera(&watcher), (0, None, 2, longest), "it was late before events were lost");
    feed(&mut watcher, "60000000 queue R 100+8 c!@camera\n400000000 queue W 0+8 d");
    assert_eq!(camera(&watcher), (0, None, 3, Some(us(340_000_000))), "it is given up");
}

/// Goal: after a loss of events, no request stays pending whose completion may be lost. Method: a
/// request's completion is lost while its queueing event is still held back.
#[test]
fn events_from_before_a_loss_come_before_it() {
    let mut watcher = watcher(Some(declared()), None);
    let mut streams = Streams::default();
    let queued = |us: u64, start: u64| {
        let by = submitter("c!@camera");
        let extent = extent(Operation::Write, start, 8);
        Event { at: at(us), kind: EventKind::Queued { extent, by, is_forced: false } }
    };
    streams.push(queued(10, 0));
    streams.push(queued(12, 8));
    watcher.take(&mut streams, 1, at(1), &mut Pacer::off());
    assert_eq!(watcher.seen(at(20)).pending, 0);
    // This event is older than the newest one that was read, but appeared later.
    streams.push(queued(11, 16));
    streams.push(queued(13, 24));
    watcher.take(&mut streams, 0, at(100), &mut Pacer::off());
    let seen = watcher.seen(at(100));
    assert_eq!((seen.pending, seen.unfinished, seen.lost), (1, 2, 1));
}

#[test]
fn requests_of_threads_that_ended_are_counted() {
    let mut watcher = watcher(Some(declared()), None);
    feed(&mut watcher, "1 queue R 0+8 c?\n2 complete R 0+8\n3 queue R 0+8 c!@camera");
    assert_eq!(watcher.seen(at(10)).declared.unwrap().unknown(), 1);
}

/// A program that starts a process with another name for each request does not fill the memory.
#[test]
fn undeclared_sources_have_a_limit() {
    let mut watcher = watcher(Some(declared()), None);
    for name in 0..600 {
        feed(&mut watcher, &format!("1 queue R 0+8 p{name}!\n2 complete R 0+8"));
    }
    let seen = watcher.seen(at(10));
    let declared = seen.declared.unwrap();
    assert_eq!((declared.undeclared().len(), declared.undeclared_others()), (512, 88));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: requests of units are compared with what the workload declares of them. Method: one
//! workload, and scripts in which a unit keeps its contract or breaks it in one way.

use tidegate_model::workload_file::DriveReference;
use tidegate_model::{Duration, WorkloadFile};
use tidegate_watch::Declared;

use crate::common::{at, feed, us, watcher};

/// Two cameras of one unit, each with one request of 4 KiB in 1 ms; a backup with two at once.
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
[[best_effort]]
name = "backup"
outstanding = 2
size = "8KiB"
unit = "backup.service"
"#;

fn declared() -> Declared {
    let file = WorkloadFile::parse(WORKLOAD).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { panic!("the drive is inline") };
    let workload = file.bind(drive).unwrap();
    let bound = |index: u64| Some(Duration::from_us(100 * (index + 1)));
    Declared::of(&file, &workload, &(0..5).map(bound).collect::<Vec<_>>())
}

/// Returns for each entry: requests, above its bound, beyond, larger, of another class.
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
            "larger than any entry",
            "1 queue R 0+256 c!@camera\n2 complete R 0+256",
            vec![("index, clock", [1, 0, 0, 1, 0])],
        ),
        (
            "a task below real time, and a load in it",
            "1 queue R 0+8 c@camera\n2 complete R 0+8\n3 queue R 0+8 b!@backup\n4 complete R 0+8",
            vec![("camera", [0, 0, 0, 0, 1]), ("backup", [0, 0, 0, 0, 1])],
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
    assert_eq!(bounds, [Some(us(200)), Some(us(400)), None]);
}

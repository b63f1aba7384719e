// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: running services get their class, and an undo restores only the threads that were changed.
//! Method: threads of a copied machine, whose I/O priority numbers are in files.

use std::fs;
use std::os::unix::fs::symlink;

use tidegate_tune::{Record, Root, Running};

use crate::machine::{
    BEST_EFFORT, DEMAND, IDLE, Machine, REAL_TIME, drop_ins, running, undo, units,
};

#[test]
fn running_services_get_their_class_and_undo_takes_it_back() {
    let machine = running();
    let before = machine.files();
    let disk = machine.disk();
    let root = Root::new(machine.folder.path());
    let others = || units().map(|unit| Running::of(&root, &unit)).map(|it| (it.threads, it.others));
    assert_eq!(others(), [(3, 2), (2, 1)]);
    let make = || Record::make(&disk, &disk.settings(&DEMAND), &[], &units()).expect("it can");
    make();
    assert_eq!(others(), [(3, 0), (2, 0)]);
    // Threads that are already in the class are left unchanged.
    let given = [REAL_TIME, REAL_TIME, 0x2000, BEST_EFFORT, IDLE, IDLE];
    assert_eq!(machine.priorities([10, 11, 12, 20, 21, 30]), given);
    make();
    let record = Record::of(&disk).expect("it can be read").expect("there is one");
    assert_eq!(record.drift(&disk), []);
    let undone = record.undo(&disk).expect("it can be undone");
    let restored = [("recorder.service".to_owned(), 2), ("media.service".to_owned(), 1)];
    assert_eq!(undone.services, restored);
    assert_eq!(machine.files(), before);
}

/// Goal: undo restores only what `tune` changed. Method: after tuning, a thread starts, a thread
/// ends and its number is reused, and a thread changes its own class.
#[test]
fn threads_that_started_since_get_what_the_others_had() {
    let machine = running();
    let disk = machine.disk();
    Record::make(&disk, &disk.settings(&DEMAND), &[], &units()).expect("it can be tuned");
    machine.thread("recorder.service", 13, 2, REAL_TIME);
    machine.thread("recorder.service", 11, 2, REAL_TIME);
    machine.thread("recorder.service", 14, 2, 0x2007);
    machine.write("proc/20/io_priority", "24580");
    let record = Record::of(&disk).expect("it can be read").expect("there is one");
    assert_eq!(record.drift(&disk), []);
    machine.thread("recorder.service", 15, 2, 0);
    let [drift] = &record.drift(&disk)[..] else { panic!("one difference") };
    assert_eq!(drift.name, "recorder.service");
    assert_eq!(drift.expected.as_deref(), Some("realtime"));
    // Number 11 is listed twice.
    assert_eq!(drift.found.as_deref(), Some("6 of 7 threads"));
    record.undo(&disk).expect("it can be undone");
    assert_eq!(machine.priorities([10, 11, 13, 14, 15, 20]), [0, 0, 0, 0x2007, 0, 24580]);
}

/// For a load, only the changed threads are recorded, so a thread that starts later is left
/// unchanged.
#[test]
fn a_service_that_needed_no_change_is_left_alone() {
    let machine = Machine::new();
    machine.thread("media.service", 21, 1, IDLE);
    machine.thread("media.service", 22, 1, 0);
    machine.thread("recorder.service", 11, 1, REAL_TIME);
    let disk = machine.disk();
    Record::make(&disk, &[], &drop_ins(), &units()).expect("it can be tuned");
    machine.thread("media.service", 23, 2, BEST_EFFORT | 3);
    machine.thread("media.service", 24, 2, 0);
    machine.thread("recorder.service", 12, 2, REAL_TIME);
    let given = machine.priorities([11, 12, 21, 22, 23, 24]);
    undo(&disk);
    assert_eq!(machine.priorities([11, 12, 21, 22, 23, 24]), given);
}

/// After a reboot, a number and a start time identify another thread. With installed files, the
/// threads got the class from the drop-in; without them, from their own unit.
#[test]
fn threads_of_an_earlier_boot_are_forgotten() {
    for (files, expected) in [(drop_ins(), [0, 0]), (Vec::new(), [REAL_TIME, REAL_TIME])] {
        let machine = Machine::new();
        machine.write("proc/sys/kernel/random/boot_id", "one\n");
        machine.thread("recorder.service", 11, 1, IDLE);
        let disk = machine.disk();
        Record::make(&disk, &[], &files, &units()).expect("it can be tuned");
        machine.write("proc/sys/kernel/random/boot_id", "two\n");
        machine.write("proc/11/io_priority", &REAL_TIME.to_string());
        machine.thread("recorder.service", 12, 2, REAL_TIME);
        undo(&disk);
        assert_eq!(machine.priorities([11, 12]), expected);
    }
}

/// The file of thread 12 accepts every number and keeps none.
#[test]
fn a_thread_that_does_not_keep_its_class_is_an_error() {
    let machine = running();
    fs::remove_file(machine.at("proc/12/io_priority")).expect("it is there");
    symlink("/dev/null", machine.at("proc/12/io_priority")).expect("a link");
    let made = Record::make(&machine.disk(), &[], &[], &units());
    let error = made.expect_err("the thread has no class").to_string();
    assert!(error.contains("thread 12 of recorder.service"), "{error}");
}

/// systemd also accepts a unit's aliases, but names the control group after the unit.
#[test]
fn a_unit_is_found_by_its_alias() {
    let machine = Machine::new();
    machine.thread("nvr.service", 11, 1, 0);
    machine.link("etc/systemd/system/recorder.service", "/usr/lib/systemd/system/nvr.service");
    Record::make(&machine.disk(), &[], &[], &units()).expect("it can be tuned");
    assert_eq!(machine.priorities([11]), [REAL_TIME]);
}

/// Goal: `--status` reports real-time threads that the plan does not name. Method: threads of the
/// plan's services, a program with its own class, one under `SCHED_FIFO`, one not in the real-time
/// class, and a kernel thread.
#[test]
fn real_time_threads_of_others_are_found() {
    let machine = running();
    let disk = machine.disk();
    let root = Root::new(machine.folder.path());
    Record::make(&disk, &disk.settings(&DEMAND), &[], &units()).expect("it can be tuned");
    let found = || {
        let record = Record::of(&disk).expect("it can be read").expect("there is one");
        record.strangers(&root).into_iter().map(|it| (it.name, it.threads)).collect::<Vec<_>>()
    };
    assert_eq!(found(), []);
    machine.thread("indexer.service", 41, 2, REAL_TIME);
    machine.thread("indexer.service", 42, 2, BEST_EFFORT);
    assert_eq!(found(), [("a".to_owned(), 1)]);
    let stat = |name: &str, flags: u32, policy: u32| {
        let (between, more) = ("0 ".repeat(9), "0 ".repeat(18));
        format!("7 ({name}) S 0 0 0 0 0 {flags} {between}0 1 0 5 {more}{policy} 0\n")
    };
    machine.write("proc/43/stat", &stat("audio", 0, 1));
    machine.write("proc/44/stat", &stat("migration/0", 0x0020_8040, 1));
    machine.write("proc/45/stat", &stat("shell", 0, 0));
    assert_eq!(found(), [("a".to_owned(), 1), ("audio".to_owned(), 1)]);
}

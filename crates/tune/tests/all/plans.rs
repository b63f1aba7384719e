// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a machine has the changes that its current plans name, and undoing all plans restores it
//! exactly. Method: one plan after another, for one disk and for two.

use std::fs;
use std::os::unix::fs::symlink;

use tidegate_model::workload_file::Unit;
use tidegate_tune::{Disk, GoneError, NewFile, Record, RecordError, Root};

use crate::machine::{
    DEMAND, DEVICE, DISK, IDLE, Machine, REAL_TIME, drop_ins, running, undo, units,
};

const RECORD: &str = "var/lib/tidegate/tune/t10.ATA-----TESTDISK--S-1-fbb05190.json";
const RECORDER_DROP_IN: &str = "etc/systemd/system/recorder.service.d/50-tidegate.conf";

fn unit(name: &str, is_real_time: bool) -> Unit {
    Unit { name: name.to_owned(), is_real_time }
}

fn install(disk: &Disk, units: &[Unit]) {
    let files: Vec<_> = units.iter().map(NewFile::drop_in).collect();
    Record::make(disk, &disk.settings(&DEMAND), &files, units).expect("it can be tuned");
}

/// A unit that the second plan does not name loses its class and its drop-in.
#[test]
fn a_second_plan_takes_back_what_it_does_not_name() {
    let machine = running();
    let before = machine.files();
    let disk = machine.disk();
    install(&disk, &units());
    install(&disk, &[unit("camera.service", true), unit("media.service", false)]);
    assert_eq!(machine.priorities([10, 11, 12]), [0, IDLE, 0x2000]);
    assert!(!machine.at(RECORDER_DROP_IN).exists());
    let record = Record::of(&disk).expect("it can be read").expect("there is one");
    assert_eq!(record.drift(&disk), []);
    undo(&disk);
    assert_eq!(machine.files(), before);
}

/// Thread 13 inherits the class that `tune` gave, so it had no class before.
#[test]
fn a_unit_of_another_role_keeps_nothing_of_the_first() {
    let machine = Machine::new();
    for thread in [11, 12] {
        machine.thread("recorder.service", thread, 1, 0);
    }
    let disk = machine.disk();
    install(&disk, &units());
    machine.thread("recorder.service", 13, 2, REAL_TIME);
    install(&disk, &[unit("recorder.service", false)]);
    assert_eq!(machine.priorities([11, 12, 13]), [0, 0, 0]);
    undo(&disk);
    assert_eq!(machine.priorities([11, 12, 13]), [0, 0, 0]);
}

/// A hard link to the record keeps the old file, and would show a change in place.
#[test]
fn a_record_is_replaced_as_a_whole() {
    let machine = running();
    let before = machine.files();
    let disk = machine.disk();
    install(&disk, &units());
    let first = fs::read_to_string(machine.at(RECORD)).expect("a record");
    fs::hard_link(machine.at(RECORD), machine.at("first")).expect("a link");
    machine.thread("recorder.service", 13, 2, 0);
    install(&disk, &units());
    assert_eq!(fs::read_to_string(machine.at("first")).expect("the link"), first);
    assert_ne!(fs::read_to_string(machine.at(RECORD)).expect("a record"), first);
    for path in ["first", "proc/13/io_priority", "proc/13/stat"] {
        fs::remove_file(machine.at(path)).expect("it is there");
    }
    let threads = "sys/fs/cgroup/system.slice/recorder.service/cgroup.threads";
    machine.write(threads, "10\n11\n");
    undo(&disk);
    assert_eq!(machine.files(), before);
}

/// A machine with a second disk `sdb`.
fn two_disks() -> (Machine, [Disk; 2]) {
    let machine = running();
    let device = "sys/devices/pci0000:00/ata2/host3/target3:0:0/3:0:0:0";
    let disk = format!("{device}/block/sdb");
    machine.write(&format!("{device}/wwid"), "t10.ATA TESTDISK S-2\n");
    for file in ["scheduler", "nr_requests", "nomerges", "max_sectors_kb"] {
        let text = fs::read_to_string(machine.at(&format!("{DISK}/queue/{file}"))).expect("text");
        machine.write(&format!("{disk}/queue/{file}"), &text);
    }
    symlink("../../../3:0:0:0", machine.at(&format!("{disk}/device"))).expect("a link");
    machine.link("sys/class/block/sdb", &format!("../../../{disk}"));
    let disks = ["sda", "sdb"].map(|name| machine.find(name));
    (machine, disks)
}

/// Goal: the files, classes and record of a disk that is gone can be removed, and those that another
/// disk's record needs stay. Method: one of two tuned disks is unplugged, then the other one, and a
/// new disk gets its name.
#[test]
fn a_disk_that_is_gone_can_be_undone() {
    let (machine, disks) = two_disks();
    let root = Root::new(machine.folder.path());
    let gone = |name: &str, is_free| Record::gone(&root, name, is_free).expect("it can be read");
    let unplug = |name: &str| {
        fs::remove_file(machine.at(&format!("sys/class/block/{name}"))).expect("a link");
    };
    let before = machine.priorities([10, 11, 12, 20, 21]);
    let settings = disks[0].settings(&DEMAND);
    let rule = NewFile::rule(&disks[0], &settings).expect("the disk has a name");
    let files: Vec<_> = drop_ins().into_iter().chain([rule]).collect();
    Record::make(&disks[0], &settings, &files, &units()).expect("it can be tuned");
    Record::make(&disks[1], &[], &drop_ins(), &units()).expect("it can be tuned");
    assert!(gone("sda", true).is_empty());

    for name in ["sda", "sda1"] {
        unplug(name);
    }
    assert!(gone("sda", false).is_empty());
    for path in ["./x/sda", "/x/sda", "/dev/x/sda"] {
        assert!(gone(path, true).is_empty(), "{path}");
    }
    let [first] = &gone("/dev/sda", true)[..] else { panic!("one disk is gone") };
    assert_eq!((first.name(), first.file_name()), ("sda", disks[0].file_name()));
    let record = Record::of(first).expect("it can be read").expect("there is one");
    assert_eq!(record.drift(first), []);
    let undone = record.undo(first).expect("it can be undone");
    assert_eq!((undone.settings, undone.files.len()), (vec![], 1));
    assert!(undone.unreached.contains(&"queue/scheduler".to_owned()));
    assert!(machine.at(RECORDER_DROP_IN).exists());
    assert!(gone("sda", true).is_empty());

    unplug("sdb");
    machine.link("sys/class/block/sdb", &format!("../../../{DISK}"));
    for is_unknown in [false, true] {
        assert!(gone("sdb", is_unknown).is_empty(), "another disk has the name");
    }
    let [second] = &gone(&disks[1].file_name(), false)[..] else { panic!("one disk is gone") };
    undo(second);
    assert_eq!(machine.priorities([10, 11, 12, 20, 21]), before);
    assert!(!machine.at(RECORDER_DROP_IN).exists());
    assert_eq!(Record::of(second).expect("it can be read"), None);
}

/// Goal: no disk counts as gone if the present disks are unknown. Method: `sys/class/block` is
/// missing, empty, or has an entry that leads nowhere.
#[test]
fn no_disk_is_gone_while_disks_cannot_be_listed() {
    let (machine, [first, _]) = two_disks();
    let root = Root::new(machine.folder.path());
    let class = machine.at("sys/class/block");
    let gone = || Record::gone(&root, "sda", true);
    let is_unlisted = || matches!(gone(), Err(RecordError::Gone(GoneError::Unlisted { .. })));
    let record = first.file_name();
    install(&first, &units());
    fs::remove_dir_all(&class).expect("a folder");
    assert!(is_unlisted());
    let by_record = Record::gone(&root, &record, true);
    assert!(matches!(by_record, Err(RecordError::Gone(GoneError::Unlisted { .. }))));
    fs::create_dir(&class).expect("a folder");
    assert!(is_unlisted());
    machine.link("sys/class/block/sdb", "../../../nowhere");
    assert!(is_unlisted());
    fs::remove_file(class.join("sdb")).expect("a link");
    machine.link("sys/class/block/sda", &format!("../../../{DISK}"));
    assert!(gone().expect("the disks are listed").is_empty());
    fs::remove_file(class.join("sda")).expect("a link");
    fs::remove_file(machine.at(RECORD)).expect("a record");
    assert!(gone().expect("there are no records").is_empty());
}

/// Goal: a disk that the kernel renamed is not gone. Method: a disk without a permanent name gets
/// another name of the kernel's. Only the name of its record then finds it.
#[test]
fn a_disk_without_a_permanent_name_is_gone_by_its_record_alone() {
    let machine = running();
    fs::remove_file(machine.at(&format!("{DEVICE}/wwid"))).expect("a file");
    let disk = machine.disk();
    let record = disk.file_name();
    Record::make(&disk, &disk.settings(&DEMAND), &[], &units()).expect("it can be tuned");
    let class = machine.at("sys/class/block");
    for name in ["sda", "sda1"] {
        fs::remove_file(class.join(name)).expect("a link");
    }
    let renamed = DISK.replace("block/sda", "block/sdb");
    fs::rename(machine.at(DISK), machine.at(&renamed)).expect("a folder");
    machine.link("sys/class/block/sdb", &format!("../../../{renamed}"));
    let root = Root::new(machine.folder.path());
    for name in ["sda", "/dev/sda"] {
        let error = Record::gone(&root, name, true).expect_err("it can have another name");
        let RecordError::Gone(GoneError::NoPermanentName { device, record: found }) = &error else {
            panic!("{error}")
        };
        assert_eq!((device.as_str(), found), ("sda", &record));
    }
    let [found] = &Record::gone(&root, &record, true).expect("it can be read")[..] else {
        panic!("one disk has the record")
    };
    assert_eq!((found.name(), found.file_name()), ("sda", record));
}

/// Goal: an unrelated record does not matter. Method: the record of a disk that is gone is damaged,
/// and another disk is searched.
#[test]
fn a_damaged_record_of_another_disk_does_not_matter() {
    let machine = Machine::new();
    let root = Root::new(machine.folder.path());
    machine.write("var/lib/tidegate/tune/other-1.json", "{");
    for (name, is_unknown) in [("sda", false), ("sda", true), ("./x/sdq", true)] {
        let gone = Record::gone(&root, name, is_unknown).expect("no record can match");
        assert!(gone.is_empty(), "{name}");
    }
    for name in ["other-1", "sdq"] {
        let error = Record::gone(&root, name, true).expect_err("the record can match");
        assert!(matches!(error, RecordError::Damaged { .. }), "{error}");
    }
}

#[test]
fn disks_need_the_same_class_of_a_unit() {
    let (machine, [first, second]) = two_disks();
    install(&first, &units());
    let before = machine.files();
    let plan = [unit("recorder.service", false), unit("media.service", true)];
    let error = Record::make(&second, &[], &[], &plan).expect_err("the classes differ");
    assert!(matches!(error, RecordError::Conflict { .. }), "{error}");
    assert_eq!(machine.files(), before);
}

/// Undoes the plans in both orders. Thread 13 inherits the class between the two plans.
#[test]
fn a_class_stays_while_another_disk_needs_it() {
    for order in [[0, 1], [1, 0]] {
        let (machine, disks) = two_disks();
        let before = machine.priorities([10, 11, 12, 20, 21]);
        let make = |disk: &Disk| {
            Record::make(disk, &[], &drop_ins(), &units()).expect("it can be tuned");
        };
        make(&disks[0]);
        machine.thread("recorder.service", 13, 2, REAL_TIME);
        make(&disks[1]);
        let given = machine.priorities([10, 11, 12, 13, 20, 21]);
        undo(&disks[order[0]]);
        assert_eq!(machine.priorities([10, 11, 12, 13, 20, 21]), given);
        assert!(machine.at(RECORDER_DROP_IN).exists());
        undo(&disks[order[1]]);
        assert_eq!(machine.priorities([10, 11, 12, 20, 21]), before);
        assert_eq!(machine.priorities([13]), [0]);
        assert!(!machine.at(RECORDER_DROP_IN).exists());
    }
}

/// Goal: each disk has its own record. Method: two permanent names that differ only in punctuation.
#[test]
fn names_that_differ_in_punctuation_have_records_of_their_own() {
    let name = |wwid: &str| {
        let machine = Machine::new();
        machine.write(&format!("{DEVICE}/wwid"), wwid);
        machine.disk().file_name()
    };
    let [one, other] = [name("t10.ATA DISK S-1\n"), name("t10.ATA-DISK S 1\n")];
    assert_ne!(one, other);
    assert_eq!(one.split_at(16).0, other.split_at(16).0);
}

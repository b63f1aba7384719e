// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a disk is tuned, checked and restored exactly, and every disk that a proof does not cover
//! is refused. Method: a small machine is laid out in a folder, with the files of sysfs that
//! matter.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tidegate_model::Bytes;
use tidegate_model::workload_file::Unit;
use tidegate_tune::{Demand, Disk, NewFile, Record, Refusal, Root};

/// A machine with a SATA disk `sda` and its partition `sda1`.
struct Machine {
    folder: tempfile::TempDir,
}

const DISK: &str = "sys/devices/pci0000:00/ata1/host2/target2:0:0/2:0:0:0/block/sda";
const DEVICE: &str = "sys/devices/pci0000:00/ata1/host2/target2:0:0/2:0:0:0";

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        for (file, text) in [
            ("queue/scheduler", "none [mq-deadline] bfq\n"),
            ("queue/nr_requests", "64\n"),
            ("queue/nomerges", "0\n"),
            ("queue/max_sectors_kb", "128\n"),
            ("queue/max_hw_sectors_kb", "32767\n"),
            ("queue/write_cache", "write back\n"),
            ("queue/zoned", "none\n"),
            ("queue/iosched/prio_aging_expire", "10000\n"),
            ("queue/iosched/async_depth", "48\n"),
            ("sda1/partition", "1\n"),
        ] {
            machine.write(&format!("{DISK}/{file}"), text);
        }
        for (file, text) in [
            ("queue_depth", "32\n"),
            ("vendor", "ATA     \n"),
            ("model", "TESTDISK\n"),
            ("wwid", "t10.ATA     TESTDISK  S-1\n"),
        ] {
            machine.write(&format!("{DEVICE}/{file}"), text);
        }
        fs::create_dir_all(machine.at(&format!("{DISK}/mq/0"))).expect("a folder");
        symlink("../../../2:0:0:0", machine.at(&format!("{DISK}/device"))).expect("a link");
        machine.write("sys/class/scsi_host/host2/can_queue", "32\n");
        machine.link("sys/class/block/sda", &format!("../../../{DISK}"));
        machine.link("sys/class/block/sda1", &format!("../../../{DISK}/sda1"));
        machine.link("sys/class/scsi_device/2:0:0:0/device", &format!("../../../../{DEVICE}"));
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn link(&self, path: &str, target: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        symlink(target, path).expect("a link");
    }

    /// Changes an attribute of the disk.
    fn set(&self, attribute: &str, text: &str) {
        self.write(&format!("{DISK}/{attribute}"), text);
    }

    fn disk(&self) -> Disk {
        self.find("/dev/sda")
    }

    fn find(&self, device: &str) -> Disk {
        Disk::find(&Root::new(self.folder.path()), device).expect("sysfs lists it")
    }

    /// Returns the text of every file.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        collect(self.folder.path(), &mut files);
        files
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else {
            // The kernel shows a list with the chosen word; a plain file keeps what was written.
            let text = fs::read_to_string(&path).expect("text");
            let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            let text = chosen.map_or(text.trim().to_owned(), |(word, _)| word.to_owned());
            files.insert(path, text);
        }
    }
}

const DEMAND: Demand =
    Demand { depth: 4, places: 97, size_max: Bytes::from_kib(256), has_write_contract: false };

fn units() -> Vec<NewFile> {
    let unit = |name: &str, is_real_time| Unit { name: name.to_owned(), is_real_time };
    let units = [unit("recorder.service", true), unit("media.service", false)];
    units.iter().map(NewFile::drop_in).collect()
}

#[test]
fn undo_takes_everything_back_exactly() {
    let machine = Machine::new();
    machine.write("etc/systemd/system/media.service.d/other.conf", "[Service]\n");
    let before = machine.files();
    let disk = machine.disk();
    let settings = disk.settings(&DEMAND);
    let rule = NewFile::rule(&disk, &settings).expect("the disk has a name");
    let files: Vec<_> = [rule].into_iter().chain(units()).collect();

    Record::make(&disk, &settings, &files).expect("it can be tuned");
    assert_eq!(machine.disk().settings(&DEMAND).iter().filter(|it| !it.is_set()).count(), 0);
    // Settings that are made later keep the recorded values from before the first ones.
    let other = disk.settings(&Demand { depth: 2, ..DEMAND });
    Record::make(&disk, &other, &files).expect("it can be tuned again");
    let record = Record::of(&disk).expect("it can be read").expect("there is one");
    assert_eq!(record.drift(&disk), []);

    let undone = record.undo(&disk).expect("it can be undone");
    assert_eq!(undone.files.len(), 3);
    assert_eq!(machine.files(), before);
    assert!(!machine.at("etc/systemd/system/recorder.service.d").exists());
    assert!(machine.at("etc/systemd/system/media.service.d").exists());
    assert_eq!(Record::of(&disk).expect("it can be read"), None);
}

#[test]
fn every_kind_of_drift_is_found() {
    let machine = Machine::new();
    let disk = machine.disk();
    let settings = disk.settings(&DEMAND);
    Record::make(&disk, &settings, &units()).expect("it can be tuned");
    let record = Record::of(&disk).expect("it can be read").expect("there is one");
    for setting in &settings {
        machine.set(setting.attribute, "1\n");
        let [drift] = &record.drift(&disk)[..] else { panic!("one difference") };
        assert_eq!(drift.name, setting.attribute);
        machine.set(setting.attribute, &setting.new);
    }
    machine.write("etc/systemd/system/recorder.service.d/50-tidegate.conf", "[Service]\n");
    assert_eq!(record.drift(&disk).len(), 1);
}

#[test]
fn a_file_of_another_owner_is_left_alone() {
    let machine = Machine::new();
    machine.write("etc/systemd/system/recorder.service.d/50-tidegate.conf", "theirs\n");
    let before = machine.files();
    let disk = machine.disk();
    Record::make(&disk, &disk.settings(&DEMAND), &units()).expect_err("the file exists");
    assert_eq!(machine.files(), before);
}

/// A value that the kernel does not take is an error, and can be undone.
#[test]
fn a_change_that_fails_half_way_can_be_undone() {
    let machine = Machine::new();
    let before = machine.files();
    let disk = machine.disk();
    let mut settings = disk.settings(&DEMAND);
    settings[3].attribute = "queue/iosched/missing";
    Record::make(&disk, &settings, &[]).expect_err("the attribute is missing");
    assert_ne!(machine.files(), before, "some settings were made");
    let record = Record::of(&disk).expect("it can be read").expect("it was saved first");
    record.undo(&machine.disk()).expect_err("the attribute is still missing");
    let text =
        fs::read_to_string(machine.at("var/lib/tidegate/tune/t10.ATA-----TESTDISK--S-1.json"));
    assert!(text.expect("the record stays").contains("missing"));
}

#[test]
fn the_rule_names_the_disk_and_every_setting() {
    let machine = Machine::new();
    let disk = machine.disk();
    let settings = disk.settings(&DEMAND);
    let rule = NewFile::rule(&disk, &settings).expect("the disk has a name").text;
    assert!(rule.contains("ATTRS{wwid}==\"t10.ATA?????TESTDISK??S?1\""), "{rule}");
    for setting in &settings {
        let assignment = format!("ATTR{{{}}}=\"{}\"", setting.attribute, setting.new);
        assert!(rule.contains(&assignment), "{assignment} in {rule}");
    }
    assert_eq!(rule.lines().filter(|line| line.ends_with('\\')).count(), settings.len());
}

#[test]
fn a_partition_and_a_bare_name_mean_the_disk() {
    let machine = Machine::new();
    for device in ["sda", "/dev/sda1"] {
        assert_eq!(machine.find(device).name(), "sda");
    }
    Disk::find(&Root::new(machine.folder.path()), "/dev/sdq").expect_err("there is none");
}

#[test]
fn tags_are_spare_only_if_all_disks_of_the_adapter_fit() {
    let machine = Machine::new();
    assert!(machine.disk().has_spare_tags(32));
    assert!(!machine.disk().has_spare_tags(33));
    let other = "sys/class/scsi_device/2:0:1:0/device/queue_depth";
    machine.write(other, "24\n");
    machine.write("sys/class/scsi_device/3:0:0:0/device/queue_depth", "99\n");
    assert!(machine.disk().has_spare_tags(8));
    assert!(!machine.disk().has_spare_tags(9));
    // 24 would fit beside 8, but each of two disks gets half of the 32 tags.
    machine.write(other, "8\n");
    assert!(machine.disk().has_spare_tags(16));
    assert!(!machine.disk().has_spare_tags(17));
}

/// Returns the refusals of a machine that was changed.
fn refused(demand: Demand, change: impl FnOnce(&Machine)) -> Vec<Refusal> {
    let machine = Machine::new();
    change(&machine);
    machine.disk().refusals(&demand, Some("ATA TESTDISK"))
}

#[test]
fn nothing_is_refused_without_a_reason() {
    assert_eq!(refused(DEMAND, |_| {}), []);
}

#[test]
fn each_reason_is_found() {
    type Case = (&'static str, Demand, fn(&Machine), fn(&Refusal) -> bool);
    let writes = Demand { has_write_contract: true, ..DEMAND };
    let cases: [Case; 14] = [
        (
            "nvme",
            DEMAND,
            |it| fs::remove_file(it.at(&format!("{DEVICE}/queue_depth"))).unwrap(),
            |it| matches!(it, Refusal::NoDepth),
        ),
        (
            "adapter",
            Demand { depth: 33, ..DEMAND },
            |_| {},
            |it| matches!(it, Refusal::TooDeep { tags: 32, .. }),
        ),
        (
            "tags",
            DEMAND,
            |it| it.write("sys/class/scsi_device/2:0:1:0/device/queue_depth", "32\n"),
            |it| matches!(it, Refusal::SharedTags { .. }),
        ),
        (
            "hypervisor",
            DEMAND,
            |it| it.link(&format!("{DEVICE}/driver"), "../virtio_scsi"),
            |it| matches!(it, Refusal::Hypervisor { .. }),
        ),
        (
            "zones",
            DEMAND,
            |it| it.set("queue/zoned", "host-managed\n"),
            |it| matches!(it, Refusal::Zoned { .. }),
        ),
        (
            "queues",
            DEMAND,
            |it| it.set("mq/1/cpu_list", "1\n"),
            |it| matches!(it, Refusal::HardwareQueues { queues: 2 }),
        ),
        (
            "scheduler",
            DEMAND,
            |it| it.set("queue/scheduler", "[none] bfq\n"),
            |it| matches!(it, Refusal::NoScheduler { .. }),
        ),
        (
            "kernel",
            DEMAND,
            |it| {
                let path = it.at(&format!("{DISK}/queue/iosched/prio_aging_expire"));
                fs::remove_file(path).unwrap();
            },
            |it| matches!(it, Refusal::OldKernel),
        ),
        ("cache", writes, |_| {}, |it| matches!(it, Refusal::WriteCache)),
        (
            "places",
            Demand { places: 2_049, ..DEMAND },
            |_| {},
            |it| matches!(it, Refusal::Places { .. }),
        ),
        (
            "split",
            DEMAND,
            |it| it.set("queue/max_hw_sectors_kb", "128\n"),
            |it| matches!(it, Refusal::Split { .. }),
        ),
        (
            "model",
            DEMAND,
            |it| it.write(&format!("{DEVICE}/model"), "OTHER\n"),
            |it| matches!(it, Refusal::OtherModel { .. }),
        ),
        (
            "crypt",
            DEMAND,
            |it| {
                fs::create_dir_all(it.at(&format!("{DISK}/sda1/holders/dm-0"))).unwrap();
                it.write("sys/class/block/dm-0/dm/uuid", "CRYPT-LUKS2-1\n");
            },
            |it| matches!(it, Refusal::ClassLost { holder, .. } if holder == "dm-0"),
        ),
        (
            "array",
            DEMAND,
            |it| {
                fs::create_dir_all(it.at(&format!("{DISK}/holders/md0"))).unwrap();
                it.write("sys/class/block/md0/md/level", "raid1\n");
            },
            |it| matches!(it, Refusal::ClassLost { kind, .. } if kind == "raid1"),
        ),
    ];
    for (name, demand, change, is_it) in cases {
        let refusals = refused(demand, change);
        assert_eq!(refusals.len(), 1, "{name}: {refusals:?}");
        assert!(is_it(&refusals[0]), "{name}: {refusals:?}");
    }
    // A cache that is off is no reason to refuse, whatever the workload does.
    let off = |it: &Machine| it.set("queue/write_cache", "write through\n");
    assert_eq!(refused(writes, off), []);
}

/// A linear volume passes the class on.
#[test]
fn a_volume_on_the_disk_is_no_reason_and_cannot_be_tuned_itself() {
    let machine = Machine::new();
    fs::create_dir_all(machine.at(&format!("{DISK}/sda1/holders/dm-1"))).unwrap();
    machine.write("sys/class/block/dm-1/dm/uuid", "LVM-1\n");
    fs::create_dir_all(machine.at("sys/class/block/dm-1/slaves/sda1")).unwrap();
    assert_eq!(machine.disk().refusals(&DEMAND, None), []);
    let refusals = machine.find("/dev/dm-1").refusals(&DEMAND, None);
    let disks = vec!["sda1".to_owned()];
    assert_eq!(refusals, [Refusal::BuiltOn { name: "dm-1".to_owned(), disks }]);
}

#[test]
fn a_file_behind_a_loop_device_is_refused() {
    let machine = Machine::new();
    machine.write("sys/class/block/loop0/loop/backing_file", "/a.img\n");
    let refusals = machine.find("loop0").refusals(&DEMAND, None);
    assert_eq!(refusals, [Refusal::Loop { name: "loop0".to_owned() }]);
}

/// A driver without queues of requests, as that of zram.
#[test]
fn disks_without_requests_are_known() {
    let machine = Machine::new();
    assert!(machine.disk().has_requests());
    fs::remove_dir_all(machine.at(&format!("{DISK}/mq"))).expect("a folder");
    assert!(!machine.disk().has_requests());
}

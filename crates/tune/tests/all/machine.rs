// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A small machine in a folder, with the files of sysfs that matter.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tidegate_model::Bytes;
use tidegate_model::workload_file::Unit;
use tidegate_tune::{Demand, Disk, NewFile, Record, Root, Undone};

/// A machine with a SATA disk `sda` and its partition `sda1`.
pub(crate) struct Machine {
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) const DISK: &str = "sys/devices/pci0000:00/ata1/host2/target2:0:0/2:0:0:0/block/sda";
pub(crate) const DEVICE: &str = "sys/devices/pci0000:00/ata1/host2/target2:0:0/2:0:0:0";

impl Machine {
    pub(crate) fn new() -> Self {
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

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        symlink(target, path).expect("a link");
    }

    /// Changes an attribute of the disk.
    pub(crate) fn set(&self, attribute: &str, text: &str) {
        self.write(&format!("{DISK}/{attribute}"), text);
    }

    /// Creates a thread in a control group below `system.slice`.
    pub(crate) fn thread(&self, group: &str, number: u32, started: u64, priority: u16) {
        let list = format!("sys/fs/cgroup/system.slice/{group}/cgroup.threads");
        let listed = fs::read_to_string(self.at(&list)).unwrap_or_default();
        self.write(&list, &format!("{listed}{number}\n"));
        let (before, between) = ("0 ".repeat(15), "0 ".repeat(18));
        let stat = format!("{number} (a) S {before}0 1 0 {started} {between}0 0\n");
        self.write(&format!("proc/{number}/stat"), &stat);
        self.write(&format!("proc/{number}/io_priority"), &priority.to_string());
    }

    /// Returns the I/O priority numbers of these threads.
    pub(crate) fn priorities(&self, threads: impl IntoIterator<Item = u32>) -> Vec<u16> {
        let text = |thread| fs::read_to_string(self.at(&format!("proc/{thread}/io_priority")));
        threads.into_iter().map(|it| text(it).unwrap().trim().parse().unwrap()).collect()
    }

    pub(crate) fn disk(&self) -> Disk {
        self.find("/dev/sda")
    }

    pub(crate) fn find(&self, device: &str) -> Disk {
        Disk::find(&Root::new(self.folder.path()), device).expect("sysfs lists it")
    }

    /// Returns the text of every file.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, String> {
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
            // The kernel marks the chosen word of a list; a plain file keeps the text that was
            // written.
            let text = fs::read_to_string(&path).expect("text");
            let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            let text = chosen.map_or(text.trim().to_owned(), |(word, _)| word.to_owned());
            files.insert(path, text);
        }
    }
}

pub(crate) const DEMAND: Demand =
    Demand { depth: 4, places: 97, size_max: Bytes::from_kib(256), has_write_contract: false };

pub(crate) fn units() -> [Unit; 2] {
    let unit = |name: &str, is_real_time| Unit { name: name.to_owned(), is_real_time };
    [unit("recorder.service", true), unit("media.service", false)]
}

pub(crate) fn drop_ins() -> Vec<NewFile> {
    units().iter().map(NewFile::drop_in).collect()
}

pub(crate) const IDLE: u16 = 0x6007;
pub(crate) const REAL_TIME: u16 = 0x2004;
pub(crate) const BEST_EFFORT: u16 = 0x4004;

/// Creates two running services with threads without a class, with a class of their own, and in a
/// group below the service's.
pub(crate) fn running() -> Machine {
    let machine = Machine::new();
    machine.thread("recorder.service", 10, 1, 0);
    machine.thread("recorder.service", 11, 1, IDLE);
    machine.thread("recorder.service/workers", 12, 1, 0x2000);
    machine.thread("system-media.slice/media.service", 20, 1, REAL_TIME);
    machine.thread("system-media.slice/media.service", 21, 1, IDLE);
    machine.thread("media.service.d", 30, 1, IDLE);
    machine
}

/// Undoes everything that is recorded for a disk.
pub(crate) fn undo(disk: &Disk) -> Undone {
    let record = Record::of(disk).expect("it can be read").expect("there is one");
    record.undo(disk).expect("it can be undone")
}

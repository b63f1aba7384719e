// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the file systems on a disk are found whatever layers are in between, and none of another
//! disk. Method: lists of mounts and files of sysfs in the formats of the kernel.

use std::fs;

use tidegate_tune::Experience;

use crate::machine::{DISK, Machine};

/// A disk with two partitions, and a volume above the second one.
fn machine() -> Machine {
    let machine = Machine::new();
    machine.set("dev", "8:0\n");
    machine.set("sda1/dev", "8:1\n");
    machine.set("sda2/dev", "8:2\n");
    machine.set("sda2/partition", "2\n");
    fs::create_dir_all(machine.at(&format!("{DISK}/sda2/holders/dm-0"))).expect("a folder");
    machine.write("sys/class/block/dm-0/dev", "253:0\n");
    machine.write("sys/class/block/dm-0/dm/name", "vg-srv\n");
    machine
}

fn found(machine: &Machine) -> Vec<(String, String)> {
    machine.disk().file_systems().into_iter().map(|it| (it.device, it.kind)).collect()
}

#[test]
fn file_systems_of_the_disk_are_found() {
    type Case = (&'static str, &'static [(&'static str, &'static str)]);
    let cases: [Case; 12] = [
        ("30 1 8:1 / / rw - ext4 /dev/sda1 rw", &[("sda1", "ext4")]),
        // Kernels without an initial file system list `/dev/root`.
        ("30 1 8:1 / / rw - ext4 /dev/root rw", &[("sda1", "ext4")]),
        ("30 1 8:0 / /mnt rw shared:9 - xfs /dev/sda rw", &[("sda", "xfs")]),
        ("30 1 0:42 / /srv rw - btrfs /dev/sda2 rw", &[("sda2", "btrfs")]),
        ("30 1 0:42 / /srv rw - btrfs /dev/mapper/vg-srv rw", &[("dm-0", "btrfs")]),
        ("30 1 0:42 / /srv rw - bcachefs /dev/sdb:/dev/sda2 rw", &[("sda2", "bcachefs")]),
        ("30 1 0:42 / /srv rw - btrfs /dev/sdb2 rw", &[]),
        ("30 1 0:42 / /srv rw - btrfs /dev/sdb:/dev/sda2 rw", &[]),
        // The sources of these are not devices of this machine.
        ("30 1 0:42 / /srv rw - nfs4 server:/dev/sda2 rw", &[]),
        ("30 1 0:42 / /srv rw - 9p /dev/sda2 rw", &[]),
        ("30 1 0:42 / /srv rw - tmpfs /dev/sda rw", &[]),
        ("30 1 0:21 / /proc rw - proc proc rw\n31 1 0:9 / / rw - overlay overlay rw", &[]),
    ];
    for (list, expected) in cases {
        let machine = machine();
        machine.write("proc/self/mountinfo", &format!("{list}\n{list}\n"));
        let expected: Vec<_> =
            expected.iter().map(|&(device, kind)| (device.into(), kind.into())).collect();
        assert_eq!(found(&machine), expected, "{list}");
    }
    assert_eq!(found(&machine()), [], "without a list");
}

/// The list of mounts names only one device of a pool.
#[test]
fn every_device_of_a_pool_is_found() {
    let machine = machine();
    machine.write("proc/self/mountinfo", "30 1 0:42 / /srv rw - btrfs /dev/sdb rw\n");
    for device in ["sdb", "dm-0"] {
        machine.write(&format!("sys/fs/btrfs/1c-2d/devices/{device}"), "");
    }
    assert_eq!(found(&machine), [("dm-0".to_owned(), "btrfs".to_owned())]);
}

#[test]
fn only_examined_types_are_vouched_for() {
    let machine = machine();
    for (kind, experience) in [
        ("ext4", Experience::Kept),
        ("xfs", Experience::Kept),
        ("btrfs", Experience::Exceeded),
        ("f2fs", Experience::None),
    ] {
        let list = format!("30 1 8:1 / / rw - {kind} /dev/sda1 rw\n");
        machine.write("proc/self/mountinfo", &list);
        assert_eq!(machine.disk().file_systems()[0].experience(), experience, "{kind}");
    }
}

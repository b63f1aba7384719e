// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: obstacles, groups and names are found on a machine. Method: a small machine is laid out in
//! a folder.

use std::fs;
use std::os::unix::fs::symlink;

use tidegate_mapping::{
    DeviceMapper, Figures, Mapping, Obstacle, Sign, cgroup_of, groups_without_controller, held,
    missing_groups, moved_groups, name_of_own, of_disk, of_machine, of_signs, persistent_path,
    settings,
};
use tidegate_model::{BatchTable, Bytes, Duration, Plan, Workload};
use tidegate_tune::{Demand, Disk, Refusal, Root};

struct Machine {
    folder: tempfile::TempDir,
}

const DISK: &str = "sys/class/block/sda";
const DEMAND: Demand =
    Demand { depth: 4, places: 0, size_max: Bytes::from_kib(256), has_write_contract: true };

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        for (file, text) in [
            ("size", "1000\n"),
            ("queue/scheduler", "[mq-deadline] none\n"),
            ("queue/nomerges", "0\n"),
            ("queue/max_sectors_kb", "128\n"),
            ("queue/max_hw_sectors_kb", "32767\n"),
            ("queue/zoned", "none\n"),
            ("device/queue_depth", "2\n"),
            ("device/wwid", "t10.A B\n"),
        ] {
            machine.write(&format!("{DISK}/{file}"), text);
        }
        machine.write("proc/sys/kernel/osrelease", "6.12.1\n");
        machine
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn root(&self) -> Root {
        Root::new(self.folder.path())
    }

    fn disk(&self) -> Disk {
        Disk::find(&self.root(), "sda").unwrap()
    }

    fn obstacles(&self) -> Vec<Obstacle> {
        of_disk(&self.disk(), &DEMAND, None)
    }
}

#[test]
fn the_module_is_loaded_or_listed() {
    let machine = Machine::new();
    let device_mapper = DeviceMapper::new("true");
    let found = || of_machine(&machine.root(), &device_mapper);
    assert!(matches!(&found()[..], [Obstacle::NoModule { release }] if release == "6.12.1"));
    machine.write("lib/modules/6.12.1/modules.dep", "extra/dm-tidegate-old.ko: \n");
    assert_eq!(found().len(), 1, "a module whose name begins like it");
    machine
        .write("lib/modules/6.12.1/modules.dep", "a.ko:\nupdates/dkms/dm-tidegate.ko.xz: b.ko\n");
    assert_eq!(found(), []);
    machine.write("lib/modules/6.12.1/modules.dep", "");
    machine.write("sys/module/dm_tidegate/refcnt", "0\n");
    assert_eq!(found(), []);
    let missing = of_machine(&machine.root(), &DeviceMapper::new("/nowhere/dmsetup"));
    assert!(matches!(&missing[..], [Obstacle::NoProgram { .. }]));
}

#[test]
fn what_concerns_the_scheduler_alone_is_no_obstacle() {
    // No depth of an adapter, no aging, a write cache: `tune` refuses the disk for each of these.
    let machine = Machine::new();
    assert!(machine.disk().refusals(&DEMAND, None).len() > 1);
    assert_eq!(machine.obstacles(), []);
}

#[test]
fn each_obstacle_is_found() {
    type Case = (fn(&Machine), fn(&Obstacle) -> bool);
    let cases: [Case; 6] = [
        (
            |it| it.write("sys/class/block/sda/queue/zoned", "host-aware\n"),
            |it| matches!(it, Obstacle::Disk(Refusal::Zoned { .. })),
        ),
        (
            |it| it.write("sys/class/block/sda/size", "0\n"),
            |it| matches!(it, Obstacle::NoSize { .. }),
        ),
        (
            |it| it.write("sys/class/block/sda/queue/max_segments", "63\n"),
            |it| matches!(it, Obstacle::Segments { segments: 63, .. }),
        ),
        (
            |it| it.write("sys/class/block/sda/queue/logical_block_size", "524288\n"),
            |it| matches!(it, Obstacle::Block { .. }),
        ),
        (
            |it| it.write("sys/class/block/sda/slaves/sdb/x", ""),
            |it| matches!(it, Obstacle::BuiltOn { .. }),
        ),
        (
            |it| it.write("sys/class/block/sda/loop/backing_file", "/a\n"),
            |it| matches!(it, Obstacle::Loop { .. }),
        ),
    ];
    for (index, (change, is_it)) in cases.into_iter().enumerate() {
        let machine = Machine::new();
        change(&machine);
        let obstacles = machine.obstacles();
        assert!(obstacles.len() == 1 && is_it(&obstacles[0]), "{index}: {obstacles:?}");
    }
}

/// The permanent names `A B` and `A/B` differ only in a character that is not a letter.
#[test]
fn a_mapping_is_known_by_its_disk() {
    let machine = Machine::new();
    let own = Mapping::uuid_of(&machine.disk());
    machine.write(&format!("{DISK}/device/wwid"), "t10.A/B\n");
    let other = Mapping::uuid_of(&machine.disk());
    assert!(own != other && other.starts_with("TIDEGATE-t10.A-B-"), "{own} {other}");
    machine.write(&format!("{DISK}/holders/dm-0/x"), "");
    machine.write("sys/class/block/dm-0/dm/uuid", &own);
    machine.write("sys/class/block/dm-0/dm/name", "gate\n");
    let disk = machine.disk();
    let holder = Obstacle::Held { holder: "dm-0".to_owned() };
    for (uuid, others) in [(own, vec![]), (other, vec![holder])] {
        assert_eq!(name_of_own(&disk, &uuid).is_some(), others.is_empty());
        assert_eq!(held(&disk, &uuid), others);
    }
}

#[test]
fn settings_are_those_that_the_disk_has() {
    let machine = Machine::new();
    let table = BatchTable::new(&[Duration::from_ms(5); 4]).unwrap();
    let plan = Plan::of(&Workload::new("test", 4, table));
    let of = |machine: &Machine| {
        let settings = settings(&machine.disk(), &plan, Bytes::from_kib(256));
        settings.into_iter().map(|it| (it.attribute, it.new)).collect::<Vec<_>>()
    };
    let expected = [
        ("queue/scheduler", "none"),
        ("queue/nomerges", "2"),
        ("device/queue_depth", "4"),
        ("queue/max_sectors_kb", "256"),
    ]
    .map(|(attribute, value)| (attribute, value.to_owned()));
    assert_eq!(of(&machine), expected);
    machine.write(&format!("{DISK}/queue/wbt_lat_usec"), "75000\n");
    assert!(of(&machine).contains(&("queue/wbt_lat_usec", "0".to_owned())));
}

#[test]
fn a_group_is_found_or_follows_from_the_name() {
    let machine = Machine::new();
    let path = |unit| cgroup_of(&machine.root(), unit);
    assert_eq!(path("a.service"), "/system.slice/a.service");
    assert_eq!(path("get-ty@1.service"), r"/system.slice/system-get\x2dty.slice/get-ty@1.service");
    machine.write("sys/fs/cgroup/user.slice/user-1.slice/a.service/x", "");
    assert_eq!(path("a.service"), "/system.slice/a.service", "a user's unit has no say");
    machine.write("sys/fs/cgroup/video.slice/video-in.slice/a.service/x", "");
    assert_eq!(path("a.service"), "/video.slice/video-in.slice/a.service");
}

#[test]
fn groups_need_the_second_hierarchy_alone() {
    let machine = Machine::new();
    let of = |sign: Sign| of_signs(&machine.root(), &[sign]);
    let group = || Sign::Cgroup("/a".to_owned());
    assert_eq!((of(group()), of(Sign::Level)), (Some(Obstacle::Cgroups), None));
    machine.write("sys/fs/cgroup/cgroup.controllers", "io\n");
    assert_eq!(of(group()), None);
}

#[test]
fn a_group_without_a_controller_is_told() {
    let machine = Machine::new();
    let table = "0 8 tidegate /dev/x 0 task - 1 1 1 cgroup 0 /system.slice/a.service";
    let off = || groups_without_controller(&machine.root(), table).len();
    let missing = || missing_groups(&machine.root(), table).len();
    assert_eq!((off(), missing()), (0, 1));
    let moved = || moved_groups(&machine.root(), table).len();
    assert_eq!(moved(), 0);
    machine.write("sys/fs/cgroup/video.slice/a.service/cgroup.procs", "");
    assert_eq!(moved(), 1);
    machine.write("sys/fs/cgroup/system.slice/a.service/cgroup.procs", "");
    assert_eq!((off(), missing()), (1, 0));
    machine.write("sys/fs/cgroup/system.slice/a.service/io.stat", "");
    assert_eq!((off(), missing()), (0, 0));
}

#[test]
fn the_name_that_stays_is_preferred() {
    let machine = Machine::new();
    let path = || persistent_path(&machine.root(), &machine.disk());
    assert_eq!(path(), None);
    let folder = machine.folder.path().join("dev/disk/by-id");
    fs::create_dir_all(&folder).unwrap();
    for (name, target) in
        [("ata-B", "sdb"), ("ata-A-part1", "sda1"), ("ata-A", "sda"), ("wwn-1", "sda")]
    {
        symlink(format!("../../{target}"), folder.join(name)).unwrap();
    }
    assert_eq!(path().as_deref(), Some("/dev/disk/by-id/wwn-1"));
    fs::remove_file(folder.join("wwn-1")).unwrap();
    assert_eq!(path().as_deref(), Some("/dev/disk/by-id/ata-A"));
}

#[test]
fn figures_are_read_by_the_names_of_their_kinds() {
    let status = "0 8 tidegate 1 2 3 4 5 6 rt 7 8 1 2 3 be 9 10 1 2 3";
    let figures = Figures::read(status).unwrap();
    assert_eq!((figures.queued, figures.in_flight, figures.rounds), (1, 2, 3));
    assert_eq!(
        (figures.worker_max_ns, figures.real_time, figures.real_time_max_ns),
        (5_000, 7, 8_000)
    );
    assert_eq!((figures.best_effort, figures.best_effort_max_ns), (9, 10_000));
    for other in ["", "0 8 linear", "0 8 tidegate 1 2", "0 8 tidegate 1 2 3 4 5 6 rt 7 8"] {
        assert_eq!(Figures::read(other), None, "{other}");
    }
}

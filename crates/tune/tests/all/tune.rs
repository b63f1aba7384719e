// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a disk is tuned, checked and restored exactly, and every disk that a proof does not cover
//! is refused. Method: a small machine in a folder, with the files of sysfs that matter.

use std::fs;

use tidegate_tune::{Demand, Disk, NewFile, Record, Refusal, Root};

use crate::machine::{DEMAND, DEVICE, DISK, Machine, drop_ins};

#[test]
fn undo_takes_everything_back_exactly() {
    let machine = Machine::new();
    machine.write("etc/systemd/system/media.service.d/other.conf", "[Service]\n");
    let before = machine.files();
    let disk = machine.disk();
    let settings = disk.settings(&DEMAND);
    let rule = NewFile::rule(&disk, &settings).expect("the disk has a name");
    let files: Vec<_> = [rule].into_iter().chain(drop_ins()).collect();

    Record::make(&disk, &settings, &files, &[]).expect("it can be tuned");
    assert_eq!(machine.disk().settings(&DEMAND).iter().filter(|it| !it.is_set()).count(), 0);
    // When settings are changed again, the record keeps the values from before the first change.
    let other = disk.settings(&Demand { depth: 2, ..DEMAND });
    Record::make(&disk, &other, &files, &[]).expect("it can be tuned again");
    let record = Record::of(&disk).expect("it can be read").expect("there is one");
    assert_eq!(record.drift(&disk), []);

    let undone = record.undo(&disk).expect("it can be undone");
    assert_eq!(undone.files.len(), 3);
    assert_eq!(machine.files(), before);
    assert!(!machine.at("etc/systemd/system/recorder.service.d").exists());
    assert!(machine.at("etc/systemd/system/media.service.d").exists());
    assert_eq!(Record::of(&disk).expect("it can be read"), None);
}

/// Goal: `--status` reports reasons for refusal that arise later. Method: a tuned disk that is not
/// refused; then `io.cost`, a hypervisor's model, and a zone model, one after the other.
#[test]
fn a_tuned_disk_can_be_refused_later() {
    let machine = Machine::new();
    let disk = machine.disk();
    assert_eq!(disk.standing_refusals(4), []);
    machine.set("dev", "8:0\n");
    machine.write("sys/fs/cgroup/io.cost.qos", "8:0 enable=1 ctrl=auto\n");
    assert!(matches!(disk.standing_refusals(4)[..], [Refusal::IoCost { .. }]));
    machine.write("sys/fs/cgroup/io.cost.qos", "8:0 enable=0\n");
    machine.set("queue/zoned", "host-managed\n");
    assert!(matches!(disk.standing_refusals(4)[..], [Refusal::Zoned { .. }]));
    machine.set("queue/zoned", "none\n");
    assert!(matches!(disk.standing_refusals(64)[..], [Refusal::TooDeep { .. }]));
}

/// Goal: each hypothesis that was added after the first version is either refused or set, and is
/// watched. Method: a disk that violates it before tuning, and a disk that violates it afterwards.
#[test]
fn each_later_hypothesis_is_made_and_watched() {
    const NCQ: &str = "device/ncq_prio_enable";
    const COST: &str = "sys/fs/cgroup/io.cost.qos";
    let device = |attribute: &str| {
        let of_device = attribute.strip_prefix("device/").map(|it| format!("{DEVICE}/{it}"));
        of_device.unwrap_or(format!("{DISK}/{attribute}"))
    };
    for (attribute, broken) in [
        ("queue/wbt_lat_usec", "0"),
        ("queue/max_sectors_kb", "1280"),
        (NCQ, "1"),
        (COST, "8:0 enable=1"),
    ] {
        let machine = Machine::new();
        machine.set("dev", "8:0\n");
        machine.set("queue/wbt_lat_usec", "75000\n");
        machine.write(&device(NCQ), "0\n");
        machine.write(&device("device/ncq_prio_supported"), "1\n");
        let path = if attribute == COST { COST.to_owned() } else { device(attribute) };
        let disk = machine.disk();
        let is_seen = |record: Option<&Record>| {
            let is_set =
                disk.settings(&DEMAND).iter().all(|it| it.attribute != attribute || it.is_set());
            let is_drift = record.is_some_and(|it| it.drift(&disk).len() == 1);
            let is_refused = disk.standing_refusals(DEMAND.depth).len() == 1;
            (!is_set, is_drift, is_refused)
        };
        let is_cost = attribute == COST;
        machine.write(&path, &format!("{broken}\n"));
        assert_eq!(is_seen(None), (!is_cost, false, is_cost), "{attribute} before");
        machine.write(COST, "8:0 enable=0\n");
        Record::make(&disk, &disk.settings(&DEMAND), &[], &[]).expect("it can be tuned");
        let record = Record::of(&disk).expect("it can be read").expect("there is one");
        assert_eq!(is_seen(Some(&record)), (false, false, false), "{attribute} tuned");
        machine.write(&path, &format!("{broken}\n"));
        assert_eq!(is_seen(Some(&record)), (!is_cost, !is_cost, is_cost), "{attribute} after");
    }
}

#[test]
fn every_kind_of_drift_is_found() {
    let machine = Machine::new();
    let disk = machine.disk();
    let settings = disk.settings(&DEMAND);
    Record::make(&disk, &settings, &drop_ins(), &[]).expect("it can be tuned");
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

/// NCQ priorities are switched off on disks that have them, and the limit on buffered writes is
/// kept or turned on.
#[test]
fn settings_that_only_some_disks_have_are_made_there() {
    const NCQ: &str = "device/ncq_prio_enable";
    const LIMIT: &str = "queue/wbt_lat_usec";
    type Case = (&'static [(&'static str, &'static str)], &'static [(&'static str, &'static str)]);
    let cases: [Case; 7] = [
        (&[], &[]),
        (&[(NCQ, "0"), ("device/ncq_prio_supported", "0")], &[]),
        (&[(NCQ, "0"), ("device/ncq_prio_supported", "1")], &[(NCQ, "0")]),
        // Linux before 5.16 reports only whether they are on.
        (&[(NCQ, "1")], &[(NCQ, "0")]),
        (&[(LIMIT, "2000")], &[(LIMIT, "2000")]),
        (&[(LIMIT, "0")], &[(LIMIT, "75000")]),
        (&[(LIMIT, "0"), ("queue/rotational", "0")], &[(LIMIT, "2000")]),
    ];
    for (files, expected) in cases {
        let machine = Machine::new();
        for (file, text) in files {
            let of_device = file.strip_prefix("device/").map(|it| format!("{DEVICE}/{it}"));
            machine.write(&of_device.unwrap_or(format!("{DISK}/{file}")), text);
        }
        let before = machine.files();
        let disk = machine.disk();
        let settings = disk.settings(&DEMAND);
        let found: Vec<_> = settings[7..].iter().map(|it| (it.attribute, &*it.new)).collect();
        assert_eq!(found, expected, "{files:?}");
        Record::make(&disk, &settings, &[], &[]).expect("it can be tuned");
        let record = Record::of(&disk).expect("it can be read").expect("there is one");
        assert_eq!(record.drift(&disk), []);
        record.undo(&disk).expect("it can be undone");
        assert_eq!(machine.files(), before);
    }
}

/// Records of earlier versions have no services.
#[test]
fn an_older_record_can_be_undone() {
    let machine = Machine::new();
    let made = r#"{"attribute": "queue/nomerges", "old": "1", "new": "2"}"#;
    machine.write(
        "var/lib/tidegate/tune/t10.ATA-----TESTDISK--S-1-fbb05190.json",
        &format!(r#"{{"settings": [{made}], "files": []}}"#),
    );
    let disk = machine.disk();
    let record = Record::of(&disk).expect("it can be read").expect("there is one");
    assert_eq!(record.undo(&disk).expect("it can be undone").services, []);
}

#[test]
fn a_file_of_another_owner_is_left_alone() {
    let machine = Machine::new();
    machine.write("etc/systemd/system/recorder.service.d/50-tidegate.conf", "theirs\n");
    let before = machine.files();
    let disk = machine.disk();
    Record::make(&disk, &disk.settings(&DEMAND), &drop_ins(), &[]).expect_err("the file exists");
    assert_eq!(machine.files(), before);
}

/// If the kernel does not accept a value, this is an error and can be undone.
#[test]
fn a_change_that_fails_half_way_can_be_undone() {
    let machine = Machine::new();
    let before = machine.files();
    let disk = machine.disk();
    let mut settings = disk.settings(&DEMAND);
    settings[3].attribute = "queue/iosched/missing";
    Record::make(&disk, &settings, &[], &[]).expect_err("the attribute is missing");
    assert_ne!(machine.files(), before, "some settings were made");
    let record = Record::of(&disk).expect("it can be read").expect("it was saved first");
    record.undo(&machine.disk()).expect_err("the attribute is still missing");
    let text = fs::read_to_string(
        machine.at("var/lib/tidegate/tune/t10.ATA-----TESTDISK--S-1-fbb05190.json"),
    );
    assert!(text.expect("the record stays").contains("missing"));
}

#[test]
fn the_rule_names_the_disk_and_every_setting() {
    let machine = Machine::new();
    let disk = machine.disk();
    let settings = disk.settings(&DEMAND);
    let rule = NewFile::rule(&disk, &settings).expect("the disk has a name").text;
    assert!(rule.contains("ATTRS{wwid}==\"t10.ATA     TESTDISK  S-1\""), "{rule}");
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
    // A depth of 24 and one of 8 fit into the 32 tags, but each of two disks gets only half of
    // them.
    machine.write(other, "8\n");
    assert!(machine.disk().has_spare_tags(16));
    assert!(!machine.disk().has_spare_tags(17));
}

/// Returns the refusals for a machine after a change.
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
    // A cache that is off is no reason to refuse, whether or not a task writes.
    let off = |it: &Machine| it.set("queue/write_cache", "write through\n");
    assert_eq!(refused(writes, off), []);
}

/// Sharing by weight makes requests wait outside the scheduler.
#[test]
fn weights_are_a_reason() {
    for (qos, is_on) in
        [("8:01 enable=1\n8:0 enable=0\n", false), ("8:0 enable=1 ctrl=auto\n", true)]
    {
        let refusals = refused(DEMAND, |it| {
            it.set("dev", "8:0\n");
            it.write("sys/fs/cgroup/io.cost.qos", qos);
        });
        assert_eq!(refusals.len(), usize::from(is_on), "{qos}: {refusals:?}");
        assert!(refusals.iter().all(|it| matches!(it, Refusal::IoCost { .. })), "{refusals:?}");
    }
}

/// A linear volume keeps the class of requests.
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

/// Goal: one path of a disk is never tuned alone, because a rule with the disk's name would apply
/// to all paths, and the device that joins them does not use their schedulers. Method: a second
/// path; then the device that joins both; then this device with one path left; and disks that are
/// not paths.
#[test]
fn paths_of_one_disk_are_refused() {
    const OTHER: &str = "sys/devices/pci0000:00/ata2/host3/target3:0:0/3:0:0:0";
    let machine = Machine::new();
    let disk = machine.disk();
    let name = fs::read_to_string(machine.at(&format!("{DEVICE}/wwid"))).expect("a name");
    let other = format!("{OTHER}/block/sdb");
    machine.write(&format!("{other}/sdb1/partition"), "1\n");
    machine.link(&format!("{other}/device"), "../../../3:0:0:0");
    machine.link("sys/class/block/sdb", &format!("../../../{other}"));
    machine.link("sys/class/block/sdb1", &format!("../../../{other}/sdb1"));
    let refusal = |name: &str, paths: &[&str], map: Option<&str>| Refusal::Multipath {
        name: name.to_owned(),
        paths: paths.iter().map(|&it| it.to_owned()).collect(),
        map: map.map(str::to_owned),
    };
    for (wwid, hidden, refusals) in [
        ("t10.ATA     TESTDISK  S-2\n", "0\n", vec![]),
        (&name, "1\n", vec![]),
        (&name, "0\n", vec![refusal("sda", &["sda", "sdb"], None)]),
    ] {
        machine.write(&format!("{OTHER}/wwid"), wwid);
        machine.write(&format!("{other}/hidden"), hidden);
        assert_eq!(disk.refusals(&DEMAND, None), refusals, "{wwid} {hidden}");
    }
    machine.write("sys/class/block/dm-0/dm/uuid", "mpath-TESTDISK\n");
    machine.write("sys/class/block/dm-0/dm/name", "mpatha\n");
    for (holder, slave) in [(DISK, "sda"), (&other, "sdb")] {
        fs::create_dir_all(machine.at(&format!("{holder}/holders/dm-0"))).expect("a folder");
        fs::create_dir_all(machine.at(&format!("sys/class/block/dm-0/slaves/{slave}"))).unwrap();
    }
    for name in ["sda", "sdb", "dm-0"] {
        let expected = refusal(name, &["sda", "sdb"], Some("mpatha"));
        assert_eq!(machine.find(name).refusals(&DEMAND, None), [expected], "{name}");
    }
    fs::remove_file(machine.at("sys/class/block/sdb")).expect("a link");
    fs::remove_dir(machine.at("sys/class/block/dm-0/slaves/sdb")).expect("a folder");
    assert_eq!(disk.refusals(&DEMAND, None), [refusal("sda", &["sda"], Some("mpatha"))]);
    let said = disk.refusals(&DEMAND, None)[0].to_string();
    assert!(said.ends_with("serve `/dev/mapper/mpatha` with `tidegate serve` instead"), "{said}");
}

#[test]
fn a_file_behind_a_loop_device_is_refused() {
    let machine = Machine::new();
    machine.write("sys/class/block/loop0/loop/backing_file", "/a.img\n");
    let refusals = machine.find("loop0").refusals(&DEMAND, None);
    assert_eq!(refusals, [Refusal::Loop { name: "loop0".to_owned() }]);
}

/// The disk's driver has no request queues, like zram's.
#[test]
fn disks_without_requests_are_known() {
    let machine = Machine::new();
    assert!(machine.disk().has_requests());
    fs::remove_dir_all(machine.at(&format!("{DISK}/mq"))).expect("a folder");
    assert!(!machine.disk().has_requests());
}

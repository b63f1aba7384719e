// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The figures of a disk: each is represented exactly, or reported.

use tidegate_disksim::Import;
use tidegate_model::DriveFile;
use tidegate_model::mechanics::{
    Bus, Cache, Mechanics, Overhead, Queue, ReadAhead, Scheduler, WriteBack,
};

use crate::common::disk;

fn ignored(import: &Import) -> Vec<String> {
    let ignored = import.report.ignored.iter();
    ignored.map(|one| format!("{}: {} = {}", one.block, one.name, one.value)).collect()
}

/// Returns the disk with one line of its specs changed.
fn with_specs(from: &str, to: &str) -> Mechanics {
    disk().changed("d.diskspecs", from, to).mechanics()
}

#[test]
fn every_figure_of_the_disk_is_where_it_belongs() {
    let mechanics = disk().mechanics();
    // Each time is increased by 0.1 ms for the request and then doubled.
    let overhead = Overhead {
        read_hit_after_read_ns: 220_000,
        read_hit_after_write_ns: 240_000,
        read_miss_after_read_ns: 260_000,
        read_miss_after_write_ns: 280_000,
        write_hit_after_read_ns: 300_000,
        write_hit_after_write_ns: 320_000,
        write_miss_after_read_ns: 340_000,
        write_miss_after_write_ns: 360_000,
        read_completion_ns: 180_000,
        write_completion_ns: 2_000,
        data_preparation_ns: 4_000,
        reconnect_ns: 6_000,
    };
    assert_eq!(mechanics.overhead, overhead);
    let bus =
        Bus { read_sector_ps: 5_000_000, write_sector_ps: 5_000_000, read_watermark_ppm: 250_000 };
    assert_eq!(mechanics.bus, bus);
    let cache = Cache {
        segments: 16,
        segment_sectors: 128,
        write_segments: 4,
        read: true,
        read_ahead: ReadAhead::Cylinder,
        read_ahead_sectors_max: Some(100),
        write_back: WriteBack::On,
        gives_up_read: true,
        reads_on_arrival: true,
        write_segment_apart: true,
        read_hits_on_writes: true,
        read_ahead_after_hits: true,
        hits_while_busy: true,
        writes_while_busy: true,
    };
    assert_eq!(mechanics.cache, Some(cache));
    let queue = Queue {
        scheduler: Scheduler::SatfAging,
        starvation_ns: Some(3_000_000_000),
        aging_ns_per_ms: Some(3_000),
        priority: true,
        ..Queue::default()
    };
    assert_eq!(mechanics.queue, queue);
}

#[test]
fn every_figure_of_the_mechanics_is_where_it_belongs() {
    let import = disk().imported(&["d.diskspecs"]);
    let mechanics = import.drive.mechanics.unwrap();
    assert_eq!((mechanics.rpm, mechanics.surfaces, mechanics.cylinders), (7200, 2, 100));
    assert_eq!((mechanics.head_switch_ns, mechanics.write_settle_ns), (900_000, -250_000));
    assert_eq!(mechanics.write_seek_ns_min, 1_500_000);
    assert_eq!((mechanics.sectors, mechanics.zero_latency), (19_000, true));
    assert_eq!(import.drive.depth, 8);
    assert_eq!(import.drive.name, "made-up-1");
    assert_eq!(import.drive.identity.model.as_deref(), Some("Made_Up-1"));
    let how = import.drive.identity.how.unwrap();
    assert!(how.ends_with("d.diskspecs, d.model, d.layout, d.seek"), "{how}");
}

#[test]
fn a_drive_file_of_it_reads_back_as_it_was() {
    let drive = disk().imported(&["d.diskspecs"]).drive;
    assert_eq!(DriveFile::parse(&drive.to_toml()).unwrap(), drive);
}

#[test]
fn only_meaningful_unrepresented_parameters_are_reported() {
    let import = disk().imported(&["d.diskspecs"]);
    let expected = [
        "disksim_disk: Allow almost read hits = 1",
        "disksim_disk: Minimum read-ahead (blks) = 7",
        "dm_mech_g1: Percent error in rpms = 0.5",
        "disksim_disk: Immediate buffer write = 0",
    ];
    assert_eq!(ignored(&import), expected);
    let unknown = disk().changed("d.model", "Block count", "Colour = red, Block count");
    assert!(ignored(&unknown.imported(&["d.diskspecs"])).contains(&"dm_disk: Colour = red".into()));
}

#[test]
fn missing_specs_are_neutral_and_reported() {
    let shelf = disk().with("d.diskspecs", "disksim_disk D { Model = source d.model }");
    let import = shelf.imported(&["d.diskspecs"]);
    let mechanics = import.drive.mechanics.unwrap();
    assert_eq!((import.drive.depth, &mechanics.cache), (1, &None));
    assert_eq!(mechanics.overhead, Overhead::default());
    assert_eq!(mechanics.queue, Queue::default());
    let missing = &import.report.missing;
    for (begin, name) in [
        ("d.diskspecs: 0 is used for the missing `Per-request", "`Minimum seek delay`"),
        ("d.diskspecs: 1 is used for the missing ", "`Max queue length`"),
        ("d.diskspecs: 1 is used for the missing ", "`Time scale for overheads`"),
        ("d.diskspecs: first come, first served is used for the missing ", "`Scheduler`"),
    ] {
        let is_said = missing.iter().any(|line| line.starts_with(begin) && line.contains(name));
        assert!(is_said, "{name} in {missing:?}");
    }
}

#[test]
fn missing_mechanics_are_an_error() {
    for name in ["Number of data surfaces", "Head switch time", "Rotation speed (in rpms)"] {
        let shelf = disk().changed("d.model", name, "Something else");
        let (message, help) = shelf.refusal(&["d.diskspecs"]);
        assert!(message.starts_with("d.model: ") && message.contains(name), "{message}");
        assert!(help.contains(name), "{help}");
    }
}

#[test]
fn negative_times_of_the_bus_are_none() {
    let shelf = disk().changed("d.diskspecs", "transfer time = 0.005", "transfer time = -0.015");
    let import = shelf.imported(&["d.diskspecs"]);
    assert_eq!(import.drive.mechanics.unwrap().bus.read_sector_ps, 0);
    assert!(import.report.notes[0].contains("`Bulk sector transfer time` is negative"));
}

#[test]
fn switches_of_the_cache_are_told_apart() {
    for (level, write_back) in [("0", WriteBack::Off), ("1", WriteBack::On), ("2", WriteBack::On)] {
        let mechanics = with_specs("Fast write level = 1", &format!("Fast write level = {level}"));
        assert_eq!(mechanics.cache.unwrap().write_back, write_back);
    }
    for (level, read_ahead) in [
        ("0", ReadAhead::Off),
        ("1", ReadAhead::Track),
        ("3", ReadAhead::Segment),
        ("4", ReadAhead::Adaptive),
    ] {
        let mechanics = with_specs("continuous read = 2", &format!("continuous read = {level}"));
        assert_eq!(mechanics.cache.unwrap().read_ahead, read_ahead);
    }
    let off = with_specs("Enable caching in buffer = 1", "Enable caching in buffer = 0");
    let cache = off.cache.expect("it still takes writes");
    assert_eq!((cache.read, cache.read_ahead), (false, ReadAhead::Off));
    assert_eq!(with_specs("buffer segments = 16", "buffer segments = 0").cache, None);
    let none = with_specs("write segments = 4", "write segments = 0").cache.unwrap();
    assert_eq!(none.write_segments, 1, "a disk that takes writes has room for one");
    assert!(!with_specs("buffer read = 1", "buffer read = 0").zero_latency);
    assert!(with_specs("buffer read = 1", "buffer read = 2").zero_latency);
}

/// Goal: parameters that DiskSim ignores have no effect here and are not reported as missing.
#[test]
fn parameters_that_disksim_ignores_are_inert() {
    let by_sector = |number: u32| {
        let shelf = disk().changed(
            "d.diskspecs",
            "Preseeking level = 0",
            &format!("Calc sector by sector = {number}"),
        );
        shelf.imported(&["d.diskspecs"])
    };
    let (whole, sectors) = (by_sector(0), by_sector(1));
    assert!(whole.drive.mechanics.as_ref().unwrap().zero_latency);
    assert!(!sectors.drive.mechanics.as_ref().unwrap().zero_latency);
    assert!(ignored(&whole).iter().any(|it| it.contains("Immediate buffer write")));
    assert!(!ignored(&sectors).iter().any(|it| it.contains("Immediate")));
    let off = disk().changed(
        "d.diskspecs",
        "continuous read = 2",
        "continuous read = 0, Extradisc seek delta = 3",
    );
    let off = off.imported(&["d.diskspecs"]);
    let cache = off.drive.mechanics.as_ref().unwrap().cache.as_ref().unwrap();
    assert_eq!((cache.read_ahead, cache.read_ahead_sectors_max), (ReadAhead::Off, None));
    assert!(!ignored(&off).iter().any(|it| it.contains("read-ahead")), "{:?}", ignored(&off));
    let extra = |level: u32| {
        let to = format!(
            "Preseeking level = 0, Extra write disconnect = {level}, Extradisc seek delta = 3"
        );
        ignored(
            &disk().changed("d.diskspecs", "Preseeking level = 0", &to).imported(&["d.diskspecs"]),
        )
    };
    assert!(!extra(0).iter().any(|it| it.contains("Extradisc")));
    assert!(extra(1).iter().any(|it| it.contains("Extradisc")));
}

#[test]
fn figures_that_make_no_sense_are_refused_where_they_stand() {
    for (from, to, said) in [
        ("Max queue length = 8", "Max queue length = many", "cannot be `many`"),
        ("Max queue length = 8", "Max queue length = -1", "cannot be `-1`"),
        ("continuous read = 2", "continuous read = 5", "cannot be `5`"),
        ("Scheduling policy = 14", "Scheduling policy = 29", "no scheduling policy 29"),
        ("hit over. after read = 0.01", "hit over. after read = 1e30", "cannot be `1e30`"),
        ("overheads = 2.0", "overheads = 4611686018427", "over."),
        ("Model = source d.model", "Model = d.model", "cannot be `d.model`"),
    ] {
        let (message, _) = disk().changed("d.diskspecs", from, to).refusal(&["d.diskspecs"]);
        assert!(message.starts_with("d.diskspecs: ") && message.contains(said), "{message}");
    }
    let (message, _) = disk().changed("d.model", "= 7200", "= 0").refusal(&["d.diskspecs"]);
    assert!(message.contains("Rotation speed"), "{message}");
}

#[test]
fn a_queue_length_of_none_is_one() {
    let shelf = disk().changed("d.diskspecs", "length = 8", "length = 0");
    let import = shelf.imported(&["d.diskspecs"]);
    assert_eq!(import.drive.depth, 1);
    assert!(import.report.notes[0].contains("so 1 is used"));
}

#[test]
fn the_last_of_two_equal_parameters_counts() {
    let mechanics =
        with_specs("Fast write level = 1", "Fast write level = 2, fast write LEVEL = 0");
    assert_eq!(mechanics.cache.unwrap().write_back, WriteBack::Off);
}

#[test]
fn names_become_such_as_drives_have() {
    for (name, expected) in [
        ("QUANTUM_QM39100TD-SW", "quantum-qm39100td-sw"),
        ("__a..b__", "a-b"),
        ("\u{c4}rger/1", "\u{e4}rger-1"),
        ("___", "disk"),
    ] {
        let shelf = disk().changed("d.diskspecs", "Made_Up-1", name);
        assert_eq!(shelf.imported(&["d.diskspecs"]).drive.name, expected);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the cross-check of mechanics against tables: it reports nothing if they belong together,
//! and reports every planted fault.

use tidegate_model::DriveFile;
use tidegate_model::mechanics::Seek;

use super::*;
use crate::geometry::{CheckedFigure, cross_check, mechanics, queues};

/// Returns built-in disks: the name, the mechanics, and a file with tables and rates of sequential
/// flows.
fn disks_with_tables() -> impl Iterator<Item = (&'static str, Mechanics, DriveFile)> {
    // The Maxtor's tables are bounds from published figures, without medians.
    disks().skip(1).map(|(name, mechanics, depth)| {
        let mut file = tidegate_drive::builtin::load(name).expect("a built-in");
        file.batch.retain(|table| table.op == Some(tidegate_model::Op::Read));
        file.throughput = flows(&mechanics, depth, file.batch[0].size.expect("a size"));
        (name, mechanics, file)
    })
}

/// Measures the rates of a disk.
fn flows(disk: &Mechanics, depth: u32, size: Bytes) -> Vec<tidegate_model::drive_file::Throughput> {
    let mut drive = MechanicalDrive::new(disk, depth, 7).expect("a disk");
    let params = crate::ProfileParams {
        experiments: vec![crate::Experiment::THROUGHPUT],
        kinds: vec![crate::Kind { op: tidegate_model::Op::Read, size }],
        depth,
        samples: 1_000,
        seed: 5,
        ..crate::ProfileParams::new("a disk", &tidegate_device::DeviceFacts::default())
    };
    let capacity = Bytes::new(disk.sectors * Lba::SECTOR_BYTES);
    let never = AtomicBool::new(false);
    let made = crate::profile_drive(&mut drive, "", capacity, &params, |_| (), &never, None);
    made.expect("measured").file.throughput
}

/// Goal: the check raises no false alarm on the built-in disks, neither with their own mechanics
/// nor with those that the measurement finds.
#[test]
fn mechanics_and_tables_of_one_disk_agree() {
    for (name, planted, file) in disks_with_tables() {
        let own = cross_check(&planted, &file);
        assert!(own.is_empty(), "{name}: {}", own[0]);
        let geometry = taken_to_pieces(&planted, SECTOR, 1);
        let bare = mechanics(&geometry, planted.queue.clone()).expect("mechanics");
        let order = queues(&bare, &file.batch[0]).and_then(|orders| orders.into_iter().next());
        let queue = order.map_or_else(|| planted.queue.clone(), |it| it.queue());
        let found = mechanics(&geometry, queue).expect("mechanics");
        let apart = cross_check(&found, &file);
        assert!(apart.is_empty(), "{name}: {}", apart[0]);
    }
}

/// A function that changes a disk.
type Fault = fn(&mut Mechanics);

/// Doubles the heads and halves the cylinders, so that a seek over equally many cylinders passes
/// twice as many sectors.
fn double_heads(disk: &mut Mechanics) {
    disk.surfaces *= 2;
    disk.cylinders = disk.cylinders.div_ceil(2);
    for zone in &mut zones_of(disk).zone {
        zone.cylinder_first = zone.cylinder_first.div_ceil(2);
        zone.cylinder_last = (zone.cylinder_last + 1).div_ceil(2) - 1;
    }
    let stroke = disk.cylinders - 1;
    if let Seek::Points(points) = &mut disk.seek {
        points.retain(|point| point.0 <= stroke);
    }
    disk.sectors = tidegate_drive::mechanical::Layout::held(disk).expect("a layout").sectors;
}

/// Canaries: every planted fault must be caught on every disk. A wrong bus shows in batches and in
/// sequential flows.
#[test]
fn planted_faults_are_caught() {
    let faults: [(&str, Fault); 4] = [
        ("a bus of 4.7 MB/s", |disk| disk.bus.read_sector_ps = 109_000_000),
        ("short seeks", |disk| {
            let Seek::Points(points) = &mut disk.seek else { return };
            for (_, ns) in points {
                *ns -= *ns / 3;
            }
        }),
        ("a late read", |disk| disk.overhead.read_miss_after_read_ns += 3_000_000),
        ("twice the heads", double_heads),
    ];
    for (name, planted, file) in disks_with_tables() {
        for (fault, change) in faults {
            let mut other = planted.clone();
            change(&mut other);
            assert!(!cross_check(&other, &file).is_empty(), "{name}: {fault}");
        }
    }
}

/// Canary: the rates of sequential flows alone show a slow bus.
#[test]
fn rates_alone_catch_a_slow_bus() {
    for (name, planted, mut file) in disks_with_tables() {
        file.batch.clear();
        assert_eq!(cross_check(&planted, &file), [], "{name}");
        let mut slow = planted.clone();
        slow.bus.read_sector_ps = 109_000_000;
        let apart = cross_check(&slow, &file);
        let is_rate = |figure| matches!(figure, CheckedFigure::Rate { .. });
        assert!(apart.iter().any(|it| is_rate(it.figure)), "{name}");
    }
}

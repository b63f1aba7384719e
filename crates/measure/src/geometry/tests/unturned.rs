// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Devices that do not rotate are not reported as rotating.

use tidegate_drive::recorded::Recording;
use tidegate_drive::{Drive, PseudoDisk, RecordedDrive};
use tidegate_model::{BatchTable, DriveKind, Duration, Op};

use super::late::Late;
use super::*;

/// Returns the results of the experiment on a drive of 64 GiB, first on a punctual host, then on a
/// late one.
fn verdicts(
    mut drives: impl FnMut() -> Box<dyn Drive>,
    sectors: u64,
) -> [Result<(), NoRotation>; 2] {
    [false, true].map(|is_late| {
        let mut drive = drives();
        let subject = SimulatedSubject::new(&mut *drive);
        let mut late = Late::new(subject, 1);
        let subject: &mut dyn Subject = if is_late { &mut late } else { &mut late.subject };
        let stop = AtomicBool::new(false);
        probed(subject, (sectors, SECTOR), 1, &stop, |_| (), rotation).map(drop)
    })
}

#[test]
fn flash_is_too_fast_to_turn() {
    for name in ["sata-ssd", "nvme-ssd"] {
        let file = tidegate_drive::builtin::load(name).expect("a built-in");
        let make = || -> Box<dyn Drive> {
            tidegate_drive::from_parts(DriveKind::Ssd, &file, 1).expect("an ssd")
        };
        for verdict in verdicts(make, 1 << 20) {
            assert!(matches!(verdict, Err(NoRotation::Fast { .. })), "{name}: {verdict:?}");
        }
    }
}

/// Returns a device on which every read takes 5 ms.
fn of_5_ms() -> Box<dyn Drive> {
    let table = BatchTable::new(&[Duration::from_ms(5)]).expect("a table");
    Box::new(PseudoDisk::new(1, table, 1))
}

/// Goal: a device on which every read takes 5 ms is not mistaken for a disk. Its completions come
/// at multiples of 5 ms, as if it turned, but equally for all places. On a late host, each delay
/// shifts all later completions, so they have no period at all.
#[test]
fn a_device_that_always_takes_equally_long_does_not_turn() {
    let [punctual, late] = verdicts(of_5_ms, 1 << 27);
    assert!(matches!(punctual, Err(NoRotation::NotOfPlace { .. })), "{punctual:?}");
    assert!(matches!(late, Err(NoRotation::NotPeriodic { .. })), "{late:?}");
}

/// Goal: times that are typical of a disk, but in random order, show no turn.
#[test]
fn times_of_a_disk_drawn_at_random_do_not_turn() {
    let file = tidegate_drive::builtin::load("seagate-36es2").expect("a built-in");
    let table =
        tidegate_drive::measured_table(&file, Op::Read, Bytes::from_kib(64)).expect("a table");
    let make = || -> Box<dyn Drive> {
        let recording = Recording::new(table).expect("quantiles");
        Box::new(RecordedDrive::new(file.depth, recording, 1))
    };
    for verdict in verdicts(make, 1 << 26) {
        assert!(matches!(verdict, Err(NoRotation::NotPeriodic { .. })), "{verdict:?}");
    }
}

#[test]
fn a_target_of_few_sectors_is_too_small() {
    for verdict in verdicts(of_5_ms, 64) {
        assert_eq!(verdict, Err(NoRotation::Small { sectors: 64 }));
    }
}

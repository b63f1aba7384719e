// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive files built into Tidegate: they parse, and their figures agree with their sources.

use tidegate_drive::amortised::{Amortised, transfer_time_scaled_ceil};
use tidegate_drive::builtin;
use tidegate_drive::measured_table;
use tidegate_model::drive_file::{MeasuredTable, PlaceFamily};
use tidegate_model::{Bytes, DriveFile, DriveKind, Duration, Lba, Op, Random, Time};

use super::common::{finish, requests};

/// Workload files use these names: none may be removed.
const NAMES: [&str; 9] = [
    "maxtor-atlas-10k-v",
    "fujitsu-max3036rc",
    "ibm-40k1044",
    "ibm-36z15",
    "seagate-36es2",
    "seagate-st340810a",
    "nearline-7200",
    "sata-ssd",
    "nvme-ssd",
];

#[test]
fn every_promised_drive_is_there_and_parses_under_its_own_name() {
    assert!(builtin::names().eq(NAMES));
    for name in NAMES {
        assert_eq!(builtin::load(name).unwrap().name, name);
        assert!(builtin::is_name(name));
    }
}

/// Returns the hard disks. The Maxtor is by default the adversary defined by its published bounds;
/// the others are mechanical.
fn hard_disks() -> impl Iterator<Item = DriveFile> {
    NAMES[..7].iter().map(|name| builtin::load(name).unwrap())
}

#[test]
fn hard_disks_list_their_chosen_figures_and_can_be_simulated() {
    for file in hard_disks() {
        assert!(!file.mechanics.as_ref().unwrap().chosen.is_empty(), "{}", file.name);
        tidegate_drive::from_parts(DriveKind::Mechanical, &file, 1).unwrap();
        let is_maxtor = file.name == NAMES[0];
        assert_eq!(file.kind == DriveKind::Pseudo, is_maxtor, "{}", file.name);
    }
}

/// `check` and `sim` need tables of reads and writes, for every batch that a drive accepts. The
/// Maxtor's tables cover only reads: its source has no writes.
#[test]
fn tables_of_simulated_disks_reach_to_their_depth() {
    for file in hard_disks().skip(1) {
        for op in [Op::Read, Op::Write] {
            let tables = file.batch.iter().filter(|table| table.op == Some(op));
            assert!(tables.clone().count() >= 2, "{}", file.name);
            for table in tables {
                let entries = [&table.ns_max].into_iter().chain(&table.quantiles_ns);
                assert_eq!(table.missing_families(), [], "{}", file.name);
                let depth = usize::try_from(file.depth).unwrap();
                assert!(entries.clone().all(|list| list.len() == depth), "{}", file.name);
                assert_eq!(table.samples, Some(10_000), "{}", file.name);
            }
        }
    }
}

/// A request can starve for longer than the queue's bound, because other requests may be served
/// before it when its turn comes.
#[test]
fn starvation_in_the_file_covers_the_bound_of_the_queue() {
    for file in hard_disks() {
        let bound = file.mechanics.as_ref().unwrap().queue.starvation_ns;
        if let (Some(bound), Some(starvation)) = (bound, file.starvation_max) {
            assert!(starvation > Duration::from_ns(bound), "{}", file.name);
        }
    }
    let queued = hard_disks().filter(|file| file.depth > 1);
    assert!(queued.skip(1).all(|file| file.starvation_max.is_some()));
}

/// RTAS 2008, figures 8 and 10: 20 requests at random places drain within 160 ms, and at most 8
/// requests drain within 75 ms.
#[test]
fn drains_of_the_fujitsu_are_those_of_the_paper() {
    let others = PlaceFamily::ALL.into_iter().filter(|it| *it != PlaceFamily::Random);
    let others: Vec<_> = others.collect();
    let file = builtin::load("fujitsu-max3036rc").unwrap().without_places(&others);
    let is_meant = |table: &&MeasuredTable| {
        (table.op, table.size) == (Some(Op::Read), Some(Bytes::from_kib(256)))
    };
    let drain = &file.drain.iter().find(is_meant).unwrap().table;
    assert!(drain.time_max(20) <= Duration::from_ms(160));
    assert!(drain.time_max(8) <= Duration::from_ms(75));
    assert!(drain.time_max(9) > Duration::from_ms(75));
}

/// Goal: the tables belong to the mechanics beside them. Method: 500 random batches of reads; one
/// in a thousand may exceed the 99.9 % quantile, and none may exceed the longest time by more than
/// a tenth.
#[test]
fn tables_match_the_mechanics_beside_them() {
    for file in hard_disks().skip(1) {
        let size = file.batch[0].size.unwrap();
        let table = measured_table(&file, Op::Read, size).unwrap();
        for count in [1, file.depth.div_ceil(2), file.depth] {
            let entry = usize::try_from(count).unwrap() - 1;
            let times = random_batches(&file, size, count, 500);
            let p999 = Duration::from_ns(table.quantiles_ns[5][entry]);
            let above = times.iter().filter(|&&time| time > p999).count();
            assert!(above <= 5, "{} {count}: {above}", file.name);
            let longest = times.iter().max().unwrap().ns();
            let known = table.random_ns_max()[entry];
            assert!(longest * 10 <= known * 11, "{} {count}: {longest}", file.name);
            assert!(longest * 2 > known, "{} {count}: {longest}", file.name);
        }
    }
}

fn random_batches(file: &DriveFile, size: Bytes, count: u32, trials: u32) -> Vec<Duration> {
    let mut drive = tidegate_drive::from_parts(DriveKind::Mechanical, file, 1).unwrap();
    let sectors = file.mechanics.as_ref().unwrap().sectors - size.sectors_ceil();
    let (mut random, mut now, mut id) = (Random::new(7, 1), Time::ZERO, 0);
    let mut batch = || {
        let mut requests = requests(id, count.into());
        for request in &mut requests {
            (request.start, request.size) = (Lba::new(random.below(sectors)), size);
        }
        id += u64::from(count);
        drive.submit(now, &requests);
        let begin = now;
        now = finish(&mut drive).last().unwrap().at;
        now - begin
    };
    (0..trials).map(|_| batch()).collect()
}

/// Goal: the figures in the file can be verified. Method: each entry is computed again from table
/// 7.2.
#[test]
fn maxtor_tables_follow_from_the_published_figures() {
    let file = builtin::load("maxtor-atlas-10k-v").unwrap();
    assert_eq!((file.kind, file.depth), (DriveKind::Pseudo, 64));
    assert_eq!(file.batch.len(), 2);
    let published = Bytes::from_kib(255);
    for size in [Bytes::from_kib(128), published] {
        let disk = Amortised {
            seek_max: Duration::from_us(8_440),
            seek_min: Duration::from_us(2_850),
            rotation_max: Duration::from_us(6_000),
            transfer_max: transfer_time_scaled_ceil(Duration::from_us(5_340), published, size),
        };
        let measured = measured_table(&file, Op::Read, size).unwrap();
        assert_eq!(measured.size, Some(size));
        let expected: Vec<u64> = (1..=64).map(|n| disk.batch_time_max(n).ns()).collect();
        assert_eq!(measured.random_ns_max(), expected);
    }
}

#[test]
fn unknown_name_is_refused_as_unknown() {
    let error = builtin::load("floppy").unwrap_err();
    assert!(error.to_string().starts_with("there is no built-in drive `floppy`"));
    assert!(!builtin::is_name("floppy") && !builtin::is_name("./sata-ssd"));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests drive files that are made from data sheets: the tables against the published figures of a
//! disk, and the seek line against every point of the curve that it must not fall below.

use tidegate_drive::data_sheet::{BatchOrder, DataSheet, DataSheetError, SeekFigures};
use tidegate_model::{Bandwidth, Bytes, DriveFile, Duration, Op};

/// The Maxtor of table 7.2, with 4.77 ms as the average and 0.45 ms for a track.
fn maxtor() -> DataSheet {
    DataSheet {
        name: "maxtor".to_owned(),
        seek: SeekFigures {
            track: Duration::from_us(450),
            average: Duration::from_us(4_770),
            full: Duration::from_us(8_440),
        },
        write_seek_extra: None,
        rpm: 10_000,
        // 255 KiB in 5.34 ms.
        rate_min: Bandwidth::new(48_898_876).unwrap(),
        overhead: Duration::ZERO,
        depth: 64,
        order: BatchOrder::TwoSweeps,
        sizes: vec![Bytes::from_kib(255)],
    }
}

/// Goal: the tables are equation 7.4.1.7 with the derived line. Method: p is computed by hand. The
/// average is 4.32 ms above the track's time, and a full seek 7.99 ms, so r = 4.32 / 7.99 = 0.54068
/// and p = (sqrt(1 + 8 / r) - 3) / 2 = 0.4872. The line begins at 8.44 - 0.4872 * 7.99 = 4.547 ms.
#[test]
fn the_tables_follow_from_the_line() {
    let line = maxtor().seek.line();
    assert_eq!(line.seek_max, Duration::from_us(8_440));
    assert!((4_546_000..4_548_000).contains(&line.seek_min.ns()), "{line:?}");
    let file = maxtor().drive_file().unwrap();
    let [one, two] = [0, 1].map(|index| file.batch[0].ns_max[index]);
    assert!((19_780_000..19_780_010).contains(&one), "{one}");
    let least = 2 * (8_440_000 - line.seek_min.ns()) + 2 * (11_340_000 + line.seek_min.ns());
    assert!((least..least + 10).contains(&two), "{two}");
    let overhead = Duration::from_us(300);
    let slower = DataSheet { overhead, ..maxtor() }.drive_file().unwrap().batch[0].ns_max[1];
    assert_eq!(slower - two, 600_000);
}

/// Goal: the line lies above the assumed curve and touches it at the end. Method: for each of many
/// exponents, whose mean is known, the curve is compared with the line at 1,000 distances.
#[test]
fn the_seek_line_lies_above_the_curve() {
    for percent in 1..=100 {
        let (p, track, full) = (f64::from(percent) / 100.0, 0.5e6, 18e6);
        let mean = track + (full - track) * 2.0 / ((p + 1.0) * (p + 2.0));
        let time = |ns: f64| {
            let host = std::time::Duration::from_secs_f64(ns / 1e9);
            Duration::from_ns(u64::try_from(host.as_nanos()).unwrap())
        };
        let line = SeekFigures { track: time(track), average: time(mean), full: time(full) }.line();
        let ns = |time: Duration| f64::from(u32::try_from(time.ns()).expect("below 4 s"));
        let (low, high) = (ns(line.seek_min), ns(line.seek_max));
        for step in 0..=1_000 {
            let x = f64::from(step) / 1_000.0;
            let gap = low + (high - low) * x - (track + (full - track) * x.powf(p));
            assert!(gap > -100.0, "{p} at {x}: {gap}");
        }
        let tangent = full - p * (full - track);
        assert!((low - tangent).abs() < 200.0, "{p}: {low} for {tangent}");
    }
}

#[test]
fn orders_and_operations_have_their_tables() {
    let of = |order| DataSheet { order, ..maxtor() }.drive_file().unwrap().batch[0].ns_max[9];
    assert!(of(BatchOrder::OneSweep) < of(BatchOrder::TwoSweeps));
    assert!(of(BatchOrder::TwoSweeps) < of(BatchOrder::Any));
    let sizes = vec![Bytes::from_kib(255), Bytes::from_kib(4), Bytes::from_kib(255)];
    let twice = DataSheet { sizes, ..maxtor() }.drive_file().unwrap();
    assert_eq!(DriveFile::parse(&twice.to_toml()).unwrap().batch.len(), 2);
    let extra = Some(Duration::from_us(500));
    let file = DataSheet { write_seek_extra: extra, ..maxtor() }.drive_file().unwrap();
    let [reads, writes] = [0, 1].map(|table| &file.batch[table]);
    assert_eq!((reads.op, writes.op), (Some(Op::Read), Some(Op::Write)));
    assert_eq!(writes.ns_max[0] - reads.ns_max[0], 500_000);
    assert_eq!(DriveFile::parse(&file.to_toml()).unwrap(), file);
}

#[test]
fn figures_of_no_disk_are_refused() {
    let fault = |sheet: DataSheet| sheet.drive_file().unwrap_err();
    let s = Duration::from_ms(21_000);
    let seek = SeekFigures { average: s, ..maxtor().seek };
    assert_eq!(fault(DataSheet { seek, ..maxtor() }), DataSheetError::SeekOrder);
    let seek = SeekFigures { full: s, ..maxtor().seek };
    assert_eq!(fault(DataSheet { seek, ..maxtor() }), DataSheetError::AverageTooShort);
    assert_eq!(fault(DataSheet { overhead: s, ..maxtor() }), DataSheetError::TooLong);
    let rate_min = Bandwidth::new(1).unwrap();
    assert_eq!(fault(DataSheet { rate_min, ..maxtor() }), DataSheetError::TooLong);
    let sizes = vec![Bytes::new(100)];
    assert_eq!(fault(DataSheet { sizes, ..maxtor() }), DataSheetError::NoSectors(100));
    let longest = DataSheet {
        seek: SeekFigures {
            full: Duration::from_ms(20_000),
            average: Duration::from_ms(20_000),
            track: Duration::from_ms(20_000),
        },
        depth: 1024,
        rpm: 3,
        order: BatchOrder::Any,
        ..maxtor()
    };
    let file = longest.drive_file().unwrap();
    assert!(DriveFile::parse(&file.to_toml()).is_ok(), "no time is above a day");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The recorded drive: times come from the measured quantiles and never exceed the maximum.

use super::common::{at, finish, measured, request, requests};
use proptest::prelude::*;
use tidegate_drive::recorded::{QuantilesMissing, Recording};
use tidegate_drive::{BatchTimes, Drive, Mix, RecordedDrive};
use tidegate_model::Op;
use tidegate_model::drive_file::MeasuredTable;

const ROWS: [[u64; 7]; 2] =
    [[100, 200, 300, 500, 700, 800, 900], [150, 250, 400, 600, 900, 1_000, 1_100]];

fn profile() -> MeasuredTable {
    measured(None, None, &ROWS)
}

/// Returns the draw for this share in parts per million.
fn draw(ppm: u64) -> u64 {
    let draw = (u128::from(ppm) << 64).div_ceil(1_000_000);
    u64::try_from(draw).unwrap_or(u64::MAX)
}

fn reads(count: u32) -> Mix {
    Mix { reads: count, writes: 0 }
}

fn time_ns(recording: &Recording, mix: Mix, ppm: u64) -> u64 {
    recording.batch_time(mix, draw(ppm)).ns()
}

#[test]
fn draw_at_a_measured_level_gives_the_measured_time() {
    let recording = Recording::new(&profile()).unwrap();
    let levels = MeasuredTable::LEVELS_PPM.into_iter().map(u64::from).chain([1_000_000]);
    for (column, ppm) in levels.enumerate() {
        assert_eq!(time_ns(&recording, reads(1), ppm), ROWS[0][column], "{ppm} ppm");
        assert_eq!(time_ns(&recording, reads(2), ppm), ROWS[1][column], "{ppm} ppm");
    }
}

#[test]
fn draw_between_levels_lies_on_the_line_rounded_up() {
    let recording = Recording::new(&profile()).unwrap();
    assert_eq!(time_ns(&recording, reads(1), 50_000), 150);
    assert_eq!(time_ns(&recording, reads(1), 700_000), 400);
    // 700 + 100 * 1 / 9_000, slightly above 700.
    assert_eq!(time_ns(&recording, reads(1), 990_001), 701);
}

#[test]
fn unmeasured_levels_are_omitted() {
    let mut table = profile();
    table.quantiles_ns = [vec![], vec![], vec![300, 400], vec![], vec![], vec![]];
    let recording = Recording::new(&table).unwrap();
    assert_eq!(time_ns(&recording, reads(1), 0), 300, "the lowest level that is known");
    assert_eq!(time_ns(&recording, reads(1), 500_000), 300);
    assert_eq!(time_ns(&recording, reads(1), 750_000), 600, "half way to the maximum");
}

#[test]
fn table_without_quantiles_is_refused() {
    let mut table = profile();
    table.quantiles_ns = Default::default();
    assert_eq!(Recording::new(&table).unwrap_err(), QuantilesMissing);
    assert!(QuantilesMissing.to_string().contains("no quantiles"));
}

#[test]
fn reads_and_writes_in_one_batch_add_up() {
    let writes = measured(Some(Op::Write), None, &[[7; 7]; 3]);
    let recording = Recording::of_both(&profile(), &writes).unwrap();
    assert_eq!(recording.batch_max(), 2, "the shorter of the two");
    let mixed = Mix { reads: 1, writes: 1 };
    assert_eq!(time_ns(&recording, mixed, 500_000), 307);
    assert_eq!(time_ns(&recording, Mix { reads: 0, writes: 2 }, 500_000), 7);
}

#[test]
fn each_batch_draws_anew_and_half_of_them_stay_below_the_median() {
    let mut drive = RecordedDrive::new(2, Recording::new(&profile()).unwrap(), 5);
    let mut below = 0_u32;
    for round in 0..4_000_u64 {
        let start = round * 10_000;
        drive.submit(at(start), &[request(round)]);
        let took = finish(&mut drive)[0].at.ns() - start;
        assert!((100..=900).contains(&took));
        below += u32::from(took <= 300);
    }
    assert!((1_850..=2_150).contains(&below), "{below} of 4000");
}

#[test]
fn batch_handed_over_in_parts_is_the_same_batch() {
    let drive = || RecordedDrive::new(2, Recording::new(&profile()).unwrap(), 5);
    let (mut whole, mut divided) = (drive(), drive());
    whole.submit(at(3), &requests(0, 2));
    divided.submit(at(3), &requests(0, 1));
    divided.submit(at(3), &requests(1, 1));
    assert_eq!(finish(&mut whole), finish(&mut divided));
}

proptest! {
    /// Goal: the drive honours b, even with quantiles that cannot have been measured.
    #[test]
    fn no_batch_exceeds_its_maximum(
        rows in prop::collection::vec(prop::array::uniform7(1_u64..1_000_000_000_000), 1..20),
        share in 1_u32..=20,
        seed: u64,
    ) {
        let profile = measured(None, None, &rows);
        let count = share.min(profile.table.batch_max());
        let mut drive = RecordedDrive::new(20, Recording::new(&profile).unwrap(), seed);
        drive.submit(at(0), &requests(0, u64::from(count)));
        let done_at = finish(&mut drive).last().unwrap().at;
        prop_assert!(done_at.ns() <= profile.ns_max[count as usize - 1]);
        prop_assert!(done_at.ns() <= profile.table.time_max(count).ns());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The Maxtor Atlas 10K V of the dissertation, tables 7.1 and 7.2, sections 7.4 and 7.4.2: its
//! parts, the average time of single reads, and the longest of them.

use tidegate_drive::amortised::expected::{
    Density, expected_seek_distance, expected_seek_time_ceil, expected_service_time_ceil,
    expected_transfer_time_ceil,
};
use tidegate_model::{Bytes, DriveFile, Duration, Lba};

use super::common::{Places, Times, layout, load, mechanics, mechanics_mut, seek_curve, turn};

const SIZE: Bytes = Bytes::from_kib(255);

fn maxtor() -> DriveFile {
    load("maxtor-atlas-10k-v")
}

/// Returns the disk without faults.
fn sound(zero_latency: bool) -> DriveFile {
    let mut file = maxtor();
    let mechanics = mechanics_mut(&mut file);
    mechanics.faults = None;
    mechanics.zero_latency = zero_latency;
    file
}

fn densities(file: &DriveFile) -> Vec<Density> {
    let zones = layout(file).zones().into_iter();
    let density = |sectors_per_track, sectors| Density { sectors_per_track, sectors };
    zones.map(|zone| density(zone.sectors_per_track, zone.sectors)).collect()
}

/// Table 7.1: 161,111 tracks with 570 to 1,170 sectors, 892 on average.
#[test]
fn table_7_1_comes_out() {
    let file = maxtor();
    let disk = mechanics(&file);
    assert_eq!((disk.sectors, disk.cylinders, disk.surfaces), (143_666_192, 80_568, 2));
    assert!(disk.cache.is_none(), "both caches were disabled");
    let densities = densities(&file);
    let per_track = || densities.iter().map(|density| density.sectors_per_track);
    assert_eq!((per_track().min(), per_track().max()), (Some(570), Some(1_170)));
    let tracks = |density: &Density| density.sectors.div_ceil(density.sectors_per_track.into());
    let tracks: u64 = densities.iter().map(tracks).sum();
    assert_eq!((tracks, (disk.sectors + tracks / 2) / tracks), (161_111, 892));
}

/// Table 7.2: 4.55 ms expected, 8.44 ms full stroke, a linear upper bound from 2.85 ms on. The
/// tolerance is the last given digit plus the rounding of the curve's points to 1 us.
#[test]
fn seeks_of_table_7_2_come_out() {
    let curve = seek_curve(&maxtor());
    let us = |time: Duration| time.ns() / 1_000;
    assert_eq!(curve.time(80_567), Duration::from_us(8_440));
    let (min, max) = curve.linear_upper_bound();
    assert!(us(min).abs_diff(2_850) <= 1 && us(max).abs_diff(8_440) <= 1, "{min} {max}");
    let expected = expected_seek_time_ceil(80_568, |distance| curve.time(distance));
    assert!(us(expected).abs_diff(4_550) <= 5, "{expected}");
}

/// Section 7.4 has 4.77 ms for a third of the stroke, read from figure 7.5. The linear upper
/// bound in the same figure has 4.713 ms there, so one of the two is wrong by 1.2 %.
#[test]
fn seek_of_a_third_of_the_stroke_is_as_near_as_the_linear_bound_lets_it() {
    let third = seek_curve(&maxtor()).time(80_567 / 3);
    assert!(third.ns().abs_diff(4_770_000) <= 60_000, "{third}");
}

/// Equation 7.4.0.10 against pairs of random cylinders, and against pairs of random sectors,
/// which are slightly nearer to each other because outer cylinders hold more sectors, as the
/// source's footnote says. Within 0.5 %: three standard deviations of a mean of 200,000.
#[test]
fn mean_distance_of_random_cylinders_is_that_of_the_equation() {
    let file = maxtor();
    let layout = layout(&file);
    let mut places = Places::on(&file, SIZE, 1);
    let mut random = tidegate_model::Random::new(1, 2);
    let mut of_sectors = || layout.position(Lba::new(places.draw())).cylinder;
    let mut of_cylinders = || u32::try_from(random.below(80_568)).unwrap();
    let equation = expected_seek_distance(80_568).floor();
    let by_cylinders = mean_distance(&mut of_cylinders);
    assert!(by_cylinders.abs_diff(equation) * 200 < equation, "{by_cylinders}");
    let by_sectors = mean_distance(&mut of_sectors);
    let zoned = expected_distance_by_sectors(&densities(&file));
    assert!(by_sectors.abs_diff(zoned) * 200 < zoned, "{by_sectors} {zoned}");
    assert!(zoned < equation, "{zoned}");
}

/// Returns the mean distance with each cylinder weighted by its sectors: a boundary between two
/// cylinders is crossed by the pairs with one sector on either side.
fn expected_distance_by_sectors(densities: &[Density]) -> u64 {
    let total: u128 = densities.iter().map(|density| u128::from(density.sectors)).sum();
    let (mut before, mut pairs) = (0_u128, 0_u128);
    for density in densities {
        let end = before + u128::from(density.sectors);
        while before < end {
            before = (before + u128::from(density.sectors_per_track) * 2).min(end);
            pairs += 2 * before * (total - before);
        }
    }
    u64::try_from(pairs / (total * total)).unwrap()
}

fn mean_distance(draw: &mut impl FnMut() -> u32) -> u64 {
    let distances = (0..200_000).map(|_| u64::from(draw().abs_diff(draw())));
    distances.sum::<u64>() / 200_000
}

/// Section 7.4 has an expected transfer of 2.57 ms for 255 KiB, and so 10.12 ms for a read. That is
/// impossible: on the densest track it takes 510 / 1,170 turns, 2.615 ms. Equation 7.4.0.12 with
/// the figures of table 7.1 gives 510 * 161,111 / 143,666,192 turns, 3.432 ms, and 10.98 ms for a
/// read.
#[test]
fn published_transfer_is_below_that_of_the_densest_track() {
    let file = maxtor();
    let published = Duration::from_us(2_570);
    let transfer =
        |densities: &[Density]| expected_transfer_time_ceil(SIZE, turn(&file), densities);
    let densest = transfer(&[Density { sectors_per_track: 1_170, sectors: 1 }]);
    assert_eq!(densest.ns(), 2_615_385);
    assert!(published < densest);
    let expected = transfer(&densities(&file));
    assert_eq!(expected.ns() / 1_000, 3_431);
    let service = expected_service_time_ceil(Duration::from_us(4_550), turn(&file), expected);
    assert_eq!(service.ns() / 10_000, 1_098);
}

/// A disk that waits for the first sector takes the formula's 10.98 ms, plus what the formula
/// omits: 510 of 892 reads cross to another track, where the skew of 0.51 or 0.60 ms passes, and
/// random sectors are nearer to each other than random cylinders (by at most 2.3 % of 4.55 - 0.55
/// ms). Within 1 %, with 100,000 reads.
#[test]
fn mean_without_zero_latency_equals_the_formula() {
    let mean = Times::of_batches(&sound(false), SIZE, 1, 100_000).mean();
    let crossing_us = 555 * 510 / 892;
    let expected_us = 10_980 + crossing_us - 50;
    assert!((mean.ns() / 1_000).abs_diff(expected_us) < 110, "{mean}");
}

/// Section 7.4 measured 9.63 ms. Zero-latency access makes the model 0.8 ms faster than the
/// formula's 10.98 ms, but it stays 8 % above the measurement. Nothing in the source explains the
/// rest; a faster seek would contradict its seek curve. So the tolerance is 10 %.
#[test]
fn mean_with_zero_latency_is_within_a_tenth_of_the_measured() {
    let measured = Duration::from_us(9_630);
    let mean = Times::of_batches(&sound(true), SIZE, 1, 100_000).mean();
    assert!(mean.ns().abs_diff(measured.ns()) * 10 < measured.ns(), "{mean}");
    assert!(mean + Duration::from_us(500) < Duration::from_us(10_980), "{mean}");
}

/// Section 7.4.2: of 100,000 reads the longest took 29.9 ms, the next 20.9 ms. One fault in
/// 100,000 is expected, too few for a test, so it uses 500,000 reads: five faults are expected,
/// and one to twelve occur with a probability of 99 %.
#[test]
fn longest_of_many_reads_stand_alone() {
    let times = Times::of_batches(&maxtor(), SIZE, 1, 500_000);
    let outliers = times.count_above(Duration::from_us(20_900));
    assert!((1..=12).contains(&outliers), "{outliers}");
    let longest = times.longest();
    assert!((24..=40).contains(&(longest.ns() / 1_000_000)), "{longest}");
}

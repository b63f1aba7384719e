// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The nearline disk: the common figures of data sheets and tests of its class. The ranges
//! reflect the differences between drives of the class.

use tidegate_drive::amortised::expected::expected_seek_time_ceil;
use tidegate_model::{Bytes, DriveFile, Duration, Op};

use super::common::{Host, Places, load, mechanics, random, seek_curve, sequential, starved};

const SIZE: Bytes = Bytes::from_kib(4);

fn nearline() -> DriveFile {
    load("nearline-7200")
}

#[test]
fn capacity_is_12_tb() {
    assert_eq!(nearline().capacity().unwrap().get() / 100_000_000_000, 120);
}

/// The rate is 250 MB/s outside and 110 MB/s inside, within 2 %; the disk was fitted to these
/// figures.
#[test]
fn sequential_rates_fall_from_250_to_110_mb() {
    let size = Bytes::from_kib(128);
    let [outside, inside] = [0, 99].map(|percent| sequential(&nearline(), size, percent).kb());
    assert!(outside.abs_diff(250_000) < 5_000, "{outside}");
    assert!(inside.abs_diff(110_000) < 2_200, "{inside}");
}

/// The average seek time agrees with 8.5 ms to the last given digit.
#[test]
fn average_seek_is_8_5_ms() {
    let file = nearline();
    let curve = seek_curve(&file);
    let expected = expected_seek_time_ceil(mechanics(&file).cylinders, |d| curve.time(d));
    assert!(expected.ns().abs_diff(8_500_000) < 50_000, "{expected}");
}

#[test]
fn random_reads_are_75_to_85_a_second_alone_and_160_to_200_in_a_full_queue() {
    let rate = |outstanding| random(&nearline(), SIZE, outstanding, 20_000).per_second(SIZE);
    let (alone, full) = (rate(1), rate(32));
    assert!((75..=85).contains(&alone), "{alone}");
    assert!((160..=200).contains(&full), "{full}");
}

/// Users report 1 to 4 s. With ageing, some requests wait less than the bound.
#[test]
fn starved_read_waits_for_1_to_4_s() {
    let file = nearline();
    for seed in 0..20 {
        let time = starved(&file, SIZE, seed);
        assert!((Duration::from_ms(1_000)..Duration::from_ms(4_000)).contains(&time), "{time}");
        assert!(time <= file.starvation_max.unwrap(), "{time}");
    }
}

/// A single write completes from memory, in less than a tenth of a millisecond; a flood of writes
/// must wait for the medium.
#[test]
fn writes_are_fast_until_memory_is_full() {
    let file = nearline();
    let (mut host, mut places) = (Host::of(&file), Places::on(&file, SIZE, 1));
    let alone = host.batch(Op::Write, &[places.draw()], SIZE);
    assert!(alone < Duration::from_us(100), "{alone}");
    let writes: Vec<Duration> =
        (0..1_000).map(|_| host.batch(Op::Write, &[places.draw()], SIZE)).collect();
    let mean_us = writes.iter().map(|time| time.ns()).sum::<u64>() / 1_000_000;
    assert!((2_000..12_000).contains(&mean_us), "{mean_us}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Batches on the Maxtor Atlas 10K V: dissertation 7.4.2, figures 7.8 and 7.9.
//!
//! The figures are described only in the text. A batch takes clearly less time than the same
//! requests one after the other. The longest times of small batches lie above equation 7.4.1.7, and
//! those of large batches below it. Between the 99.9 % and 100 % quantiles, times still rise
//! clearly.

use tidegate_model::{Bytes, DriveFile, Op};

use super::common::{Host, Places, Times, load, mechanics_mut};

const SIZE: Bytes = Bytes::from_kib(255);
const COUNTS: [usize; 7] = [1, 2, 4, 8, 10, 16, 32];

/// Returns the disk without faults: an outlier once in 100,000 reads would alone determine the
/// longest of 10,000 batches.
fn maxtor() -> DriveFile {
    let mut file = load("maxtor-atlas-10k-v");
    mechanics_mut(&mut file).faults = None;
    file
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap()
}

/// Figure 7.8: b(n) grows clearly more slowly than n b(1): the time for each request falls with
/// every step, to less than two thirds at 32.
#[test]
fn longest_time_for_each_request_falls_with_the_batch() {
    let longest = |n| Times::of_batches(&maxtor(), SIZE, n, 10_000).longest().ns() / count(n);
    let each: Vec<u64> = COUNTS.into_iter().map(longest).collect();
    assert!(each.is_sorted_by(|one, next| one > next), "{each:?}");
    assert!(each[COUNTS.len() - 1] * 3 < each[0] * 2, "{each:?}");
}

/// Figure 7.8, "w/o batching": the same requests sent one after the other, in order. From four
/// requests on they take longer, on average by at least 5 %.
#[test]
fn batch_at_once_is_shorter_than_one_after_the_other() {
    for n in [4, 8, 16] {
        let file = maxtor();
        let (mut host, mut places) = (Host::of(&file), Places::on(&file, SIZE, 1));
        let mut in_order = || {
            let begin = host.now;
            for place in places.take(n) {
                host.batch(Op::Read, &[place], SIZE);
            }
            host.now - begin
        };
        let apart = Times::sorted((0..10_000).map(|_| in_order()).collect());
        let at_once = Times::of_batches(&file, SIZE, n, 10_000);
        assert!(at_once.longest() < apart.longest(), "{n}");
        assert!(at_once.mean().ns() * 10 < apart.mean().ns() * 19 / 2, "{n}");
    }
}

/// Figure 7.9: from 99.9 % to 100 % the times rise clearly: here by at least 2 %.
#[test]
fn longest_of_999_in_1000_lies_clearly_below_the_longest() {
    for n in COUNTS {
        let times = Times::of_batches(&maxtor(), SIZE, n, 10_000);
        let (most, all) = (times.longest_of_999(), times.longest());
        assert!(most.ns() * 102 < all.ns() * 100, "{n}: {most} {all}");
    }
}

/// 7.4.2: larger batches stay below equation 7.4.1.7 with the figures of table 7.2, which is the
/// drive file's table, and the margin grows with their size.
#[test]
fn large_batches_stay_below_the_published_bound() {
    let file = maxtor();
    let table = tidegate_drive::measured_table(&file, Op::Read, SIZE).unwrap();
    let percent_of_bound = |n: usize| {
        let longest = Times::of_batches(&file, SIZE, n, 10_000).longest();
        longest.ns() * 100 / table.random_ns_max()[n - 1]
    };
    let percents = [4, 8, 16, 32].map(percent_of_bound);
    assert!(percents[0] < 100, "{percents:?}");
    assert!(percents.is_sorted_by(|less, more| more < less), "{percents:?}");
}

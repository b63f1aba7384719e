// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The longest time of a batch, on any disk: random parts, orders, caches and faults, random
//! requests before the batch, and requests that continue others or lie anywhere.

use tidegate_drive::Drive as _;
use tidegate_drive::mechanical::BatchCeiling;
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{Bytes, Duration, Lba, Op, Request, Time};

use super::any_disk::{Dice, any_disk};
use super::disk_support::{Host, request};

/// The seeds of the random disks: as many as the environment variable `DISKS` says, or 4,000.
fn disks() -> std::ops::Range<u64> {
    0..std::env::var("DISKS").ok().and_then(|text| text.parse().ok()).unwrap_or(4_000)
}

/// The number of batches that each disk gets, one after the other.
const BATCHES: u64 = 12;
/// The largest number of requests in a batch.
const COUNT_MAX: u32 = 8;

/// A disk, and the requests that are sent to it.
struct Case {
    mechanics: Mechanics,
    kinds: Vec<(Op, Bytes)>,
    dice: Dice,
    /// The sector after the last request.
    next: u64,
    ids: u64,
    /// Whether a failure prints the disk.
    is_told: bool,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mechanics = any_disk(&mut dice);
        let sectors = dice.pick(&[1, 8, 30, 64, 250]);
        let size = Bytes::new(sectors * Lba::SECTOR_BYTES);
        let ops: &[Op] = dice.pick(&[&[Op::Read][..], &[Op::Write], &[Op::Read, Op::Write]]);
        let kinds = ops.iter().map(|&op| (op, size)).collect();
        Self { mechanics, kinds, dice, next: 0, ids: 0, is_told: false }
    }

    fn batch(&mut self) -> Vec<Request> {
        let count = 1 + self.dice.below(COUNT_MAX.into());
        (0..count).map(|_| self.request()).collect()
    }

    fn request(&mut self) -> Request {
        let kinds = self.kinds.clone();
        let (op, size) = self.dice.pick(&kinds);
        let most = size.sectors_ceil();
        let count = if self.dice.once_in(3) { 1 + self.dice.below(most) } else { most };
        let last = self.mechanics.sectors - count;
        let start = match self.dice.below(8) {
            0..3 => self.next.min(last),
            3 => (self.next + self.dice.below(40)).saturating_sub(20).min(last),
            4 => self.dice.below(300).min(last),
            5 => last - self.dice.below(300).min(last),
            _ => self.dice.below(last + 1),
        };
        self.next = start + count;
        self.ids += 1;
        request(self.ids, op, start, count)
    }

    /// Returns the highest share of its ceiling that a batch takes, per mille; `None` without a
    /// ceiling.
    fn attack(&mut self, allowed: impl Fn(&BatchCeiling<'_>) -> Vec<Duration>) -> Option<u64> {
        let mechanics = self.mechanics.clone();
        let ceiling = BatchCeiling::of(&mechanics, &self.kinds).expect("a disk")?;
        let times = allowed(&ceiling);
        let mut host = Host::new(&mechanics, 16);
        let (mut at, mut highest) = (Time::ZERO, 0);
        for _ in 0..BATCHES {
            at += Duration::from_ns(self.dice.below(30_000_000));
            let batch = self.batch();
            let mut done = Vec::new();
            host.go_to(at, &mut done);
            host.drive.submit(at, &batch);
            host.drain(&mut done);
            let end = done.iter().map(|done| done.at).max().expect("some requests");
            let (took, most) = (end.since(at).ns(), times[batch.len() - 1].ns());
            let share = (took * 1_000).div_ceil(most.max(1));
            if share > 1_000 && self.is_told {
                println!("{took} ns of {most}: {batch:?}, {:?}, {mechanics:?}", self.kinds);
            }
            highest = highest.max(share);
            at = end;
        }
        Some(highest)
    }
}

#[test]
fn no_batch_of_any_disk_exceeds_its_ceiling() {
    let (mut tried, mut highest) = (0, 0);
    for seed in disks() {
        let mut case = Case { is_told: true, ..Case::new(seed) };
        let found = case.attack(|ceiling| ceiling.batches(COUNT_MAX));
        let Some(share) = found else { continue };
        assert!(share <= 1_000, "{seed}: {share} per mille");
        (tried, highest) = (tried + 1, highest.max(share));
    }
    println!("{tried} disks, at most {highest} per mille");
    assert!(tried > 1_000 && highest > 900, "{tried} {highest}");
}

/// Canary: a ceiling for one request fewer is too low.
#[test]
fn a_ceiling_of_one_request_less_is_caught() {
    let caught = disks().find(|&seed| {
        let short = |ceiling: &BatchCeiling<'_>| {
            let times = ceiling.batches(COUNT_MAX);
            std::iter::once(times[0]).chain(times.iter().copied()).collect()
        };
        Case::new(seed).attack(short).is_some_and(|share| share > 1_000)
    });
    assert!(caught.is_some());
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The start sectors of a source's requests: multiples of the request size, within the capacity or
//! a part of it.

use tidegate_model::{Bytes, Lba, Place, Random};

/// The start sectors that one source may use, and the order in which it uses them.
///
/// # Invariants
/// - `count >= 1`, and `next < count` where the order is sequential.
#[derive(Debug)]
pub(crate) struct Positions {
    /// The number of sectors of a request, which is the distance between positions.
    sectors: u64,
    first: u64,
    count: u64,
    order: Order,
}

#[derive(Debug)]
enum Order {
    Random,
    Sequential {
        next: u64,
    },
    /// Runs of `length` consecutive positions; `left` remain in the current run.
    Runs {
        next: u64,
        left: u32,
        length: u32,
    },
}

impl Positions {
    /// Makes the positions of requests of `size` at `place` on a drive of `capacity`.
    ///
    /// A range that is shorter than a request gets one position: the first one at or above its
    /// start, or the drive's last.
    ///
    /// # Panics
    /// If the drive has no room for one request.
    pub(crate) fn new(place: Place, size: Bytes, capacity: Bytes, random: &mut Random) -> Self {
        let (sectors, all) = grid(size, capacity);
        assert!(all >= 1, "a drive of {capacity} has no room for a request of {size}");
        let (first, end) = share(place, all);
        let first = first.min(all - 1);
        let count = end.max(first + 1) - first;
        let order = match place {
            Place::Sequential => Order::Sequential { next: random.below(count) },
            Place::Runs { length } => Order::Runs { next: 0, left: 0, length },
            Place::Random | Place::Range { .. } => Order::Random,
        };
        Self { sectors, first, count, order }
    }

    /// Returns the start of the next request.
    pub(crate) fn next(&mut self, random: &mut Random) -> Lba {
        let position = match &mut self.order {
            Order::Random => random.below(self.count),
            Order::Sequential { next } => {
                let position = *next;
                *next = after(position, self.count);
                position
            }
            Order::Runs { next, left, length } => {
                if *left == 0 {
                    (*next, *left) = (random.below(self.count), *length);
                }
                let position = *next;
                (*next, *left) = (after(position, self.count), *left - 1);
                position
            }
        };
        Lba::new((self.first + position) * self.sectors)
    }
}

/// Returns the position after this one; the first follows the last.
const fn after(position: u64, count: u64) -> u64 {
    if position + 1 == count { 0 } else { position + 1 }
}

/// Returns whether a request of `size` fits at `place` on a drive of `capacity`, without the
/// extension that a run gives to a range shorter than a request.
pub fn has_room(place: Place, size: Bytes, capacity: Bytes) -> bool {
    let (first, end) = share(place, grid(size, capacity).1);
    first < end
}

/// Returns the number of sectors of a request, and the number of requests that a drive holds.
fn grid(size: Bytes, capacity: Bytes) -> (u64, u64) {
    let sectors = size.sectors_ceil().max(1);
    (sectors, capacity.get() / Lba::SECTOR_BYTES / sectors)
}

/// Returns the first of `all` positions that `place` allows, and the position after the last.
fn share(place: Place, all: u64) -> (u64, u64) {
    match place {
        Place::Random | Place::Sequential | Place::Runs { .. } => (0, all),
        Place::Range { from_ppm, to_ppm } => (share_ceil(all, from_ppm), share_floor(all, to_ppm)),
    }
}

fn share_floor(all: u64, ppm: u32) -> u64 {
    let share = u128::from(all) * u128::from(ppm) / 1_000_000;
    u64::try_from(share).expect("a part is at most the whole")
}

fn share_ceil(all: u64, ppm: u32) -> u64 {
    let share = (u128::from(all) * u128::from(ppm)).div_ceil(1_000_000);
    u64::try_from(share).expect("a part is at most the whole")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: Bytes = Bytes::from_kib(1_000);
    const SIZE: Bytes = Bytes::from_kib(4);

    fn starts(place: Place, count: usize) -> Vec<u64> {
        let mut random = Random::new(9, 1);
        let mut positions = Positions::new(place, SIZE, CAPACITY, &mut random);
        (0..count).map(|_| positions.next(&mut random).get()).collect()
    }

    #[test]
    fn runs_are_consecutive_and_begin_anywhere() {
        let starts = starts(Place::Runs { length: 5 }, 5_000);
        let (mut beginnings, mut wrapped) = (std::collections::BTreeSet::new(), 0);
        for run in starts.chunks(5) {
            beginnings.insert(run[0]);
            for pair in run.windows(2) {
                wrapped += u32::from(pair[1] == 0);
                assert!(pair[1] == pair[0] + 8 || pair[1] == 0, "{run:?}");
            }
        }
        assert!(beginnings.len() > 200 && wrapped > 0, "{} {wrapped}", beginnings.len());
    }

    #[test]
    fn random_starts_are_aligned_and_cover_the_drive() {
        let starts = starts(Place::Random, 10_000);
        assert!(starts.iter().all(|start| start % 8 == 0 && start + 8 <= 2_000));
        for position in 0..250 {
            assert!(starts.contains(&(position * 8)), "position {position} never comes up");
        }
    }

    #[test]
    fn sequential_starts_follow_each_other_and_wrap() {
        let starts = starts(Place::Sequential, 500);
        for pair in starts.windows(2) {
            assert_eq!(pair[1], if pair[0] == 249 * 8 { 0 } else { pair[0] + 8 });
        }
        assert!(starts.contains(&0), "it wraps");
    }

    #[test]
    fn range_keeps_to_its_share() {
        let starts = starts(Place::Range { from_ppm: 200_000, to_ppm: 400_000 }, 5_000);
        assert_eq!(starts.iter().min(), Some(&(50 * 8)));
        assert_eq!(starts.iter().max(), Some(&(99 * 8)));
    }

    #[test]
    fn range_shorter_than_a_request_has_one_position() {
        let starts = starts(Place::Range { from_ppm: 999_999, to_ppm: 1_000_000 }, 3);
        assert_eq!(starts, [249 * 8; 3]);
    }

    #[test]
    fn room_is_a_whole_request_inside_the_range_and_the_drive() {
        let upper = Place::Range { from_ppm: 500_000, to_ppm: 1_000_000 };
        assert!(has_room(upper, SIZE, Bytes::from_kib(12)));
        assert!(!has_room(upper, SIZE, Bytes::from_kib(4)));
        assert!(!has_room(Place::Random, SIZE, Bytes::from_kib(3)));
    }

    #[test]
    fn sequential_positions_wrap_before_a_request_would_cross_the_end() {
        let mut random = Random::new(9, 1);
        let fifteen = Bytes::from_kib(15);
        let mut positions = Positions::new(Place::Sequential, SIZE, fifteen, &mut random);
        let starts: Vec<u64> = (0..6).map(|_| positions.next(&mut random).get()).collect();
        assert!(starts.windows(2).all(|pair| pair[1] == (pair[0] + 8) % 24), "{starts:?}");
    }
}

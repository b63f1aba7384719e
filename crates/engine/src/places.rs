// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where on the target the requests of one source lie.
//!
//! Each source draws from a generator of its own, so that what one source does never
//! changes where another one reads.

use model::{Bytes, Lba, Place};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The places of one source's requests: multiples of their size, which is one of the
/// target's alignment too.
#[derive(Debug)]
pub(crate) struct Places {
    size: Bytes,
    /// The first place, counted in requests from the start of the target.
    first: u64,
    /// How many there are.
    count: u64,
    order: Order,
}

#[derive(Debug)]
enum Order {
    /// Each place as likely as any other.
    Random(Pcg64Mcg),
    /// One after the other, from the beginning again after the last.
    Sequential { next: u64 },
}

impl Places {
    /// The places of source number `index` for requests of `size` on a target that holds
    /// `capacity`. `None` where not even one fits.
    pub(crate) fn new(
        place: Place,
        size: Bytes,
        capacity: Bytes,
        index: u32,
        seed: u64,
    ) -> Option<Self> {
        let (first, end) = range(place, capacity.get() / size.get());
        let count = end.checked_sub(first).filter(|&count| count > 0)?;
        let mut generator = generator(seed, index);
        let order = match place {
            Place::Sequential => Order::Sequential { next: generator.random_range(0..count) },
            Place::Random | Place::Range { .. } => Order::Random(generator),
        };
        Some(Self { size, first, count, order })
    }

    /// Where the next request goes.
    pub(crate) fn next(&mut self) -> Lba {
        let index = match &mut self.order {
            Order::Random(generator) => generator.random_range(0..self.count),
            Order::Sequential { next } => {
                let index = *next;
                *next = (index + 1) % self.count;
                index
            }
        };
        Lba::new((self.first + index) * self.size.sectors_ceil())
    }
}

/// The generator of one source of a run.
fn generator(seed: u64, index: u32) -> Pcg64Mcg {
    // The odd constant of Fibonacci hashing keeps neighbouring seeds from sharing sources.
    Pcg64Mcg::seed_from_u64(seed ^ (u64::from(index) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// The first of `all` places that `place` allows, and the one behind the last.
fn range(place: Place, all: u64) -> (u64, u64) {
    const WHOLE_PPM: u128 = 1_000_000;
    let Place::Range { from_ppm, to_ppm } = place else { return (0, all) };
    let from = (u128::from(all) * u128::from(from_ppm)).div_ceil(WHOLE_PPM);
    let to = u128::from(all) * u128::from(to_ppm) / WHOLE_PPM;
    let narrowed = |share| u64::try_from(share).expect("a share of all is at most all");
    (narrowed(from), narrowed(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Bytes = Bytes::from_kib(4);

    fn places(place: Place, capacity_kib: u64, index: u32) -> Option<Places> {
        Places::new(place, SIZE, Bytes::from_kib(capacity_kib), index, 7)
    }

    /// The next offsets in KiB.
    fn offsets_kib(places: &mut Places, count: usize) -> Vec<u64> {
        (0..count).map(|_| places.next().offset_bytes() / 1024).collect()
    }

    #[test]
    fn random_places_are_aligned_reach_both_ends_and_stay_inside() {
        let mut places = places(Place::Random, 43, 0).unwrap();
        let mut seen = offsets_kib(&mut places, 1000);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [0, 4, 8, 12, 16, 20, 24, 28, 32, 36]);
    }

    #[test]
    fn sequential_places_wrap_before_a_request_would_cross_the_end() {
        let mut places = places(Place::Sequential, 15, 0).unwrap();
        let offsets = offsets_kib(&mut places, 6);
        assert!(offsets.windows(2).all(|pair| pair[1] == (pair[0] + 4) % 12), "{offsets:?}");
    }

    #[test]
    fn range_keeps_to_its_share_and_one_that_holds_no_request_is_refused() {
        let half = Place::Range { from_ppm: 500_000, to_ppm: 1_000_000 };
        let mut upper = places(half, 12, 0).unwrap();
        assert_eq!(offsets_kib(&mut upper, 20), [8; 20]);
        assert!(places(half, 4, 0).is_none());
        assert!(places(Place::Random, 3, 0).is_none());
    }

    #[test]
    fn sources_draw_apart_and_a_seed_repeats_them() {
        let draw = |index| offsets_kib(&mut places(Place::Random, 1 << 30, index).unwrap(), 4);
        assert_eq!(draw(0), draw(0));
        assert_ne!(draw(0), draw(1));
    }
}

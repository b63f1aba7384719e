// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Random numbers that are the same on every machine and in every version.
//!
//! The generator is PCG XSL RR 128/64 ("pcg64"), fixed by its paper (M. O'Neill, "PCG: A Family of
//! Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation", 2014).
//! This module maps 64 random bits to a number below n with its own rule: a library's rule may
//! change between versions, but a seed in a report must replay.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// A seeded source of random numbers.
///
/// # Example
/// ```
/// let mut first = tidegate_model::Random::new(7, 0);
/// let mut again = tidegate_model::Random::new(7, 0);
/// assert_eq!(first.bits(), again.bits());
/// ```
#[derive(Debug, Clone)]
pub struct Random {
    generator: Pcg64,
}

impl Random {
    /// The stream of simulated drives; workloads use the streams from 1.
    pub const DRIVE_STREAM: u64 = 0;

    /// 2^64 divided by the golden ratio: odd, and far from any small multiple of a power of two.
    const STREAM_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    /// Creates one of the independent streams of `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        // Wrapping is intended: each stream number only needs a different seed.
        let seed = seed.wrapping_add(stream.wrapping_mul(Self::STREAM_STEP));
        Self { generator: Pcg64::seed_from_u64(seed) }
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Returns a random number from 0 to `bound - 1`.
    ///
    /// The probabilities of two numbers differ by at most 1 / 2^64.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        scale(self.bits(), bound)
    }

    /// Returns a random position in a list of `len` entries.
    ///
    /// # Panics
    /// If `len` is 0.
    pub fn index(&mut self, len: usize) -> usize {
        let bound = u64::try_from(len).expect("a list has less than 2^64 entries");
        usize::try_from(self.below(bound)).expect("below a usize")
    }
}

/// Returns `bound` times `bits` / 2^64, rounded down.
///
/// # Panics
/// Never, because the result is at most `bound`.
pub fn scale(bits: u64, bound: u64) -> u64 {
    let product = u128::from(bits) * u128::from(bound);
    u64::try_from(product >> 64).expect("the upper half of 128 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected numbers, computed independently from the generator's published definition.
    const EXPECTED: [u64; 4] = [839_873, 17_298, 113_901, 983_015];

    /// Goal: a seed in an old report still gives the same numbers. Method: the first numbers of a
    /// stream.
    #[test]
    fn stream_is_the_same_for_ever() {
        let mut random = Random::new(1, 0);
        let numbers: Vec<u64> = (0..4).map(|_| random.below(1_000_000)).collect();
        assert_eq!(numbers, EXPECTED);
    }

    #[test]
    fn streams_of_one_seed_differ() {
        assert_ne!(Random::new(1, 0).bits(), Random::new(1, 1).bits());
    }

    #[test]
    fn every_number_below_the_bound_comes_up() {
        let mut random = Random::new(3, 5);
        let mut count = [0_u32; 7];
        for _ in 0..7_000 {
            count[random.index(7)] += 1;
        }
        assert!(count.iter().all(|&count| (850..1_150).contains(&count)), "{count:?}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The totals that whole jobs of different tasks add up to, as a set of bits.

/// The number of bits in a word.
const BITS: u64 = u64::BITS as u64;

/// The totals, from 0 to a maximum, that some jobs add up to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Totals {
    max: u64,
    /// Bit t of the sequence is set if the jobs can add up to t.
    words: Vec<u64>,
}

impl Totals {
    /// Returns the set of totals up to `max` without any job: it contains only 0.
    ///
    /// # Panics
    /// If that many bits cannot be addressed.
    pub(crate) fn new(max: u64) -> Self {
        let len = usize::try_from(max / BITS + 1).expect("a batch's size");
        let mut words = vec![0; len];
        words[0] = 1;
        Self { max, words }
    }

    /// Adds `count` tasks, each of which contributes one job of `requests` requests or nothing.
    ///
    /// # Complexity
    /// O(max log count), 64 totals at a time.
    pub(crate) fn add(&mut self, requests: u64, count: u64) {
        // Binary splitting: groups of 1, 2, 4, .. tasks add up to every number of tasks.
        let mut left = count.min(self.max / requests);
        let mut together = 1;
        while left > 0 {
            let taken = together.min(left);
            self.add_one(taken * requests);
            left -= taken;
            together *= 2;
        }
    }

    /// Adds one job of `requests` requests, at most `max`.
    fn add_one(&mut self, requests: u64) {
        let whole = usize::try_from(requests / BITS).expect("at most max");
        let bits = requests % BITS;
        for index in (whole..self.words.len()).rev() {
            let low = self.words[index - whole] << bits;
            let carried = match (bits, index.checked_sub(whole + 1)) {
                (0, _) | (_, None) => 0,
                (bits, Some(below)) => self.words[below] >> (BITS - bits),
            };
            self.words[index] |= low | carried;
        }
    }

    /// Returns the totals in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..=self.max).filter(|&total| self.contains(total))
    }

    fn contains(&self, total: u64) -> bool {
        let word = usize::try_from(total / BITS).expect("at most max");
        self.words[word] >> (total % BITS) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Goal: the bits hold exactly the sums of subsets, across the borders of words. Method:
    /// compare with a set of sums to which tasks are added one by one.
    #[test]
    fn totals_are_the_sums_of_subsets() {
        for (max, jobs) in [
            (200, vec![(1, 3), (7, 2), (63, 1), (64, 1), (65, 2)]),
            (63, vec![(5, 40), (3, 1)]),
            (64, vec![(64, 2), (128, 1)]),
            (500, vec![(127, 3), (2, 5)]),
            (0, vec![(1, 1)]),
        ] {
            let mut totals = Totals::new(max);
            let mut sums = BTreeSet::from([0]);
            for &(requests, count) in &jobs {
                totals.add(requests, count);
                for _ in 0..count {
                    sums.extend(sums.clone().into_iter().map(|sum| sum + requests));
                }
            }
            let sums: Vec<u64> = sums.into_iter().filter(|&sum| sum <= max).collect();
            assert_eq!(totals.iter().collect::<Vec<_>>(), sums, "{jobs:?} up to {max}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The positions of requests: the target is divided into adjacent places of one size.

use std::ops::Range;

use rand::RngExt as _;
use rand::seq::index;
use rand_pcg::Pcg64;
use tidegate_model::{Bytes, Lba};

use crate::kind::Kind;
use crate::subject::Probe;

/// The divisor of the target's size that gives the part at one end, a fifth as in RTAS'08, section
/// 3.1. A flow is confined to this part or kept out of it.
pub(crate) const FIFTH: usize = 5;

/// The divisor of the target's size that gives the parts at both ends between which requests
/// alternate.
pub(crate) const TWENTIETH: usize = 20;

/// All places of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Places {
    /// The operation and the size of a request.
    pub(crate) kind: Kind,
    /// The number of places.
    pub(crate) count: usize,
}

impl Places {
    /// Returns the places for requests of `kind` on a target of `capacity`.
    pub(crate) fn of(capacity: Bytes, kind: Kind) -> Self {
        let count = usize::try_from(capacity.get() / kind.size.get()).unwrap_or(usize::MAX);
        Self { kind, count }
    }

    /// Returns a request at the place with this index.
    pub(crate) fn at(&self, index: usize) -> Probe {
        let index = u64::try_from(index).expect("a place fits");
        let Kind { op, size } = self.kind;
        Probe { op, start: Lba::new(index * size.sectors_ceil()), size }
    }

    /// Draws a different place for each of `requests`, uniformly. A repeated place could be
    /// answered by the drive's cache.
    pub(crate) fn different(&self, requests: usize, random: &mut Pcg64) -> Vec<Probe> {
        index::sample(random, self.count, requests).iter().map(|index| self.at(index)).collect()
    }

    /// Draws any place.
    pub(crate) fn anywhere(&self, random: &mut Pcg64) -> Probe {
        self.within(0..self.count, random)
    }

    /// Draws a place in a range of indices. The range must not be empty.
    pub(crate) fn within(&self, range: Range<usize>, random: &mut Pcg64) -> Probe {
        self.at(random.random_range(range))
    }

    /// Returns the indices of the lowest 1/`part` of the target, at least `needed` of them.
    pub(crate) fn lowest(&self, part: usize, needed: usize) -> Range<usize> {
        0..(self.count / part).max(needed).min(self.count)
    }

    /// Returns the indices of the highest 1/`part` of the target, at least `needed` of them.
    pub(crate) fn highest(&self, part: usize, needed: usize) -> Range<usize> {
        self.count - self.lowest(part, needed).end..self.count
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::Op;

    use super::*;

    const READS: Kind = Kind { op: Op::Read, size: Bytes::from_kib(4) };

    #[test]
    fn parts_lie_at_the_ends_and_are_large_enough() {
        let places = Places { kind: READS, count: 100 };
        assert_eq!((places.lowest(5, 4), places.highest(5, 4)), (0..20, 80..100));
        assert_eq!((places.lowest(5, 30), places.highest(5, 30)), (0..30, 70..100));
        assert_eq!(places.lowest(5, 300), 0..100);
        assert_eq!(places.at(3).start, Lba::new(24));
    }

    #[test]
    fn size_of_the_target_is_in_whole_places() {
        let places = Places::of(Bytes::from_kib(9), READS);
        assert_eq!(places.count, 2);
    }
}

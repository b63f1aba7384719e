// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds how many sectors pass the heads in one turn at a place, or which of two known numbers it
//! is.
//!
//! Pairs of blocks a third of a track apart vote. A pair on one track shows the number of sectors
//! that pass. A pair on two tracks is off by a skew, so its number seldom agrees with another
//! pair's. So spares and slips do no harm. If each track ends with spares, more sectors pass in a
//! turn than hold data.

use super::number::{float, whole};
use super::probing::Seen;
use super::tracks::Survey;

/// The lead in votes that decides for one of two numbers.
const LEAD: i32 = 3;
/// The maximum number of pairs.
const PAIRS: u64 = 16;
/// The distance between the two blocks of a pair, in hundredths of a track.
const APART: u64 = 33;
/// The distance between two pairs, in hundredths of a track.
const NEXT: u64 = 37;
/// The largest relative difference between pairs that agree.
const ALIKE: f64 = 0.002;
/// The smallest number of pairs that must agree.
const ALIKE_MIN: usize = 5;
/// The accepted number of passing sectors, as a multiple of those that hold data.
const RANGE: std::ops::Range<f64> = 0.99..1.07;

impl Survey<'_, '_> {
    /// Returns the number of sectors that pass in a turn just below a place, where a track has
    /// about `length` sectors; `None` if the pairs do not agree.
    pub(super) fn passing(&mut self, at: u64, length: u64) -> Seen<Option<f64>> {
        let mut seen = Vec::new();
        for pair in 0..PAIRS {
            seen.extend(self.pair(at, length, pair)?);
        }
        let alike = |one: f64| {
            let near = seen.iter().filter(|&&other| (other / one - 1.0).abs() < ALIKE);
            (near.count(), one)
        };
        let best = seen.iter().map(|&one| alike(one)).max_by_key(|(count, _)| *count);
        let best = best.filter(|(count, _)| *count >= ALIKE_MIN).map(|(_, passing)| passing);
        // Pairs that the drive's memory answers can also agree, but on a number that no track has.
        Ok(best.filter(|passing| RANGE.contains(&(passing / float(length)))))
    }

    /// Returns which of two `known` numbers of sectors pass in a turn just below a place, as index
    /// 0 or 1; `None` if the pairs do not decide it.
    pub(super) fn which(&mut self, at: u64, known: [f64; 2]) -> Seen<Option<usize>> {
        let length = whole(known[0].min(known[1]));
        let tolerance = (known[0] - known[1]).abs() / 3.0;
        let mut lead = 0;
        for pair in 0..PAIRS {
            let Some(passing) = self.pair(at, length, pair)? else { break };
            let [is_first, is_second] = known.map(|it| (passing - it).abs() <= tolerance);
            lead += i32::from(is_second) - i32::from(is_first);
            if lead.abs() >= LEAD {
                return Ok(Some(usize::from(lead > 0)));
            }
        }
        Ok(None)
    }

    /// Returns the number of sectors that pass in a turn according to the `pair`-th pair of blocks
    /// below a place. Each further pair is lower, because blocks behind one that was read can be in
    /// memory.
    fn pair(&mut self, at: u64, length: u64, pair: u64) -> Seen<Option<f64>> {
        let apart = self.probing.at_least(length * APART / 100);
        let at = at.min(self.probing.sectors() - self.probing.block());
        let Some(low) = at.checked_sub(pair * length * NEXT / 100 + apart) else { return Ok(None) };
        let low = self.probing.aligned(low);
        let (high_angle, low_angle) = (self.angle(low + apart)?, self.angle(low)?);
        let passed = self.platter.after(high_angle, low_angle);
        Ok((passed > 0.0).then(|| float(apart) * self.platter.turn / passed))
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The angles of the sectors of a track, exact to a unit.
//!
//! Only the boundaries between sectors are rounded, each on its own and down. What a run of
//! sectors spans is the difference of two boundaries, so that one run ends exactly where the
//! next begins and a whole track spans exactly one turn.

use crate::mechanical::rotation::Angle;

/// Sectors on a track may not exceed this: angles are computed in 64 bits.
pub(super) const SECTORS_PER_TRACK_MAX: u32 = 1 << 17;

/// Units of a thousandth of a sector, times the sectors of the track.
const UNITS: u64 = Angle::TURN.units() / 1_000;

/// Units of a millionth of a turn.
pub(super) const UNITS_PER_PPM: u64 = Angle::TURN.units() / 1_000_000;

/// Where the sectors of a track begin.
///
/// # Invariants
/// - `1 <= sectors_per_track <= SECTORS_PER_TRACK_MAX`.
/// - `origin_millisectors < 1000 * sectors_per_track`; `origin_units` is below one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrackAngles {
    /// Physical sectors.
    pub(super) sectors_per_track: u32,
    /// Where sector 0 begins, in thousandths of a sector; and further on, in units.
    pub(super) origin_millisectors: u64,
    pub(super) origin_units: u64,
}

impl TrackAngles {
    /// Units from the index mark to where sector `sector` begins, whole turns counted.
    fn boundary(self, sector: u64) -> u64 {
        let millisectors = self.origin_millisectors + 1_000 * sector;
        millisectors * UNITS / u64::from(self.sectors_per_track) + self.origin_units
    }

    /// The angle at which `sector` begins, and the angle that `count` sectors from it on span.
    ///
    /// # Panics
    /// When they are not all on this track.
    pub(super) fn of(self, sector: u32, count: u32) -> (Angle, Angle) {
        let end = u64::from(sector) + u64::from(count);
        assert!(end <= u64::from(self.sectors_per_track), "sectors beyond the end of the track");
        let (begin, end) = (self.boundary(u64::from(sector)), self.boundary(end));
        (Angle::from_units(begin).wrapped(), Angle::from_units(end - begin))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_meet_and_a_track_is_a_turn(
            sectors_per_track in 1..=SECTORS_PER_TRACK_MAX,
            origin in any::<prop::sample::Index>(),
            units in 0..Angle::TURN.units(),
            cut in any::<prop::sample::Index>(),
        ) {
            let per_turn = 1_000 * sectors_per_track as usize;
            let angles = TrackAngles {
                sectors_per_track,
                origin_millisectors: origin.index(per_turn) as u64,
                origin_units: units,
            };
            let cut = u32::try_from(cut.index(sectors_per_track as usize)).unwrap();
            let (begin, front) = angles.of(0, cut);
            let (middle, back) = angles.of(cut, sectors_per_track - cut);
            prop_assert_eq!(begin.plus(front), middle);
            prop_assert_eq!(front.units() + back.units(), Angle::TURN.units());
        }
    }
}

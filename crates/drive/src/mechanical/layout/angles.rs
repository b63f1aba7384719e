// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The angles of a track's sectors, exact to a unit.
//!
//! Only the boundaries between sectors are rounded, each separately and down. A run's span is the
//! difference of two boundaries, so each run ends exactly where the next begins and a whole track
//! spans exactly one turn.

use crate::mechanical::rotation::Angle;

/// The largest number of sectors on a track: angles are computed in 64 bits.
pub(super) const SECTORS_PER_TRACK_MAX: u32 = 1 << 17;

/// The units in a thousandth of a sector, multiplied by the track's number of sectors.
const UNITS: u64 = Angle::TURN.units() / 1_000;

/// The units in a millionth of a turn.
pub(super) const UNITS_PER_PPM: u64 = Angle::TURN.units() / 1_000_000;

/// The angles at which the sectors of a track begin.
///
/// # Invariants
/// - `1 <= sectors_per_track <= SECTORS_PER_TRACK_MAX`.
/// - `origin_millisectors < 1000 * sectors_per_track`; `origin_units` is below one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrackAngles {
    /// The number of physical sectors on the track.
    pub(super) sectors_per_track: u32,
    /// The angle at which sector 0 begins, in thousandths of a sector; `origin_units` is added to
    /// it.
    pub(super) origin_millisectors: u64,
    pub(super) origin_units: u64,
}

impl TrackAngles {
    /// Returns the units from the index mark to the beginning of `sector`, whole turns included.
    fn boundary(self, sector: u64) -> u64 {
        let millisectors = self.origin_millisectors + 1_000 * sector;
        millisectors * UNITS / u64::from(self.sectors_per_track) + self.origin_units
    }

    /// Returns the angle at which `sector` begins, and the span of the `count` sectors that begin
    /// with it.
    ///
    /// # Panics
    /// If the sectors are not all on this track.
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

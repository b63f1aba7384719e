// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The order of the tracks of a zone.
//!
//! ```text
//! cylinder   cylinder-serpentine   surface-serpentine
//! 0 1 | 2 3      0 1 | 3 2             0 3
//! 4 5 | 6 7      4 5 | 7 6             1 2    (2 heads across, cylinders down)
//! ```

use tidegate_model::mechanics::TrackOrder;

/// The order of a zone's tracks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    /// Cylinder by cylinder.
    Cylinders {
        heads: u64,
        /// The parity, in the zone, of the cylinders that run from the last head to the first;
        /// `None` if no cylinder does.
        backwards: Option<u64>,
    },
    /// Head by head, in ranges of cylinders.
    Surfaces { heads: u64, range: u64, cylinders: u64 },
}

/// The position of a track in its zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrackPlace {
    /// The cylinder, from the zone's first.
    pub(super) cylinder: u64,
    pub(super) head: u64,
    /// The number of head changes since the zone's first track.
    pub(super) head_changes: u64,
    /// The number of cylinder changes since the zone's first track, counted as for skews.
    pub(super) cylinder_changes: u64,
}

impl Order {
    /// Creates the order in a zone of `cylinders` cylinders, from `cylinder_first` on.
    pub(super) fn new(
        order: TrackOrder,
        heads: u32,
        cylinder_first: u32,
        cylinders: u64,
        range: u64,
    ) -> Self {
        let heads = u64::from(heads);
        let odd = (u64::from(cylinder_first) + 1) % 2;
        match order {
            TrackOrder::Cylinder => Self::Cylinders { heads, backwards: None },
            TrackOrder::CylinderSerpentine => Self::Cylinders { heads, backwards: Some(1) },
            TrackOrder::CylinderSerpentineParity => Self::Cylinders { heads, backwards: Some(odd) },
            TrackOrder::SurfaceSerpentine => Self::Surfaces { heads, range, cylinders },
        }
    }

    /// Returns the position of the track with this number in the order.
    pub(super) fn place(self, track: u64) -> TrackPlace {
        match self {
            Self::Cylinders { heads, backwards } => {
                let (cylinder, turn) = (track / heads, track % heads);
                TrackPlace {
                    cylinder,
                    head: head(turn, heads, cylinder, backwards),
                    // A change from a cylinder's last head to the next cylinder counts as a
                    // cylinder change, regardless of the head there.
                    head_changes: turn + (heads - 1) * cylinder,
                    cylinder_changes: cylinder,
                }
            }
            Self::Surfaces { heads, range, cylinders } => {
                let group = track / (heads * range);
                let begin = group * range;
                let length = range.min(cylinders - begin);
                let (head, turn) = split(track - begin * heads, length);
                let head_changes = group * (heads - 1) + head;
                let cylinder =
                    begin + if head.is_multiple_of(2) { turn } else { length - 1 - turn };
                TrackPlace { cylinder, head, head_changes, cylinder_changes: track - head_changes }
            }
        }
    }

    /// Returns the number of the track at a position: the inverse of [`Order::place`].
    pub(super) fn track(self, cylinder: u64, head_at: u64) -> u64 {
        match self {
            Self::Cylinders { heads, backwards } => {
                cylinder * heads + head(head_at, heads, cylinder, backwards)
            }
            Self::Surfaces { heads, range, cylinders } => {
                let begin = cylinder / range * range;
                let length = range.min(cylinders - begin);
                let into = cylinder - begin;
                let turn = if head_at.is_multiple_of(2) { into } else { length - 1 - into };
                begin * heads + head_at * length + turn
            }
        }
    }
}

fn split(number: u64, by: u64) -> (u64, u64) {
    (number / by, number % by)
}

/// Maps an index in the cylinder to a head, and a head to its index: the formula is its own
/// inverse.
fn head(turn: u64, heads: u64, cylinder: u64, backwards: Option<u64>) -> u64 {
    if backwards == Some(cylinder % 2) { heads - 1 - turn } else { turn }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places(
        order: TrackOrder,
        heads: u32,
        first: u32,
        cylinders: u64,
        range: u64,
    ) -> Vec<(u64, u64)> {
        let order = Order::new(order, heads, first, cylinders, range);
        (0..u64::from(heads) * cylinders)
            .map(|track| order.place(track))
            .map(|place| (place.cylinder, place.head))
            .collect()
    }

    #[test]
    fn serpentine_turns_in_every_other_cylinder() {
        let expected = [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1)];
        assert_eq!(places(TrackOrder::CylinderSerpentine, 2, 7, 3, 3), expected);
        assert_eq!(places(TrackOrder::CylinderSerpentineParity, 2, 8, 3, 3), expected);
    }

    #[test]
    fn serpentine_by_parity_starts_backwards_in_an_odd_cylinder() {
        let expected = [(0, 1), (0, 0), (1, 0), (1, 1)];
        assert_eq!(places(TrackOrder::CylinderSerpentineParity, 2, 7, 2, 2), expected);
    }

    #[test]
    fn surfaces_follow_each_other_there_and_back() {
        let expected = [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0), (2, 1)];
        assert_eq!(places(TrackOrder::SurfaceSerpentine, 2, 0, 3, 2), expected);
    }

    proptest! {
        #[test]
        fn every_track_has_its_own_place_and_is_found_there(
            kind in prop::sample::select(vec![
                TrackOrder::Cylinder, TrackOrder::CylinderSerpentine,
                TrackOrder::CylinderSerpentineParity, TrackOrder::SurfaceSerpentine,
            ]),
            heads in 1_u32..6, first in 0_u32..3, cylinders in 1_u64..9, range in 1_u64..9,
        ) {
            let range = range.min(cylinders);
            let order = Order::new(kind, heads, first, cylinders, range);
            for track in 0..u64::from(heads) * cylinders {
                let place = order.place(track);
                prop_assert!(place.cylinder < cylinders && place.head < u64::from(heads));
                prop_assert_eq!(order.track(place.cylinder, place.head), track);
                prop_assert_eq!(place.head_changes + place.cylinder_changes, track);
            }
        }
    }
}

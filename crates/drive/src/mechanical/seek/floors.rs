// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A table of lower bounds of a seek curve: the shortest time of each group of adjacent distances.
//!
//! ```text
//!   time |            ___---      curve
//!        |      __---'  |____
//!        |   .-'__|_____|         floor of each group
//!        |__|__/
//!        +-------------------- distance
//! ```
//! One look-up in a small table gives a lower bound of a seek time; the curve itself needs
//! bisection and interpolation.

use tidegate_model::Duration;

/// The largest number of groups: 8 KiB, which stay in the processor's cache.
const GROUPS_MAX: u32 = 1 << 11;

/// The shortest time of each group of distances.
///
/// # Invariants
/// - `floors[d >> shift]` is at most the time of distance `d`.
#[derive(Debug, Clone)]
pub(in crate::mechanical) struct Floors {
    shift: u32,
    floors: Vec<u32>,
}

impl Floors {
    /// Creates the table for distances up to `stroke`; `least` returns the shortest time, in
    /// nanoseconds, of the distances from its first to its second argument.
    pub(super) fn new(stroke: u32, least: impl Fn(u32, u32) -> u64) -> Self {
        let mut shift = 0;
        while stroke >> shift >= GROUPS_MAX {
            shift += 1;
        }
        let floor = |group: u32| {
            let first = group << shift;
            let end = first + (1 << shift);
            u32::try_from(least(first, stroke.min(end - 1))).unwrap_or(u32::MAX)
        };
        // The first group contains distance 0.
        let floors = [0].into_iter().chain((1..=stroke >> shift).map(floor)).collect();
        Self { shift, floors }
    }

    /// Returns a lower bound of the time of this distance.
    pub(in crate::mechanical) fn floor(&self, distance: u32) -> Duration {
        let floor = self.floors.get((distance >> self.shift) as usize);
        Duration::from_ns(floor.map_or(0, |&ns| u64::from(ns)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tidegate_model::mechanics::Seek;

    use crate::mechanical::SeekCurve;

    /// Returns the first distance whose floor plus `added_ns` exceeds its time plus `change_ns`.
    fn too_high(curve: &SeekCurve, stroke: u32, change_ns: i64, added_ns: u64) -> Option<u32> {
        let floors = curve.floors(change_ns);
        (0..=stroke).find(|&distance| {
            let time_ns = curve.time(distance).ns();
            let changed = if distance == 0 { 0 } else { time_ns.saturating_add_signed(change_ns) };
            floors.floor(distance).ns() + added_ns > changed
        })
    }

    proptest! {
        #[test]
        fn no_floor_of_points_is_above_the_curve(
            gaps in prop::collection::vec((1_u32..900, 1_u64..100_000), 1..12),
            stroke in 1_u32..9_000,
            change_ns in -20_000_i64..1,
        ) {
            let mut distance = 0;
            let points = gaps.iter().map(|&(gap, ns)| { distance += gap; (distance, ns) });
            // A curve whose last slope falls below 0 on the disk is refused.
            if let Ok(curve) = SeekCurve::new(&Seek::Points(points.collect()), stroke + 1) {
                prop_assert_eq!(too_high(&curve, stroke, change_ns, 0), None);
            }
        }

        #[test]
        fn no_floor_of_a_formula_is_above_the_curve(
            short_ns in 0_u64..500_000,
            per_root_ns in 0_u64..20_000,
            long_ns in 0_u64..3_000_000,
            per_cylinder_ps in 0_u64..2_000_000,
            long_from in 0_u32..9_000,
            stroke in 1_u32..9_000,
        ) {
            let formula =
                Seek::Formula { short_ns, per_root_ns, long_ns, per_cylinder_ps, long_from };
            if let Ok(curve) = SeekCurve::new(&formula, stroke + 1) {
                prop_assert_eq!(too_high(&curve, stroke, 0, 0), None);
            }
        }
    }

    /// Canary: the floors are at most a group's rise below the curve, so raising them a little
    /// breaks the bound.
    #[test]
    fn floors_are_near_the_curve() {
        let points = Seek::Points(vec![(1, 1_000_000), (400_000, 17_000_000)]);
        let curve = SeekCurve::new(&points, 424_000).unwrap();
        assert!(too_high(&curve, 423_999, 0, 10_000).is_some());
        let floors = curve.floors(0);
        let is_near =
            |&distance: &u32| floors.floor(distance).ns() + 20_000 > curve.time(distance).ns();
        assert_eq!((256_u32..424_000).find(|distance| !is_near(distance)), None);
    }
}

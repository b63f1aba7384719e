// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rotation is exact: no drift, no turn lost or gained by rounding.

use proptest::prelude::*;
use tidegate_drive::mechanical::{Angle, Rotation};
use tidegate_model::{Duration, Time};

/// Speeds of real drives, including those whose turn is not a whole number of nanoseconds.
fn speed() -> impl Strategy<Value = u32> {
    prop_oneof![Just(4_500), Just(5_400), Just(7_200), Just(10_045), Just(15_020), 1_u32..30_000]
}

const DAY_NS: u64 = 86_400_000_000_000;

proptest! {
    /// The phase is the exact fraction of all turns since the start, a day or a century later.
    #[test]
    fn phase_does_not_drift(rpm in speed(), ns in prop_oneof![0..DAY_NS, any::<u64>()]) {
        let exact = u128::from(ns) * u128::from(rpm) % u128::from(Angle::TURN.units());
        let phase = Rotation::new(rpm).phase(Time::from_ns(ns));
        prop_assert_eq!(u128::from(phase.units()), exact);
    }

    /// After `rpm` turns, a whole minute has passed and the angle is the same, to the unit.
    #[test]
    fn after_a_minute_the_phase_is_the_same(rpm in speed(), ns in 0..DAY_NS, minutes in 1_u64..1440) {
        let rotation = Rotation::new(rpm);
        let later = Time::from_ns(ns + minutes * 60_000_000_000);
        prop_assert_eq!(rotation.phase(later), rotation.phase(Time::from_ns(ns)));
    }

    /// A wait is shorter than a turn. When it ends, the angle passed the head less than a
    /// nanosecond ago and needs no further wait: two accesses that meet at an instant do not lose a
    /// turn.
    #[test]
    fn wait_ends_at_the_angle(rpm in speed(), ns in 0..DAY_NS, units in 0..Angle::TURN.units()) {
        let (rotation, angle) = (Rotation::new(rpm), Angle::from_units(units));
        let wait = rotation.wait(angle, Time::from_ns(ns));
        prop_assert!(wait <= rotation.turn());
        let at = Time::from_ns(ns) + wait;
        prop_assert!(rotation.phase(at).after(angle).units() < u64::from(rpm));
        prop_assert_eq!(rotation.wait(angle, at), Duration::ZERO);
        prop_assert!(rotation.wait(angle, at + Duration::from_ns(2)) > Duration::ZERO);
    }

    /// The sum of two angles and the distance between them agree.
    #[test]
    fn turning_on_and_the_way_between_agree(a in 0..Angle::TURN.units(), b in 0..Angle::TURN.units()) {
        let (a, b) = (Angle::from_units(a), Angle::from_units(b));
        prop_assert_eq!(a.plus(b.after(a)), b);
    }
}

#[test]
fn a_turn_at_7200_takes_8_ms_and_a_third() {
    let rotation = Rotation::new(7_200);
    assert_eq!(rotation.turn(), Duration::from_ns(8_333_334), "rounded up");
    assert_eq!(rotation.sweep(Angle::of_turn(1, 2)), Duration::from_ns(4_166_667));
    assert_eq!(rotation.phase(Time::from_ns(25_000_000)), Angle::ZERO, "three turns");
}

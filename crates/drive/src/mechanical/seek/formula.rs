// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A seek curve as a formula: a root for short distances, a line for long ones.
//!
//! The curve must not fall: the check compares the two parts where the line begins. Times are
//! rounded up.

use tidegate_model::mechanics::MechanicsError;

use crate::mechanical::wrong::wrong;

/// `short + per_root * sqrt(d)` below `long_from`, `long + per_cylinder * d` from there on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Formula {
    pub(super) short_ns: u32,
    pub(super) per_root_ns: u32,
    pub(super) long_ns: u32,
    pub(super) per_cylinder_ps: u32,
    pub(super) long_from: u32,
}

impl Formula {
    /// Returns the time in nanoseconds, rounded up.
    pub(super) fn time_ns(&self, distance: u32) -> u64 {
        if distance >= self.long_from {
            let ps = u64::from(self.per_cylinder_ps) * u64::from(distance);
            return u64::from(self.long_ns) + ps.div_ceil(1_000);
        }
        u64::from(self.short_ns) + root_ceil(self.per_root_ns, distance)
    }

    /// Returns the time in picoseconds, rounded up.
    pub(super) fn time_ps(&self, distance: u32) -> u128 {
        if distance >= self.long_from {
            let ps = u128::from(self.per_cylinder_ps) * u128::from(distance);
            return u128::from(self.long_ns) * 1_000 + ps;
        }
        let root = root_ceil_long(u128::from(self.per_root_ns) * 1_000, distance);
        u128::from(self.short_ns) * 1_000 + root
    }

    /// Refuses a formula that decreases on a disk with this stroke.
    pub(super) fn check(&self, stroke: u32) -> Result<(), MechanicsError> {
        let is_on_disk = (2..=stroke).contains(&self.long_from);
        let (short, long) = (self.long_from.saturating_sub(1), self.long_from);
        if is_on_disk && self.time_ns(short) > self.time_ns(long) {
            return Err(wrong(
                "seek: long_from",
                format!(
                    "the formula decreases: {} ns for {short} cylinders, {} ns for {long}",
                    self.time_ns(short),
                    self.time_ns(long)
                ),
                "choose the distance where the two pieces meet",
            ));
        }
        Ok(())
    }
}

/// Returns `factor * sqrt(distance)`, rounded up.
fn root_ceil(factor: u32, distance: u32) -> u64 {
    let square = u64::from(factor) * u64::from(factor);
    if let Some(square) = square.checked_mul(distance.into()) {
        let root = square.isqrt();
        return root + u64::from(root * root < square);
    }
    let root = root_ceil_long(factor.into(), distance);
    u64::try_from(root).expect("a root of less than 96 bits")
}

/// Computes the same as [`root_ceil`], for larger numbers.
fn root_ceil_long(factor: u128, distance: u32) -> u128 {
    let square = factor * factor * u128::from(distance);
    let root = square.isqrt();
    root + u128::from(root * root < square)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The usual figures of a seek curve.

use tidegate_drive::mechanical::SeekCurve;
use tidegate_model::Duration;
use tidegate_model::mechanics::{Mechanics, MechanicsError};

/// The usual figures of a seek curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeekFacts {
    /// The seek time to the next cylinder.
    pub(crate) one_cylinder: Duration,
    /// The mean seek time over all pairs of cylinders, including equal ones.
    pub(crate) mean: Duration,
    /// The seek time from the outermost cylinder to the innermost.
    pub(crate) full_stroke: Duration,
}

impl SeekFacts {
    /// Computes the figures of a drive.
    pub(crate) fn of(mechanics: &Mechanics) -> Result<Self, MechanicsError> {
        let cylinders = mechanics.cylinders;
        let curve = SeekCurve::new(&mechanics.seek, cylinders)?;
        let stroke = cylinders.saturating_sub(1);
        // Of the N * N pairs of cylinders, 2 (N - d) are at distance d.
        let weighted = (1..=stroke).map(|distance| {
            2 * u128::from(cylinders - distance) * u128::from(curve.time(distance).ns())
        });
        let mean_ns = weighted.sum::<u128>() / u128::from(cylinders.max(1)).pow(2);
        Ok(Self {
            one_cylinder: curve.time(1),
            mean: Duration::from_ns(u64::try_from(mean_ns).expect("not above the longest")),
            full_stroke: curve.time(stroke),
        })
    }
}

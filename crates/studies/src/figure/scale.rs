// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Turns values into the whole numbers of a chart.

use tidegate_report::plot;

use crate::published::Unit;

/// The number of units in a chart for a share of 1.
const PARTS: f64 = 1e9;

/// How values become the whole numbers of a chart.
pub(super) struct Scale {
    unit: Unit,
    factor: f64,
}

impl Scale {
    pub(super) fn of(unit: &str) -> Result<Self, String> {
        let unit = Unit::named(unit)?;
        Ok(Self { unit, factor: if unit.size < 1.0 { PARTS } else { 1.0 } })
    }

    pub(super) fn scaled(&self, value: f64) -> u64 {
        tidegate_stats::float::ceil((value * self.factor).max(0.0).round())
    }

    pub(super) fn unit(&self) -> plot::Unit {
        let size = tidegate_stats::float::ceil((self.unit.size * self.factor).round());
        (self.unit.name, size)
    }
}

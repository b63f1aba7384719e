// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Axes of plots: round numbers at the ticks, and readable values.

use crate::figures::thousands;

/// A unit's name, and its size as a power of ten.
pub type Unit = (&'static str, u64);

/// An axis from 0 to `end`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The quantity that the axis shows; empty if the unit implies it.
    pub label: String,
    /// The unit.
    pub unit: &'static str,
    /// The size of the unit, a power of ten.
    pub size: u64,
    /// The value at the axis's end, above 0.
    pub end: u64,
    /// The ticks: values from 0 on, with their labels.
    pub ticks: Vec<(u64, String)>,
}

impl Axis {
    /// Creates an axis that ends at `value_max`.
    pub fn ending_at(value_max: u64, label: impl Into<String>, unit: Unit) -> Self {
        Self::new(value_max.max(1), label.into(), unit)
    }

    /// Creates an axis that ends at the first tick at or above `value_max`.
    pub fn reaching(value_max: u64, label: impl Into<String>, unit: Unit) -> Self {
        let step = step(value_max.max(1));
        let end = value_max.max(1).checked_next_multiple_of(step).unwrap_or(u64::MAX);
        Self::new(end, label.into(), unit)
    }

    /// Creates an axis with these names, each in the middle of an interval of length 2.
    pub fn of_names(names: &[&str], label: impl Into<String>) -> Self {
        let ticks = (0..).zip(names).map(|(index, name)| (2 * index + 1, (*name).to_owned()));
        let ticks: Vec<(u64, String)> = ticks.collect();
        let end = 2 * names.len().max(1) as u64;
        Self { label: label.into(), unit: "", size: 1, end, ticks }
    }

    fn new(end: u64, label: String, (unit, size): Unit) -> Self {
        let step = step(end);
        let ticks = (0..=end / step).map(|index| index * step);
        let ticks = ticks.map(|value| (value, in_units(value, size))).collect();
        Self { label, unit, size, end, ticks }
    }

    /// Returns the position of a value on an axis of length `length`.
    pub(crate) fn place(&self, value: u64, length: u64) -> u64 {
        let place = u128::from(value.min(self.end)) * u128::from(length) / u128::from(self.end);
        u64::try_from(place).expect("not beyond the end")
    }
}

/// Returns the step between ticks: 1, 2 or 5 times a power of ten, such that at most six steps
/// reach the end.
fn step(end: u64) -> u64 {
    const STEPS_MAX: u64 = 6;
    let mut power: u64 = 1;
    loop {
        for factor in [1, 2, 5] {
            if end.div_ceil(factor * power) <= STEPS_MAX {
                return factor * power;
            }
        }
        power *= 10;
    }
}

/// Formats a value in units, without trailing zeros.
fn in_units(value: u64, unit: u64) -> String {
    let whole = thousands(value / unit);
    let digits = usize::try_from(unit.ilog10()).expect("a few digits");
    let fraction = format!("{:0digits$}", value % unit);
    match fraction.trim_end_matches('0') {
        "" => whole,
        fraction => format!("{whole}.{fraction}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Unit = ("ms", 1_000_000);

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        let time = Axis::reaching(17_377_560, "time", MS);
        assert_eq!(labels(&time), ["0", "5", "10", "15", "20"]);
        assert_eq!(time.end, 20_000_000);
        let short = Axis::reaching(650_000, "time", MS);
        assert_eq!(labels(&short), ["0", "0.2", "0.4", "0.6", "0.8"]);
        let cylinders = Axis::ending_at(80_511, "distance", ("cylinders", 1));
        assert_eq!(labels(&cylinders), ["0", "20,000", "40,000", "60,000", "80,000"]);
        assert_eq!(cylinders.end, 80_511);
    }

    #[test]
    fn every_length_has_an_axis() {
        for end in (0..1000).chain([u64::MAX / 20, u64::MAX - 1, u64::MAX]) {
            let axis = Axis::reaching(end, "", ("", 1));
            assert!((2..=8).contains(&axis.ticks.len()) && axis.end >= end.max(1), "{end}");
            assert_eq!(axis.place(axis.end, 500), 500);
        }
    }

    #[test]
    fn numbers_are_parted_by_thousands() {
        let numbers = [0, 999, 1_000, 1_234_567].map(thousands);
        assert_eq!(numbers, ["0", "999", "1,000", "1,234,567"]);
    }
}

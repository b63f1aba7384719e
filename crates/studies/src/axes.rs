// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The axes of a grid, and the points that they span.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::cell::Cell;

/// A value for each axis, by the axis's name.
pub(crate) type Point = BTreeMap<String, Cell>;

/// The values of one axis.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Axis {
    /// The listed values.
    List(Vec<Cell>),
    /// Whole numbers at equal distances.
    Range(Range),
}

/// Whole numbers from `from` to `to`, both included.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Range {
    pub(crate) from: i64,
    pub(crate) to: i64,
    #[serde(default = "one")]
    pub(crate) step: u32,
}

const fn one() -> u32 {
    1
}

impl Axis {
    pub(crate) fn values(&self) -> Vec<Cell> {
        match self {
            Self::List(values) => values.clone(),
            Self::Range(Range { from, to, step }) => {
                let step = usize::try_from((*step).max(1)).expect("32 bits fit");
                (*from..=*to).step_by(step).map(Cell::Int).collect()
            }
        }
    }
}

/// Returns every combination of the axes' values, with the last axis changing fastest; without
/// axes, one point.
pub(crate) fn points(axes: &BTreeMap<String, Axis>) -> Vec<Point> {
    axes.iter().fold(vec![Point::new()], |points, (name, axis)| {
        let values = axis.values();
        let with = |point: &Point, value: &Cell| {
            let mut point = point.clone();
            point.insert(name.clone(), value.clone());
            point
        };
        points
            .iter()
            .flat_map(|point| values.iter().map(|it| with(point, it)).collect::<Vec<_>>())
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_every_combination_in_order() {
        let axes: BTreeMap<String, Axis> =
            toml::from_str("z = { from = 1, to = 5, step = 2 }\npolicy = [\"dqf\", \"edf\"]")
                .unwrap();
        let shown: Vec<String> =
            points(&axes).iter().map(|it| format!("{} {}", it["policy"], it["z"])).collect();
        assert_eq!(shown, ["dqf 1", "dqf 3", "dqf 5", "edf 1", "edf 3", "edf 5"]);
        assert_eq!(points(&BTreeMap::new()).len(), 1);
    }
}

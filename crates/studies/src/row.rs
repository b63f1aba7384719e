// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The measures of one point of a grid.

use std::collections::BTreeMap;

use crate::axes::Point;
use crate::cell::Cell;

/// A point of a grid, with its measures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// The values of the axes.
    pub(crate) point: Point,
    /// The measures by name; `None` if this point does not have the measure, such as the bound of a
    /// policy without one.
    pub(crate) measures: BTreeMap<String, Option<Cell>>,
}

impl Row {
    /// Returns an axis's value or a measure; `None` if the row has neither.
    pub(crate) fn get(&self, name: &str) -> Option<&Cell> {
        self.point.get(name).or_else(|| self.measures.get(name)?.as_ref())
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Searches for the last value before a condition first fails, or for the first value at which it
//! holds.

use std::collections::{BTreeMap, BTreeSet};

use crate::axes::Point;
use crate::cell::Cell;
use crate::expression::{evaluate, over};
use crate::file::SearchFile;
use crate::row::Row;

/// Searches along the axis; `at` computes the row of a point.
///
/// The result is the row at the value that was found. If none was found, the result is the row at
/// the end of the range, with the axis set to the value just beyond that end.
///
/// # Errors
/// The description of the first fault of a point or of the condition.
pub(crate) fn search(
    file: &SearchFile,
    point: &Point,
    mut at: impl FnMut(&Point) -> Result<Row, String>,
) -> Result<Row, String> {
    let mut row_of = |value: i64| {
        let mut point = point.clone();
        point.insert(file.axis.clone(), Cell::Int(value));
        at(&point)
    };
    let wants_first = file.first.is_some();
    let expression = file.first.as_ref().or(file.while_holds.as_ref());
    let expression = expression.ok_or("the search has no condition")?;
    // Both kinds of search look for the first value at which the condition changes.
    let mut is_changed = |value: i64| {
        let row = row_of(value)?;
        Ok::<bool, String>(holds(expression, &row)? == wants_first)
    };
    let changed = if file.bisect {
        bisect(file.from, file.to, &mut is_changed)?
    } else {
        let mut value = file.from;
        while value <= file.to && !is_changed(value)? {
            value += 1;
        }
        value
    };
    let found = if wants_first { changed } else { changed - 1 };
    let mut row = row_of(found.clamp(file.from, file.to))?;
    row.point = point.clone();
    row.measures.insert(file.axis.clone(), Some(Cell::Int(found)));
    Ok(row)
}

/// Returns the first value from `from` to `to` for which `is_changed` holds, or else the value
/// after `to`.
fn bisect(
    from: i64,
    to: i64,
    is_changed: &mut impl FnMut(i64) -> Result<bool, String>,
) -> Result<i64, String> {
    let (mut low, mut high) = (from, to + 1);
    while low < high {
        let middle = low.midpoint(high);
        if is_changed(middle)? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}

fn holds(expression: &str, row: &Row) -> Result<bool, String> {
    let mut environment = over(&BTreeMap::new(), &BTreeSet::new());
    let measures = row.measures.iter().filter_map(|(name, cell)| Some((name, cell.as_ref()?)));
    for (name, cell) in row.point.iter().chain(measures) {
        // In an expression, a dot would mean an attribute.
        environment.add_global(name.replace('.', "_"), cell.value());
    }
    match evaluate(&environment, expression)?.number() {
        Some(number) => Ok(number != 0.0),
        None => Err(format!("`{expression}` is no condition")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(is_first: bool, condition: &str, bisect: bool) -> Cell {
        let (first, other) = (is_first.then(|| condition.to_owned()), condition.to_owned());
        let while_holds = (!is_first).then_some(other);
        let file = SearchFile { axis: "n".to_owned(), from: 1, to: 40, while_holds, first, bisect };
        let at = |point: &Point| {
            let square = point["n"].number().unwrap().powi(2);
            let measures = [("square".to_owned(), Some(Cell::Float(square)))].into();
            Ok(Row { point: point.clone(), measures })
        };
        search(&file, &Point::new(), at).unwrap().get("n").unwrap().clone()
    }

    #[test]
    fn both_ways_find_the_same_value() {
        for bisect in [false, true] {
            let of = |text: &str| found(false, text, bisect);
            assert_eq!(of("square <= 150"), Cell::Int(12));
            assert_eq!(of("square < 0"), Cell::Int(0), "none holds");
            assert_eq!(of("square < 10000"), Cell::Int(40), "all hold");
            assert_eq!(found(true, "square > 150", bisect), Cell::Int(13));
        }
    }
}

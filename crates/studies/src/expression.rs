// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Expressions over the results of a study. Each grid is a function: `main("response_ns_max",
//! policy="dqf")` returns that measure at the points with these values, as one value or as a list
//! in the grid's order.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::sync::Arc;

use minijinja::value::Kwargs;
use minijinja::{Environment, Error, ErrorKind, Value};

use crate::axes::Point;
use crate::cell::Cell;
use crate::comparison;
use crate::row::Row;
use crate::template;

/// The results of a study's grids, by the grid's name.
pub(crate) type Results = BTreeMap<String, Vec<Row>>;

/// A point that an expression needs was not computed.
#[derive(Debug, thiserror::Error)]
#[error("a point is missing")]
struct Missing;

/// The reason why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoValue {
    /// A grid that the expression uses lacks a point.
    Missing(String),
    /// The expression is faulty.
    Faulty(String),
}

/// Returns an environment in which expressions can use these results, and `mean`, `median`, `max`,
/// `min`, `rising` and `falling`. A grid that is incomplete has no values.
pub(crate) fn over(results: &Results, incomplete: &BTreeSet<String>) -> Environment<'static> {
    let mut environment = template::environment();
    // A grid with one seed gives a number, and a grid with several gives a list, so each of these
    // filters accepts both.
    environment.add_filter("mean", |values: &Value| numbers(values).map(|it| mean(&it)));
    environment.add_filter("median", |values: &Value| numbers(values).map(median));
    environment.add_filter("max", |values: &Value| {
        numbers(values).map(|it| it.into_iter().reduce(f64::max))
    });
    environment.add_filter("min", |values: &Value| {
        numbers(values).map(|it| it.into_iter().reduce(f64::min))
    });
    environment.add_test("rising", |values: &Value| {
        several(values).map(|it| it.is_sorted_by(|a, b| a < b))
    });
    environment.add_test("falling", |values: &Value| {
        several(values).map(|it| it.is_sorted_by(|a, b| a > b))
    });
    for (grid, rows) in results {
        let rows: Option<Arc<[Row]>> = (!incomplete.contains(grid)).then(|| rows.clone().into());
        let name = grid.clone();
        let of_grid = move |measure: &str, at: Kwargs| match &rows {
            Some(rows) => select(&name, rows, measure, &at),
            None => Err(refused(format!("grid `{name}` lacks points")).with_source(Missing)),
        };
        environment.add_function(grid.clone(), of_grid);
    }
    environment
}

/// Returns the numbers of a list, or a single number as a list.
fn numbers(value: &Value) -> Result<Vec<f64>, Error> {
    if value.is_number() {
        return Ok(vec![f64::try_from(value.clone())?]);
    }
    value.try_iter()?.map(f64::try_from).collect()
}

/// Returns the numbers of a list; refuses a single number, which neither rises nor falls.
fn several(value: &Value) -> Result<Vec<f64>, Error> {
    let numbers = numbers(value)?;
    if numbers.len() < 2 {
        return Err(refused(format!("{value} neither rises nor falls: it needs two points")));
    }
    Ok(numbers)
}

fn refused(what: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, what)
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = tidegate_stats::float::of_length(values.len());
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn select(grid: &str, rows: &[Row], measure: &str, at: &Kwargs) -> Result<Value, Error> {
    let mut wanted = Vec::new();
    for name in at.args() {
        wanted.push((name.to_owned(), at.get::<Value>(name)?));
    }
    let is_wanted = |row: &&Row| {
        wanted.iter().all(|(name, value)| row.get(name).is_some_and(|cell| cell.value() == *value))
    };
    let found: Vec<&Row> = rows.iter().filter(is_wanted).collect();
    if found.is_empty() {
        let at: Vec<String> =
            wanted.iter().map(|(name, value)| format!("{name}={value}")).collect();
        return Err(refused(format!("`{grid}` has no point with {}", at.join(", "))));
    }
    let value = |row: &&Row| {
        let cell = row.get(measure).map(Cell::value);
        cell.ok_or_else(|| refused(format!("`{grid}` has no `{measure}` at {}", shown(&row.point))))
    };
    match &found[..] {
        [only] => value(only),
        many => many.iter().map(value).collect::<Result<Vec<_>, _>>().map(Value::from),
    }
}

/// Formats a point for messages.
pub(crate) fn shown(point: &Point) -> String {
    let values: Vec<String> = point.iter().map(|(name, cell)| format!("{name}={cell}")).collect();
    if values.is_empty() { "its only point".to_owned() } else { values.join(", ") }
}

/// Evaluates an expression over the results of a study.
///
/// # Errors
/// [`NoValue`].
pub(crate) fn evaluate(environment: &Environment<'_>, text: &str) -> Result<Cell, NoValue> {
    let compiled = environment.compile_expression_owned(text).map_err(NoValue::of)?;
    let value = compiled.eval(()).map_err(NoValue::of)?;
    Cell::of_value(&value).ok_or_else(|| NoValue::Faulty(format!("`{text}` is no number")))
}

/// Evaluates an expression as [`evaluate`] does, and refuses it if a side of a comparison is not a
/// finite number or a boolean: the language would order a list or a text after every number.
///
/// # Errors
/// [`NoValue`].
pub(crate) fn evaluate_strictly(
    environment: &Environment<'_>,
    text: &str,
) -> Result<Cell, NoValue> {
    let value = evaluate(environment, text)?;
    for side in comparison::sides(text) {
        if !evaluate(environment, side)?.number().is_some_and(f64::is_finite) {
            return Err(NoValue::Faulty(format!("`{side}` is compared, and is no number")));
        }
    }
    Ok(value)
}

impl NoValue {
    #[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
    fn of(error: Error) -> Self {
        let is_missing = error.source().is_some_and(<dyn std::error::Error>::is::<Missing>);
        let what = error.to_string();
        if is_missing { Self::Missing(what) } else { Self::Faulty(what) }
    }
}

impl From<NoValue> for String {
    fn from(no_value: NoValue) -> Self {
        match no_value {
            NoValue::Missing(what) | NoValue::Faulty(what) => what,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let row = |policy: &str, z: i64, ns: i64| Row {
            point: [
                ("policy".to_owned(), Cell::Text(policy.to_owned())),
                ("z".to_owned(), Cell::Int(z)),
            ]
            .into(),
            measures: [("ns".to_owned(), Some(Cell::Int(ns))), ("none".to_owned(), None)].into(),
        };
        [("main".to_owned(), vec![row("dqf", 1, 10), row("dqf", 2, 20), row("edf", 1, 5)])].into()
    }

    fn of(text: &str) -> Result<Cell, String> {
        Ok(evaluate_strictly(&over(&results(), &BTreeSet::new()), text)?)
    }

    #[test]
    fn a_grid_is_a_function_of_measure_and_axes() {
        assert_eq!(of("main('ns', policy='dqf', z=2)"), Ok(Cell::Int(20)));
        assert_eq!(of("main('ns', policy='dqf') | max"), Ok(Cell::Float(20.0)));
        assert_eq!(of("main('ns', policy='edf') | max"), Ok(Cell::Float(5.0)));
        assert_eq!(of("main('ns') | mean").map(|it| it.number()), Ok(Some(35.0 / 3.0)));
        assert_eq!(of("main('ns', policy='dqf') is rising"), Ok(Cell::Bool(true)));
        assert_eq!(of("main('z', policy='edf')"), Ok(Cell::Int(1)));
    }

    #[test]
    fn a_point_or_a_measure_that_is_not_there_is_named() {
        assert!(of("main('ns', z=9)").unwrap_err().contains("no point with z=9"));
        assert!(of("main('none', z=2)").unwrap_err().contains("no `none` at policy=dqf, z=2"));
        assert!(of("other('ns')").is_err());
    }

    #[test]
    fn a_grid_that_lacks_points_has_no_value() {
        let environment = over(&results(), &BTreeSet::from(["main".to_owned()]));
        let value = evaluate(&environment, "main('ns', policy='edf') | max");
        assert!(matches!(value, Err(NoValue::Missing(_))), "{value:?}");
    }

    /// Canary: the language itself evaluates each of the first four to true.
    #[test]
    fn only_numbers_are_compared() {
        for text in [
            "main('ns') > 1000",
            "1 < 2 and main('ns', policy='dqf')[0:] > 1000",
            "'no' > 5",
            "main('ns') > main('z')",
            "([] | mean) < 1",
        ] {
            assert!(of(text).is_err(), "{text}: {:?}", of(text));
        }
        assert_eq!(
            of("(main('ns') | max) > 1 and not (main('ns', z=2) <= 2)"),
            Ok(Cell::Bool(true))
        );
    }

    #[test]
    fn one_point_or_a_constant_has_no_direction() {
        assert!(of("main('ns', policy='edf') is rising").is_err());
        assert_eq!(of("[1, 1] is rising"), Ok(Cell::Bool(false)));
        assert_eq!(of("[1, 1] is falling"), Ok(Cell::Bool(false)));
        assert_eq!(of("[2, 1] is falling"), Ok(Cell::Bool(true)));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Expressions over the results of a study. Each grid is a function: `main("response_ns_max",
//! policy="dqf")` is that measure at the points with these values: one value, or a list in the
//! grid's order.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::value::Kwargs;
use minijinja::{Environment, Error, ErrorKind, Value};

use crate::axes::Point;
use crate::cell::Cell;
use crate::row::Row;
use crate::template;

/// The results of a study's grids, by the grid's name.
pub(crate) type Results = BTreeMap<String, Vec<Row>>;

/// Returns an environment in which expressions know these results, and `mean`, `median`,
/// `max`, `min`, `rising` and `falling`.
pub(crate) fn over(results: &Results) -> Environment<'static> {
    let mut environment = template::environment();
    // One seed gives a number where several give a list, so each of these takes both.
    environment.add_filter("mean", |values: &Value| numbers(values).map(|it| mean(&it)));
    environment.add_filter("median", |values: &Value| numbers(values).map(median));
    environment.add_filter("max", |values: &Value| {
        numbers(values).map(|it| it.into_iter().reduce(f64::max))
    });
    environment.add_filter("min", |values: &Value| {
        numbers(values).map(|it| it.into_iter().reduce(f64::min))
    });
    environment.add_test("rising", |values: &Value| numbers(values).map(|it| it.is_sorted()));
    environment.add_test("falling", |values: &Value| {
        numbers(values).map(|it| it.is_sorted_by(|a, b| a >= b))
    });
    for (grid, rows) in results {
        let rows: Arc<[Row]> = rows.clone().into();
        let name = grid.clone();
        let of_grid = move |measure: &str, at: Kwargs| select(&name, &rows, measure, &at);
        environment.add_function(grid.clone(), of_grid);
    }
    environment
}

/// Returns the numbers of a list, or the one number.
fn numbers(value: &Value) -> Result<Vec<f64>, Error> {
    if value.is_number() {
        return Ok(vec![f64::try_from(value.clone())?]);
    }
    value.try_iter()?.map(f64::try_from).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / tidegate_stats::float::of_length(values.len())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn select(grid: &str, rows: &[Row], measure: &str, at: &Kwargs) -> Result<Value, Error> {
    let missing = |what: String| Error::new(ErrorKind::InvalidOperation, what);
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
        return Err(missing(format!("`{grid}` has no point with {}", at.join(", "))));
    }
    let value = |row: &&Row| {
        let cell = row.get(measure).map(Cell::value);
        cell.ok_or_else(|| missing(format!("`{grid}` has no `{measure}` at {}", shown(&row.point))))
    };
    match &found[..] {
        [only] => value(only),
        many => many.iter().map(value).collect::<Result<Vec<_>, _>>().map(Value::from),
    }
}

/// Shows a point in messages.
pub(crate) fn shown(point: &Point) -> String {
    let values: Vec<String> = point.iter().map(|(name, cell)| format!("{name}={cell}")).collect();
    if values.is_empty() { "its only point".to_owned() } else { values.join(", ") }
}

/// Evaluates an expression over the results of a study.
///
/// # Errors
/// A fault of the expression, or a point that was not computed.
pub(crate) fn evaluate(environment: &Environment<'_>, text: &str) -> Result<Cell, String> {
    let of_error = |error: Error| error.to_string();
    let value =
        environment.compile_expression_owned(text).map_err(of_error)?.eval(()).map_err(of_error)?;
    Cell::of_value(&value).ok_or_else(|| format!("`{text}` is no number"))
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
        evaluate(&over(&results()), text)
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
}

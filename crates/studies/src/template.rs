// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fills in templates: workloads and the parameters of sources contain the names of axes in `{{ ..
//! }}`.

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};

use crate::axes::Point;
use crate::cell::Cell;

/// Returns an environment in which an unknown name is an error.
pub(crate) fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
}

fn context(point: &Point) -> Value {
    Value::from_pairs(point.iter().map(|(name, cell)| (name.as_str(), cell.value())))
}

/// Fills in the templates in a text.
///
/// # Errors
/// The first fault of a template.
pub(crate) fn text(template: &str, point: &Point) -> Result<String, Error> {
    environment().render_str(template, context(point))
}

/// Fills in the templates in every text of a TOML value. If a text is a single expression, the
/// result keeps the expression's type, so `"{{ z }}"` becomes a number.
///
/// # Errors
/// The first fault of a template.
pub(crate) fn value(template: &toml::Value, point: &Point) -> Result<toml::Value, Error> {
    Ok(match template {
        toml::Value::String(template) => match expression(template) {
            Some(expression) => {
                let value = environment().compile_expression(expression)?.eval(context(point))?;
                let unfit = || {
                    Error::new(ErrorKind::InvalidOperation, format!("`{expression}` has no value"))
                };
                Cell::of_value(&value).ok_or_else(unfit)?.toml()
            }
            None => text(template, point)?.into(),
        },
        toml::Value::Array(values) => {
            values.iter().map(|it| value(it, point)).collect::<Result<Vec<_>, _>>()?.into()
        }
        toml::Value::Table(table) => {
            let entries = table.iter().map(|(key, it)| Ok((key.clone(), value(it, point)?)));
            toml::Value::Table(entries.collect::<Result<_, Error>>()?)
        }
        other => other.clone(),
    })
}

/// Returns the expression if a template consists of a single expression.
fn expression(template: &str) -> Option<&str> {
    let inner = template.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("{{")).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point() -> Point {
        [("z".to_owned(), Cell::Int(8)), ("policy".to_owned(), Cell::Text("dqf".to_owned()))].into()
    }

    #[test]
    fn an_expression_keeps_its_kind_and_a_text_stays_a_text() {
        let filled = |template: &str| value(&template.into(), &point()).unwrap();
        assert_eq!(filled("{{ 2 * z }}"), toml::Value::Integer(16));
        assert_eq!(filled("{{ policy }}-{{ z }}"), "dqf-8".into());
        assert_eq!(filled("plain"), "plain".into());
    }

    #[test]
    fn a_misspelt_axis_is_an_error() {
        assert!(text("{{ polcy }}", &point()).is_err());
        assert!(value(&"{{ y }}".into(), &point()).is_err());
    }

    #[test]
    fn a_loop_makes_tasks() {
        let template = "{% for i in range(3) %}{{ 300 + i }} {% endfor %}";
        assert_eq!(text(template, &point()).unwrap(), "300 301 302 ");
    }
}

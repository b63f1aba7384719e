// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The values of axes and measures, in the form that files, expressions and results share.

use minijinja::Value;
use minijinja::value::ValueKind;
use serde::{Deserialize, Serialize};
use tidegate_model::Duration;

/// A value of an axis or a measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list, such as a series over time.
    List(Vec<Cell>),
}

impl Cell {
    /// Converts a count, or a time in ns.
    pub(crate) fn of(count: u64) -> Self {
        i64::try_from(count)
            .map_or_else(|_| Self::Float(tidegate_stats::float::of(count)), Self::Int)
    }

    /// Converts a time to a number of ns.
    pub(crate) fn of_time(time: Duration) -> Self {
        Self::of(time.ns())
    }

    /// Returns the value as a number; true and false are 1 and 0, and `None` means that the value
    /// is not a number.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Bool(is) => Some(f64::from(u8::from(*is))),
            Self::Int(value) => {
                let size = tidegate_stats::float::of(value.unsigned_abs());
                Some(if *value < 0 { -size } else { size })
            }
            Self::Float(value) => Some(*value),
            Self::Text(_) | Self::List(_) => None,
        }
    }

    /// Returns the value for use in expressions.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Bool(is) => Value::from(*is),
            Self::Int(value) => Value::from(*value),
            Self::Float(value) => Value::from(*value),
            Self::Text(text) => Value::from(text.as_str()),
            Self::List(cells) => cells.iter().map(Self::value).collect(),
        }
    }

    /// Converts the result of an expression; `None` if no cell can hold it.
    pub(crate) fn of_value(value: &Value) -> Option<Self> {
        match value.kind() {
            ValueKind::Bool => Some(Self::Bool(value.is_true())),
            ValueKind::Number => match value.as_i64().filter(|_| value.is_integer()) {
                Some(whole) => Some(Self::Int(whole)),
                None => f64::try_from(value.clone()).ok().map(Self::Float),
            },
            ValueKind::String => value.as_str().map(|text| Self::Text(text.to_owned())),
            ValueKind::Seq | ValueKind::Iterable => {
                let cells = value.try_iter().ok()?.map(|value| Self::of_value(&value));
                cells.collect::<Option<Vec<_>>>().map(Self::List)
            }
            _ => None,
        }
    }

    /// Returns the value as TOML.
    pub(crate) fn toml(&self) -> toml::Value {
        match self {
            Self::Bool(is) => (*is).into(),
            Self::Int(value) => (*value).into(),
            Self::Float(value) => (*value).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(cells) => toml::Value::Array(cells.iter().map(Self::toml).collect()),
        }
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(is) => write!(f, "{is}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(text),
            Self::List(cells) => {
                let cells: Vec<String> = cells.iter().map(ToString::to_string).collect();
                f.write_str(&cells.join(" "))
            }
        }
    }
}

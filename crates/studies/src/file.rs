// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The study file in the form that `docs/reference/studies.md` describes.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::axes::Axis;
use crate::published::{Published, Tolerance};

/// A study file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StudyFile {
    /// The title, on one line.
    pub(crate) title: String,
    /// The figures, tables and sections that the study reproduces; see `studies/sources.toml`.
    pub(crate) items: Vec<String>,
    /// A remark for readers of the results.
    pub(crate) note: Option<String>,
    /// The grids of points that are computed, by name.
    #[serde(default)]
    pub(crate) grid: BTreeMap<String, GridFile>,
    /// The published facts to compare.
    #[serde(default)]
    pub(crate) fact: Vec<FactFile>,
    /// The project's own claims.
    #[serde(default)]
    pub(crate) expect: Vec<ExpectFile>,
    /// The figures that are drawn.
    #[serde(default)]
    pub(crate) figure: Vec<FigureFile>,
    /// The tables that are written.
    #[serde(default)]
    pub(crate) table: Vec<TableFile>,
}

/// A grid of points.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridFile {
    /// The source of the grid's numbers, with its parameters as templates.
    pub(crate) source: toml::Table,
    /// The measures that are taken at each point.
    pub(crate) measures: Vec<String>,
    /// The axes of the grid, by name.
    #[serde(default)]
    pub(crate) axes: BTreeMap<String, Axis>,
    /// The search at each point; `None` if the points are computed directly.
    pub(crate) search: Option<SearchFile>,
    /// The changes for a `--quick` run.
    #[serde(default)]
    pub(crate) quick: QuickFile,
}

/// The changes that make a grid quick.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct QuickFile {
    /// Axes whose values differ in a `--quick` run.
    pub(crate) axes: BTreeMap<String, Axis>,
    /// Parameters of the source whose values differ in a `--quick` run.
    pub(crate) source: toml::Table,
}

/// A search for the value of one more axis at which a condition changes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchFile {
    /// The axis to search; it becomes a measure of the result.
    pub(crate) axis: String,
    /// The smallest value of the axis.
    pub(crate) from: i64,
    /// The largest value of the axis.
    pub(crate) to: i64,
    /// A condition on the measures and the axes: the result is the last value before the condition
    /// first fails.
    #[serde(rename = "while")]
    pub(crate) while_holds: Option<String>,
    /// A condition on the measures and the axes: the result is the first value at which the
    /// condition holds.
    pub(crate) first: Option<String>,
    /// Whether the condition changes only once, so that bisection finds it.
    #[serde(default)]
    pub(crate) bisect: bool,
}

/// A published fact.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactFile {
    /// The place at which the source states the fact: one of the study's items.
    pub(crate) at: String,
    /// The fact, in one sentence.
    pub(crate) says: String,
    /// Whether the fact is a number, a ranking or only a picture.
    #[serde(default)]
    pub(crate) kind: Kind,
    /// Whether our model was fitted to the fact.
    #[serde(default)]
    pub(crate) basis: Basis,
    /// Our value: an expression over the grids, in base units. For a ranking, the expression says
    /// whether it holds.
    pub(crate) ours: Option<String>,
    /// The published number.
    pub(crate) published: Option<Published>,
    /// The allowed difference, which replaces the printed precision; `because` gives the reason.
    pub(crate) tolerance: Option<Tolerance>,
    /// The reason for the tolerance.
    pub(crate) because: Option<String>,
    /// The reason why our value differs.
    pub(crate) differs: Option<String>,
    /// States that no reason for the difference is known: what was tried, and what would change the
    /// result.
    pub(crate) unexplained: Option<String>,
    /// An expression that is true if other runs of the study confirm the reason in `differs` or
    /// `unexplained`.
    pub(crate) shown: Option<String>,
    /// The reason why the two values cannot be compared.
    pub(crate) not_comparable: Option<String>,
    /// The reason why the source cannot be right.
    pub(crate) print_is_wrong: Option<String>,
    /// The number that the source should print.
    pub(crate) corrected: Option<Published>,
    /// Whether a `--quick` run suffices to judge the fact.
    #[serde(default = "yes")]
    pub(crate) quick: bool,
}

/// A claim of the project that no source has published.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectFile {
    /// The claim, in one sentence.
    pub(crate) says: String,
    /// An expression over the grids that is true if the claim holds.
    pub(crate) holds: String,
    /// Whether a `--quick` run suffices to judge the claim.
    #[serde(default = "yes")]
    pub(crate) quick: bool,
}

const fn yes() -> bool {
    true
}

/// The kind of a published fact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A number in the text, a table or a caption.
    #[default]
    Number,
    /// An order among several results, or a change between them.
    Ranking,
    /// A curve for which the source gives no number.
    Picture,
}

/// Whether our model was fitted to a fact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Basis {
    /// Our value was predicted: it follows from other numbers.
    #[default]
    Predicted,
    /// A parameter was chosen so that the model gives this value.
    Fitted,
}

/// A figure to draw.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigureFile {
    /// The name of the figure's file, without the extension.
    pub(crate) file: String,
    /// The title.
    pub(crate) title: String,
    /// The grid that the figure shows.
    pub(crate) grid: String,
    /// The form in which the figure is drawn.
    #[serde(default)]
    pub(crate) form: Form,
    /// The horizontal axis; for a series over time, the length of its slices.
    pub(crate) x: Option<String>,
    /// The vertical axis of a heat map.
    pub(crate) rows: Option<String>,
    /// The measures, each drawn as a curve.
    pub(crate) y: Vec<String>,
    /// The unit of the horizontal axis.
    #[serde(default)]
    pub(crate) x_unit: String,
    /// The unit of the measures.
    #[serde(default)]
    pub(crate) y_unit: String,
    /// The highest value of the vertical axis; higher values are drawn at its end.
    pub(crate) y_max: Option<Published>,
}

/// The form in which a figure is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    /// Measures over an axis, with one curve for each combination of the other axes.
    #[default]
    Lines,
    /// The share of response times up to each duration, from a measure `response_ns_steps`.
    Cdf,
    /// A list of values over time.
    Series,
    /// The share of response times in each of many bars, from a measure `response_ns_steps`.
    Histogram,
    /// A measure over two axes, as tones.
    Heatmap,
    /// Which thread executes, or where requests are, over time, from a measure `schedule`.
    Schedule,
}

/// A table with one line for each point of a grid, or for each column if the grid has no axes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableFile {
    /// The name of the table's files, without the extension.
    pub(crate) file: String,
    /// The title.
    pub(crate) title: String,
    /// The grid that the table shows.
    pub(crate) grid: String,
    /// The columns that follow the axes.
    pub(crate) columns: Vec<ColumnFile>,
}

/// A column of a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnFile {
    /// The measure that the column shows.
    pub(crate) measure: String,
    /// Another grid that has the measure at the point with the same values.
    pub(crate) grid: Option<String>,
    /// The heading; by default the measure's name.
    pub(crate) title: Option<String>,
    /// The unit.
    #[serde(default)]
    pub(crate) unit: String,
}

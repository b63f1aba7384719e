// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The study file, as people write it: `docs/reference/studies.md`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::axes::Axis;
use crate::published::{Published, Tolerance};

/// A study file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StudyFile {
    /// The title, one line.
    pub(crate) title: String,
    /// The figures, tables and sections that it reproduces; see `studies/sources.toml`.
    pub(crate) items: Vec<String>,
    /// A remark for readers of the results.
    pub(crate) note: Option<String>,
    /// The grids of points that are computed, by name.
    #[serde(default)]
    pub(crate) grid: BTreeMap<String, GridFile>,
    /// The published facts.
    #[serde(default)]
    pub(crate) fact: Vec<FactFile>,
    /// Our own claims.
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
    /// The source of its numbers, with its parameters as templates.
    pub(crate) source: toml::Table,
    /// The measures that are taken at each point.
    pub(crate) measures: Vec<String>,
    /// The axes.
    #[serde(default)]
    pub(crate) axes: BTreeMap<String, Axis>,
    /// The search that is made at each point.
    pub(crate) search: Option<SearchFile>,
    /// The changes of `--quick`.
    #[serde(default)]
    pub(crate) quick: QuickFile,
}

/// The changes that make a grid quick.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct QuickFile {
    /// Axes with other values.
    pub(crate) axes: BTreeMap<String, Axis>,
    /// Parameters of the source with other values.
    pub(crate) source: toml::Table,
}

/// A search along one more axis, for the value at which a condition changes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchFile {
    /// The axis, which is a measure of the result.
    pub(crate) axis: String,
    /// The least value.
    pub(crate) from: i64,
    /// The largest value.
    pub(crate) to: i64,
    /// An expression over the measures and the axes: the result is the last value before it first
    /// fails.
    #[serde(rename = "while")]
    pub(crate) while_holds: Option<String>,
    /// Such an expression, too: the result is the first value at which it holds.
    pub(crate) first: Option<String>,
    /// Whether the condition changes only once, so that bisection finds it.
    #[serde(default)]
    pub(crate) bisect: bool,
}

/// A published fact.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactFile {
    /// Where the source states it: one of the study's items.
    pub(crate) at: String,
    /// The fact, in one sentence.
    pub(crate) says: String,
    /// Whether it is a number, a ranking or only a picture.
    #[serde(default)]
    pub(crate) kind: Kind,
    /// Whether our model was fitted to it.
    #[serde(default)]
    pub(crate) basis: Basis,
    /// Our value: an expression over the grids, in base units. For a ranking: whether it holds.
    pub(crate) ours: Option<String>,
    /// The published number.
    pub(crate) published: Option<Published>,
    /// The allowed difference, in place of the printed precision; `because` gives the reason.
    pub(crate) tolerance: Option<Tolerance>,
    /// The reason of the tolerance.
    pub(crate) because: Option<String>,
    /// Why ours differs.
    pub(crate) differs: Option<String>,
    /// That no reason is known: what was tried, and what would change the result.
    pub(crate) unexplained: Option<String>,
    /// Whether other runs of the study show what either of these says: an expression.
    pub(crate) shown: Option<String>,
    /// Why the two cannot be compared.
    pub(crate) not_comparable: Option<String>,
    /// Why the source cannot be right.
    pub(crate) print_is_wrong: Option<String>,
    /// The number that the source should print.
    pub(crate) corrected: Option<Published>,
    /// Whether a `--quick` run suffices to judge the fact.
    #[serde(default = "yes")]
    pub(crate) quick: bool,
}

/// A claim of ours, which nobody published.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectFile {
    /// The claim, in one sentence.
    pub(crate) says: String,
    /// An expression over the grids that is true if the claim holds.
    pub(crate) holds: String,
    /// Whether a `--quick` run suffices to judge it.
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
    /// An order of several results, or a change between them.
    Ranking,
    /// A curve for which the source gives no number.
    Picture,
}

/// Whether our model knows a fact beforehand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Basis {
    /// Our value follows from other figures.
    #[default]
    Predicted,
    /// A parameter was chosen so that this comes out.
    Fitted,
}

/// A figure that is drawn.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigureFile {
    /// The name of its file, without the ending.
    pub(crate) file: String,
    /// The title.
    pub(crate) title: String,
    /// The grid.
    pub(crate) grid: String,
    /// How it is drawn.
    #[serde(default)]
    pub(crate) form: Form,
    /// The axis across; of a series over time the length of its slices.
    pub(crate) x: Option<String>,
    /// The axis down; only of a heat map.
    pub(crate) rows: Option<String>,
    /// The measures; each has a curve.
    pub(crate) y: Vec<String>,
    /// The unit across.
    #[serde(default)]
    pub(crate) x_unit: String,
    /// The unit of the measures.
    #[serde(default)]
    pub(crate) y_unit: String,
    /// Where the vertical axis ends; higher values are drawn there.
    pub(crate) y_max: Option<Published>,
}

/// How a figure is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    /// A measure over an axis; each combination of the other axes has a curve.
    #[default]
    Lines,
    /// The share of response times up to each length, from a measure `response_ns_steps`.
    Cdf,
    /// A list over time.
    Series,
    /// The share of response times in each of many stretches, from a measure `response_ns_steps`.
    Histogram,
    /// A measure over two axes.
    Heatmap,
    /// Which thread executes when, or where requests are, from a measure `schedule`.
    Schedule,
}

/// A table with a line for each point of a grid, or for each column if the grid has no axes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableFile {
    /// The name of its files, without the ending.
    pub(crate) file: String,
    /// The title.
    pub(crate) title: String,
    /// The grid.
    pub(crate) grid: String,
    /// The columns after the axes.
    pub(crate) columns: Vec<ColumnFile>,
}

/// A column of a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnFile {
    /// The measure.
    pub(crate) measure: String,
    /// Another grid, whose point with the same values has the measure.
    pub(crate) grid: Option<String>,
    /// The heading; by default the measure's name.
    pub(crate) title: Option<String>,
    /// The unit.
    #[serde(default)]
    pub(crate) unit: String,
}

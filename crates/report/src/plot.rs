// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Plots: a [`Chart`] says what is drawn, in a terminal or as SVG.

pub(crate) mod axis;
mod bar;
mod layer;
pub(crate) mod svg;
pub(crate) mod text;

pub(crate) use bar::bar;

pub use axis::{Axis, Unit};
pub use layer::{Area, Layer};
pub use svg::draw as svg;

/// Curves and areas over two axes, and points beside them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves; if there are several, they have labels.
    pub curves: Vec<Curve>,
    /// Separate points.
    pub points: Vec<(u64, u64)>,
    /// Areas behind the curves, in pictures only.
    pub layers: Vec<Layer>,
}

/// A curve of a chart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Curve {
    /// The text that distinguishes it from the other curves.
    pub label: String,
    /// Points that are joined, in order of x.
    pub points: Vec<(u64, u64)>,
}

impl Chart {
    /// Creates a chart of one curve.
    pub(crate) fn of_curve(title: String, x: Axis, y: Axis, points: Vec<(u64, u64)>) -> Self {
        let curves = vec![Curve { label: String::new(), points }];
        Self { title, x, y, curves, points: Vec::new(), layers: Vec::new() }
    }
}

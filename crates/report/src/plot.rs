// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Plots: a [`Chart`] describes a drawing, which can be made in a terminal or as SVG.

pub(crate) mod axis;
mod bar;
mod layer;
pub(crate) mod svg;
pub(crate) mod text;

pub(crate) use bar::bar;

pub use axis::{Axis, Unit};
pub use layer::{Area, Layer};
pub use svg::draw as svg;

/// A chart of curves and areas over two axes, and of separate points.
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
    /// Areas behind the curves, which only SVG pictures show.
    pub layers: Vec<Layer>,
}

/// A curve of a chart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Curve {
    /// The text that distinguishes this curve from the others.
    pub label: String,
    /// The points, which lines join, in order of x.
    pub points: Vec<(u64, u64)>,
}

impl Chart {
    /// Creates a chart of one curve.
    pub(crate) fn of_curve(title: String, x: Axis, y: Axis, points: Vec<(u64, u64)>) -> Self {
        let curves = vec![Curve { label: String::new(), points }];
        Self { title, x, y, curves, points: Vec::new(), layers: Vec::new() }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The frame of a chart: title, legend and axes around an inner picture.
//!
//! ```text
//!   title
//!   -- curve   -- other curve          the legend, or a remark
//!   100 % +---------------------+
//!         |  the inner picture  |      the script of the page enlarges a part of it
//!     0 % +---------------------+
//!         0     100     200   ms       its ticks then follow
//! ```
//! The inner picture has its own coordinates, with (0, 0) at the top left, so that the script can
//! enlarge a part of it by changing its `viewBox`. Strokes keep their width.

use super::html::Markup;
use crate::plot::Axis;
use crate::xml::escaped;

/// The outline of a chart, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outline {
    /// The total width.
    pub(super) width: u64,
    /// The height of the inner picture.
    pub(super) height: u64,
    /// The width of the area for labels on the left.
    pub(super) left: u64,
}

/// The size of a chart that shares a row with others.
pub(super) const SMALL: Outline = Outline { width: 340, height: 140, left: 46 };

/// The size of a chart that is as wide as the page.
pub(super) const WIDE: Outline = Outline { width: 860, height: 240, left: 46 };

const TOP: u64 = 42;
const RIGHT: u64 = 26;
const BELOW: u64 = 36;

/// A chart without its inner picture.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub(super) outline: Outline,
    pub(super) title: &'a str,
    /// A line below the title.
    pub(super) remark: &'a str,
    /// The class and the name of each curve. If there are any, the chart shows them instead of the
    /// remark.
    pub(super) legend: &'a [(&'a str, &'a str)],
    pub(super) x: &'a Axis,
    /// The labels on the left: a height in the inner picture, and its text.
    pub(super) labels: Vec<(String, String)>,
}

impl Outline {
    /// Returns the width of the inner picture.
    pub(super) const fn inner(self) -> u64 {
        self.width - self.left - RIGHT
    }

    /// Returns the distance of a value from the left edge of the inner picture.
    pub(super) fn across(self, axis: &Axis, value: u64) -> String {
        tenths(axis.place(value, self.inner() * 10))
    }

    /// Returns the distance of a value from the top edge of the inner picture.
    pub(super) fn down(self, axis: &Axis, value: u64) -> String {
        tenths(self.height * 10 - axis.place(value, self.height * 10))
    }

    /// Returns the labels of a vertical axis.
    pub(super) fn labels(self, axis: &Axis) -> Vec<(String, String)> {
        let label = |(value, text): &(u64, String)| (self.down(axis, *value), text.clone());
        axis.ticks.iter().map(label).collect()
    }
}

fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

impl Frame<'_> {
    /// Draws the chart around the inner picture.
    pub(super) fn draw(&self, inner_picture: &str) -> String {
        let Outline { width, height, left } = self.outline;
        let (inner, bottom, all) = (self.outline.inner(), TOP + height, TOP + height + BELOW);
        let (title, remark) = (escaped(self.title), escaped(self.remark));
        let mut svg = Markup::default();
        writeln!(
            svg,
            "<svg class=\"chart\" viewBox=\"0 0 {width} {all}\" role=\"img\" tabindex=\"0\">\
             <title>{title}. {remark}</title><text class=\"title\" x=\"0\" y=\"14\">{title}</text>"
        );
        self.legend(&mut svg);
        for (down, label) in &self.labels {
            let x = left - 6;
            write!(
                svg,
                "<text x=\"{x}\" y=\"{down}\" dy=\"{}\" text-anchor=\"end\">{}</text>",
                TOP + 4,
                escaped(label)
            );
        }
        self.ticks(&mut svg, bottom);
        let size = self.x.size;
        let below = match (self.x.label.as_str(), self.x.unit) {
            (label, "") => label.to_owned(),
            ("", unit) => unit.to_owned(),
            (label, unit) => format!("{label} ({unit})"),
        };
        writeln!(
            svg,
            "<svg class=\"plot\" x=\"{left}\" y=\"{TOP}\" width=\"{inner}\" height=\"{height}\" \
             viewBox=\"0 0 {inner} {height}\" preserveAspectRatio=\"none\" \
             data-end=\"{}\" data-size=\"{size}\">{inner_picture}</svg>\
             <path class=\"axis\" d=\"M{left} {TOP}V{bottom}H{}\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text></svg>",
            self.x.end,
            width - RIGHT,
            width - RIGHT,
            bottom + 30,
            escaped(&below),
        );
        svg.into_text()
    }

    /// Writes the remark, or else the curves with their names.
    fn legend(&self, svg: &mut Markup) {
        if self.legend.is_empty() {
            writeln!(svg, "<text x=\"0\" y=\"30\">{}</text>", escaped(self.remark));
        }
        let mut at = 0;
        for (class, name) in self.legend {
            // A letter is about 6 pixels wide.
            writeln!(
                svg,
                "<path class=\"{class}\" d=\"M{at} 26h22\"/><text x=\"{}\" y=\"30\">{}</text>",
                at + 27,
                escaped(name)
            );
            at += 42 + 6 * name.chars().count() as u64;
        }
    }

    fn ticks(&self, svg: &mut Markup, bottom: u64) {
        svg.raw("<g class=\"ticks\">");
        for (value, label) in &self.x.ticks {
            let place = self.outline.left * 10 + self.x.place(*value, self.outline.inner() * 10);
            let (x, y) = (tenths(place), bottom + 15);
            write!(
                svg,
                "<path class=\"axis\" d=\"M{x} {bottom}v4\"/>\
                 <text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>"
            );
        }
        svg.raw("</g>\n");
    }
}

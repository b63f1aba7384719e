// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The areas of a chart: the cells of a heat map, or the bars of a schedule.

use super::Chart;
use super::svg::{across, colour, down, line};
use crate::xml::escaped;

/// The tone of the full colour.
const FULL: u64 = 1_000;

/// The tone from which text in an area is white.
const DARK: u64 = 550;

/// Areas that share one meaning and one colour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    /// The text that distinguishes this layer from the others; empty if there is only one layer.
    pub label: String,
    /// The layer's areas.
    pub areas: Vec<Area>,
}

/// A rectangle in the units of the chart's axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// The start and the end on the horizontal axis.
    pub x: (u64, u64),
    /// The start and the end on the vertical axis.
    pub y: (u64, u64),
    /// The strength of the colour, from 0 to 1,000.
    pub tone: u64,
    /// The text in the middle of the area; empty for none.
    pub text: String,
}

impl Area {
    /// Creates an area in the full colour of its layer, without text.
    pub const fn full(x: (u64, u64), y: (u64, u64)) -> Self {
        Self { x, y, tone: FULL, text: String::new() }
    }
}

/// Returns whether lines behind some area are visible through it.
pub(super) fn is_translucent(chart: &Chart) -> bool {
    chart.layers.iter().flat_map(|layer| &layer.areas).any(|area| area.tone < FULL)
}

/// Draws the areas of all layers.
pub(super) fn draw(svg: &mut String, chart: &Chart) {
    for (layer, index) in chart.layers.iter().zip(0..) {
        let colour = colour(index);
        for area in &layer.areas {
            let [left, right] = [area.x.0, area.x.1].map(|x| across(&chart.x, x));
            let [bottom, top] = [area.y.0, area.y.1].map(|y| down(&chart.y, y));
            let opacity = format!("{}.{:03}", area.tone / FULL, area.tone % FULL);
            line(
                svg,
                format_args!(
                    "<path class=\"cell\" fill=\"{colour}\" fill-opacity=\"{opacity}\" \
                     d=\"M{left} {bottom}V{top}H{right}V{bottom}Z\"/>"
                ),
            );
            text(svg, chart, area);
        }
    }
}

fn text(svg: &mut String, chart: &Chart, area: &Area) {
    if area.text.is_empty() {
        return;
    }
    let (x, y) = (u64::midpoint(area.x.0, area.x.1), u64::midpoint(area.y.0, area.y.1));
    let class = if area.tone < DARK { "on-light" } else { "on-dark" };
    let (x, y, text) = (across(&chart.x, x), down(&chart.y, y), escaped(&area.text));
    line(
        svg,
        format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" dy=\"4\" text-anchor=\"middle\">{text}</text>"
        ),
    );
}

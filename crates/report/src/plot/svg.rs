// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws charts, one below the other, as an SVG 1.1 picture that any browser shows.

use std::fmt::Write as _;

use super::axis::Axis;
use super::{Chart, Curve, layer};
use crate::xml::escaped;

/// The width of the picture, in pixels.
const WIDTH: u64 = 820;
/// The height of the picture's heading, in pixels.
const HEAD: u64 = 52;
/// The height of each chart, in pixels.
const PANEL: u64 = 360;

/// The left edge of the area in which curves are drawn, in pixels.
const LEFT: u64 = 84;
/// The right edge of that area.
const RIGHT: u64 = WIDTH - 28;
/// The upper edge of that area.
const TOP: u64 = 40;
/// The lower edge of that area.
const BOTTOM: u64 = PANEL - 62;

const STYLE: &str = "\
text { font-family: system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif; fill: #2b2f36 }
.drive { font-size: 19px; font-weight: 600 }
.title { font-size: 15px; font-weight: 600 }
.tick, .label { font-size: 12px; fill: #5b626d }
.grid { stroke: #e4e7ec; stroke-width: 1 }
.axis { stroke: #8b929e; stroke-width: 1.2; fill: none }
.curve { stroke-width: 1.8; fill: none; stroke-linejoin: round }
.area { fill: #1f6feb; fill-opacity: 0.10 }
.cell { stroke: #ffffff; stroke-width: 0.5 }
.on-light { font-size: 11px } .on-dark { font-size: 11px; fill: #ffffff }
.point { fill: #c2410c }";

/// The largest number of characters in a tick label on the vertical axis; longer labels are
/// compressed to that width.
const TICK_LETTERS: usize = 11;

/// The colours of curves, which repeat.
const COLOURS: [&str; 8] =
    ["#1f6feb", "#c2410c", "#15803d", "#7c3aed", "#b45309", "#0e7490", "#be185d", "#4b5563"];

/// The distance between two lines of the legend, in pixels.
const LEGEND: u64 = 17;

/// Draws these charts under a heading.
pub fn draw(heading: &str, charts: &[Chart]) -> String {
    let height = HEAD + PANEL * charts.len() as u64;
    let mut svg = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\">\n<title>{heading}</title>\n<style>\n{STYLE}\n</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text class=\"drive\" x=\"{LEFT}\" y=\"34\">{heading}</text>\n",
        heading = escaped(heading)
    );
    for (chart, index) in charts.iter().zip(0..) {
        let down = HEAD + PANEL * index;
        line(&mut svg, format_args!("<g transform=\"translate(0 {down})\">"));
        panel(&mut svg, chart);
        line(&mut svg, format_args!("</g>"));
    }
    line(&mut svg, format_args!("</svg>"));
    svg
}

fn panel(svg: &mut String, chart: &Chart) {
    let title = escaped(&chart.title);
    line(svg, format_args!("<text class=\"title\" x=\"{LEFT}\" y=\"22\">{title}</text>"));
    for (value, label) in &chart.y.ticks {
        tick_of_y(svg, chart, *value, label);
    }
    for (value, label) in &chart.x.ticks {
        let x = across(&chart.x, *value);
        line(
            svg,
            format_args!(
                "<path class=\"axis\" d=\"M{x} {BOTTOM}v5\"/>\
                 <text class=\"tick\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                BOTTOM + 20,
                escaped(label)
            ),
        );
    }
    layer::draw(svg, chart);
    for (curve, index) in chart.curves.iter().zip(0..) {
        draw_curve(svg, chart, curve, colour(index));
    }
    points(svg, chart);
    legend(svg, chart);
    line(svg, format_args!("<path class=\"axis\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>"));
    labels(svg, chart);
}

fn tick_of_y(svg: &mut String, chart: &Chart, value: u64, label: &str) {
    let (x, y) = (LEFT - 8, down(&chart.y, value));
    let is_long = label.chars().count() > TICK_LETTERS;
    let room = LEFT - 10;
    let fit = if is_long {
        format!(" textLength=\"{room}\" lengthAdjust=\"spacingAndGlyphs\"")
    } else {
        String::new()
    };
    let label = escaped(label);
    // Grid lines would be visible through the cells of a heat map, behind their texts.
    let grid = if layer::is_translucent(chart) {
        String::new()
    } else {
        format!("<path class=\"grid\" d=\"M{LEFT} {y}H{RIGHT}\"/>")
    };
    line(
        svg,
        format_args!(
            "{grid}<text class=\"tick\" x=\"{x}\" y=\"{y}\" dy=\"4\" text-anchor=\"end\"{fit}>{label}</text>"
        ),
    );
}

/// Returns the colour of the curve or layer with this index.
pub(super) fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

fn draw_curve(svg: &mut String, chart: &Chart, curve: &Curve, colour: &str) {
    let place = |&(x, y): &(u64, u64)| format!("{} {}", across(&chart.x, x), down(&chart.y, y));
    let points: Vec<String> = curve.points.iter().map(place).collect();
    let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) else { return };
    let path = points.join("L");
    let [begin, end] = [first, last].map(|point| across(&chart.x, point.0));
    if chart.curves.len() == 1 {
        line(
            svg,
            format_args!("<path class=\"area\" d=\"M{begin} {BOTTOM}L{path}L{end} {BOTTOM}Z\"/>"),
        );
    }
    line(svg, format_args!("<path class=\"curve\" stroke=\"{colour}\" d=\"M{path}\"/>"));
}

/// Writes the legend of curves and layers in the upper right corner of the drawing area.
fn legend(svg: &mut String, chart: &Chart) {
    let layers = chart.layers.iter().zip(0..).map(|(it, index)| (it.label.as_str(), index, 8));
    let curves = chart.curves.iter().zip(0..).map(|(it, index)| (it.label.as_str(), index, 2));
    let named: Vec<(&str, usize, u64)> =
        layers.chain(curves).filter(|it| !it.0.is_empty()).collect();
    let longest = named.iter().map(|it| it.0.chars().count() as u64).max();
    if let Some(longest) = longest {
        // A letter is about 6.5 pixels wide. The background is translucent, so curves remain
        // visible.
        let (width, height) = (longest * 13 / 2 + 40, LEGEND * named.len() as u64 + 6);
        let left = (RIGHT - 2).saturating_sub(width);
        line(
            svg,
            format_args!(
                "<path fill=\"#ffffff\" fill-opacity=\"0.8\" d=\"M{left} {}h{width}v{height}h-{width}Z\"/>",
                TOP + 1
            ),
        );
    }
    for ((label, index, thickness), at) in named.into_iter().zip(0..) {
        let y = TOP + 14 + LEGEND * at;
        let (label, colour) = (escaped(label), colour(index));
        line(
            svg,
            format_args!(
                "<path stroke=\"{colour}\" stroke-width=\"{thickness}\" d=\"M{} {}h18\"/>\
                 <text class=\"label\" x=\"{}\" y=\"{y}\" text-anchor=\"end\">{label}</text>",
                RIGHT - 22,
                y - 4,
                RIGHT - 28
            ),
        );
    }
}

fn points(svg: &mut String, chart: &Chart) {
    for point in &chart.points {
        let (x, y) = (across(&chart.x, point.0), down(&chart.y, point.1));
        line(svg, format_args!("<circle class=\"point\" cx=\"{x}\" cy=\"{y}\" r=\"2.2\"/>"));
    }
}

fn labels(svg: &mut String, chart: &Chart) {
    let [x, y] = [&chart.x, &chart.y].map(axis_label);
    let middle = u64::midpoint(LEFT, RIGHT);
    let (below, beside) = (BOTTOM + 42, u64::midpoint(TOP, BOTTOM));
    line(
        svg,
        format_args!(
            "<text class=\"label\" x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{x}</text>\
             <text class=\"label\" transform=\"translate(22 {beside}) rotate(-90)\" \
             text-anchor=\"middle\">{y}</text>"
        ),
    );
}

/// Returns the label of an axis: its quantity and unit, either of which can be missing.
fn axis_label(axis: &Axis) -> String {
    match (axis.label.as_str(), axis.unit) {
        ("", unit) => unit.to_owned(),
        (label, "") => escaped(label),
        (label, unit) => format!("{} ({unit})", escaped(label)),
    }
}

/// Returns a value's distance from the left edge in pixels, with tenths.
pub(super) fn across(axis: &Axis, value: u64) -> String {
    tenths(LEFT * 10 + axis.place(value, (RIGHT - LEFT) * 10))
}

/// Returns a value's distance from the top of the panel in pixels, with tenths.
pub(super) fn down(axis: &Axis, value: u64) -> String {
    tenths(BOTTOM * 10 - axis.place(value, (BOTTOM - TOP) * 10))
}

fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

pub(super) fn line(svg: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(svg, "{text}").expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::super::{Area, Layer};
    use super::*;

    fn chart() -> Chart {
        Chart {
            title: "b(i) < 5 & more".to_owned(),
            x: Axis::ending_at(10, "requests at once", ("requests", 1)),
            y: Axis::reaching(10, "time", ("ms", 1)),
            curves: vec![Curve { label: String::new(), points: vec![(0, 0), (10, 10)] }],
            points: vec![(5, 10)],
            layers: Vec::new(),
        }
    }

    #[test]
    fn the_curve_goes_from_corner_to_corner_of_the_field() {
        let svg = draw("d", &[chart()]);
        let expected = format!("d=\"M{LEFT}.0 {BOTTOM}.0L{RIGHT}.0 {TOP}.0\"");
        assert!(svg.contains(&expected), "{expected} in {svg}");
    }

    #[test]
    fn texts_cannot_break_out_of_their_tags() {
        let svg = draw("</title>\u{1}", &[chart()]);
        assert!(svg.contains("&lt;/title&gt;?</title>") && svg.contains("b(i) &lt; 5 &amp; more"));
        assert!(!svg.contains('\u{1}'));
    }

    #[test]
    fn every_tag_that_opens_closes() {
        let svg = draw("d", &[chart(), chart()]);
        for tag in ["svg", "g", "text", "style", "title"] {
            let count = |text: String| svg.matches(&text).count();
            let open = count(format!("<{tag} ")) + count(format!("<{tag}>"));
            assert!(open > 0 && open == count(format!("</{tag}>")), "{tag}");
        }
        let pieces = svg.matches("<path").count() + svg.matches("<circle").count();
        assert_eq!(pieces, svg.matches("\"/>").count() - 1, "and one rect");
    }

    #[test]
    fn several_curves_have_colours_and_names() {
        let curve = |label: &str| Curve { label: label.to_owned(), points: vec![(0, 0), (1, 1)] };
        let svg = draw("d", &[Chart { curves: vec![curve("a"), curve("b")], ..chart() }]);
        assert!(
            svg.contains(">a</text>") && svg.contains(">b</text>") && !svg.contains("\"area\"")
        );
        assert!(svg.contains(COLOURS[0]) && svg.contains(COLOURS[1]));
    }

    #[test]
    fn areas_have_tones_texts_and_names() {
        let (x, y) =
            (Axis::of_names(&["a", "b & c"], ""), Axis::of_names(&["a name that is long"], ""));
        let area = |tone| Area { tone, text: "<7>".to_owned(), ..Area::full((0, 2), (0, 2)) };
        let layer = Layer { label: "cells".to_owned(), areas: vec![area(1_000), area(80)] };
        let svg = draw("d", &[Chart { x, y, layers: vec![layer], curves: Vec::new(), ..chart() }]);
        for part in
            ["\"1.000\"", "\"0.080\"", "on-dark", "on-light", "&lt;7&gt;", "b &amp; c", ">cells<"]
        {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert!(svg.contains("textLength") && !svg.contains("class=\"grid\""));
    }

    #[test]
    fn a_chart_of_nothing_has_its_axes() {
        let empty = Chart { curves: Vec::new(), ..chart() };
        assert!(draw("d", &[empty]).contains("class=\"axis\""));
    }
}

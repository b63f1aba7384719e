// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws charts as an SVG 1.1 picture that any browser shows, one below the other.

use std::fmt::Write as _;

use super::axis::Axis;
use super::{Chart, Curve};
use crate::xml::escaped;

/// The width of the picture, in pixels; each chart is `PANEL` high.
const WIDTH: u64 = 820;
const HEAD: u64 = 52;
const PANEL: u64 = 360;

/// The area of the curve.
const LEFT: u64 = 84;
const RIGHT: u64 = WIDTH - 28;
const TOP: u64 = 40;
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
.point { fill: #c2410c }";

/// The colours of curves, which repeat.
const COLOURS: [&str; 8] =
    ["#1f6feb", "#c2410c", "#15803d", "#7c3aed", "#b45309", "#0e7490", "#be185d", "#4b5563"];

/// The distance of two lines of the legend.
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
        let y = down(&chart.y, *value);
        line(
            svg,
            format_args!(
                "<path class=\"grid\" d=\"M{LEFT} {y}H{RIGHT}\"/>\
                 <text class=\"tick\" x=\"{}\" y=\"{y}\" dy=\"4\" text-anchor=\"end\">{label}</text>",
                LEFT - 8
            ),
        );
    }
    for (value, label) in &chart.x.ticks {
        let x = across(&chart.x, *value);
        line(
            svg,
            format_args!(
                "<path class=\"axis\" d=\"M{x} {BOTTOM}v5\"/>\
                 <text class=\"tick\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
                BOTTOM + 20
            ),
        );
    }
    for (curve, colour) in chart.curves.iter().zip(COLOURS.iter().cycle()) {
        draw_curve(svg, chart, curve, colour);
    }
    points(svg, chart);
    legend(svg, &chart.curves);
    line(svg, format_args!("<path class=\"axis\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>"));
    labels(svg, chart);
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

/// Names the curves in the field's upper right corner.
fn legend(svg: &mut String, curves: &[Curve]) {
    let named = curves.iter().zip(COLOURS.iter().cycle()).filter(|(it, _)| !it.label.is_empty());
    let longest = named.clone().map(|(it, _)| it.label.chars().count() as u64).max();
    if let Some(longest) = longest {
        // About 6.5 pixels a letter; curves shine through.
        let (width, height) = (longest * 13 / 2 + 40, LEGEND * curves.len() as u64 + 6);
        let left = (RIGHT - 2).saturating_sub(width);
        line(
            svg,
            format_args!(
                "<path fill=\"#ffffff\" fill-opacity=\"0.8\" d=\"M{left} {}h{width}v{height}h-{width}Z\"/>",
                TOP + 1
            ),
        );
    }
    for ((curve, colour), index) in named.zip(0..) {
        let y = TOP + 14 + LEGEND * index;
        let label = escaped(&curve.label);
        line(
            svg,
            format_args!(
                "<path class=\"curve\" stroke=\"{colour}\" d=\"M{} {}h18\"/>\
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

/// Returns an axis's quantity and unit, either of which may be missing.
fn axis_label(axis: &Axis) -> String {
    match (axis.label.as_str(), axis.unit) {
        ("", unit) => unit.to_owned(),
        (label, "") => escaped(label),
        (label, unit) => format!("{} ({unit})", escaped(label)),
    }
}

/// Returns the distance from the left in pixels, with tenths.
fn across(axis: &Axis, value: u64) -> String {
    tenths(LEFT * 10 + axis.place(value, (RIGHT - LEFT) * 10))
}

/// Returns the distance from the top of the panel in pixels, with tenths.
fn down(axis: &Axis, value: u64) -> String {
    tenths(BOTTOM * 10 - axis.place(value, (BOTTOM - TOP) * 10))
}

fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn line(svg: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(svg, "{text}").expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        Chart {
            title: "b(i) < 5 & more".to_owned(),
            x: Axis::ending_at(10, "requests at once", ("requests", 1)),
            y: Axis::reaching(10, "time", ("ms", 1)),
            curves: vec![Curve { label: String::new(), points: vec![(0, 0), (10, 10)] }],
            points: vec![(5, 10)],
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
        assert!(svg.contains("&lt;/title&gt; </title>") && svg.contains("b(i) &lt; 5 &amp; more"));
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
    fn a_chart_of_nothing_has_its_axes() {
        let empty = Chart { curves: Vec::new(), ..chart() };
        assert!(draw("d", &[empty]).contains("class=\"axis\""));
    }
}

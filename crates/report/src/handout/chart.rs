// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws the charts of a page as inline SVG, in the colours of its style sheet.

use std::collections::BTreeMap;

use super::frame::{Frame, SMALL};
use super::html::Markup;
use super::ms;
use crate::plot::{Axis, Chart};
use crate::result::SourceRecord;

/// The unit of times; values are in nanoseconds.
pub(super) const MS: (&str, u64) = ("ms", 1_000_000);

/// The number of bars in a histogram.
const BARS: u64 = 48;

/// The largest number of points in a curve; if there are more steps, several share a point.
const POINTS: usize = 512;

/// Draws one task's response times: the share of jobs that took at most a given time, the histogram
/// behind it, and the bound. The second argument is the exact longest response time and the bound.
pub(super) fn distribution(
    title: &str,
    (response_max, bound): (Option<u64>, Option<u64>),
    source: &SourceRecord,
) -> String {
    let steps = &source.response_ns_steps;
    let jobs: u64 = steps.iter().map(|step| step.1).sum();
    let longest = steps.last().map_or(0, |step| step.0);
    let end = longest.max(bound.unwrap_or(0)).max(1);
    // The axis ends a little to the right of the bound.
    let x = Axis::ending_at(end.saturating_add(end / 20), "response time", MS);
    let share = |jobs, label: &str| (jobs, label.to_owned());
    let ticks = vec![share(0, "0 %"), share(jobs / 2, "50 %"), share(jobs, "100 %")];
    let up = Axis { label: String::new(), unit: "", size: 1, end: jobs.max(1), ticks };
    let limit = bound.map_or("no bound".to_owned(), |ns| format!("bound {}", ms(Some(ns))));
    let remark = format!("longest {}, {limit}", ms(response_max));
    let mut picture = Markup::default();
    picture.raw(&bars(steps, &x));
    let mut path = Markup::default();
    write!(path, "M0 {}", SMALL.height);
    let stride = steps.len().div_ceil(POINTS).max(1);
    let mut up_to = 0;
    for (index, &(ns, count)) in steps.iter().enumerate() {
        up_to += count;
        // Steps that share a point rise at the last step's time, so that the curve never shows more
        // jobs than had completed by a time.
        if (index + 1) % stride == 0 || index + 1 == steps.len() {
            write!(path, "H{}V{}", SMALL.across(&x, ns), SMALL.down(&up, up_to));
        }
    }
    writeln!(picture, "<path class=\"curve\" d=\"{}H{}\"/>", path.into_text(), SMALL.inner());
    if let Some(bound) = bound {
        let x = SMALL.across(&x, bound);
        writeln!(picture, "<path class=\"bound\" d=\"M{x} 0V{}\"/>", SMALL.height);
    }
    let labels = SMALL.labels(&up);
    let legend = &[][..];
    let frame = Frame { outline: SMALL, title, remark: &remark, legend, x: &x, labels };
    frame.draw(&picture.into_text())
}

/// Draws the number of jobs in each of [`BARS`] equal intervals of response time.
fn bars(steps: &[(u64, u64)], x: &Axis) -> String {
    let stretches = Axis::ending_at(BARS, "", ("", 1));
    let mut counts = BTreeMap::new();
    for &(ns, count) in steps {
        *counts.entry(x.place(ns, BARS)).or_insert(0_u64) += count;
    }
    let up = Axis::ending_at(counts.values().copied().max().unwrap_or(0), "", ("", 1));
    let mut path = Markup::default();
    for (bar, count) in counts {
        let [left, right] = [bar, bar + 1].map(|bar| SMALL.across(&stretches, bar));
        let (top, bottom) = (SMALL.down(&up, count), SMALL.height);
        write!(path, "M{left} {bottom}V{top}H{right}V{bottom}Z");
    }
    format!("<path class=\"bar\" d=\"{}\"/>\n", path.into_text())
}

/// Draws a chart of one curve.
pub(super) fn plot(chart: &Chart) -> String {
    let points = chart.curves.iter().flat_map(|curve| &curve.points);
    let place =
        |&(x, y): &(u64, u64)| format!("{} {}", SMALL.across(&chart.x, x), SMALL.down(&chart.y, y));
    let points: Vec<String> = points.map(place).collect();
    let mut picture = Markup::default();
    if !points.is_empty() {
        writeln!(picture, "<path class=\"curve\" d=\"M{}\"/>", points.join("L"));
    }
    let remark = format!("{} in {}", chart.y.label, chart.y.unit);
    let labels = SMALL.labels(&chart.y);
    let (title, legend) = (chart.title.as_str(), &[][..]);
    let frame = Frame { outline: SMALL, title, remark: &remark, legend, x: &chart.x, labels };
    frame.draw(&picture.into_text())
}

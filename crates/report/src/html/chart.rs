// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws the charts of a page as inline SVG, in the colours of its style sheet.

use std::collections::BTreeMap;

use super::facts::TaskFacts;
use super::markup::Markup;
use super::ms;
use crate::result::{BusyIntervalRecord, SourceRecord, StepRecord};
use crate::xml::escaped;

/// The size of a distribution's chart, and the area of its curve.
const WIDTH: u64 = 300;
const HEIGHT: u64 = 180;
const LEFT: u64 = 44;
const RIGHT: u64 = WIDTH - 8;
const TOP: u64 = 26;
const BOTTOM: u64 = HEIGHT - 30;

/// The bars of a histogram.
const BARS: u64 = 32;

/// The points of a curve, beyond which steps are joined.
const POINTS: usize = 256;

/// A scale from values to pixels, of which it counts tenths.
struct Scale {
    value_max: u64,
    from: u64,
    to: u64,
}

impl Scale {
    /// Returns a value's place in pixels, with one decimal.
    fn at(&self, value: u64) -> String {
        let span = u128::from(self.to.abs_diff(self.from)) * 10;
        let moved =
            span * u128::from(value.min(self.value_max)) / u128::from(self.value_max.max(1));
        let from = u128::from(self.from) * 10;
        let tenths = if self.to >= self.from { from + moved } else { from - moved };
        format!("{}.{}", tenths / 10, tenths % 10)
    }
}

/// Draws one task's response times: the share of jobs that took at most a time, the histogram behind
/// it, and the bound.
pub(super) fn distribution(task: &TaskFacts, source: &SourceRecord) -> String {
    let steps = &source.response_ns_steps;
    let jobs: u64 = steps.iter().map(|step| step.1).sum();
    let longest = steps.last().map_or(0, |step| step.0);
    let end = longest.max(task.bound_ns.unwrap_or(0)).max(1);
    // A little room right of the bound.
    let across = Scale { value_max: end + end / 20, from: LEFT, to: RIGHT };
    let up = Scale { value_max: jobs, from: BOTTOM, to: TOP };
    let title = escaped(&task.name);
    let bound = task.bound_ns.map_or("no bound".to_owned(), |ns| format!("bound {}", ms(Some(ns))));
    let longest = ms(task.response_ns_max);
    let mut svg = Markup::default();
    writeln!(
        svg,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\"><title>{title}: longest {longest}, \
         {bound}</title><text class=\"title\" x=\"{LEFT}\" y=\"14\">{title}</text>"
    );
    svg.raw(&bars(steps, &across));
    svg.raw(&curve(steps, &across, &up));
    if let Some(bound) = task.bound_ns {
        let x = across.at(bound);
        writeln!(svg, "<path class=\"bound\" d=\"M{x} {TOP}V{BOTTOM}\"/>");
    }
    for (share, label) in [(0, "0 %"), (jobs / 2, "50 %"), (jobs, "100 %")] {
        let (x, y) = (LEFT - 4, up.at(share));
        write!(svg, "<text x=\"{x}\" y=\"{y}\" dy=\"4\" text-anchor=\"end\">{label}</text>");
    }
    let below = BOTTOM + 16;
    writeln!(
        svg,
        "<path class=\"axis\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/><text x=\"{LEFT}\" \
         y=\"{below}\">0</text><text x=\"{RIGHT}\" y=\"{below}\" text-anchor=\"end\">longest \
         {longest}, {bound}</text></svg>"
    );
    svg.into_text()
}

/// Draws the number of jobs in each of [`BARS`] equal stretches of time.
fn bars(steps: &[(u64, u64)], across: &Scale) -> String {
    let bar_of = |ns: u64| {
        let bar = u128::from(ns) * u128::from(BARS) / u128::from(across.value_max);
        u64::try_from(bar).expect("at most the number of bars")
    };
    let mut counts = BTreeMap::new();
    for &(ns, count) in steps {
        *counts.entry(bar_of(ns)).or_insert(0_u64) += count;
    }
    let up =
        Scale { value_max: counts.values().copied().max().unwrap_or(0), from: BOTTOM, to: TOP };
    let place = Scale { value_max: BARS, from: LEFT, to: RIGHT };
    let mut path = Markup::default();
    for (bar, count) in counts {
        let (left, right, top) = (place.at(bar), place.at(bar + 1), up.at(count));
        write!(path, "M{left} {BOTTOM}V{top}H{right}V{BOTTOM}Z");
    }
    format!("<path class=\"bar\" d=\"{}\"/>\n", path.into_text())
}

/// Draws the share of jobs that took at most a time.
fn curve(steps: &[(u64, u64)], across: &Scale, up: &Scale) -> String {
    let mut path = Markup::default();
    write!(path, "M{LEFT} {BOTTOM}");
    let stride = steps.len().div_ceil(POINTS).max(1);
    let mut up_to = 0;
    for (index, &(ns, count)) in steps.iter().enumerate() {
        up_to += count;
        // Joined steps rise at their last time, so that the curve never promises more than was seen.
        if (index + 1) % stride == 0 || index + 1 == steps.len() {
            write!(path, "H{}V{}", across.at(ns), up.at(up_to));
        }
    }
    format!("<path class=\"curve\" d=\"{}H{RIGHT}\"/>\n", path.into_text())
}

/// The height of a row of a timeline, and the width of its names.
const ROW: u64 = 14;
const NAMES: u64 = 150;
const TIMELINE: u64 = 1_000;

/// A request's way through the interval.
#[derive(Default)]
struct Way {
    source: u32,
    released: Option<u64>,
    dispatched: Option<u64>,
    left: Option<u64>,
}

/// Draws when the requests of each source waited and were served.
pub(super) fn timeline(interval: &BusyIntervalRecord, sources: &[SourceRecord]) -> String {
    let mut ways: BTreeMap<u64, Way> = BTreeMap::new();
    let mut batches = BTreeMap::new();
    for event in &interval.events {
        let way = ways.entry(event.request).or_default();
        way.source = event.source;
        let at = Some(event.at_ns);
        match event.step {
            StepRecord::Released => way.released = at,
            StepRecord::Dispatched => {
                way.dispatched = at;
                batches.insert(event.batch, event.at_ns);
            }
            StepRecord::Completed | StepRecord::Dropped => way.left = at,
        }
    }
    let rows: BTreeMap<u32, u64> = {
        let mut shown: Vec<u32> = ways.values().map(|way| way.source).collect();
        shown.sort_unstable();
        shown.dedup();
        shown.into_iter().zip(0..).collect()
    };
    let begin = interval.events.first().map_or(interval.begin_ns, |event| event.at_ns);
    let begin = begin.min(interval.begin_ns);
    let last = interval.events.last().map_or(interval.end_ns, |event| event.at_ns);
    // Without its last events, an interval is drawn as far as they go.
    let end = if interval.events_left_out > 0 { last } else { interval.end_ns };
    let across = Scale { value_max: (end - begin).max(1), from: NAMES, to: TIMELINE - 4 };
    let bottom = ROW * (rows.len() as u64 + 1);
    let height = bottom + 20;
    let mut svg = Markup::default();
    writeln!(
        svg,
        "<div class=\"scroll\"><svg viewBox=\"0 0 {TIMELINE} {height}\" role=\"img\" \
         style=\"min-width:700px\"><title>The longest busy interval</title>"
    );
    for at in batches.values() {
        let x = across.at(at - begin);
        write!(svg, "<path class=\"batch\" d=\"M{x} {ROW}V{bottom}\"/>");
    }
    for (source, row) in &rows {
        let y = ROW * (row + 1) + 10;
        let name = sources.get(*source as usize).map_or("", |source| &source.name);
        writeln!(svg, "<text x=\"0\" y=\"{y}\">{}</text>", escaped(name));
    }
    for way in ways.values() {
        let y = ROW * (rows[&way.source] + 1) + 6;
        let left = way.left.unwrap_or(end);
        let mut line = |class: &str, from: u64, to: u64| {
            let [from, to] = [from, to].map(|at| across.at(at - begin));
            write!(svg, "<path class=\"{class}\" d=\"M{from} {y}H{to}\"/>");
        };
        if let Some(released) = way.released {
            line("waits", released, way.dispatched.unwrap_or(left));
        }
        if let Some(dispatched) = way.dispatched {
            line("served", dispatched, left);
        }
    }
    let (y, right) = (bottom + 14, TIMELINE - 4);
    let length = ms(Some(end - begin));
    writeln!(
        svg,
        "<path class=\"axis\" d=\"M{NAMES} {ROW}V{bottom}H{right}\"/><text x=\"{NAMES}\" \
         y=\"{y}\">0</text><text x=\"{right}\" y=\"{y}\" text-anchor=\"end\">{length}</text>\
         </svg></div>"
    );
    svg.into_text()
}

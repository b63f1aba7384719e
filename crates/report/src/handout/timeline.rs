// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws a busy interval: when the requests of each source waited and were served.

use super::chart::MS;
use super::frame::{Frame, Outline};
use super::html::Markup;
use super::ms;
use crate::plot::Axis;
use crate::result::{BusyIntervalRecord, SourceRecord, Ways};

/// The width of the chart, in pixels.
const WIDTH: u64 = 1_040;
/// The height of a row, in pixels.
const ROW: u64 = 14;
/// The largest number of characters in a name.
const LETTERS: usize = 22;

/// Draws when the requests of each source waited and were served.
pub(super) fn timeline(interval: &BusyIntervalRecord, sources: &[SourceRecord]) -> String {
    let ways = Ways::of(interval);
    let rows = ways.rows();
    let name = |source: u32| sources.get(source as usize).map_or("", |source| &source.name);
    let letters = rows.keys().map(|&source| name(source).chars().count()).max().unwrap_or(0);
    let outline = Outline {
        width: WIDTH,
        height: ROW * rows.len().max(1) as u64,
        left: 14 + 7 * letters.min(LETTERS) as u64,
    };
    let x = Axis::ending_at(ways.end - ways.begin, "time from its begin", MS);
    let mut picture = Markup::default();
    let across = |at: u64| outline.across(&x, at.saturating_sub(ways.begin));
    for &at in ways.batches.values() {
        write!(picture, "<path class=\"batch\" d=\"M{} 0V{}\"/>", across(at), outline.height);
    }
    for way in ways.requests.values() {
        let y = ROW * rows[&way.source] + ROW / 2;
        let left = way.left.unwrap_or(ways.end);
        let mut line = |class: &str, from: u64, to: u64| {
            write!(picture, "<path class=\"{class}\" d=\"M{} {y}H{}\"/>", across(from), across(to));
        };
        if let Some(released) = way.released {
            line("waits", released, way.dispatched.unwrap_or(left));
        }
        if let Some(dispatched) = way.dispatched {
            line("served", dispatched, left);
        }
    }
    let label = |(&source, row): (&u32, &u64)| {
        let shown: String = name(source).chars().take(LETTERS).collect();
        ((ROW * row + ROW / 2).to_string(), shown)
    };
    let length = ms(Some(interval.end_ns - interval.begin_ns));
    let frame = Frame {
        outline,
        title: "Longest busy interval",
        remark: &format!("{length} with real-time work"),
        legend: &[
            ("waits", "released and waiting"),
            ("served", "on the drive"),
            ("batch", "a batch is sent"),
        ],
        x: &x,
        labels: rows.iter().map(label).collect(),
    };
    frame.draw(&picture.into_text())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The response times of each entry and source as a row of bars over one logarithmic axis.

use tidegate_model::Duration;
use tidegate_stats::Distribution;

use super::WatchReport;
use super::text::SOURCES_MAX;
use crate::figures::{count, thousands};
use crate::page::{Page, Tone, printable};
use crate::plot::bar;

/// The edges of a decade in hundredths of its start; consecutive edges differ by a factor of about
/// the twelfth root of 10.
const EDGES: [u64; 12] = [100, 121, 147, 178, 215, 261, 316, 383, 464, 562, 681, 825];
/// The numbers of edges that a cell can span, the finest first.
const SPANS: [usize; 6] = [1, 2, 3, 4, 6, 12];
/// The smallest and the largest number of columns of a row.
const COLUMNS: std::ops::RangeInclusive<usize> = 30..=79;
/// The largest number of characters in a name.
const LETTERS: usize = 20;

/// A row of bars, for an entry or a source.
struct Row<'a> {
    name: String,
    responses: &'a Distribution,
    bound: Option<Duration>,
    /// The number of responses above the bound.
    exceeded: u64,
    tone: Option<Tone>,
}

impl Row<'_> {
    /// Returns the row's shortest and longest response times.
    fn times(&self) -> impl Iterator<Item = Duration> {
        [self.responses.min(), self.responses.max()].into_iter().flatten()
    }
}

/// The cells into which all rows are divided.
struct Cells {
    /// The edge at which the first cell begins, counted from 1 ns; always the start of a decade.
    first: usize,
    count: usize,
    /// The number of edges that a cell spans.
    span: usize,
}

impl Cells {
    /// Returns the finest cells that contain these times, and the bounds with a cell on either
    /// side, within `columns` columns.
    fn of(times: &[Duration], bounds: &[Duration], columns: usize) -> Option<Self> {
        let edges = times.iter().map(|&time| edge_of(time));
        let (lowest, highest) = (edges.clone().min()?, edges.max()?);
        let marks = bounds.iter().map(|&bound| edge_of(bound));
        let of_span = |span: usize| {
            let lowest = marks.clone().map(|mark| mark.saturating_sub(span)).chain([lowest]).min();
            let highest = marks.clone().map(|mark| mark + span).chain([highest]).max();
            let first = lowest.unwrap_or(0) / EDGES.len() * EDGES.len();
            Self { first, count: (highest.unwrap_or(0) - first) / span + 1, span }
        };
        let mut fitting = SPANS.map(of_span).into_iter();
        fitting.find(|it| it.count <= columns).or_else(|| SPANS.last().map(|&span| of_span(span)))
    }

    fn place(&self, time: Duration) -> usize {
        (edge_of(time) - self.first) / self.span
    }

    /// Returns the axis: the label of each decade, at the cell in which the decade begins.
    fn axis(&self) -> String {
        let mut line = String::new();
        let decade = EDGES.len();
        for edge in (self.first..).step_by(decade) {
            let cell = (edge - self.first) / self.span;
            if cell >= self.count {
                break;
            }
            let label = decade_label(edge / decade);
            if cell >= line.chars().count() + usize::from(!line.is_empty()) {
                line = format!("{line:cell$}|{label}");
            }
        }
        line
    }

    /// Returns the bars of a row. Responses within the bound are to the left of its mark and all
    /// others to the right, at most one cell from their true position.
    fn bars(&self, row: &Row<'_>) -> String {
        let mut counts = vec![0_u64; self.count];
        let mark = row.bound.map(|bound| self.place(bound));
        // Steps are rounded up, so their times alone do not tell which responses are within the
        // bound.
        let mut within = row.responses.count().saturating_sub(row.exceeded);
        for (time, count) in row.responses.steps() {
            let place = self.place(time);
            let before = mark.map_or(place, |mark| place.min(mark.saturating_sub(1)));
            let behind = mark.map_or(place, |mark| place.max(mark + 1));
            let left = count.min(within);
            within -= left;
            counts[before] += left;
            counts[behind] += count - left;
        }
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let mut bars: Vec<_> =
            counts.into_iter().map(|count| bar(count.into(), most.into())).collect();
        if let Some(mark) = mark {
            bars[mark] = '|';
        }
        bars.into_iter().collect()
    }
}

/// Returns the index of the last edge that a time reaches.
fn edge_of(time: Duration) -> usize {
    let ns = u128::from(time.ns().max(1));
    let decade = ns.ilog10();
    let start = 10_u128.pow(decade);
    let reached = EDGES.iter().take_while(|&&edge| u128::from(edge) * start <= ns * 100).count();
    decade as usize * EDGES.len() + reached - 1
}

/// Formats ten to the power `power` nanoseconds.
fn decade_label(power: usize) -> String {
    const UNITS: [&str; 3] = ["ns", "us", "ms"];
    match UNITS.get(power / 3) {
        Some(unit) => format!("{}{unit}", 10_u64.pow(u32::try_from(power % 3).expect("below 3"))),
        None => format!("{}s", 10_u64.pow(u32::try_from(power - 9).expect("below 11"))),
    }
}

impl WatchReport<'_> {
    /// Writes the response times of each entry and source as a row of bars.
    pub fn write_plots(&self, page: &mut Page) {
        let rows = self.rows();
        let times: Vec<_> = rows.iter().flat_map(Row::times).collect();
        let bounds: Vec<_> = rows.iter().filter_map(|row| row.bound).collect();
        let letters = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        let letters = letters.min(LETTERS);
        let requests = rows.iter().map(|row| thousands(row.responses.count()).len()).max();
        let beside = letters + 4 + requests.unwrap_or(0);
        let room = page.columns_within(COLUMNS).saturating_sub(beside);
        writeln!(page);
        let Some(cells) = Cells::of(&times, &bounds, room) else {
            page.legend("no request completed, so there are no response times to draw");
            return;
        };
        page.legend("requests by response time, each row up to its fullest cell; | is the bound");
        page.toned(&format!("  {:letters$} {}", "", cells.axis()), None);
        for row in &rows {
            let name: String = row.name.chars().take(letters).collect();
            let (bars, number) = (cells.bars(row), thousands(row.responses.count()));
            page.toned(&format!("  {name:letters$} {bars} {number}"), row.tone);
        }
        if let Some(more) = self.sources.len().checked_sub(SOURCES_MAX).filter(|&more| more > 0) {
            page.legend(format!("and {}; --json has all", count(more, "more source")));
        }
    }

    /// Returns the rows: entries, then sources, each in their order.
    fn rows(&self) -> Vec<Row<'_>> {
        let entries = self.entries.iter().map(|entry| Row {
            name: printable(entry.name),
            responses: entry.responses,
            bound: entry.bound_ns.map(|it| it.0),
            exceeded: entry.exceeded.saturating_sub(entry.waiting),
            tone: (entry.exceeded > 0).then_some(Tone::Bad),
        });
        let is_alone =
            |title: &str| self.sources.iter().filter(|it| it.title == title).count() == 1;
        let sources = self.sources.iter().take(SOURCES_MAX).map(|source| Row {
            name: if is_alone(source.title) {
                printable(source.title)
            } else {
                printable(&format!("{} {}", source.name, source.class))
            },
            responses: source.responses,
            bound: None,
            exceeded: 0,
            tone: None,
        });
        entries.chain(sources).filter(|row| row.responses.count() > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use tidegate_stats::Memory;

    use super::*;

    /// Goal: a cell contains the times from its edge up to the next one, also at the ends of a
    /// decade.
    #[test]
    fn times_fall_between_edges() {
        let ms = |us| Duration::from_us(us);
        for (us, edge) in [(1_000, 0), (1_209, 0), (1_210, 1), (9_999, 11), (10_000, 12)] {
            assert_eq!(edge_of(ms(us)), 6 * EDGES.len() + edge, "{us}");
        }
        assert_eq!(edge_of(Duration::ZERO), 0);
        assert!(edge_of(Duration::MAX) > 0);
    }

    #[test]
    fn cells_hold_all_times_and_fit() {
        let times = [Duration::from_ns(7), Duration::from_ms(90_000)];
        for columns in [1, 10, 12, 40, 60, 150] {
            let cells = Cells::of(&times, &[], columns).unwrap();
            assert!(cells.count <= columns.max(11), "{columns}");
            assert!(times.iter().all(|&time| cells.place(time) < cells.count), "{columns}");
        }
        assert!(Cells::of(&[], &[], 10).is_none());
    }

    /// Goal: the mark of the bound is always shown, with every response within the bound to its
    /// left and every other one to its right. Method: the bound as the lowest and as the highest
    /// time, and responses that round up to more than the bound.
    #[test]
    fn a_bound_divides_the_responses_of_a_row() {
        let bound = Duration::from_ns(10_003_001);
        let (within, above) = (Duration::from_ns(10_003_000), Duration::from_ns(10_003_002));
        for (name, times, exceeded) in [
            ("all within", vec![within; 3], 0),
            ("both", vec![within, above], 1),
            ("all above", vec![above; 2], 2),
            ("from far away", vec![Duration::from_us(1), Duration::from_ms(90_000)], 1),
        ] {
            let mut responses = Distribution::new(Memory::Beforehand);
            for &time in &times {
                responses.record(time);
            }
            for columns in [3, 8, 60] {
                let cells = Cells::of(&times, &[bound], columns).unwrap();
                let (name, responses) = (name.to_owned(), &responses);
                let row = Row { name, responses, bound: Some(bound), exceeded, tone: None };
                let bars = cells.bars(&row);
                let (left, right) = bars.split_once('|').expect("the mark");
                let is_used = [left, right].map(|side| !side.trim().is_empty());
                let is_within = exceeded < times.len() as u64;
                assert_eq!(is_used, [is_within, exceeded > 0], "{} {bars}", row.name);
            }
        }
    }
}

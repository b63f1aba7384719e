// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text of `tidegate profile`: some entries of each measured table.

use tidegate_measure::{Finding, Kind, Profile, StartTimes};
use tidegate_model::cost::RequestCost;
use tidegate_model::drive_file::{
    FlowPlace, MeasuredTable, PredictionErrors, SingleTimes, Throughput,
};
use tidegate_model::{Bytes, CostModel, Duration, Op};

use crate::figures;
use crate::page::{Page, Table};
use crate::paragraph;
use crate::structure;

/// Writes the measurements, one kind of request after the other.
pub(super) fn write(profile: &Profile, page: &mut Page) {
    let file = &profile.file;
    for single in &file.single {
        write_single(single, page);
    }
    for measured in &file.batch {
        write_batch(measured, page);
    }
    for starts in profile.starts.chunk_by(|a, b| a.kind == b.kind) {
        let Kind { op, size } = starts[0].kind;
        let is_it = |table: &&MeasuredTable| (table.op, table.size) == (Some(op), Some(size));
        write_drains(starts, file.drain.iter().find(is_it), page);
    }
    for measured in &file.priority {
        write_priority(measured, page);
    }
    let table = |flow: &Throughput| (flow.op, flow.size, flow.elevator.is_some());
    for flows in file.throughput.chunk_by(|a, b| table(a) == table(b)) {
        write_throughput(flows, page);
    }
    for errors in &file.prediction {
        write_prediction(errors, page);
    }
    if let Some(fit) = &file.fit {
        write_structure(fit, page);
    }
    for finding in &profile.findings {
        write_tail(finding, page);
    }
    if let Some(cost) = &file.cost {
        write_costs(cost, page);
    }
    if let Some(flush) = file.flush_max {
        page.labelled("Flush", format!("longest observed {}", figures::ms_ceil(flush)));
    }
    if let Some(starved) = file.starvation_max {
        page.labelled("Starvation", format!("longest observed {}", figures::ms_ceil(starved)));
    }
}

/// Writes the device's structure, the guessed parts of it, and its seek curve.
fn write_structure(fit: &toml::Table, page: &mut Page) {
    let mut facts = structure::facts(fit);
    facts.extend(structure::guessed(fit));
    paragraph::write(&facts, page);
    if let Some(chart) = structure::seek_chart(fit) {
        writeln!(page);
        page.chart(&chart);
        writeln!(page);
    }
}

/// Returns 1, 2, 4, .., and finally `last`.
fn powers(last: usize) -> impl Iterator<Item = usize> {
    let powers = std::iter::successors(Some(1), |size| Some(size * 2));
    powers.take_while(move |&size| size < last).chain([last])
}

fn ms(ns: u64) -> String {
    figures::ms_ceil(Duration::from_ns(ns))
}

/// Writes the extreme-value distributions of the longest times, or the reason why there are none.
fn write_tail(finding: &Finding, page: &mut Page) {
    if let Some(tails) = finding.tail.as_ref().filter(|tails| !tails.is_too_few()) {
        page.labelled("Tail", format!("{}: {tails}", finding.name()));
    }
}

/// Writes the cost that each request adds to a batch.
fn write_costs(cost: &CostModel, page: &mut Page) {
    let of = |it: &RequestCost| {
        format!("{} per {} of {}", figures::ms_ceil(it.time_max), it.op.name(), it.size)
    };
    let each: Vec<_> = cost.requests.iter().map(of).collect();
    let first = figures::ms_ceil(cost.positioning_max);
    page.labelled(
        "Costs",
        format!("the longest observed batches take at most {first} plus {}", each.join(", ")),
    );
}

/// The deadlines for which the table gives the largest depth that drains in time.
const DEADLINES_MS: [u64; 9] = [1, 2, 5, 10, 20, 40, 75, 160, 300];

/// Writes the title of a table.
fn write_title(what: &str, op: Op, size: Bytes, page: &mut Page) {
    writeln!(page);
    page.paragraph(format!("{what}, {}", Kind { op, size }));
}

fn write_table_title(what: &str, measured: &MeasuredTable, page: &mut Page) {
    if let (Some(op), Some(size)) = (measured.op, measured.size) {
        write_title(what, op, size, page);
    }
}

fn write_single(single: &SingleTimes, page: &mut Page) {
    write_title("One at a time", single.op, single.size, page);
    let [min, p10, p50, p90, p99, p999] = single.ns_quantiles;
    let row = [min, p10, p50, p90, p99, p999, single.ns_max].map(ms).to_vec();
    write_rows(&["least", "10 %", "median", "90 %", "99 %", "99.9 %", "maximum"], vec![row], page);
    if single.slow.is_empty() {
        return;
    }
    let again = |ns: Option<u64>| ns.map_or_else(String::new, ms);
    let row = |place: &tidegate_model::drive_file::SlowPlace| {
        vec![place.sector.to_string(), ms(place.ns), again(place.again_ns_min)]
    };
    let rows = single.slow.iter().map(row).collect();
    write_rows(&["slow at sector", "took", "repeated, at least"], rows, page);
}

fn write_prediction(errors: &PredictionErrors, page: &mut Page) {
    write_title("Errors of predicted times", errors.op, errors.size, page);
    let [_, _, p50, p90, p99, p999] = errors.error_ns_quantiles;
    let row = [p50, p90, p99, p999, errors.late_ns_max, errors.early_ns_max].map(ms).to_vec();
    write_rows(&["median", "90 %", "99 %", "99.9 %", "latest", "earliest"], vec![row], page);
}

/// Writes the throughput of flows, with a column for each position and each order.
fn write_throughput(flows: &[Throughput], page: &mut Page) {
    let Some(first) = flows.iter().max_by_key(|flow| flow.depth.len()) else { return };
    write_title("Throughput: median and slowest stretch", first.op, first.size, page);
    let rows = first.depth.iter().map(|depth| {
        let rate = |flow: &Throughput| {
            let Some(index) = flow.depth.iter().position(|it| it == depth) else {
                return "-".to_owned();
            };
            let [median, least] = [&flow.bytes_per_s, &flow.bytes_per_s_min]
                .map(|list| figures::throughput(list[index]));
            format!("{median} ({least})")
        };
        [depth.to_string()].into_iter().chain(flows.iter().map(rate)).collect()
    });
    let names = flows.iter().map(|flow| match (flow.place, flow.elevator) {
        (FlowPlace::Random, None) => "random".to_owned(),
        (FlowPlace::Random, Some(all)) => format!("elevator of {all}"),
        (FlowPlace::SequentialFirst, _) => "sequential, first tenth".to_owned(),
        (FlowPlace::SequentialLast, _) => "sequential, last tenth".to_owned(),
    });
    let header: Vec<String> = ["on the drive".to_owned()].into_iter().chain(names).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    write_rows(&header, rows.collect(), page);
}

/// Writes batch times together with the times of single requests.
fn write_batch(measured: &MeasuredTable, page: &mut Page) {
    let [_, _, p50, _, _, p999] = &measured.quantiles_ns;
    // With fewer samples, the quantile equals the maximum.
    let is_known = measured.samples.is_some_and(|samples| samples >= 1000);
    let rows = powers(measured.ns_max.len()).map(|n: usize| {
        let (batch, n_wide) = (relied_on(measured, n).max(1), n as u64);
        let gained = || Some(gain(*p50.first()?, (*p50.get(n - 1)?).max(1), n_wide));
        vec![
            n.to_string(),
            quantile(p50, n),
            gained().unwrap_or_else(|| "-".to_owned()),
            if is_known { quantile(p999, n) } else { "-".to_owned() },
            ms(batch),
            ms(batch / n_wide),
        ]
    });
    write_table_title("Batches", measured, page);
    let header = ["requests", "median", "gain of median", "99.9 %", "b(i): maximum", "per request"];
    let table = Table::new(&header, rows.collect(), 0);
    page.put(table.optional(&["per request", "99.9 %", "gain of median"]));
    writeln!(page);
    if let Some(confidence) = &measured.confidence {
        page.labelled("Confidence", confidence);
    }
}

/// Returns an entry of a quantile; a table that was measured only at families of places has no
/// quantiles.
fn quantile(list: &[u64], requests: usize) -> String {
    list.get(requests - 1).map_or_else(|| "-".to_owned(), |&ns| ms(ns))
}

/// Returns the entry for `requests` requests as proofs use it: more requests never take less time,
/// although the longest observed times can decrease.
fn relied_on(measured: &MeasuredTable, requests: usize) -> u64 {
    let requests = u32::try_from(requests).expect("at most the depth");
    measured.table.time_max(requests).ns()
}

/// Writes the longest drain from each starting state, and the values that proofs use from the
/// resulting `table`.
fn write_drains(starts: &[StartTimes], table: Option<&MeasuredTable>, page: &mut Page) {
    let Some(last) = starts.iter().map(|times| times.longest.len()).min().filter(|&n| n > 0) else {
        return;
    };
    let table = table.filter(|table| table.ns_max.len() >= last);
    let rows = powers(last).map(|q| {
        let of_table = table.map(|table| ms(relied_on(table, q)));
        let of_starts = starts.iter().map(|times| figures::ms_ceil(times.longest[q - 1]));
        [q.to_string()].into_iter().chain(of_starts).chain(of_table).collect()
    });
    let names = starts.iter().map(|times| times.start.name());
    let header: Vec<_> =
        ["outstanding"].into_iter().chain(names).chain(table.map(|_| "drain(q)")).collect();
    write_title("Drains, longest for each start", starts[0].kind.op, starts[0].kind.size, page);
    write_rows(&header, rows.collect(), page);
    let longest = |q: u32| {
        let of_entry = starts.iter().filter_map(|times| times.longest.get(q as usize - 1));
        of_entry.copied().max()
    };
    let deepest = |&ms: &u64| {
        let deadline = Duration::from_ms(ms);
        let kept = |q: &u32| longest(*q).is_some_and(|drain| drain <= deadline);
        (1..).take(last).take_while(kept).last().map(|q| format!("{q} in {deadline}"))
    };
    let depths: Vec<_> = DEADLINES_MS.iter().filter_map(deepest).collect();
    page.labelled("Drained", format!("by a deadline: {}", depths.join(", ")));
    writeln!(page);
}

fn write_priority(measured: &MeasuredTable, page: &mut Page) {
    let [_, _, p50, _, _, p999] = &measured.quantiles_ns;
    let rows = powers(measured.ns_max.len()).map(|q| {
        vec![q.to_string(), quantile(p50, q), quantile(p999, q), ms(relied_on(measured, q))]
    });
    write_table_title("Of the drive's own priority", measured, page);
    write_rows(&["of priority", "median", "99.9 %", "priority(q): maximum"], rows.collect(), page);
}

fn write_rows(header: &[&str], rows: Vec<Vec<String>>, page: &mut Page) {
    page.table(header, rows, 0);
    writeln!(page);
}

/// Returns the speed-up of the median batch over its requests one at a time, rounded down.
fn gain(single_ns: u64, batch_ns: u64, requests: u64) -> String {
    let one_at_a_time = u128::from(single_ns) * u128::from(requests);
    let percent = one_at_a_time * 100 / u128::from(batch_ns);
    format!("{}.{:02}x", percent / 100, percent % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_shown_as_proofs_use_it() {
        let text = "name = \"d\"\nkind = \"recorded\"\ndepth = 3\n[[batch]]\nop = \"read\"\n\
                    size = \"4KiB\"\nns_max = [100, 300, 200]\n";
        let file = tidegate_model::DriveFile::parse(text).unwrap();
        let shown = [1, 2, 3].map(|requests| relied_on(&file.batch[0], requests));
        assert_eq!(shown, [100, 300, 300]);
    }

    #[test]
    fn gain_is_how_often_a_batch_would_fit_into_its_requests_alone() {
        assert_eq!(gain(10, 10, 1), "1.00x");
        assert_eq!(gain(10, 30, 8), "2.66x");
        assert_eq!(gain(1, 1, 4096), "4096.00x", "faster than the clock");
        assert_eq!(gain(u64::MAX, 1 << 63, 2), "3.99x");
    }

    #[test]
    fn powers_end_with_the_last_entry() {
        let of = |last| powers(last).collect::<Vec<_>>();
        assert_eq!((of(1), of(8), of(20)), (vec![1], vec![1, 2, 4, 8], vec![1, 2, 4, 8, 16, 20]));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What `tidegate profile` shows of what it measured: some entries of each table.

use measure::{Start, StartTimes};
use model::drive_file::MeasuredTable;
use model::{DriveFile, Duration};

use crate::show::{self, out, outln};

/// Prints the tables of batches, drains and priority, and the starvation.
pub(crate) fn print(file: &DriveFile, starts: &[StartTimes]) {
    if let Some(measured) = file.batch.first() {
        print_batch(measured);
    }
    print_drains(starts);
    if let Some(measured) = file.priority.first() {
        print_priority(measured);
    }
    if let Some(starved) = file.starvation_max {
        show::labelled("Starvation", &format!("at most {} seen", show::ms_ceil(starved)));
    }
}

/// 1, 2, 4, .. and the last.
fn powers(last: usize) -> impl Iterator<Item = usize> {
    let powers = std::iter::successors(Some(1), |size| Some(size * 2));
    powers.take_while(move |&size| size < last).chain([last])
}

fn ms(ns: u64) -> String {
    show::ms_ceil(Duration::from_ns(ns))
}

/// What was measured beside what one at a time would take.
fn print_batch(measured: &MeasuredTable) {
    let [_, _, p50, _, _, p999] = &measured.quantiles_ns;
    let single = measured.ns_max[0];
    let rows = powers(measured.ns_max.len()).map(|n: usize| {
        let (batch, n_wide) = (measured.ns_max[n - 1].max(1), n as u64);
        vec![
            n.to_string(),
            ms(p50[n - 1]),
            ms(p999[n - 1]),
            ms(measured.ns_max[n - 1]),
            ms(batch / n_wide),
            gain(single, batch, n_wide),
        ]
    });
    let header =
        ["requests", "median", "99.9 %", "b(i): maximum", "per request", "gain over one at a time"];
    print_rows(&header, rows.collect());
    if let Some(confidence) = &measured.confidence {
        show::labelled("Confidence", confidence);
    }
}

/// The longest drain from each start, and the longest of those from random places, which is
/// what the table has.
fn print_drains(starts: &[StartTimes]) {
    let Some(last) = starts.iter().map(|times| times.longest.len()).min().filter(|&n| n > 0) else {
        return;
    };
    let random = || starts.iter().filter(|times| Start::RANDOM.contains(&times.start));
    let rows = powers(last).map(|q| {
        let longest = |times: &StartTimes| times.longest[q - 1];
        let table = random().map(longest).max().map(show::ms_ceil);
        let of_starts = starts.iter().map(|times| show::ms_ceil(longest(times)));
        [q.to_string()].into_iter().chain(of_starts).chain(table).collect()
    });
    let names = starts.iter().map(|times| times.start.name());
    let table = random().next().map(|_| "drain(q)");
    let header: Vec<_> = ["outstanding"].into_iter().chain(names).chain(table).collect();
    print_rows(&header, rows.collect());
}

fn print_priority(measured: &MeasuredTable) {
    let [_, _, p50, _, _, p999] = &measured.quantiles_ns;
    let rows = powers(measured.ns_max.len()).map(|q| {
        let times = [p50, p999, &measured.ns_max].map(|list| ms(list[q - 1]));
        [q.to_string()].into_iter().chain(times).collect()
    });
    print_rows(&["of priority", "median", "99.9 %", "priority(q): maximum"], rows.collect());
}

fn print_rows(header: &[&str], rows: Vec<Vec<String>>) {
    outln!();
    out!("{}", show::table(header, rows, 0));
    outln!();
}

/// How many times faster a batch is than its requests one at a time, rounded down.
fn gain(single_ns: u64, batch_ns: u64, requests: u64) -> String {
    let one_at_a_time = u128::from(single_ns) * u128::from(requests);
    let percent = one_at_a_time * 100 / u128::from(batch_ns);
    format!("{}.{:02}x", percent / 100, percent % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

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

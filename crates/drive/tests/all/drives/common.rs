// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Helpers for the drive tests: requests, tables, and a host that only waits.

use tidegate_drive::{Completion, Drive};
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::{BatchTable, Bytes, Class, Duration, Op, Request, RequestId, Time};

pub(crate) fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

pub(crate) fn request(id: u64) -> Request {
    Request::plain(RequestId(id), Class::Hard, Bytes::from_kib(4))
}

/// Returns requests with the ids `first` to `first + count - 1`.
pub(crate) fn requests(first: u64, count: u64) -> Vec<Request> {
    (first..first + count).map(request).collect()
}

pub(crate) fn table(ns_max: &[u64]) -> BatchTable {
    let times: Vec<Duration> = ns_max.iter().copied().map(Duration::from_ns).collect();
    BatchTable::new(&times).expect("a sound table")
}

/// Returns a measured table with all quantiles: columns are minimum, 10 %, 50 %, 90 %, 99 %, 99.9
/// % and maximum; one row for each number of requests.
pub(crate) fn measured(op: Option<Op>, size: Option<Bytes>, rows: &[[u64; 7]]) -> MeasuredTable {
    let column = |level: usize| -> Vec<u64> { rows.iter().map(|row| row[level]).collect() };
    MeasuredTable {
        op,
        size,
        ns_max: column(6),
        quantiles_ns: std::array::from_fn(column),
        samples: None,
        samples_effective: None,
        confidence: None,
        depth: None,
        families: Vec::new(),
        table: table(&column(6)),
    }
}

/// Lets the drive finish; returns its completions.
pub(crate) fn finish(drive: &mut impl Drive) -> Vec<Completion> {
    let mut completions = Vec::new();
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut completions);
    }
    completions
}

pub(crate) fn times_ns(completions: &[Completion]) -> Vec<u64> {
    completions.iter().map(|completion| completion.at.ns()).collect()
}

pub(crate) fn sorted_ids(completions: &[Completion]) -> Vec<u64> {
    let mut ids: Vec<u64> = completions.iter().map(|completion| completion.id.0).collect();
    ids.sort_unstable();
    ids
}

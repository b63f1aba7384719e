// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Residuals of a replay by kind of request: which kinds are simulated too fast or too slow.

use std::collections::BTreeMap;
use std::fmt;

use tidegate_model::{Duration, Op};

use super::TraceRequest;

/// The kind of a request: its operation, and its relation to the previous request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestKind {
    /// Whether the request writes.
    is_write: bool,
    /// Whether the previous request wrote.
    after_write: bool,
    /// Whether the request begins where the previous request ended.
    continues: bool,
}

impl RequestKind {
    /// Returns the kind of each request except the first, which has no predecessor.
    pub fn of_each(trace: &[TraceRequest]) -> impl Iterator<Item = Self> {
        trace.windows(2).map(|pair| {
            let [before, request] = [pair[0], pair[1]];
            Self {
                is_write: request.op == Op::Write,
                after_write: before.op == Op::Write,
                continues: before.start.get().checked_add(before.sectors)
                    == Some(request.start.get()),
            }
        })
    }
}

impl fmt::Display for RequestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |is_write| if is_write { "write" } else { "read" };
        let place = if self.continues { ", in sequence" } else { "" };
        let text = format!("{} after {}{place}", word(self.is_write), word(self.after_write));
        f.pad(&text)
    }
}

/// The residuals of one kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Residual {
    /// The kind of request.
    pub kind: RequestKind,
    /// The number of requests of this kind.
    pub count: u64,
    /// The mean of the simulated time less the measured time, in nanoseconds, rounded towards zero.
    pub mean_ns: i64,
}

/// Returns the mean residual of each kind of request that occurs.
///
/// # Panics
/// If `simulated` is not as long as the trace.
pub fn residuals(trace: &[TraceRequest], simulated: &[Duration]) -> Vec<Residual> {
    assert_eq!(trace.len(), simulated.len(), "one time for each request");
    let mut sums: BTreeMap<RequestKind, (u64, i128)> = BTreeMap::new();
    let rest = trace.iter().zip(simulated).skip(1);
    for (kind, (request, simulated)) in RequestKind::of_each(trace).zip(rest) {
        let (count, sum) = sums.entry(kind).or_default();
        *count += 1;
        *sum += i128::from(simulated.ns()) - i128::from(request.measured.ns());
    }
    let residual = |(kind, (count, sum)): (RequestKind, (u64, i128))| Residual {
        kind,
        count,
        mean_ns: i64::try_from(sum / i128::from(count)).expect("times of at most a day"),
    };
    sums.into_iter().map(residual).collect()
}

#[cfg(test)]
mod tests {
    use tidegate_model::Lba;

    use super::*;

    #[test]
    fn residuals_are_apart_by_kind_and_predecessor() {
        let us = Duration::from_us;
        let request = |op, start, measured| TraceRequest {
            op,
            start: Lba::new(start),
            sectors: 8,
            measured: us(measured),
            idle_after: Duration::ZERO,
        };
        let trace = [
            request(Op::Read, 0, 100),
            request(Op::Write, 8, 100),
            request(Op::Write, 100, 50),
            request(Op::Write, 200, 50),
        ];
        let found = residuals(&trace, &[us(1), us(90), us(60), us(70)]);
        let found: Vec<_> =
            found.iter().map(|it| (it.kind.to_string(), it.count, it.mean_ns)).collect();
        let expected = [
            ("write after read, in sequence".to_owned(), 1, -10_000),
            ("write after write".to_owned(), 2, 15_000),
        ];
        assert_eq!(found, expected);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The times that a drive typically takes for the requests of a workload. Predictions of throughput
//! rest on these times; no bound does.

use crate::drive_file::{DriveFile, FlowPlace, MeasuredTable, Throughput};
use crate::task::Op;
use crate::units::Bytes;

/// One second in nanoseconds.
const SECOND_NS: u128 = 1_000_000_000;

/// The typical times of requests of one kind at random places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypicalTimes {
    /// The times in a flow whose requests are sent immediately.
    pub random: FlowTimes,
    /// The times in flows of a host that sends its requests in the elevator's order, by the number
    /// that it keeps outstanding, the fewest first.
    pub elevator: Vec<(u32, FlowTimes)>,
    /// The median times of batches of 1, 2, .. requests, in ns; empty if they are unknown.
    pub batch_ns: Vec<u64>,
}

/// The mean time of one request, in ns, at several numbers of requests on the drive, the smallest
/// first. It has at least one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowTimes(Vec<(u32, u64)>);

impl FlowTimes {
    fn of(flow: &Throughput) -> Option<Self> {
        let ns = |rate: u64| {
            let ns = u128::from(flow.size.get()) * SECOND_NS / u128::from(rate.max(1));
            u64::try_from(ns).unwrap_or(u64::MAX)
        };
        let times =
            flow.depth.iter().zip(&flow.bytes_per_s).map(|(&depth, &rate)| (depth, ns(rate)));
        Some(Self(times.collect())).filter(|times| !times.0.is_empty())
    }

    /// Returns the time at this number of requests on the drive, linear between two measured ones.
    pub fn at(&self, depth: u32) -> u64 {
        between(&self.0, depth)
    }
}

impl TypicalTimes {
    /// Returns the times of requests of this operation and size; `None` without their throughput in
    /// a flow at random places or without their batch table.
    pub fn of(drive: &DriveFile, op: Op, size: Bytes) -> Option<Self> {
        let flows = drive
            .throughput
            .iter()
            .filter(|flow| (flow.op, flow.size, flow.place) == (op, size, FlowPlace::Random));
        let random = flows.clone().find(|flow| flow.elevator.is_none())?;
        let swept = flows.filter_map(|flow| Some((flow.elevator?, FlowTimes::of(flow)?)));
        let mut elevator: Vec<_> = swept.collect();
        elevator.sort_by_key(|&(outstanding, _)| outstanding);
        let is_it = |table: &&MeasuredTable| (table.op, table.size) == (Some(op), Some(size));
        let [_, _, median_ns, ..] = drive.batch.iter().find(is_it)?.quantiles_ns.clone();
        Some(Self { random: FlowTimes::of(random)?, elevator, batch_ns: median_ns })
    }

    /// Returns the mean time of a request in the elevator's order with this many requests on the
    /// drive and `outstanding` in all, linear between two measured numbers and constant above the
    /// largest; `None` below the smallest.
    pub fn in_sweep(&self, outstanding: u32, depth: u32) -> Option<u64> {
        let (least, _) = self.elevator.first()?;
        let at_depth = |(outstanding, times): &(u32, FlowTimes)| (*outstanding, times.at(depth));
        let times: Vec<_> = self.elevator.iter().map(at_depth).collect();
        (outstanding >= *least).then(|| between(&times, outstanding))
    }
}

/// Returns the value at `x`, linear between two points and constant outside.
fn between(points: &[(u32, u64)], x: u32) -> u64 {
    let (Some(&(first, low)), Some(&(_, last))) = (points.first(), points.last()) else {
        unreachable!("there is a point");
    };
    if x <= first {
        return low;
    }
    let pair = points.windows(2).find(|pair| x <= pair[1].0);
    let Some(&[(from, a), (to, b)]) = pair else { return last };
    let (done, whole) = (u128::from(x - from), u128::from(to - from));
    let value = (u128::from(a) * (whole - done) + u128::from(b) * done) / whole;
    u64::try_from(value).expect("between two such values")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_between_points_are_linear() {
        let points = [(1, 10), (2, 20), (4, 0)];
        assert_eq!([0, 1, 2, 3, 4, 9].map(|x| between(&points, x)), [10, 10, 20, 10, 0, 0]);
    }

    #[test]
    fn sweeps_are_known_from_the_smallest_number_on() {
        let flow = |ns| FlowTimes(vec![(1, ns)]);
        let elevator = vec![(16, flow(300)), (64, flow(100))];
        let times = TypicalTimes { random: flow(400), elevator, batch_ns: Vec::new() };
        let known = [15, 16, 40, 64, 450].map(|outstanding| times.in_sweep(outstanding, 1));
        assert_eq!(known, [None, Some(300), Some(200), Some(100), Some(100)]);
    }
}

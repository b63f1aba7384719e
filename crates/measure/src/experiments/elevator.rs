// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures how many bytes per second a device transfers while the host queues many requests and
//! sends them in ascending order of position, a few at a time. This is the rate that best effort in
//! elevator order can expect.
//!
//! A shallow queue on the device has a short bound. This experiment shows how much of a deep
//! queue's throughput the host's order regains.

use std::collections::BTreeSet;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::drive_file::FlowPlace;

use super::throughput::{Stretch, depths, table};
use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::Places;
use crate::procedure::{Pace, Procedure};
use crate::rounds::Grid;
use crate::subject::{Probe, TrialResult};

/// The numbers of requests that the host keeps outstanding.
const OUTSTANDING: [u32; 3] = [16, 64, 256];

/// The number of requests before a stretch, as a multiple of those outstanding. They form the first
/// sweep, whose requests are spread more evenly than those of later sweeps.
const BEGIN: u32 = 2;

/// The number of requests in a stretch, as a multiple of those outstanding: two sweeps.
const LENGTH: u32 = 4;

/// The number of samples of other experiments that one stretch stands for, because it lasts for
/// whole sweeps.
const SAMPLES_PER_STRETCH: u32 = 500;

impl Experiment {
    /// The throughput of requests in elevator order.
    pub const ELEVATOR: Self = Self::of(&Facts {
        name: "elevator",
        scope: Scope::EachKind,
        cell_name: CellName::Number,
        time: "throughput: sweeps of a host that sends its requests by rising position, their median",
        is_about_maxima: false,
        tail: None,
        is_omitted_when_quick: true,
        places_of: None,
        needs_priority: false,
    });
}

/// The procedure of [`Experiment::ELEVATOR`].
pub(super) struct Elevators;

impl Procedure for Elevators {
    fn grid(&self, params: &ProfileParams) -> Grid {
        let samples = params.samples.div_ceil(SAMPLES_PER_STRETCH);
        Grid { samples, cells: cells(params.depth).len(), ways: 1 }
    }

    fn requests(&self, params: &ProfileParams, _pace: Pace) -> u64 {
        let cells = cells(params.depth);
        let all: u64 =
            cells.iter().map(|cell| u64::from(cell.outstanding * (BEGIN + LENGTH))).sum();
        all / u64::try_from(cells.len()).expect("a few")
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let (places, cells) = (context.places(kind), cells(context.params.depth));
        let rounds = context.rounds(Experiment::ELEVATOR, kind, self.grid(context.params));
        let measured = context.measure(&rounds, |flow, index| {
            let Cell { outstanding, depth } = cells[index];
            let mut sweep = Sweep::start(places, outstanding - depth, flow.random);
            let (begin, length) = (BEGIN * outstanding, LENGTH * outstanding);
            Stretch { depth, begin, length }.time(flow, |random| sweep.next(random))
        })?;
        found.note(&rounds, &measured);
        let all: Vec<_> = cells.iter().zip(&measured.cells).collect();
        for of_one in all.chunk_by(|(a, _), (b, _)| a.outstanding == b.outstanding) {
            let outstanding = of_one[0].0.outstanding;
            let depths: Vec<u32> = of_one.iter().map(|(cell, _)| cell.depth).collect();
            let samples: Vec<_> = of_one.iter().map(|(_, samples)| *samples).collect();
            let length = |_| LENGTH * outstanding;
            let order = (FlowPlace::Random, Some(outstanding));
            found.file.throughput.extend(table(kind, order, &depths, length, &samples));
        }
        Ok(())
    }
}

/// One combination of requests outstanding and requests on the device.
struct Cell {
    /// The number of requests at the host and on the device together.
    outstanding: u32,
    /// The number of requests on the device.
    depth: u32,
}

/// Returns the cells of a device of this depth, in order of `outstanding`.
fn cells(depth: u32) -> Vec<Cell> {
    let of = |outstanding| {
        let depths = depths(depth).into_iter().filter(move |&depth| depth <= outstanding);
        depths.map(move |depth| Cell { outstanding, depth })
    };
    OUTSTANDING.into_iter().flat_map(of).collect()
}

/// The host's queue: requests at random places, served in elevator order (C-LOOK).
struct Sweep {
    places: Places,
    /// The indices of the places where requests wait.
    waiting: BTreeSet<usize>,
    /// The index of the last request's place.
    heads_at: usize,
}

impl Sweep {
    /// Creates a queue of `waiting` requests, or of as many as the target has room for.
    fn start(places: Places, waiting: u32, random: &mut Pcg64) -> Self {
        let mut sweep = Self { places, waiting: BTreeSet::new(), heads_at: 0 };
        while sweep.waiting.len() < (waiting as usize).min(places.count - 1) {
            sweep.release(random);
        }
        sweep
    }

    /// Adds a request at a random place where no request waits.
    fn release(&mut self, random: &mut Pcg64) {
        while !self.waiting.insert(random.random_range(0..self.places.count)) {}
    }

    /// Adds a request, and returns the next one in the sweep: the first above the heads, or else
    /// the lowest.
    fn next(&mut self, random: &mut Pcg64) -> Probe {
        self.release(random);
        let ahead = self.waiting.range(self.heads_at + 1..).next();
        self.heads_at = *ahead.or_else(|| self.waiting.first()).expect("one was released");
        self.waiting.remove(&self.heads_at);
        self.places.at(self.heads_at)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use tidegate_model::{Bytes, Op};

    use super::*;

    #[test]
    fn the_device_never_holds_more_than_the_host_has() {
        let all: Vec<_> = cells(20).iter().map(|cell| (cell.outstanding, cell.depth)).collect();
        assert_eq!(all[..5], [(16, 1), (16, 2), (16, 4), (16, 8), (16, 16)]);
        assert_eq!(all.last(), Some(&(256, 20)));
    }

    /// Goal: requests come in ascending order of position, and a sweep serves about twice the
    /// number of waiting requests. Method: counts how often the heads go back in 4,000 requests; in
    /// random order, that would be about half of them.
    #[test]
    fn a_sweep_rises_for_about_twice_the_waiting_requests() {
        let kind = Kind { op: Op::Read, size: Bytes::from_kib(4) };
        let places = Places { kind, count: 1_000_000 };
        let random = &mut Pcg64::seed_from_u64(1);
        let mut sweep = Sweep::start(places, 100, random);
        let drawn: Vec<u64> = (0..4_000).map(|_| sweep.next(random).start.get()).collect();
        let back = drawn.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert!((15..=25).contains(&back), "{back} sweeps of 4,000 requests");
        assert_eq!(sweep.waiting.len(), 100);
    }

    #[test]
    fn a_target_with_few_places_ends_too() {
        let kind = Kind { op: Op::Read, size: Bytes::from_kib(4) };
        let random = &mut Pcg64::seed_from_u64(1);
        let mut sweep = Sweep::start(Places { kind, count: 8 }, 255, random);
        let drawn: BTreeSet<u64> = (0..100).map(|_| sweep.next(random).start.get()).collect();
        assert_eq!((sweep.waiting.len(), drawn.len()), (7, 8));
    }
}

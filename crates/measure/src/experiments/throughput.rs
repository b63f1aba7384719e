// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures how many bytes per second a device transfers while a fixed number of requests is kept
//! outstanding: the rate that best effort can expect.
//!
//! Only a stretch of each flow is timed, after the flow has started: from one completion to a later
//! one, over at least [`STRETCH_MIN`] requests and several times the depth.

use std::ops::Range;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::drive_file::{FlowPlace, Throughput};
use tidegate_model::{Duration, Tag};
use tidegate_stats::order_statistics;

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::flow::Flow;
use crate::found::Found;
use crate::held_up::Sample;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::Places;
use crate::procedure::{Pace, Procedure};
use crate::rounds::Grid;
use crate::subject::{Probe, TrialResult};

/// The smallest number of requests in a stretch.
const STRETCH_MIN: u32 = 32;

/// The number of requests in a stretch, in multiples of the depth.
const STRETCH_DEPTHS: u32 = 4;

/// Sequential flows are in the first and the last tenth of a device.
const TENTH: usize = 10;

/// The number of samples of other experiments that one stretch stands for, because it takes long.
const SAMPLES_PER_STRETCH: u32 = 50;

impl Experiment {
    /// The throughput of flows at several depths.
    pub const THROUGHPUT: Self = Self::of(&Facts {
        name: "throughput",
        scope: Scope::EachKind,
        cell_name: CellName::Number,
        time: "throughput: stretches of a flow that keeps so many outstanding, their median",
        is_about_maxima: false,
        tail: None,
        is_omitted_when_quick: false,
        places_of: None,
        needs_priority: false,
    });
}

/// The procedure of [`Experiment::THROUGHPUT`].
pub(super) struct Flows;

impl Procedure for Flows {
    fn grid(&self, params: &ProfileParams) -> Grid {
        let ways = FlowPlace::ALL.len();
        let samples = params.samples.div_ceil(SAMPLES_PER_STRETCH);
        Grid { samples, cells: depths(params.depth).len() * ways, ways }
    }

    fn requests(&self, params: &ProfileParams, _pace: Pace) -> u64 {
        let depths = depths(params.depth);
        let all: u64 = depths.iter().map(|&depth| u64::from(length(depth) + 2 * depth)).sum();
        all / u64::try_from(depths.len()).expect("a few")
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let (places, depths) = (context.places(kind), depths(context.params.depth));
        let rounds = context.rounds(Experiment::THROUGHPUT, kind, self.grid(context.params));
        let ways = rounds.grid.ways;
        let measured = context.measure(&rounds, |flow, cell| {
            let (place, depth) = (FlowPlace::ALL[cell % ways], depths[cell / ways]);
            let mut cursor = Cursor::start(places, place, depth, flow.random);
            let stretch = Stretch { depth, begin: depth, length: length(depth) };
            stretch.time(flow, |random| cursor.next(random))
        })?;
        found.note(&rounds, &measured);
        for (way, place) in FlowPlace::ALL.into_iter().enumerate() {
            let cells: Vec<_> = measured.cells.iter().skip(way).step_by(ways).collect();
            let flow = table(kind, (place, None), &depths, length, &cells);
            found.file.throughput.extend(flow);
        }
        Ok(())
    }
}

/// Returns the depths to measure: 1, 2, 4, .. and `depth` itself.
pub(super) fn depths(depth: u32) -> Vec<u32> {
    let powers = std::iter::successors(Some(1_u32), |power| power.checked_mul(2));
    powers.take_while(|&power| power < depth).chain([depth]).collect()
}

/// Returns the number of requests in a stretch at a depth.
fn length(depth: u32) -> u32 {
    STRETCH_MIN.max(depth.saturating_mul(STRETCH_DEPTHS))
}

/// The timed part of a flow.
pub(super) struct Stretch {
    /// The number of requests on the device.
    pub(super) depth: u32,
    /// The number of requests of the flow before the timed part.
    pub(super) begin: u32,
    /// The number of requests in the timed part.
    pub(super) length: u32,
}

impl Stretch {
    /// Returns the time of the timed part. `draw` gives the next request of the flow.
    pub(super) fn time(
        &self,
        flow: &mut Flow<'_>,
        mut draw: impl FnMut(&mut Pcg64) -> Probe,
    ) -> TrialResult<Duration> {
        flow.keep(self.depth, self.begin, &mut draw)?;
        let begun = flow.now();
        let mut done = 0;
        while done < self.length {
            let returned = u32::try_from(flow.wait()?.len()).expect("a device holds few requests");
            done += returned;
            // Requests that complete together with the last one do not count, so that a stretch is
            // at least as long as stated.
            if done < self.length {
                flow.send(returned, Tag::Simple, &mut draw)?;
            }
        }
        let took = flow.now().since(begun);
        flow.drain()?;
        Ok(took)
    }
}

/// The place of the next request of a flow.
struct Cursor {
    places: Places,
    place: FlowPlace,
    range: Range<usize>,
    last: usize,
}

impl Cursor {
    /// Starts at a random place in the part of the target that the flow uses.
    fn start(places: Places, place: FlowPlace, depth: u32, random: &mut Pcg64) -> Self {
        let needed = depth as usize + 1;
        let range = match place {
            FlowPlace::Random => 0..places.count,
            FlowPlace::SequentialFirst => places.lowest(TENTH, needed),
            FlowPlace::SequentialLast => places.highest(TENTH, needed),
        };
        let last = random.random_range(range.clone());
        Self { places, place, range, last }
    }

    fn next(&mut self, random: &mut Pcg64) -> Probe {
        if self.place == FlowPlace::Random {
            return self.places.within(self.range.clone(), random);
        }
        let next = self.last + 1;
        self.last = if next < self.range.end { next } else { self.range.start };
        self.places.at(self.last)
    }
}

/// Returns the median and the slowest rate of the flow at each of `depths`; `None` if a depth has
/// no sample.
pub(super) fn table(
    kind: Kind,
    (place, elevator): (FlowPlace, Option<u32>),
    depths: &[u32],
    length: impl Fn(u32) -> u32,
    cells: &[&Vec<Sample>],
) -> Option<Throughput> {
    let samples = cells.iter().map(|cell| cell.len()).min().filter(|&count| count > 0)?;
    let mut times: Vec<_> = cells.iter().map(|cell| Sample::times(cell)).collect();
    for times in &mut times {
        times.sort_unstable();
    }
    let rate = |depth: u32, took: Duration| {
        let bytes = u128::from(length(depth)) * u128::from(kind.size.get());
        let per_s = bytes * 1_000_000_000 / u128::from(took.ns().max(1));
        u64::try_from(per_s).unwrap_or(u64::MAX)
    };
    let at_level = |level_ppm| {
        let of_cell = |(times, &depth): (&Vec<Duration>, &u32)| {
            rate(depth, order_statistics::quantile(times, level_ppm))
        };
        times.iter().zip(depths).map(of_cell).collect::<Vec<u64>>()
    };
    Some(Throughput {
        op: kind.op,
        size: kind.size,
        place,
        elevator,
        samples: u64::try_from(samples).expect("a count fits"),
        depth: depths.to_vec(),
        bytes_per_s: at_level(500_000),
        bytes_per_s_min: at_level(1_000_000),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_powers_and_the_depth() {
        assert_eq!(
            (depths(1), depths(8), depths(20)),
            (vec![1], vec![1, 2, 4, 8], vec![1, 2, 4, 8, 16, 20])
        );
    }
}

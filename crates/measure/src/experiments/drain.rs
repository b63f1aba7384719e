// SPDX-License-Identifier: Apache-2.0 OR MIT
//! drain(q): the longest time until the device is empty, from an instant just after a dispatch at
//! which q requests are outstanding. Nothing more is sent during that time.
//!
//! Earlier requests matter: a drive that serves nearby requests first leaves the distant ones, so
//! the last q requests of a flow are at less favourable places than q random requests. The
//! experiment therefore begins from several starts.
//!
//! Source: RTAS'08, section 3.2 (q sent together: figure 8); the other starts are our own.

use tidegate_model::drive_file::MeasuredTable;

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::{Pace, Procedure, flow_requests};
use crate::rounds::{Grid, Rounds};
use crate::start::{Start, StartTimes};
use crate::subject::TrialResult;

impl Experiment {
    /// drain(q): the time from the last submission until the device is empty.
    pub const DRAIN: Self = Self::of(&Facts {
        name: "drain",
        scope: Scope::EachKind,
        cell_name: CellName::Count(
            "drain",
            &[Start::Idle.name(), Start::Steady.name(), Start::Receded.name()],
        ),
        time: "a drain runs from the last submission to the last completion, after random \
               requests: so many at once, or at the end of a flow of that depth or of the full \
               depth; each figure is the greatest of the three",
        is_about_maxima: true,
        tail: None,
        is_omitted_when_quick: false,
        places_of: None,
        needs_priority: false,
    });
}

/// The procedure of [`Experiment::DRAIN`].
pub(super) struct Drain;

impl Procedure for Drain {
    fn grid(&self, params: &ProfileParams) -> Grid {
        grid(params.samples, params.depth, STARTS.len())
    }

    fn requests(&self, params: &ProfileParams, _pace: Pace) -> u64 {
        let (depth, half) = (u64::from(params.depth), u64::from(params.depth.div_ceil(2)));
        let ways = u64::try_from(STARTS.len()).expect("a few");
        (half + flow_requests(half) + flow_requests(depth)) / ways
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let rounds = context.rounds(Experiment::DRAIN, kind, self.grid(context.params));
        let table = drains(&STARTS, &rounds, context, found)?;
        found.file.drain.extend(table);
        Ok(())
    }
}

/// The starts of [`Start::RANDOM`], each with the function that establishes it.
const STARTS: [(Start, Begin); 3] =
    [(Start::Idle, idle), (Start::Steady, steady), (Start::Receded, recede)];

/// Fills an idle device so that q requests are outstanding, `1 <= q <= depth`.
pub(super) type Begin = fn(FlowParams, &mut Flow<'_>, u32) -> TrialResult;

/// Returns the grid of drains of 1 to `depth` requests, each from `starts` starts.
pub(super) fn grid(samples: u32, depth: u32, starts: usize) -> Grid {
    Grid { samples, cells: depth as usize * starts, ways: starts }
}

/// Measures drains from each start, notes the longest of each start, and returns their table.
pub(super) fn drains(
    starts: &[(Start, Begin)],
    rounds: &Rounds,
    context: &mut Context<'_>,
    found: &mut Found,
) -> TrialResult<Option<MeasuredTable>> {
    let (kind, ways) = (rounds.kind.expect("drains are of one kind"), starts.len());
    let flows = context.flows(kind);
    let measured = context.measure(rounds, |flow, cell| {
        let (_, begin) = starts[cell % ways];
        begin(flows, flow, u32::try_from(cell / ways + 1).expect("at most the depth"))?;
        flow.drain()
    })?;
    for (way, &(start, _)) in starts.iter().enumerate() {
        let longest = measured.longest().skip(way).step_by(ways);
        let longest = longest.map_while(|longest| longest).collect();
        found.starts.push(StartTimes { kind, start, longest });
    }
    Ok(found.table(rounds, &measured))
}

fn idle(flows: FlowParams, flow: &mut Flow<'_>, q: u32) -> TrialResult {
    flow.fill(q, |random| flows.places.anywhere(random))
}

fn steady(flows: FlowParams, flow: &mut Flow<'_>, q: u32) -> TrialResult {
    flow.keep_a_while(q, |random| flows.places.anywhere(random))
}

fn recede(flows: FlowParams, flow: &mut Flow<'_>, q: u32) -> TrialResult {
    flow.keep_a_while(flows.depth, |random| flows.places.anywhere(random))?;
    flow.recede_to(q - 1)?;
    flow.fill(q, |random| flows.places.anywhere(random))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures how long a drive can leave one request waiting while it prefers other requests.
//!
//! One request is in the highest fifth of the target; `K - 1` others keep the drive busy in the
//! lowest fifth. The time of the one request is measured.
//!
//! Source: RTAS'08, section 3.1 (random others). The sequential others are our own.

use rand_pcg::Pcg64;
use tidegate_model::drive_file::{FamilyTimes, PlaceFamily, StarvedKind};
use tidegate_model::{Duration, Tag};

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::FIFTH;
use crate::procedure::{Pace, Procedure};
use crate::rounds::Grid;
use crate::subject::{Probe, TrialResult};
use crate::table;
use crate::warning::{Skip, Warning};

/// The shortest wait of a request that counts as starved without end. Drives that limit the wait do
/// so at 1.5 to 4 s.
const ENDLESS: Duration = Duration::from_ms(20_000);

impl Experiment {
    /// The time for which other requests can delay one request.
    pub const STARVATION: Self = Self::of(&Facts {
        name: "starvation",
        scope: Scope::EachKind,
        cell_name: CellName::Number,
        time: "starved: one request in the highest fifth, all others in the lowest",
        is_about_maxima: true,
        tail: None,
        is_omitted_when_quick: false,
        places_of: None,
        needs_priority: false,
    });
}

/// The procedure of [`Experiment::STARVATION`].
pub(super) struct Starvation;

impl Procedure for Starvation {
    fn skip(&self, params: &ProfileParams, _has_tags: bool) -> Option<Skip> {
        (params.depth < 2).then_some(Skip::Alone)
    }

    fn grid(&self, params: &ProfileParams) -> Grid {
        Grid { samples: params.samples, cells: Others::ALL.len(), ways: 1 }
    }

    fn requests(&self, params: &ProfileParams, pace: Pace) -> u64 {
        let starved = pace.starved.map_or(0, Duration::ns);
        starved / pace.in_company.ns().max(1) + 2 * u64::from(params.depth)
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let flows = context.flows(kind);
        let rounds = context.rounds(Experiment::STARVATION, kind, self.grid(context.params));
        let trial = |flow: &mut Flow<'_>, cell| sample(flow, flows, Others::ALL[cell]);
        let measured = context.measure(&rounds, trial)?;
        found.note(&rounds, &measured);
        if let Some(starved) = measured.longest().flatten().max() {
            write(starved, kind, flows.depth, found);
            if !found.file.starvation_places.is_empty() {
                let random = FamilyTimes::new(PlaceFamily::Random, None, vec![starved.ns()]);
                let known = &found.file.starvation_places;
                found.file.starvation_places = table::join_families(known, vec![random]);
            }
        }
        Ok(())
    }
}

/// Writes the longest time of a starved request. It is a bound only if no request waited without
/// end.
pub(super) fn write(starved: Duration, kind: Kind, depth: u32, found: &mut Found) {
    if starved >= ENDLESS {
        found.warn_once(Warning::Endless { waited: ENDLESS });
        found.file.is_starvation_endless = true;
    }
    let known = found.file.starvation_max.max(Some(starved));
    found.file.starvation_max = known.filter(|_| !found.file.is_starvation_endless);
    let kind = StarvedKind { op: kind.op, size: kind.size, depth: Some(depth) };
    if !found.file.starvation_of.contains(&kind) {
        found.file.starvation_of.push(kind);
    }
}

tidegate_model::listed! {
    /// The places of the requests that keep the drive from serving the one request.
    pub(crate) enum Others {
        /// At random places.
        Random,
        /// Each directly after the previous one, so that the drive reads ahead.
        Sequential,
    }
}

/// Returns one time of a request while `depth - 1` others are outstanding, `depth >= 2`;
/// [`ENDLESS`] or more if it was not served.
pub(crate) fn sample(
    flow: &mut Flow<'_>,
    flows: FlowParams,
    others: Others,
) -> TrialResult<Duration> {
    let (FlowParams { places, depth }, [near, far]) = (flows, flows.ends(FIFTH));
    let mut next = near.start;
    let mut draw = |random: &mut Pcg64| match others {
        Others::Random => places.within(near.clone(), random),
        Others::Sequential => {
            next = if next + 1 < near.end { next + 1 } else { near.start };
            places.at(next)
        }
    };
    let one = places.within(far, flow.random);
    starve(flow, depth, one, &mut draw)
}

/// Returns the time of the request `one` while `depth - 1` others are outstanding, `depth >= 2`;
/// [`ENDLESS`] or more if it was not served. `draw` must sooner or later return a place other than
/// that of `one`.
pub(super) fn starve(
    flow: &mut Flow<'_>,
    depth: u32,
    one: Probe,
    draw: &mut dyn FnMut(&mut Pcg64) -> Probe,
) -> TrialResult<Duration> {
    let mut others = |random: &mut Pcg64| loop {
        let probe = draw(random);
        if probe.start != one.start {
            break probe;
        }
    };
    flow.keep(depth - 1, depth, &mut others)?;
    let begun = flow.now();
    flow.send(1, Tag::Simple, |_| one)?;
    let took = loop {
        let is_served = flow.wait()?.contains(&one.start);
        let took = flow.now().since(begun);
        if is_served || took >= ENDLESS {
            break took;
        }
        flow.fill(depth, &mut others)?;
    };
    flow.drain()?;
    Ok(took)
}

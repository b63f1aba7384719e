// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Starvation again, with the other requests at the places of each family.
//!
//! Source: our own.

use std::ops::Range;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::Duration;
use tidegate_model::drive_file::{FamilyTimes, PlaceFamily};

use super::by_places::{self, Again, ByPlaces, PlacesFacts};
use super::starvation::{self, Starvation};
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::families::{self, AtPlaces, Draw, Round};
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::{FIFTH, TWENTIETH};
use crate::procedure::Procedure;
use crate::subject::TrialResult;
use crate::table;

/// A round with one entry. Its trial sends about as many requests as a disk serves in a second.
const ROUND: Round = Round { entries: 1, requests: 128 };

const FACTS: Facts = by_places::facts(&PlacesFacts {
    name: "starvation-places",
    time: "starved at families of places: one request, and the others far from it",
    is_omitted_when_quick: true,
    of: Experiment::STARVATION,
});

impl Experiment {
    /// Starvation by requests at the other end, in clusters, on one track, in sequence, and at the
    /// places that a search finds.
    pub const STARVATION_PLACES: Self = Self::of(&FACTS);
}

/// The procedure of [`Experiment::STARVATION_PLACES`].
pub(super) const PROCEDURE: ByPlaces<Starved> = ByPlaces::PROCEDURE;

/// One request, and others that keep the drive from serving it. The first chosen place is the place
/// of the one request.
pub(super) struct Starved {
    flows: FlowParams,
}

impl AtPlaces for Starved {
    fn flows(&self) -> FlowParams {
        self.flows
    }

    /// Returns 3: a search chooses the place of the one request, the first place of the others, and
    /// the width of the range that the others occupy.
    fn chosen(&self, _entry: usize) -> usize {
        3
    }

    fn source(&self, family: PlaceFamily, random: &mut Pcg64) -> Box<Draw> {
        let (places, flows) = (self.flows.places, self.flows);
        if family != PlaceFamily::BothEnds {
            let mut others = families::drawn(family, flows, random);
            let mut is_first = true;
            return Box::new(move |random| {
                if std::mem::take(&mut is_first) { places.anywhere(random) } else { others(random) }
            });
        }
        let part = if random.random() { FIFTH } else { TWENTIETH };
        let [low, high] = flows.ends(part);
        let (near, far) = if random.random() { (low, high) } else { (high, low) };
        beside(flows, far, near)
    }

    fn climbed(&self, chosen: &[usize]) -> Box<Draw> {
        let chosen = <[usize; 3]>::try_from(chosen);
        let [one, first, width] = chosen.expect("as many as a search chooses");
        let count = self.flows.places.count;
        let width = (width / 4).max(2 * self.flows.depth as usize).min(count);
        let first = first.min(count - width);
        beside(self.flows, one..one + 1, first..first + width)
    }

    fn trial(
        &self,
        flow: &mut Flow<'_>,
        _entry: usize,
        _family: PlaceFamily,
        draw: &mut Draw,
    ) -> TrialResult<Duration> {
        let one = draw(flow.random);
        starvation::starve(flow, self.flows.depth, one, draw)
    }
}

impl Again for Starved {
    const EXPERIMENT: Experiment = Experiment::STARVATION_PLACES;
    const OF: &'static dyn Procedure = &Starvation;

    fn round(_params: &ProfileParams) -> Round {
        ROUND
    }

    fn prepare(kind: Kind, context: &Context<'_>) -> Self {
        Self { flows: context.flows(kind) }
    }

    fn random_ns_max(found: &Found, _kind: Kind) -> Vec<u64> {
        found.file.starvation_max.map(Duration::ns).into_iter().collect()
    }

    fn write(self, families: Vec<FamilyTimes>, kind: Kind, found: &mut Found) {
        let Some(&longest) = table::longest_of(&families).first() else { return };
        let known = table::starved_families(&found.file);
        let joined = table::join_families(&known, families);
        starvation::write(Duration::from_ns(longest), kind, self.flows.depth, found);
        let is_bounded = !found.file.is_starvation_endless;
        found.file.starvation_places = if is_bounded { joined } else { Vec::new() };
    }
}

/// Returns a source whose first place is in `one`; all further places are in `others`.
fn beside(flows: FlowParams, one: Range<usize>, others: Range<usize>) -> Box<Draw> {
    let mut is_first = true;
    Box::new(move |random| {
        let range = if std::mem::take(&mut is_first) { &one } else { &others };
        flows.places.within(range.clone(), random)
    })
}

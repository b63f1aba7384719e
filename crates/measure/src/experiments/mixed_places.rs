// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Batches of requests of several kinds again, by families of places.
//!
//! Source: our own.

use rand::seq::SliceRandom as _;
use tidegate_model::Duration;
use tidegate_model::drive_file::{FamilyTimes, MixedBatches, PlaceFamily};

use super::by_places::{self, Again, ByPlaces, PlacesFacts};
use super::mixed::{self, Composition, Mixed};
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::families::{AtPlaces, Draw, Round};
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::Places;
use crate::procedure::Procedure;
use crate::subject::TrialResult;
use crate::table;

const FACTS: Facts = by_places::facts(&PlacesFacts {
    name: "mixed-places",
    time: "mixed batches at families of places raise the others where they take longer",
    is_omitted_when_quick: true,
    of: Experiment::MIXED,
});

impl Experiment {
    /// Batches of requests of several kinds at both ends, in clusters, on one track, in sequence,
    /// and at the places that a search finds.
    pub const MIXED_PLACES: Self = Self::of(&FACTS);
}

/// The procedure of [`Experiment::MIXED_PLACES`].
pub(super) const PROCEDURE: ByPlaces<MixedAtPlaces> = ByPlaces::PROCEDURE;

/// Adds the times by families of places, and raises the time of each batch to the longest of them.
fn add(known: &mut MixedBatches, new: &[FamilyTimes]) {
    let random = FamilyTimes::new(PlaceFamily::Random, known.samples, known.ns_max.clone());
    known.places = table::join_families(&[random], new.to_vec());
    for (known, longest) in known.ns_max.iter_mut().zip(table::longest_of(new)) {
        *known = longest.max(*known);
    }
}

/// Batches of all compositions.
pub(super) struct MixedAtPlaces {
    /// The places of each kind.
    places: Vec<Places>,
    compositions: Vec<Composition>,
    kinds: Vec<Kind>,
    depth: u32,
}

impl AtPlaces for MixedAtPlaces {
    fn flows(&self) -> FlowParams {
        FlowParams { places: mixed::largest(&self.places), depth: self.depth }
    }

    fn chosen(&self, entry: usize) -> usize {
        self.compositions[entry].iter().sum::<u32>() as usize
    }

    fn trial(
        &self,
        flow: &mut Flow<'_>,
        entry: usize,
        family: PlaceFamily,
        draw: &mut Draw,
    ) -> TrialResult<Duration> {
        let starts = flow.different(self.chosen(entry), draw);
        let mut batch = mixed::at(starts, &self.places, &self.compositions[entry]);
        // A search also chooses the order of the requests, so its batches are not shuffled.
        if family != PlaceFamily::Climbed {
            batch.shuffle(flow.random);
        }
        flow.serve(&batch)
    }
}

impl Again for MixedAtPlaces {
    const EXPERIMENT: Experiment = Experiment::MIXED_PLACES;
    const OF: &'static dyn Procedure = &Mixed;

    fn round(params: &ProfileParams) -> Round {
        let entries = Mixed.grid(params).cells;
        Round { entries, ..Round::of_depth(params.depth) }
    }

    fn prepare(_first: Kind, context: &Context<'_>) -> Self {
        let ProfileParams { kinds, depth, .. } = context.params;
        Self {
            places: kinds.iter().map(|&kind| context.places(kind)).collect(),
            compositions: mixed::compositions(kinds.len(), *depth),
            kinds: kinds.clone(),
            depth: *depth,
        }
    }

    fn random_ns_max(found: &Found, _first: Kind) -> Vec<u64> {
        found.file.mixed.last().map_or_else(Vec::new, |it| it.ns_max.clone())
    }

    fn write(self, families: Vec<FamilyTimes>, _first: Kind, found: &mut Found) {
        let longest = table::longest_of(&families);
        if longest.is_empty() {
            return;
        }
        if let Some(known) = found.file.mixed.last_mut() {
            add(known, &families);
            return;
        }
        let longest = longest.into_iter().map(Duration::from_ns);
        let batches = self.compositions.into_iter().zip(longest).unzip();
        let made = mixed::batches(&self.kinds, batches);
        found.file.mixed.extend(made.map(|made| MixedBatches { places: families, ..made }));
    }
}

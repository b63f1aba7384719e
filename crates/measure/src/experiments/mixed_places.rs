// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Batches of different requests again, by families of places.
//!
//! Source: our own.

use rand::seq::SliceRandom as _;
use tidegate_model::Duration;
use tidegate_model::drive_file::{FamilyTimes, MixedBatches, PlaceFamily};

use super::mixed::{self, Composition, Mixed};
use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::families::{self, AtPlaces, ByFamilies, Draw, Round};
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::Places;
use crate::procedure::{Pace, Procedure};
use crate::rounds::Grid;
use crate::subject::Tried;
use crate::table;
use crate::warning::Skip;

impl Experiment {
    /// Batches of different requests at both ends, in clusters, on one track, in sequence, and at
    /// the places that a search finds.
    pub const MIXED_PLACES: Self = Self::of(&Facts {
        name: "mixed-places",
        scope: Scope::AllKinds,
        cell_name: CellName::Number,
        time: "mixed batches at families of places raise the others where they take longer",
        is_about_maxima: false,
        tail: None,
        is_omitted_when_quick: true,
        places_of: Some(Self::MIXED),
        needs_priority: false,
    });
}

/// See [`Experiment::MIXED_PLACES`].
pub(super) struct MixedPlaces;

impl Procedure for MixedPlaces {
    fn skip(&self, params: &ProfileParams, has_tags: bool) -> Option<Skip> {
        Mixed.skip(params, has_tags)
    }

    fn grid(&self, params: &ProfileParams) -> Grid {
        families::grid(params.samples, round(Mixed.grid(params).cells, params.depth))
    }

    fn requests(&self, params: &ProfileParams, pace: Pace) -> u64 {
        families::requests(Mixed.requests(params, pace))
    }

    fn make(&self, _first: Kind, context: &mut Context<'_>, found: &mut Found) -> Tried {
        let ProfileParams { kinds, depth, .. } = context.params;
        let batches = MixedAtPlaces {
            places: kinds.iter().map(|&kind| context.places(kind)).collect(),
            compositions: mixed::compositions(kinds.len(), *depth),
            depth: *depth,
        };
        let random = found.file.mixed.last().map_or_else(Vec::new, |it| it.ns_max.clone());
        let by_families = ByFamilies {
            experiment: Experiment::MIXED_PLACES,
            kind: None,
            at_places: &batches,
            random_ns_max: &random,
        };
        let new = by_families.measure(context, found)?;
        let longest = table::longest_of(&new);
        if longest.is_empty() {
            return Ok(());
        }
        if let Some(known) = found.file.mixed.last_mut() {
            add(known, &random, &new);
        } else {
            let longest = longest.into_iter().map(Duration::from_ns);
            let made = mixed::batches(kinds, batches.compositions.into_iter().zip(longest).unzip());
            found.file.mixed.extend(made.map(|made| MixedBatches { places: new, ..made }));
        }
        Ok(())
    }
}

/// Adds the times of families to the batches of all compositions, which they raise.
fn add(known: &mut MixedBatches, random_ns_max: &[u64], new: &[FamilyTimes]) {
    let random = FamilyTimes::new(PlaceFamily::Random, known.samples, random_ns_max.to_vec());
    known.places = table::join_families(&[random], new.to_vec());
    for (known, longest) in known.ns_max.iter_mut().zip(table::longest_of(new)) {
        *known = longest.max(*known);
    }
}

fn round(compositions: usize, depth: u32) -> Round {
    Round { entries: compositions, ..Round::of_depth(depth) }
}

/// Batches of all compositions.
struct MixedAtPlaces {
    /// One entry for each kind.
    places: Vec<Places>,
    compositions: Vec<Composition>,
    depth: u32,
}

impl AtPlaces for MixedAtPlaces {
    fn flows(&self) -> FlowParams {
        FlowParams { places: mixed::largest(&self.places), depth: self.depth }
    }

    fn round(&self) -> Round {
        round(self.compositions.len(), self.depth)
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
    ) -> Tried<Duration> {
        let starts = flow.different(self.chosen(entry), draw);
        let mut batch = mixed::at(starts, &self.places, &self.compositions[entry]);
        // The order is a part of a search's choice.
        if family != PlaceFamily::Climbed {
            batch.shuffle(flow.random);
        }
        flow.serve(&batch)
    }
}

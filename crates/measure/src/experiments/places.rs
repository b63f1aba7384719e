// SPDX-License-Identifier: Apache-2.0 OR MIT
//! b(i) again, by families of places. The longest time over all families is the drive's b(i).
//!
//! Source: our own. The mechanics of a disk imply that both ends and the starting position of the
//! heads matter.

use tidegate_model::Duration;
use tidegate_model::drive_file::{FamilyTimes, PlaceFamily};

use super::batch::Batch;
use super::by_places::{self, Again, ByPlaces, PlacesFacts};
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::families::{AtPlaces, Draw};
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::kind::Kind;
use crate::procedure::Procedure;
use crate::subject::TrialResult;
use crate::table;

const FACTS: Facts = by_places::facts(&PlacesFacts {
    name: "places",
    time: "batches at families of places raise the table where they take longer",
    is_omitted_when_quick: false,
    of: Experiment::BATCH,
});

impl Experiment {
    /// b(i) at both ends, in clusters, on one track, in sequence, and at the places that a search
    /// finds.
    pub const PLACES: Self = Self::of(&FACTS);
}

/// The procedure of [`Experiment::PLACES`].
pub(super) const PROCEDURE: ByPlaces<Batches> = ByPlaces::PROCEDURE;

/// Batches of each size from 1 to the depth.
pub(super) struct Batches {
    flows: FlowParams,
}

impl AtPlaces for Batches {
    fn flows(&self) -> FlowParams {
        self.flows
    }

    fn chosen(&self, entry: usize) -> usize {
        entry + 1
    }

    fn trial(
        &self,
        flow: &mut Flow<'_>,
        entry: usize,
        _family: PlaceFamily,
        draw: &mut Draw,
    ) -> TrialResult<Duration> {
        let batch = flow.different(entry + 1, draw);
        flow.serve(&batch)
    }
}

impl Again for Batches {
    const EXPERIMENT: Experiment = Experiment::PLACES;
    const OF: &'static dyn Procedure = &Batch;

    fn prepare(kind: Kind, context: &Context<'_>) -> Self {
        Self { flows: context.flows(kind) }
    }

    fn random_ns_max(found: &Found, kind: Kind) -> Vec<u64> {
        table::random_ns_max(&found.file.batch, kind)
    }

    fn write(self, families: Vec<FamilyTimes>, kind: Kind, found: &mut Found) {
        table::add_families(&mut found.file.batch, kind, families);
    }
}

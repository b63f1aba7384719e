// SPDX-License-Identifier: Apache-2.0 OR MIT
//! b(i) again, by families of places: the longest of all of them is the drive's b(i).
//!
//! Source: our own. The pairs of ends and the worst starting position follow from how a disk moves.

use tidegate_model::Duration;
use tidegate_model::drive_file::PlaceFamily;

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::families::{self, AtPlaces, ByFamilies, Draw, Round};
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::{Pace, Procedure};
use crate::rounds::Grid;
use crate::subject::Tried;
use crate::table;

impl Experiment {
    /// b(i) at both ends, in clusters, on one track, in sequence, and at the places that a search
    /// finds.
    pub const PLACES: Self = Self::of(&Facts {
        name: "places",
        scope: Scope::EachKind,
        cell_name: CellName::Number,
        time: "batches at families of places raise the table where they take longer",
        is_about_maxima: false,
        tail: None,
        is_omitted_when_quick: false,
        places_of: Some(Self::BATCH),
        needs_priority: false,
    });
}

/// See [`Experiment::PLACES`].
pub(super) struct Places;

impl Procedure for Places {
    fn grid(&self, params: &ProfileParams) -> Grid {
        families::grid(params.samples, Round::of_depth(params.depth))
    }

    fn requests(&self, params: &ProfileParams, _pace: Pace) -> u64 {
        families::requests(u64::from(params.depth.div_ceil(2)))
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> Tried {
        let batches = Batches { flows: context.flows(kind) };
        let random_ns_max = table::random_ns_max(&found.file.batch, kind);
        let by_families = ByFamilies {
            experiment: Experiment::PLACES,
            kind: Some(kind),
            at_places: &batches,
            random_ns_max: &random_ns_max,
        };
        let families = by_families.measure(context, found)?;
        table::add_families(&mut found.file.batch, kind, families);
        Ok(())
    }
}

/// Batches of 1 to the depth.
struct Batches {
    flows: FlowParams,
}

impl AtPlaces for Batches {
    fn flows(&self) -> FlowParams {
        self.flows
    }

    fn round(&self) -> Round {
        Round::of_depth(self.flows.depth)
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
    ) -> Tried<Duration> {
        let batch = flow.different(entry + 1, draw);
        flow.serve(&batch)
    }
}

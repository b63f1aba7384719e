// SPDX-License-Identifier: Apache-2.0 OR MIT
//! drain(q) again, by families of places: they raise the table of drains where they take longer.
//!
//! Source: our own.

use rand::RngExt as _;
use tidegate_model::Duration;
use tidegate_model::drive_file::PlaceFamily;

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::families::{self, AtPlaces, ByFamilies, Draw, Round};
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::{Pace, Procedure, flow_requests};
use crate::rounds::Grid;
use crate::subject::Tried;
use crate::table;

impl Experiment {
    /// drain(q) after flows at both ends, in clusters, on one track, in sequence, and at the places
    /// that a search finds.
    pub const DRAIN_PLACES: Self = Self::of(&Facts {
        name: "drain-places",
        scope: Scope::EachKind,
        cell_name: CellName::Number,
        time: "drains after flows at families of places raise the table where they take longer",
        is_about_maxima: false,
        tail: None,
        is_omitted_when_quick: true,
        places_of: Some(Self::DRAIN),
        needs_priority: false,
    });
}

/// See [`Experiment::DRAIN_PLACES`].
pub(super) struct DrainPlaces;

impl Procedure for DrainPlaces {
    fn grid(&self, params: &ProfileParams) -> Grid {
        families::grid(params.samples, Round::of_depth(params.depth))
    }

    fn requests(&self, params: &ProfileParams, _pace: Pace) -> u64 {
        let (depth, half) = (u64::from(params.depth), u64::from(params.depth.div_ceil(2)));
        families::requests(flow_requests(half).midpoint(flow_requests(depth)))
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> Tried {
        let drains = Drains { flows: context.flows(kind) };
        let random_ns_max = table::random_ns_max(&found.file.drain, kind);
        let by_families = ByFamilies {
            experiment: Experiment::DRAIN_PLACES,
            kind: Some(kind),
            at_places: &drains,
            random_ns_max: &random_ns_max,
        };
        let families = by_families.measure(context, found)?;
        table::add_families(&mut found.file.drain, kind, families);
        Ok(())
    }
}

/// Drains of 1 to the depth. A batch given to an idle drive is a drain too; every proof takes at
/// least b(q).
struct Drains {
    flows: FlowParams,
}

impl AtPlaces for Drains {
    fn flows(&self) -> FlowParams {
        self.flows
    }

    fn round(&self) -> Round {
        Round::of_depth(self.flows.depth)
    }

    /// Counts the requests of a flow that replaces each request once.
    fn chosen(&self, entry: usize) -> usize {
        2 * (entry + 1)
    }

    fn trial(
        &self,
        flow: &mut Flow<'_>,
        entry: usize,
        family: PlaceFamily,
        draw: &mut Draw,
    ) -> Tried<Duration> {
        let q = u32::try_from(entry + 1).expect("at most the depth");
        if family == PlaceFamily::Climbed {
            flow.keep(q, q, draw)?;
        } else if flow.random.random() {
            flow.keep_a_while(q, draw)?;
        } else {
            flow.keep_a_while(self.flows.depth, &mut *draw)?;
            flow.recede_to(q - 1)?;
            flow.fill(q, draw)?;
        }
        flow.drain()
    }
}

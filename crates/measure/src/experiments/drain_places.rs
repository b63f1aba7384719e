// SPDX-License-Identifier: Apache-2.0 OR MIT
//! drain(q) again, by families of places: longer times raise the table of drains.
//!
//! Source: our own.

use rand::RngExt as _;
use tidegate_model::Duration;
use tidegate_model::drive_file::{FamilyTimes, PlaceFamily};

use super::by_places::{self, Again, ByPlaces, PlacesFacts};
use super::drain::Drain;
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::families::{AtPlaces, Draw};
use crate::flow::{Flow, FlowParams};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::{Pace, Procedure, flow_requests};
use crate::subject::TrialResult;
use crate::table;

const FACTS: Facts = by_places::facts(&PlacesFacts {
    name: "drain-places",
    time: "drains after flows at families of places raise the table where they take longer",
    is_omitted_when_quick: true,
    of: Experiment::DRAIN,
});

impl Experiment {
    /// drain(q) after flows at both ends, in clusters, on one track, in sequence, and at the places
    /// that a search finds.
    pub const DRAIN_PLACES: Self = Self::of(&FACTS);
}

/// The procedure of [`Experiment::DRAIN_PLACES`].
pub(super) const PROCEDURE: ByPlaces<Drains> = ByPlaces::PROCEDURE;

/// Drains of each number of requests from 1 to the depth. A batch given to an idle drive is a drain
/// too, so every proof takes at least b(q) for drain(q).
pub(super) struct Drains {
    flows: FlowParams,
}

impl AtPlaces for Drains {
    fn flows(&self) -> FlowParams {
        self.flows
    }

    /// Returns the number of requests in a flow of q requests in which each is replaced once.
    fn chosen(&self, entry: usize) -> usize {
        2 * (entry + 1)
    }

    fn trial(
        &self,
        flow: &mut Flow<'_>,
        entry: usize,
        family: PlaceFamily,
        draw: &mut Draw,
    ) -> TrialResult<Duration> {
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

impl Again for Drains {
    const EXPERIMENT: Experiment = Experiment::DRAIN_PLACES;
    const OF: &'static dyn Procedure = &Drain;

    fn requests(params: &ProfileParams, _pace: Pace) -> u64 {
        let (depth, half) = (u64::from(params.depth), u64::from(params.depth.div_ceil(2)));
        flow_requests(half).midpoint(flow_requests(depth))
    }

    fn prepare(kind: Kind, context: &Context<'_>) -> Self {
        Self { flows: context.flows(kind) }
    }

    fn random_ns_max(found: &Found, kind: Kind) -> Vec<u64> {
        table::random_ns_max(&found.file.drain, kind)
    }

    fn write(self, families: Vec<FamilyTimes>, kind: Kind, found: &mut Found) {
        table::add_families(&mut found.file.drain, kind, families);
    }
}

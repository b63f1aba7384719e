// SPDX-License-Identifier: Apache-2.0 OR MIT
//! priority(q) again, by families of places: longer times raise the table.
//!
//! Source: our own.

use tidegate_model::Duration;
use tidegate_model::drive_file::{FamilyTimes, MeasuredTable, PlaceFamily};

use super::by_places::{self, Again, ByPlaces, PlacesFacts};
use super::priority::{self, Priority};
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
    name: "priority-places",
    time: "times of priority at families of places raise the table where they take longer",
    is_omitted_when_quick: false,
    of: Experiment::PRIORITY,
});

impl Experiment {
    /// priority(q) at both ends, in clusters, on one track, in sequence, and at the places that a
    /// search finds.
    pub const PRIORITY_PLACES: Self = Self::of(&FACTS);
}

/// The procedure of [`Experiment::PRIORITY_PLACES`].
pub(super) const PROCEDURE: ByPlaces<AmongOthers> = ByPlaces::PROCEDURE;

/// Requests with priority on a device that requests without priority keep full.
pub(super) struct AmongOthers {
    flows: FlowParams,
}

impl AtPlaces for AmongOthers {
    fn flows(&self) -> FlowParams {
        self.flows
    }

    /// Returns the number of requests without priority that fill the drive, of requests with
    /// priority, and of one replacement for each request without priority, added up.
    fn chosen(&self, entry: usize) -> usize {
        2 * self.flows.depth as usize + entry + 1
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
            flow.keep(self.flows.depth, self.flows.depth, &mut *draw)?;
        } else {
            flow.keep_a_while(self.flows.depth, &mut *draw)?;
        }
        priority::served(flow, self.flows.depth, q, draw)
    }
}

impl Again for AmongOthers {
    const EXPERIMENT: Experiment = Experiment::PRIORITY_PLACES;
    const OF: &'static dyn Procedure = &Priority;

    fn prepare(kind: Kind, context: &Context<'_>) -> Self {
        Self { flows: context.flows(kind) }
    }

    fn random_ns_max(found: &Found, kind: Kind) -> Vec<u64> {
        table::random_ns_max(&found.file.priority, kind)
    }

    fn write(self, families: Vec<FamilyTimes>, kind: Kind, found: &mut Found) {
        table::add_families(&mut found.file.priority, kind, families);
        let is_new = |table: &&mut MeasuredTable| {
            (table.op, table.size) == (Some(kind.op), Some(kind.size)) && table.depth.is_none()
        };
        if let Some(table) = found.file.priority.iter_mut().find(is_new) {
            table.depth = Some(self.flows.depth);
        }
    }
}

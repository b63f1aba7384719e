// SPDX-License-Identifier: Apache-2.0 OR MIT
//! priority(q) again, by families of places: they raise the table where they take longer.
//!
//! Source: our own.

use tidegate_model::Duration;
use tidegate_model::drive_file::{MeasuredTable, PlaceFamily};

use super::priority;
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
use crate::warning::Skip;

impl Experiment {
    /// priority(q) at both ends, in clusters, on one track, in sequence, and at the places that a
    /// search finds.
    pub const PRIORITY_PLACES: Self = Self::of(&Facts {
        name: "priority-places",
        scope: Scope::EachKind,
        cell_name: CellName::Number,
        time: "times of priority at families of places raise the table where they take longer",
        is_about_maxima: false,
        tail: None,
        is_omitted_when_quick: false,
        places_of: Some(Self::PRIORITY),
        needs_priority: true,
    });
}

/// See [`Experiment::PRIORITY_PLACES`].
pub(super) struct PriorityPlaces;

impl Procedure for PriorityPlaces {
    fn skip(&self, params: &ProfileParams, has_tags: bool) -> Option<Skip> {
        priority::Priority.skip(params, has_tags)
    }

    fn grid(&self, params: &ProfileParams) -> Grid {
        families::grid(params.samples, Round::of_depth(params.depth))
    }

    fn requests(&self, params: &ProfileParams, pace: Pace) -> u64 {
        families::requests(priority::Priority.requests(params, pace))
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> Tried {
        let at_places = AmongOthers { flows: context.flows(kind) };
        let random_ns_max = table::random_ns_max(&found.file.priority, kind);
        let by_families = ByFamilies {
            experiment: Experiment::PRIORITY_PLACES,
            kind: Some(kind),
            at_places: &at_places,
            random_ns_max: &random_ns_max,
        };
        let families = by_families.measure(context, found)?;
        table::add_families(&mut found.file.priority, kind, families);
        let is_new = |table: &&mut MeasuredTable| {
            (table.op, table.size) == (Some(kind.op), Some(kind.size)) && table.depth.is_none()
        };
        if let Some(table) = found.file.priority.iter_mut().find(is_new) {
            table.depth = Some(at_places.flows.depth);
        }
        Ok(())
    }
}

/// Requests of priority among others.
struct AmongOthers {
    flows: FlowParams,
}

impl AtPlaces for AmongOthers {
    fn flows(&self) -> FlowParams {
        self.flows
    }

    fn round(&self) -> Round {
        Round::of_depth(self.flows.depth)
    }

    /// Counts the others on a full drive, the requests of priority, and as many replacements.
    fn chosen(&self, entry: usize) -> usize {
        2 * self.flows.depth as usize + entry + 1
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
            flow.keep(self.flows.depth, self.flows.depth, &mut *draw)?;
        } else {
            flow.keep_a_while(self.flows.depth, &mut *draw)?;
        }
        priority::served(flow, self.flows.depth, q, draw)
    }
}

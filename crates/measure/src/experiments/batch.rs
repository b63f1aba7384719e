// SPDX-License-Identifier: Apache-2.0 OR MIT
//! b(i): the longest time of a batch of i requests, for i = 1 to K.
//!
//! An idle device gets i requests at random places in one submission. The time ends when the last
//! of them completes.
//!
//! Source: Stanovich, dissertation, 7.4.2 (batches, confidence).

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::{Pace, Procedure};
use crate::rounds::Grid;
use crate::subject::TrialResult;

impl Experiment {
    /// b(i): i requests at random places, given together to an idle device.
    pub const BATCH: Self = Self::of(&Facts {
        name: "batch",
        scope: Scope::EachKind,
        cell_name: CellName::Count("b", &[]),
        time: "a time runs from just before one submission of the whole batch to its last completion",
        is_about_maxima: true,
        tail: Some("the largest batch"),
        is_omitted_when_quick: false,
        places_of: None,
        needs_priority: false,
    });
}

/// The procedure of [`Experiment::BATCH`].
pub(super) struct Batch;

impl Procedure for Batch {
    fn grid(&self, params: &ProfileParams) -> Grid {
        Grid::counts(params.samples, params.depth)
    }

    fn requests(&self, params: &ProfileParams, _pace: Pace) -> u64 {
        u64::from(params.depth.div_ceil(2))
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let places = context.places(kind);
        let rounds = context.rounds(Experiment::BATCH, kind, self.grid(context.params));
        let measured = context.measure(&rounds, |flow, cell| {
            let batch = places.different(cell + 1, flow.random);
            flow.serve(&batch)
        })?;
        let table = found.table(&rounds, &measured);
        found.file.batch.extend(table);
        Ok(())
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `overhead`: the fixed cost of a request on a rotating disk, without seek and
//! rotational delay.

use super::probe::{self, Probed};
use super::rotation;
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::found::Found;
use crate::geometry;
use crate::subject::TrialResult;

const FACTS: Facts = probe::facts("overhead");

impl Experiment {
    /// The fixed cost of a request, without seek and rotational delay.
    pub const OVERHEAD: Self = Self::of(&FACTS);
}

/// The procedure of [`Experiment::OVERHEAD`].
pub(super) const PROCEDURE: Probed = Probed { reads: geometry::OVERHEAD_READS, make };

fn make(context: &mut Context<'_>, found: &mut Found) -> TrialResult {
    let Some(rotation) = rotation::of(context, found)? else { return Ok(()) };
    let experiment = Experiment::OVERHEAD;
    let seen = probe::run(experiment, context, |probing| geometry::overhead(probing, &rotation))?;
    found.geometry.overhead = probe::seen(experiment, seen, found);
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `zones`: finds where the number of sectors per track changes, on a rotating disk.

use super::probe::{self, Probed};
use super::rotation;
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::found::Found;
use crate::geometry::{self, Rotation};
use crate::subject::TrialResult;

const FACTS: Facts = probe::facts("zones");

impl Experiment {
    /// The experiment that finds where the number of sectors per track changes.
    pub const ZONES: Self = Self::of(&FACTS);
}

/// The procedure of [`Experiment::ZONES`].
pub(super) const PROCEDURE: Probed = Probed { reads: geometry::ZONES_READS, make };

fn make(context: &mut Context<'_>, found: &mut Found) -> TrialResult {
    let Some(rotation) = rotation::of(context, found)? else { return Ok(()) };
    look_for(&rotation, context, found)
}

/// Searches for the zones, unless they are known or the caller stopped the measurement.
pub(super) fn look_for(
    rotation: &Rotation,
    context: &mut Context<'_>,
    found: &mut Found,
) -> TrialResult {
    if found.geometry.zones.is_none() && !found.is_cancelled {
        let experiment = Experiment::ZONES;
        let seen = probe::run(experiment, context, |probing| geometry::zones(probing, rotation))?;
        found.geometry.zones = probe::seen(experiment, seen, found);
    }
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `zones`: where tracks are denser, on a rotating disk.

use super::{probe, rotation};
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::found::Found;
use crate::geometry::{self, Rotation};
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::{Pace, Procedure};
use crate::rounds::Grid;
use crate::subject::SubjectError;

const FACTS: Facts = probe::facts("zones");

impl Experiment {
    /// The experiment that finds where tracks are denser.
    pub const ZONES: Self = Self::of(&FACTS);
}

/// See [`Experiment::ZONES`].
pub(super) struct Zones;

impl Procedure for Zones {
    fn grid(&self, _params: &ProfileParams) -> Grid {
        probe::reads(geometry::ZONES_READS)
    }

    fn requests(&self, _params: &ProfileParams, _pace: Pace) -> u64 {
        1
    }

    fn make(
        &self,
        _kind: Kind,
        context: &mut Context<'_>,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        let Some(rotation) = rotation::of(context, found)? else { return Ok(()) };
        look_for(&rotation, context, found)
    }
}

/// Looks for the zones, unless they are known or the caller stopped.
pub(super) fn look_for(
    rotation: &Rotation,
    context: &mut Context<'_>,
    found: &mut Found,
) -> Result<(), SubjectError> {
    if found.geometry.zones.is_none() && !found.is_cancelled {
        let experiment = Experiment::ZONES;
        let seen = probe::run(experiment, context, |probing| geometry::zones(probing, rotation))?;
        found.geometry.zones = probe::seen(experiment, seen, found);
    }
    Ok(())
}

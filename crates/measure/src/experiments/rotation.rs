// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `rotation`: measures how long one turn of the medium takes, if it rotates.

use super::probe::{self, Probed};
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::found::Found;
use crate::geometry::{self, NoRotation, Rotation};
use crate::subject::TrialResult;
use crate::warning::Warning;

const FACTS: Facts = probe::facts("rotation");

impl Experiment {
    /// The time of one turn of the medium, if it rotates.
    pub const ROTATION: Self = Self::of(&FACTS);
}

/// The procedure of [`Experiment::ROTATION`].
pub(super) const PROCEDURE: Probed = Probed { reads: geometry::ROTATION_READS, make };

fn make(context: &mut Context<'_>, found: &mut Found) -> TrialResult {
    of(context, found).map(drop)
}

/// Returns the rotation, and measures it on the first call; `None` if nothing turns.
pub(super) fn of(context: &mut Context<'_>, found: &mut Found) -> TrialResult<Option<Rotation>> {
    if !found.is_rotation_known() {
        see(context, found)?;
    }
    Ok(found.geometry.rotation.clone())
}

fn see(context: &mut Context<'_>, found: &mut Found) -> TrialResult {
    match probe::run(Experiment::ROTATION, context, geometry::rotation)? {
        Ok(rotation) => {
            found.geometry.block = context.block.sectors_ceil();
            found.geometry.rotation = Some(rotation);
        }
        Err(NoRotation::Cancelled) => found.stop(Experiment::ROTATION),
        Err(none) => {
            found.warnings.push(Warning::NoRotation(none.to_string()));
            found.no_rotation = Some(none);
        }
    }
    Ok(())
}

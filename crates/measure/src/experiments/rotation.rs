// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `rotation`: how long the medium takes for one turn, if it rotates.

use super::probe;
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::found::Found;
use crate::geometry::{self, NoRotation, Rotation};
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::{Pace, Procedure};
use crate::rounds::Grid;
use crate::subject::SubjectError;
use crate::warning::Warning;

const FACTS: Facts = probe::facts("rotation");

impl Experiment {
    /// How long the medium takes for one turn, if it rotates.
    pub const ROTATION: Self = Self::of(&FACTS);
}

/// See [`Experiment::ROTATION`].
pub(super) struct Turn;

impl Procedure for Turn {
    fn grid(&self, _params: &ProfileParams) -> Grid {
        probe::reads(geometry::ROTATION_READS)
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
        of(context, found)?;
        Ok(())
    }
}

/// Returns the rotation; `None` if nothing turns. The first caller measures it.
pub(super) fn of(
    context: &mut Context<'_>,
    found: &mut Found,
) -> Result<Option<Rotation>, SubjectError> {
    if !found.is_rotation_known() {
        see(context, found)?;
    }
    Ok(found.geometry.rotation.clone())
}

fn see(context: &mut Context<'_>, found: &mut Found) -> Result<(), SubjectError> {
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

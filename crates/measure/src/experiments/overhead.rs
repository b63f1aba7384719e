// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `overhead`: the fixed cost of a request on a rotating disk, without seek and
//! rotational delay.

use super::{probe, rotation};
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::found::Found;
use crate::geometry;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::{Pace, Procedure};
use crate::rounds::Grid;
use crate::subject::SubjectError;

const FACTS: Facts = probe::facts("overhead");

impl Experiment {
    /// The fixed cost of a request, without seek and rotational delay.
    pub const OVERHEAD: Self = Self::of(&FACTS);
}

/// See [`Experiment::OVERHEAD`].
pub(super) struct Overhead;

impl Procedure for Overhead {
    fn grid(&self, _params: &ProfileParams) -> Grid {
        probe::reads(geometry::OVERHEAD_READS)
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
        let experiment = Experiment::OVERHEAD;
        let seen =
            probe::run(experiment, context, |probing| geometry::overhead(probing, &rotation))?;
        found.geometry.overhead = probe::seen(experiment, seen, found);
        Ok(())
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `seek-curve`: measures seek times, on a rotating disk whose zones are known.

use super::probe::{self, Probed};
use super::{rotation, zones};
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::found::Found;
use crate::geometry;
use crate::subject::TrialResult;
use crate::warning::{Skip, Warning};

const FACTS: Facts = probe::facts("seek-curve");

impl Experiment {
    /// The times of seeks.
    pub const SEEK_CURVE: Self = Self::of(&FACTS);
}

/// The procedure of [`Experiment::SEEK_CURVE`].
pub(super) const PROCEDURE: Probed = Probed { reads: geometry::SEEK_CURVE_READS, make };

fn make(context: &mut Context<'_>, found: &mut Found) -> TrialResult {
    let Some(rotation) = rotation::of(context, found)? else { return Ok(()) };
    zones::look_for(&rotation, context, found)?;
    let experiment = Experiment::SEEK_CURVE;
    let Some(map) = found.geometry.zones.clone() else {
        found.warnings.push(Warning::Skipped { experiment, skip: Skip::NoZones });
        return Ok(());
    };
    let overhead = found.geometry.overhead.as_ref();
    let seen = probe::run(experiment, context, |probing| {
        geometry::seek_curve(probing, &rotation, &map, overhead)
    })?;
    found.geometry.seek = probe::seen(experiment, seen, found);
    Ok(())
}

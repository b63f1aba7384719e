// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs an experiment again, with requests at the places of each family: both ends, clusters, one
//! track, a sequence, and the places that a search finds.

use std::marker::PhantomData;

use tidegate_model::drive_file::FamilyTimes;

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts};
use crate::families::{self, AtPlaces, ByFamilies, Round};
use crate::found::Found;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::procedure::{Pace, Procedure};
use crate::rounds::Grid;
use crate::subject::TrialResult;
use crate::warning::Skip;

/// The facts that differ between the experiments by families of places.
pub(super) struct PlacesFacts {
    pub(super) name: &'static str,
    pub(super) time: &'static str,
    pub(super) is_omitted_when_quick: bool,
    /// The experiment that is run again.
    pub(super) of: Experiment,
}

/// Returns all facts of an experiment by families of places. It uses the kinds of requests of the
/// experiment that it runs again.
pub(super) const fn facts(own: &PlacesFacts) -> Facts {
    Facts {
        name: own.name,
        scope: own.of.scope(),
        cell_name: CellName::Number,
        time: own.time,
        is_about_maxima: false,
        tail: None,
        is_omitted_when_quick: own.is_omitted_when_quick,
        places_of: Some(own.of),
        needs_priority: own.of.facts().needs_priority,
    }
}

/// A table that is measured again, ready for one kind of request.
pub(super) trait Again: AtPlaces + Sized {
    /// The experiment.
    const EXPERIMENT: Experiment;

    /// The procedure of the experiment that is run again.
    const OF: &'static dyn Procedure;

    /// Returns the number of entries of its table and the number of requests of a trial.
    fn round(params: &ProfileParams) -> Round {
        Round::of_depth(params.depth)
    }

    /// Returns the approximate mean number of requests in one trial.
    fn requests(params: &ProfileParams, pace: Pace) -> u64 {
        Self::OF.requests(params, pace)
    }

    /// Prepares the measurement with this kind of request.
    fn prepare(kind: Kind, context: &Context<'_>) -> Self;

    /// Returns the longest times at random places in ns, as far as they are known.
    fn random_ns_max(found: &Found, kind: Kind) -> Vec<u64>;

    /// Writes the longest times at the places of each family to `found`.
    fn write(self, families: Vec<FamilyTimes>, kind: Kind, found: &mut Found);
}

/// The procedure of an experiment that is run again by families of places.
pub(super) struct ByPlaces<T>(PhantomData<fn() -> T>);

impl<T> ByPlaces<T> {
    /// The procedure.
    pub(super) const PROCEDURE: Self = Self(PhantomData);
}

impl<T: Again> Procedure for ByPlaces<T> {
    fn skip(&self, params: &ProfileParams, has_tags: bool) -> Option<Skip> {
        T::OF.skip(params, has_tags)
    }

    fn grid(&self, params: &ProfileParams) -> Grid {
        families::grid(params.samples, T::round(params))
    }

    fn requests(&self, params: &ProfileParams, pace: Pace) -> u64 {
        families::requests(T::requests(params, pace))
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let again = T::prepare(kind, context);
        let by_families = ByFamilies {
            experiment: T::EXPERIMENT,
            kind: T::EXPERIMENT.scope().is_by_kind().then_some(kind),
            round: T::round(context.params),
            at_places: &again,
            random_ns_max: &T::random_ns_max(found, kind),
        };
        let families = by_families.measure(context, found)?;
        again.write(families, kind, found);
        Ok(())
    }
}

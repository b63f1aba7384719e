// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Lists all experiments in the order in which they are run. The experiment that every guarantee
//! needs comes first.
//!
//! A new experiment is a file in this folder, which states its [`Facts`](crate::experiment::Facts)
//! and implements [`Procedure`], and a line in [`LIST`] beside its `mod`.

use crate::experiment::Experiment;
use crate::params::ProfileParams;
use crate::procedure::Procedure;

mod batch;
mod by_places;
mod drain;
mod drain_adversary;
mod drain_places;
mod elevator;
pub mod flush;
mod mixed;
mod mixed_places;
mod overhead;
mod places;
mod prediction;
mod priority;
mod priority_places;
mod probe;
mod rotation;
mod seek_curve;
mod single;
pub(crate) mod starvation;
mod starvation_places;
mod stripe;
mod throughput;
mod zones;

/// Every experiment with its procedure, in the order in which they are run.
const LIST: [(Experiment, &dyn Procedure); 21] = [
    (Experiment::BATCH, &batch::Batch),
    (Experiment::PLACES, &places::PROCEDURE),
    (Experiment::SINGLE, &single::Single),
    (Experiment::DRAIN, &drain::Drain),
    (Experiment::DRAIN_PLACES, &drain_places::PROCEDURE),
    (Experiment::THROUGHPUT, &throughput::Flows),
    (Experiment::ELEVATOR, &elevator::Elevators),
    (Experiment::ROTATION, &rotation::PROCEDURE),
    (Experiment::OVERHEAD, &overhead::PROCEDURE),
    (Experiment::ZONES, &zones::PROCEDURE),
    (Experiment::SEEK_CURVE, &seek_curve::PROCEDURE),
    (Experiment::PREDICTION, &prediction::Prediction),
    (Experiment::STRIPE, &stripe::Stripe),
    (Experiment::STARVATION, &starvation::Starvation),
    (Experiment::STARVATION_PLACES, &starvation_places::PROCEDURE),
    (Experiment::MIXED, &mixed::Mixed),
    (Experiment::MIXED_PLACES, &mixed_places::PROCEDURE),
    (Experiment::PRIORITY, &priority::Priority),
    (Experiment::PRIORITY_PLACES, &priority_places::PROCEDURE),
    (Experiment::DRAIN_ADVERSARY, &drain_adversary::DrainAdversary),
    (Experiment::FLUSH, &flush::Flush),
];

impl Experiment {
    /// All experiments, in the order in which they are run.
    pub const ALL: [Self; LIST.len()] = {
        let mut all = [LIST[0].0; LIST.len()];
        let mut index = 0;
        while index < LIST.len() {
            all[index] = LIST[index].0;
            index += 1;
        }
        all
    };

    /// Returns the experiment of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|experiment| experiment.name() == name)
    }
}

/// Returns the procedure of an experiment.
pub(crate) fn procedure(of: Experiment) -> &'static dyn Procedure {
    let found = LIST.iter().find(|(experiment, _)| *experiment == of);
    found.expect("the list has every experiment").1
}

/// Returns the experiments that were requested and that apply to the target, in the order in which
/// they are run.
pub(crate) fn made(params: &ProfileParams, has_tags: bool) -> Vec<Experiment> {
    let is_made = |&(experiment, procedure): &(Experiment, &dyn Procedure)| {
        params.experiments.contains(&experiment) && procedure.skip(params, has_tags).is_none()
    };
    LIST.into_iter().filter(is_made).map(|(experiment, _)| experiment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for experiment in Experiment::ALL {
            assert_eq!(Experiment::from_name(experiment.name()), Some(experiment));
        }
        assert_eq!(Experiment::from_name("b"), None);
    }
}

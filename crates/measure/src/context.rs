// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The common inputs of every experiment: the subject, the parameters, the run control.

use tidegate_model::{Bytes, Time};

use crate::experiment::Experiment;
use crate::flow::{Flow, FlowParams};
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::Places;
use crate::rounds::{Grid, Measured, Part, Rounds, Trial};
use crate::run_control::RunControl;
use crate::subject::{Subject, TrialResult};

/// The number of bits by which a kind's index is shifted before it is added to the seed. The seeds
/// of two kinds then differ by more than the number of rounds of one kind.
const SEED_SHIFT: u32 = 40;

/// The inputs that all experiments of a measurement share.
pub(crate) struct Context<'a> {
    /// The parameters of the measurement.
    pub(crate) params: &'a ProfileParams,
    /// The size of the target.
    pub(crate) capacity: Bytes,
    /// The size of the smallest request.
    pub(crate) block: Bytes,
    /// The time at which the first experiment began.
    pub(crate) begun: Time,
    /// The progress callback, the cancel flag, the kinds of requests, and the journal that keeps
    /// the samples.
    pub(crate) control: RunControl<'a>,
    /// The device or simulated drive.
    pub(crate) subject: &'a mut dyn Subject,
}

impl Context<'_> {
    /// Returns the places at which requests of this kind can be.
    pub(crate) fn places(&self, kind: Kind) -> Places {
        Places::of(self.capacity, kind)
    }

    /// Returns the places at which requests of this kind can be, and the largest number that can be
    /// outstanding.
    pub(crate) fn flows(&self, kind: Kind) -> FlowParams {
        FlowParams { places: self.places(kind), depth: self.params.depth }
    }

    /// Returns the rounds of an experiment with one kind of request.
    ///
    /// Each kind has its own places, because the device's memory may still hold places of another
    /// kind. The first kind has the places that it would have if it were measured alone.
    pub(crate) fn rounds(&self, experiment: Experiment, kind: Kind, grid: Grid) -> Rounds {
        let ProfileParams { seed, kinds, .. } = self.params;
        let of_kind = kinds.iter().position(|known| *known == kind).unwrap_or(0);
        let seed = seed.wrapping_add(u64::try_from(of_kind).expect("few kinds") << SEED_SHIFT);
        Rounds { experiment, kind: Some(kind), grid, seed, begun: self.begun, part: Part::WHOLE }
    }

    /// Runs the rounds. `trial` takes one sample of a cell and leaves the subject idle.
    ///
    /// # Errors
    /// If the target fails.
    pub(crate) fn measure<T: Into<Trial>>(
        &mut self,
        rounds: &Rounds,
        trial: impl FnMut(&mut Flow<'_>, usize) -> TrialResult<T>,
    ) -> TrialResult<Measured> {
        rounds.measure(self.subject, trial, &mut self.control)
    }
}

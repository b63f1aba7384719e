// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `prediction`: the errors of the service times that a disk's mechanics predict.
//!
//! One request is sent at a time, as by `das`. A host's model of the disk predicts its service
//! time, then the request is served, and the model learns from its completion.
//!
//! ```text
//!   predict --> send --> completed: service time - prediction = error
//! ```
//!
//! About half of the requests, drawn at random, are at a random place. Each of the others is chosen
//! as `das` chooses: of several random places, the one that the heads reach first. There the model
//! is most often wrong by a whole turn, because the heads arrive just before the first sector or
//! just after it.
//!
//! The model does not know the initial positions of the heads and the platter. It predicts nothing
//! until it has found the angle of the platter; the requests until then do not count.
//!
//! Source: our own.

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tidegate_drive::mechanical::AccessModel;
use tidegate_model::drive_file::PredictionErrors;
use tidegate_model::mechanics::{Mechanics, Queue};
use tidegate_model::{AccessTime, Class, Duration, Request, RequestId, Tag, Time};
use tidegate_stats::order_statistics::Summary;

use crate::context::Context;
use crate::experiment::{CellName, Experiment, Facts, Scope};
use crate::found::Found;
use crate::geometry;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::Places;
use crate::procedure::Procedure;
use crate::rounds::Grid;
use crate::subject::{Probe, Subject, TrialResult};
use crate::warning::{Skip, Warning};

/// The largest number of requests without a prediction. It is enough to find any angle of the
/// platter, which is at most half a turn away, in steps of 1/1,024 of a turn, and to confirm it.
const UNPREDICTED_MAX: u64 = 1_500;

/// The usual number of requests without a prediction, for the plan.
const UNPREDICTED: u32 = 300;

/// The number of places from which the one that is reached first is chosen.
const CHOICES: usize = 32;

impl Experiment {
    /// The errors of the service times that a disk's mechanics predict.
    pub const PREDICTION: Self = Self::of(&Facts {
        name: "prediction",
        scope: Scope::EachKindOfDisk,
        cell_name: CellName::One,
        time: "prediction: one request at a time, from before its prediction to its completion",
        is_about_maxima: false,
        tail: None,
        is_omitted_when_quick: false,
        places_of: None,
        needs_priority: false,
    });
}

/// The procedure of [`Experiment::PREDICTION`].
pub(super) struct Prediction;

impl Procedure for Prediction {
    fn grid(&self, params: &ProfileParams) -> Grid {
        let trials = params.samples.saturating_add(UNPREDICTED);
        Grid { samples: trials, cells: 1, ways: 1 }
    }

    fn make(&self, kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        let experiment = Experiment::PREDICTION;
        let Some(mechanics) = mechanics(context.params, found) else {
            // If nothing turns, there is no need to explain why there are no mechanics.
            if found.no_rotation.is_none() {
                found.warn_once(Warning::Skipped { experiment, skip: Skip::NoMechanics });
            }
            return Ok(());
        };
        let name = format!("{} of {kind}", experiment.name());
        let errors = match context.control.journal.found(&name) {
            Some(errors) => Some(errors),
            None => measure(kind, &mechanics, context, found)?,
        };
        if let Some(errors) = errors {
            context.control.journal.keep_found(&name, &errors);
            found.file.prediction.push(errors);
        }
        Ok(())
    }
}

/// Returns the mechanics from which times are predicted: the known ones, or else those that this
/// measurement has found. The order of the drive's queue does not matter with one request at a
/// time.
fn mechanics(params: &ProfileParams, found: &Found) -> Option<Box<Mechanics>> {
    let known = params.mechanics.clone();
    known.or_else(|| geometry::mechanics(&found.geometry, Queue::default()).map(Box::new))
}

/// Returns the errors; `None` if the caller stopped the experiment, or nothing was predicted.
fn measure(
    kind: Kind,
    mechanics: &Mechanics,
    context: &mut Context<'_>,
    found: &mut Found,
) -> TrialResult<Option<PredictionErrors>> {
    let experiment = Experiment::PREDICTION;
    let rounds = context.rounds(experiment, kind, Prediction.grid(context.params));
    let Ok(model) = AccessModel::of_device(mechanics) else { return Ok(None) };
    let random = Pcg64::seed_from_u64(rounds.seed);
    let mut trials = Trials { model, places: context.places(kind), random, count: 0 };
    let mut tally = Tally::default();
    let mut told = rounds.progress(0);
    while tally.count() < u64::from(context.params.samples) && tally.unpredicted < UNPREDICTED_MAX {
        if context.control.is_cancelled() {
            found.stop(experiment);
            return Ok(None);
        }
        tally.add(trials.one(context.subject)?);
        told.done = (told.done + 1).min(told.total);
        told.elapsed = context.subject.now().since(rounds.begun);
        (context.control.progress)(told);
    }
    context.control.journal.count_this_run();
    let errors = tally.errors(kind);
    if errors.is_none() {
        let why = "the mechanics never fitted the angle of the platter, or the disk's memory or its \
                   faults make every service time uncertain";
        let why = why.to_owned();
        found.warnings.push(Warning::NotSeen { experiment, why });
    }
    Ok(errors)
}

/// Sends one request after the other and predicts each.
struct Trials {
    model: AccessModel,
    places: Places,
    random: Pcg64,
    count: u64,
}

/// The difference between a service time and its prediction.
enum Error {
    Late(Duration),
    Early(Duration),
}

impl Trials {
    /// Sends one request and returns the error of its prediction; `None` if the model made none.
    fn one(&mut self, subject: &mut dyn Subject) -> TrialResult<Option<Error>> {
        self.count += 1;
        let begun = subject.now();
        self.model.advance(begun);
        let probe = self.choose();
        let target = self.model.target(&self.request(probe));
        let expected = self.model.service(&target);
        let sent = subject.send(&[probe], Tag::Simple)?;
        self.model.dispatched(sent, &target);
        let done = subject.drain()?;
        self.model.completed(done, &target);
        Ok(expected.map(|expected| Error::of(done, begun + expected)))
    }

    /// Returns a random place or, with probability 1/2, the place among several random ones that
    /// the heads reach first.
    fn choose(&mut self) -> Probe {
        let choices = if self.random.random_bool(0.5) { 1 } else { CHOICES };
        let drawn: Vec<Probe> =
            (0..choices).map(|_| self.places.anywhere(&mut self.random)).collect();
        let access = |probe: &Probe| self.model.access(&self.model.target(&self.request(*probe)));
        drawn.into_iter().min_by_key(access).expect("at least one")
    }

    fn request(&self, Probe { op, start, size }: Probe) -> Request {
        let plain = Request::plain(RequestId(self.count), Class::BestEffort, size);
        Request { op, start, ..plain }
    }
}

impl Error {
    fn of(done: Time, expected: Time) -> Self {
        if done >= expected { Self::Late(done - expected) } else { Self::Early(expected - done) }
    }
}

/// The errors so far.
#[derive(Default)]
struct Tally {
    late_max: Duration,
    early_max: Duration,
    all: Vec<Duration>,
    /// The number of requests without a prediction.
    unpredicted: u64,
}

impl Tally {
    fn count(&self) -> u64 {
        u64::try_from(self.all.len()).expect("a count fits")
    }

    fn add(&mut self, error: Option<Error>) {
        let Some(error) = error else {
            self.unpredicted += 1;
            return;
        };
        let (Error::Late(time) | Error::Early(time)) = error;
        self.all.push(time);
        match error {
            Error::Late(time) => self.late_max = self.late_max.max(time),
            Error::Early(time) => self.early_max = self.early_max.max(time),
        }
    }

    fn errors(mut self, Kind { op, size }: Kind) -> Option<PredictionErrors> {
        let summary = Summary::of(&mut self.all)?;
        Some(PredictionErrors {
            op,
            size,
            samples: u64::from(summary.count),
            late_ns_max: self.late_max.ns(),
            early_ns_max: self.early_max.ns(),
            error_ns_quantiles: summary.quantiles.map(Duration::ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use tidegate_drive::mechanical::MechanicalDrive;
    use tidegate_model::{Bytes, DriveFile, Lba, Op};

    use crate::outcome::Profile;
    use crate::profile::profile_drive;

    use super::*;

    const SIZE: Bytes = Bytes::from_kib(64);

    fn disk(name: &str) -> Mechanics {
        *tidegate_drive::builtin::load(name).expect("built in").mechanics.expect("a disk")
    }

    /// Measures a simulated disk; `known` holds the mechanics from which times are predicted.
    fn measured(real: &Mechanics, known: Option<&Mechanics>, only: &[Experiment]) -> Profile {
        let mut drive = MechanicalDrive::new(real, 1, 1).expect("a disk");
        let params = ProfileParams {
            experiments: only.to_vec(),
            kinds: vec![Kind { op: Op::Read, size: SIZE }],
            depth: 1,
            samples: 400,
            mechanics: known.map(|known| Box::new(known.clone())),
            ..ProfileParams::new("a disk", &tidegate_device::DeviceFacts::default())
        };
        let capacity = Bytes::new(real.sectors * Lba::SECTOR_BYTES);
        let never = AtomicBool::new(false);
        profile_drive(&mut drive, "", capacity, &params, |_| (), &never, None).expect("measured")
    }

    fn errors(real: &Mechanics, known: &Mechanics) -> PredictionErrors {
        let profile = measured(real, Some(known), &[Experiment::PREDICTION]);
        let [errors] = &profile.file.prediction[..] else { panic!("{:?}", profile.warnings) };
        errors.clone()
    }

    /// Goal: with a disk's own mechanics, no request is later than predicted; the drive's memory
    /// can only make it earlier.
    #[test]
    fn own_mechanics_are_never_late() {
        for name in ["fujitsu-max3036rc", "seagate-36es2", "nearline-7200"] {
            let mechanics = disk(name);
            let errors = errors(&mechanics, &mechanics);
            assert_eq!(errors.samples, 400, "{name}");
            assert!(errors.late_ns_max <= 10, "{name}: {errors:?}");
        }
    }

    /// Canary: if the mechanics are wrong, the measured errors are about as large as the fault.
    #[test]
    fn wrong_mechanics_are_seen() {
        let right = disk("fujitsu-max3036rc");
        let mut slower = right.clone();
        slower.overhead.read_completion_ns += 150_000;
        let errors_of_slower = errors(&slower, &right);
        // The model mistakes part of a constant delay for a different angle of the platter, so less
        // than the planted 150 us can be visible.
        assert!(errors_of_slower.late_ns_max >= 100_000, "{errors_of_slower:?}");
        let other = Mechanics { head_switch_ns: 1_500_000, ..right.clone() };
        let errors = errors(&right, &other);
        assert!(errors.late_ns_max.max(errors.early_ns_max) >= 1_000_000, "{errors:?}");
    }

    /// Goal: the mechanics that the same measurement finds do not predict this disk. They lack the
    /// angles between zones, so no angle of the platter fits the whole disk.
    #[test]
    fn found_mechanics_without_angles_between_zones_predict_nothing() {
        let only = [
            Experiment::BATCH,
            Experiment::ROTATION,
            Experiment::OVERHEAD,
            Experiment::ZONES,
            Experiment::SEEK_CURVE,
            Experiment::PREDICTION,
        ];
        let profile = measured(&disk("seagate-36es2"), None, &only);
        let DriveFile { mechanics, prediction, .. } = &profile.file;
        assert!(mechanics.is_some());
        assert!(prediction.is_empty(), "{prediction:?}");
        let is_said = |warning: &Warning| {
            matches!(warning, Warning::NotSeen { experiment, why }
                if *experiment == Experiment::PREDICTION && why.contains("angle of the platter"))
        };
        assert!(profile.warnings.iter().any(is_said), "{:?}", profile.warnings);
    }

    #[test]
    fn without_mechanics_nothing_is_predicted_and_that_is_said() {
        let only = [Experiment::BATCH, Experiment::PREDICTION];
        let profile = measured(&disk("fujitsu-max3036rc"), None, &only);
        assert!(profile.file.prediction.is_empty());
        let (experiment, skip) = (Experiment::PREDICTION, Skip::NoMechanics);
        assert!(profile.warnings.contains(&Warning::Skipped { experiment, skip }));
    }
}

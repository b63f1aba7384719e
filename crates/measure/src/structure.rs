// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiments that look at what a device is made of, in their order: rotation first, then
//! what only a disk that turns has, or what only one that does not.

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use tidegate_model::Time;

use crate::experiment::Experiment;
use crate::geometry::{self, Geometry, NoRotation, NotSeen, Probing, Rotation};
use crate::rounds::Progress;
use crate::run::{Found, Run};
use crate::subject::{Subject, SubjectError};
use crate::warning::{Skip, Warning};

/// What was found out about what a device is made of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Structure {
    /// Of a disk that turns.
    pub(crate) geometry: Geometry,
    /// Why it is none.
    pub(crate) no_rotation: Option<NoRotation>,
}

impl Structure {
    /// Whether somebody looked for a rotation.
    fn is_rotation_known(&self) -> bool {
        self.geometry.rotation.is_some() || self.no_rotation.is_some()
    }
}

impl Run<'_> {
    /// Makes one of them, and before it what it needs. Says why it was not made.
    pub(crate) fn look_inside(
        &mut self,
        experiment: Experiment,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        if !found.structure.is_rotation_known() {
            self.see_rotation(subject, found)?;
        }
        let Some(rotation) = found.structure.geometry.rotation.clone() else { return Ok(()) };
        let geometry = &found.structure.geometry;
        let needs_zones = matches!(experiment, Experiment::Zones | Experiment::SeekCurve);
        if needs_zones && geometry.zones.is_none() && !found.is_cancelled {
            let seen = self
                .probe(Experiment::Zones, subject, |probing| geometry::zones(probing, &rotation))?;
            found.structure.geometry.zones = found.seen(Experiment::Zones, seen);
        }
        match experiment {
            Experiment::Overhead => {
                let seen = self
                    .probe(experiment, subject, |probing| geometry::overhead(probing, &rotation))?;
                found.structure.geometry.overhead = found.seen(experiment, seen);
            }
            Experiment::SeekCurve => self.see_seeks(&rotation, subject, found)?,
            _ => (),
        }
        Ok(())
    }

    /// Whether the medium turns: found out if nobody asked so far.
    pub(crate) fn turns(
        &mut self,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<bool, SubjectError> {
        self.look_inside(Experiment::Rotation, subject, found)?;
        Ok(found.structure.geometry.rotation.is_some())
    }

    fn see_rotation(
        &mut self,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        match self.probe(Experiment::Rotation, subject, geometry::rotation)? {
            Ok(rotation) => {
                found.structure.geometry.block = self.block.sectors_ceil();
                found.structure.geometry.rotation = Some(rotation);
            }
            Err(NoRotation::Cancelled) => found.stop(Experiment::Rotation),
            Err(none) => {
                found.warnings.push(Warning::NoRotation(none.to_string()));
                found.structure.no_rotation = Some(none);
            }
        }
        Ok(())
    }

    fn see_seeks(
        &mut self,
        rotation: &Rotation,
        subject: &mut dyn Subject,
        found: &mut Found,
    ) -> Result<(), SubjectError> {
        let Some(zones) = found.structure.geometry.zones.clone() else {
            let (experiment, skip) = (Experiment::SeekCurve, Skip::NoZones);
            found.warnings.push(Warning::Skipped { experiment, skip });
            return Ok(());
        };
        let overhead = found.structure.geometry.overhead.clone();
        let seen = self.probe(Experiment::SeekCurve, subject, |probing| {
            geometry::seek_curve(probing, rotation, &zones, overhead.as_ref())
        })?;
        found.structure.geometry.seek = found.seen(Experiment::SeekCurve, seen);
        Ok(())
    }

    /// One of these experiments, unless the journal has what it found.
    fn probe<T, N>(
        &mut self,
        experiment: Experiment,
        subject: &mut dyn Subject,
        see: impl FnOnce(&mut Probing<'_>) -> Result<Result<T, N>, SubjectError>,
    ) -> Result<Result<T, N>, SubjectError>
    where
        T: serde::Serialize + for<'de> serde::Deserialize<'de>,
    {
        let name = experiment.name();
        if let Some(found) = self.followers.journal.as_mut().and_then(|it| it.found(name)) {
            return Ok(Ok(found));
        }
        let (begun, progress) = (self.begun, &mut *self.followers.progress);
        let mut told = |done, total, now: Time| {
            progress(Progress { experiment, kind: None, done, total, elapsed: now.since(begun) });
        };
        let sizes = (self.capacity, self.block);
        let random = Pcg64::seed_from_u64(self.params.seed);
        let mut probing = Probing::new(subject, sizes, random, self.followers.cancelled, &mut told);
        let seen = see(&mut probing)?;
        self.followers.count_this_run();
        if let (Ok(found), Some(journal)) = (&seen, self.followers.journal.as_mut()) {
            journal.keep_found(name, found);
        }
        Ok(seen)
    }
}

impl Found {
    /// What was seen; what was not is said.
    fn seen<T>(&mut self, experiment: Experiment, seen: Result<T, NotSeen>) -> Option<T> {
        match seen {
            Ok(seen) => return Some(seen),
            Err(NotSeen::Cancelled) => self.stop(experiment),
            Err(why) => self.warnings.push(Warning::NotSeen { experiment, why: why.to_string() }),
        }
        None
    }

    /// The user stopped an experiment that has nothing to show.
    fn stop(&mut self, experiment: Experiment) {
        self.is_cancelled = true;
        self.warnings.push(Warning::NotBegun { experiments: vec![experiment] });
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A host that sees completions late, mostly by tens of microseconds, now and then by milliseconds;
//! and a clock against which the spindle drifts.

use rand::{RngExt as _, SeedableRng};
use rand_pcg::Pcg64;
use tidegate_model::{Duration, Lba, Tag, Time};

use crate::geometry::number::{float, whole};
use crate::subject::{Probe, SimulatedSubject, Subject, SubjectError};

/// The maximum usual lateness of a completion.
const LATE_NS: u64 = 50_000;
/// One completion in this number is an outlier.
const OUTLIER: u32 = 50;
/// The maximum lateness of an outlier.
const OUTLIER_NS: u64 = 3_000_000;

/// A simulated drive whose host sees completions late.
pub(super) struct Late<'a> {
    pub(super) subject: SimulatedSubject<'a>,
    random: Pcg64,
    outlier: u32,
}

impl<'a> Late<'a> {
    pub(super) fn new(subject: SimulatedSubject<'a>, seed: u64) -> Self {
        Self { subject, random: Pcg64::seed_from_u64(seed), outlier: OUTLIER }
    }

    /// Returns the same host with every other read an outlier.
    pub(super) fn worse(self) -> Self {
        Self { outlier: 2, ..self }
    }

    fn lateness(&mut self) -> Duration {
        let is_outlier = self.random.random_range(0..self.outlier) == 0;
        let max = if is_outlier { OUTLIER_NS } else { LATE_NS };
        Duration::from_ns(self.random.random_range(0..max))
    }
}

impl Subject for Late<'_> {
    fn send(&mut self, probes: &[Probe], tag: Tag) -> Result<Time, SubjectError> {
        self.subject.send(probes, tag)
    }

    fn wait(&mut self, returned: &mut Vec<Lba>) -> Result<(), SubjectError> {
        self.subject.wait(returned)
    }

    fn drain(&mut self) -> Result<Time, SubjectError> {
        let done = self.subject.drain()?;
        let late = done + self.lateness();
        self.subject.idle_until(late);
        Ok(late)
    }

    fn flush(&mut self) -> Result<Duration, SubjectError> {
        unreachable!("nothing is flushed")
    }

    fn now(&self) -> Time {
        self.subject.now()
    }
}

/// A clock against which the spindle is now faster, now slower, by some parts per million over
/// a minute.
pub(super) struct Drifting<'a> {
    pub(super) subject: SimulatedSubject<'a>,
}

/// How far the spindle gets ahead or behind, and how long it takes to come back, in nanoseconds.
const DRIFT_NS: f64 = 200_000.0;
const DRIFT_PERIOD_NS: f64 = 60e9;

impl Drifting<'_> {
    fn seen(time: Time) -> Time {
        let drift = (float(time.ns()) / DRIFT_PERIOD_NS * std::f64::consts::TAU).sin();
        time + Duration::from_ns(whole(DRIFT_NS * (1.0 + drift)))
    }
}

impl Subject for Drifting<'_> {
    fn send(&mut self, probes: &[Probe], tag: Tag) -> Result<Time, SubjectError> {
        self.subject.send(probes, tag).map(Self::seen)
    }

    fn wait(&mut self, returned: &mut Vec<Lba>) -> Result<(), SubjectError> {
        self.subject.wait(returned)
    }

    fn drain(&mut self) -> Result<Time, SubjectError> {
        self.subject.drain().map(Self::seen)
    }

    fn flush(&mut self) -> Result<Duration, SubjectError> {
        unreachable!("nothing is flushed")
    }

    fn now(&self) -> Time {
        Self::seen(self.subject.now())
    }
}

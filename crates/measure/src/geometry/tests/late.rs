// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Simulates a host that sees completions late, mostly by tens of microseconds, occasionally by
//! milliseconds; and a clock against which the spindle drifts.

use rand::{RngExt as _, SeedableRng};
use rand_pcg::Pcg64;
use tidegate_model::{Duration, Lba, Tag, Time};

use crate::geometry::number::{float, whole};
use crate::subject::{Probe, SimulatedSubject, Subject, TrialResult};

/// The maximum usual lateness of a completion.
const LATE_NS: u64 = 50_000;
/// The number of completions of which one is an outlier.
const OUTLIER: u32 = 50;
/// The maximum lateness of an outlier.
const OUTLIER_NS: u64 = 3_000_000;

/// The amplitude of the spindle's drift, in nanoseconds.
const DRIFT_NS: f64 = 200_000.0;
/// The period of the spindle's drift, in nanoseconds.
const DRIFT_PERIOD_NS: f64 = 60e9;

/// A simulated drive whose host sees completions late.
pub(super) struct Late<'a> {
    pub(super) subject: SimulatedSubject<'a>,
    random: Pcg64,
    /// One completion in this number is an outlier; if `None`, no completion is late.
    outlier: Option<u32>,
    /// Converts the drive's time to the time that the host's clock shows.
    clock: fn(Time) -> Time,
}

impl<'a> Late<'a> {
    pub(super) fn new(subject: SimulatedSubject<'a>, seed: u64) -> Self {
        let random = Pcg64::seed_from_u64(seed);
        Self { subject, random, outlier: Some(OUTLIER), clock: |time| time }
    }

    /// Returns the same host, with an outlier in every second read on average.
    pub(super) fn worse(self) -> Self {
        Self { outlier: Some(2), ..self }
    }

    /// Returns a punctual host whose clock drifts: over a minute, the spindle seems faster and then
    /// slower, by some parts per million.
    pub(super) fn drifting(subject: SimulatedSubject<'a>) -> Self {
        let clock = |time: Time| {
            let drift = (float(time.ns()) / DRIFT_PERIOD_NS * std::f64::consts::TAU).sin();
            time + Duration::from_ns(whole(DRIFT_NS * (1.0 + drift)))
        };
        Self { outlier: None, clock, ..Self::new(subject, 1) }
    }

    fn lateness(&mut self) -> Duration {
        let Some(outlier) = self.outlier else { return Duration::ZERO };
        let is_outlier = self.random.random_range(0..outlier) == 0;
        let max = if is_outlier { OUTLIER_NS } else { LATE_NS };
        Duration::from_ns(self.random.random_range(0..max))
    }
}

impl Subject for Late<'_> {
    fn send(&mut self, probes: &[Probe], tag: Tag) -> TrialResult<Time> {
        self.subject.send(probes, tag).map(self.clock)
    }

    fn wait(&mut self, returned: &mut Vec<Lba>) -> TrialResult {
        self.subject.wait(returned)
    }

    fn drain(&mut self) -> TrialResult<Time> {
        let done = self.subject.drain()?;
        let late = done + self.lateness();
        self.subject.idle_until(late);
        Ok((self.clock)(late))
    }

    fn flush(&mut self) -> TrialResult<Duration> {
        unreachable!("nothing is flushed")
    }

    fn now(&self) -> Time {
        (self.clock)(self.subject.now())
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A host that takes completions late: mostly by tens of microseconds, now and then by
//! milliseconds.

use model::{Duration, Lba, Tag, Time};
use rand::{RngExt as _, SeedableRng};
use rand_pcg::Pcg64;

use crate::subject::{Probe, SimulatedSubject, Subject, SubjectError};

/// Completions are up to so late,
const LATE_NS: u64 = 50_000;
/// but for one in so many,
const OUTLIER: u32 = 50;
/// which is late by up to this.
const OUTLIER_NS: u64 = 3_000_000;

/// A simulated drive behind such a host.
pub(super) struct Late<'a> {
    pub(super) subject: SimulatedSubject<'a>,
    random: Pcg64,
}

impl<'a> Late<'a> {
    pub(super) fn new(subject: SimulatedSubject<'a>, seed: u64) -> Self {
        Self { subject, random: Pcg64::seed_from_u64(seed) }
    }

    fn lateness(&mut self) -> Duration {
        let is_outlier = self.random.random_range(0..OUTLIER) == 0;
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

    fn now(&self) -> Time {
        self.subject.now()
    }
}

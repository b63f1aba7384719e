// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulated drive in virtual time: the run loop without a disk and without a clock.
//!
//! Time stands still while the host works and jumps when it waits. How late the host wakes
//! up, which on a real machine just happens, is a function given by whoever makes the
//! executor, so that a test can place the lateness where it hurts most.

use drive::Drive;
use model::{Duration, Request, Time};

use crate::executor::{Completion, Executor, ExecutorError, Limits};

/// A simulated drive in virtual time; see the module's text.
pub struct DriveExecutor<D> {
    drive: D,
    limits: Limits,
    now: Time,
    has_begun: bool,
    lateness_at: Box<dyn FnMut(Time) -> Duration>,
    /// What the drive returned last; empty between calls.
    returned: Vec<drive::Completion>,
}

impl<D: Drive> DriveExecutor<D> {
    /// An executor over an idle drive, with a host that is never late.
    pub fn new(drive: D, limits: Limits) -> Self {
        Self {
            drive,
            limits,
            now: Time::ZERO,
            has_begun: false,
            lateness_at: Box::new(|_| Duration::ZERO),
            returned: Vec::with_capacity(limits.in_flight_max as usize),
        }
    }

    /// The drive.
    pub fn drive(&self) -> &D {
        &self.drive
    }

    /// The same with a host that, each time it is to be woken, comes late: by what
    /// `lateness_at` says of the instant at which it ought to have come.
    #[must_use]
    pub fn with_lateness(mut self, lateness_at: impl FnMut(Time) -> Duration + 'static) -> Self {
        self.lateness_at = Box::new(lateness_at);
        self
    }
}

impl<D: Drive> Executor for DriveExecutor<D> {
    fn limits(&self) -> Limits {
        self.limits
    }

    fn begin(&mut self) {
        assert!(!self.has_begun, "virtual time cannot begin again: make a new executor");
        self.has_begun = true;
    }

    fn now(&self) -> Time {
        self.now
    }

    fn submit(&mut self, batch: &[Request]) -> Result<(), ExecutorError> {
        self.drive.submit(self.now, batch);
        Ok(())
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), ExecutorError> {
        let wake_at = until.into_iter().chain(self.drive.next_event()).min();
        let wake_at = wake_at.expect("waiting for nothing on an idle drive would never end");
        if wake_at > self.now {
            self.now = wake_at + (self.lateness_at)(wake_at);
        }
        Ok(())
    }

    fn reap(&mut self, completions: &mut Vec<Completion>) -> Result<(), ExecutorError> {
        self.drive.advance(self.now, &mut self.returned);
        let returned = self.returned.drain(..);
        completions.extend(
            returned.map(|drive::Completion { id, outcome, .. }| Completion { id, outcome }),
        );
        Ok(())
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulated drive in virtual time: a backend without a disk and without a clock.
//!
//! Time stands still while the host works and jumps when it waits. On a real machine the host wakes
//! up late by chance; here a function that the caller passes in gives the lateness, so that a test
//! can make the host late at the worst instants.

use std::convert::Infallible;

use tidegate_drive::Drive;
use tidegate_host::{Backend, Completion};
use tidegate_model::{Bytes, Duration, Lba, Outcome, Request, RequestId, Time};

/// A simulated drive in virtual time; see the module documentation.
pub struct VirtualDrive<D> {
    drive: D,
    now: Time,
    has_begun: bool,
    /// The source of the host's lateness; `None` if the host is never late.
    lateness_at: Option<Box<dyn FnMut(Time) -> Duration>>,
    /// Completions that the drive returned but the host has not reaped.
    returned: Vec<tidegate_drive::Completion>,
}

impl<D: Drive> VirtualDrive<D> {
    /// Creates a backend on an idle drive, with a host that is never late.
    pub fn new(drive: D) -> Self {
        Self { drive, now: Time::ZERO, has_begun: false, lateness_at: None, returned: Vec::new() }
    }

    /// Returns the drive.
    pub fn drive(&self) -> &D {
        &self.drive
    }

    /// Makes the host late at each wake-up, by the result of `lateness_at` for the instant at which
    /// the host should wake.
    #[must_use]
    pub fn with_lateness(mut self, lateness_at: impl FnMut(Time) -> Duration + 'static) -> Self {
        self.lateness_at = Some(Box::new(lateness_at));
        self
    }
}

impl<D: Drive> Backend for VirtualDrive<D> {
    type Payload = ();
    type Fault = ();
    type Error = Infallible;

    fn begin(&mut self) {
        assert!(!self.has_begun, "virtual time cannot begin again: make a new drive");
        self.has_begun = true;
    }

    fn now(&self) -> Time {
        self.now
    }

    fn submit(&mut self, batch: &[Request], payloads: &mut Vec<()>) -> Result<(), Infallible> {
        payloads.clear();
        self.drive.submit(self.now, batch);
        Ok(())
    }

    fn flush(&mut self, id: RequestId) {
        self.drive.flush(self.now, id);
    }

    fn trim(&mut self, id: RequestId, _start: Lba, _size: Bytes) {
        // A trim takes no time in any drive model.
        let (at, outcome) = (self.now, Outcome::Done);
        self.returned.push(tidegate_drive::Completion { id, at, outcome });
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), Infallible> {
        if !self.returned.is_empty() {
            return Ok(());
        }
        let wake_at = [until, self.drive.next_event()].into_iter().flatten().min();
        let wake_at = wake_at.expect("waiting for nothing on an idle drive would never end");
        assert!(wake_at >= self.now, "an event in the past");
        let lateness = self.lateness_at.as_mut().map(|lateness_at| lateness_at(wake_at));
        self.now = wake_at + lateness.unwrap_or_default();
        Ok(())
    }

    fn reap(&mut self, completions: &mut Vec<Completion<(), ()>>) -> Result<(), Infallible> {
        self.drive.advance(self.now, &mut self.returned);
        completions.extend(self.returned.drain(..).map(|returned| {
            let result = match returned.outcome {
                Outcome::Done => Ok(()),
                Outcome::Failed => Err(()),
            };
            Completion { id: returned.id, payload: Some(()), result }
        }));
        Ok(())
    }
}

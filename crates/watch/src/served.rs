// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A bio that is complete.

use tidegate_model::{Duration, Time};

use crate::event::{Extent, IoClass};
use crate::process::Process;

/// A bio that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The operation and the sectors of the bio.
    pub extent: Extent,
    /// The program that handed it to the kernel.
    pub by: Process,
    /// The class with which the kernel sent the bio; if the kernel does not report it, the class of
    /// the program's thread.
    pub class: IoClass,
    /// The time at which the program handed the bio to the kernel.
    pub queued: Time,
    /// The time at which its last sector was complete; for a bio that did not complete, the time
    /// until which it was known to wait.
    pub completed: Time,
    /// Whether any part of it failed.
    pub is_failed: bool,
}

impl Served {
    /// Returns the time from queueing to completion.
    pub fn response(&self) -> Duration {
        self.completed.since(self.queued)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A bio that is complete.

use tidegate_model::{Duration, Time};

use crate::event::{Extent, IoClass};
use crate::process::Process;

/// A bio that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The bio.
    pub extent: Extent,
    /// The program that handed it to the kernel.
    pub by: Process,
    /// The class with which the kernel sent it; if the kernel reports none, the class of the
    /// program's thread.
    pub class: IoClass,
    /// When the program handed it to the kernel.
    pub queued: Time,
    /// When its last sector was complete; for a bio that did not complete, when its wait was last
    /// seen.
    pub completed: Time,
    /// Whether a part of it failed.
    pub is_failed: bool,
}

impl Served {
    /// Returns the time from queue to completion.
    pub fn response(&self) -> Duration {
        self.completed.since(self.queued)
    }
}

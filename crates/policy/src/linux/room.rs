// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Limits the queued requests of each class.

use tidegate_model::Class;

use crate::Full;

/// The number of queued requests of each class, at most `queued_max` each.
#[derive(Debug)]
pub(super) struct Room {
    queued: [u32; 4],
    queued_max: u32,
}

impl Room {
    pub(super) fn new(queued_max: u32) -> Self {
        Self { queued: [0; 4], queued_max }
    }

    pub(super) fn enter(&mut self, class: Class) -> Result<(), Full> {
        let queued = &mut self.queued[class as usize];
        if *queued >= self.queued_max {
            return Err(Full);
        }
        *queued += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self, class: Class) {
        self.queued[class as usize] -= 1;
    }

    /// Sets the bound. If more are already queued, none is dropped and only new requests are
    /// refused.
    pub(super) fn set_queued_max(&mut self, queued_max: u32) {
        self.queued_max = queued_max;
    }
}

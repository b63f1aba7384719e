// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Joins the events of all processors in the order of time: each processor has a buffer of its own.

use tidegate_model::Time;

use crate::event::Event;

/// Events that were read and not passed on.
#[derive(Debug, Default)]
pub struct Streams {
    held: Vec<Event>,
}

impl Streams {
    /// Adds an event of any processor.
    pub fn push(&mut self, event: Event) {
        self.held.push(event);
    }

    /// Returns the events up to `horizon` in the order of time; those of one instant in the order
    /// of reading. Later ones wait: another processor can still have an earlier event.
    pub fn up_to(&mut self, horizon: Time) -> Vec<Event> {
        self.held.sort_by_key(|event| event.at);
        let later = self.held.split_off(self.held.partition_point(|event| event.at <= horizon));
        std::mem::replace(&mut self.held, later)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Merges the events of all processors in order of time, because each processor has its own buffer.

use tidegate_model::Time;

use crate::event::Event;

/// The events that were read but not yet processed.
#[derive(Debug, Default)]
pub struct Streams {
    held: Vec<Event>,
}

impl Streams {
    /// Adds an event from any processor.
    pub fn push(&mut self, event: Event) {
        self.held.push(event);
    }

    /// Returns the events up to `horizon` in order of time; events with equal times are in the
    /// order of reading. Later events are held back, because another processor may still have an
    /// earlier one.
    pub fn up_to(&mut self, horizon: Time) -> Vec<Event> {
        self.held.sort_by_key(|event| event.at);
        let later = self.held.split_off(self.held.partition_point(|event| event.at <= horizon));
        std::mem::replace(&mut self.held, later)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive's future events.
//!
//! Events of one instant happen in the order in which they were planned, so that runs repeat
//! exactly.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tidegate_model::Time;

use super::requests::Ticket;

/// The origin of a row's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// Data from the host.
    Host,
    /// Data that garbage collection copies.
    Copy,
}

/// An event in the drive.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// The drive has decoded a command.
    Begin(Ticket),
    /// An operation of a die ends, unless it was suspended, in which case `turn` is outdated.
    Die { die: u32, turn: u32 },
    /// A page read has crossed the channel; `bytes` of it are for the host.
    Fetched { ticket: Ticket, bytes: u32 },
    /// Valid units for garbage collection have crossed the channel.
    Gathered { die: u32 },
    /// Another page of a row has crossed the channel to its die.
    Loaded { die: u32, stream: Stream },
    /// `units` of a write have reached the cache.
    Received { ticket: Ticket, units: u32 },
    /// The last byte of a read has reached the host.
    Finish(Ticket),
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    at: Time,
    sequence: u64,
    event: Event,
}

impl Entry {
    fn key(&self) -> (Time, u64) {
        (self.at, self.sequence)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Planned events.
#[derive(Debug, Clone, Default)]
pub(super) struct Agenda {
    entries: BinaryHeap<Reverse<Entry>>,
    planned_count: u64,
}

impl Agenda {
    pub(super) fn plan(&mut self, at: Time, event: Event) {
        self.entries.push(Reverse(Entry { at, sequence: self.planned_count, event }));
        self.planned_count += 1;
    }

    /// Returns the instant of the next event.
    pub(super) fn next_at(&self) -> Option<Time> {
        self.entries.peek().map(|Reverse(entry)| entry.at)
    }

    /// Removes the next event if it is due.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<(Time, Event)> {
        self.next_at().filter(|&at| at <= now)?;
        self.entries.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }
}

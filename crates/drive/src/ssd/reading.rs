// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The path of a read: pages from several dies in parallel, over the channels, then over the link.

use tidegate_model::Outcome;

use super::SsdDrive;
use super::agenda::Event;
use super::die::PageRead;
use super::geometry::Unit;
use super::mapping::UnitLocation;
use super::requests::{RequestKind, Ticket};

impl SsdDrive {
    pub(super) fn begin_read(&mut self, ticket: Ticket) {
        let from_memory = self.find_pages(ticket);
        let parts = self.reads.len() + usize::from(from_memory.is_some());
        if parts == 0 {
            return self.complete(ticket, Outcome::Done); // a read of no bytes
        }
        self.requests.get_mut(ticket).parts_left = u32::try_from(parts).expect("of a request");
        self.push_reads();
        if let Some(bytes) = from_memory {
            self.send(ticket, bytes);
        }
    }

    /// Fills `reads` with the pages that a request needs from flash; returns the number of bytes
    /// already in memory, if any.
    fn find_pages(&mut self, ticket: Ticket) -> Option<u64> {
        let unit_bytes = self.params.geometry.unit_bytes;
        let active = self.requests.get(ticket);
        let mut from_memory = None;
        for unit in active.units(unit_bytes).map(Unit) {
            let bytes = active.bytes_in(unit, unit_bytes);
            match self.mapping.location(unit) {
                UnitLocation::Flash(address) => {
                    let stripe = self.params.geometry.stripe(address);
                    push_unit(&mut self.reads, PageRead { ticket, stripe, units: 1, bytes });
                }
                UnitLocation::Nowhere | UnitLocation::Cache(_) => {
                    *from_memory.get_or_insert(0) += u64::from(bytes);
                }
            }
        }
        from_memory
    }

    /// Passes all of `reads` to their dies.
    pub(super) fn push_reads(&mut self) {
        let mut reads = std::mem::take(&mut self.reads);
        for read in reads.drain(..) {
            let die = self.params.geometry.die(read.stripe);
            self.dies[die as usize].queue.push_read(read, self.now, &self.params.timing);
            self.start(die);
        }
        self.reads = reads;
    }

    /// Sends over the channel a page that a die has read.
    pub(super) fn fetch(&mut self, die: u32, read: &PageRead) {
        let at = self.cross_channel(die, read.units * self.params.geometry.unit_bytes);
        self.agenda.plan(at, Event::Fetched { ticket: read.ticket, bytes: read.bytes });
    }

    pub(super) fn take_fetched(&mut self, ticket: Ticket, bytes: u32) {
        match self.requests.get(ticket).kind {
            RequestKind::Read => self.send(ticket, bytes.into()),
            _ => self.note_edge(ticket),
        }
    }

    /// Sends a part of a read to the host.
    fn send(&mut self, ticket: Ticket, bytes: u64) {
        let active = self.requests.get_mut(ticket);
        active.parts_left -= 1;
        let is_last = active.parts_left == 0;
        let at = self.link.send(self.now, bytes, is_last);
        if is_last {
            self.agenda.plan(at, Event::Finish(ticket));
        }
    }
}

/// Adds a unit to the last page read if that read fetches the unit too; otherwise adds a page read.
fn push_unit(reads: &mut Vec<PageRead>, unit: PageRead) {
    match reads.last_mut() {
        Some(last) if last.stripe == unit.stripe => {
            last.units += unit.units;
            last.bytes += unit.bytes;
        }
        _ => reads.push(unit),
    }
}

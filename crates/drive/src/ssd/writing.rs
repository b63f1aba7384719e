// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The path of a write: room in the cache, transfer over the link, then rows to the dies.
//!
//! Rows go to idle dies in the order in which they became idle. A die that is busy with garbage
//! collection gets fewer rows, so writes wait for the drive as a whole, not for its slowest die.

use tidegate_model::Outcome;

use super::agenda::{Event, Stream};
use super::cache::{Released, Slot};
use super::die::{Job, PageRead};
use super::geometry::{Address, Unit};
use super::mapping::UnitLocation;
use super::requests::{RequestKind, Ticket};
use super::{Die, SsdDrive, WriteState};

impl SsdDrive {
    pub(super) fn begin_write(&mut self, ticket: Ticket) {
        self.find_edges(ticket);
        if self.reads.is_empty() {
            return self.await_room(ticket);
        }
        let edges = u32::try_from(self.reads.len()).expect("two at most");
        self.requests.get_mut(ticket).parts_left = edges;
        self.push_reads();
    }

    /// Fills `reads` with the units that a write changes only in part: they must be read first.
    fn find_edges(&mut self, ticket: Ticket) {
        let unit_bytes = self.params.geometry.unit_bytes;
        let active = self.requests.get(ticket);
        let units = active.units(unit_bytes);
        let last = units.end.saturating_sub(1).max(units.start); // a write of no bytes: one unit, unused
        let edges = units.start..=units.start;
        for unit in edges.chain((last > units.start).then_some(last)).map(Unit) {
            let bytes = active.bytes_in(unit, unit_bytes);
            if bytes == 0 || bytes == unit_bytes {
                continue;
            }
            if let UnitLocation::Flash(address) = self.mapping.location(unit) {
                let stripe = self.params.geometry.stripe(address);
                self.reads.push(PageRead { ticket, stripe, units: 1, bytes: 0 });
            }
        }
    }

    /// Records that the rest of a partly written unit was read.
    pub(super) fn note_edge(&mut self, ticket: Ticket) {
        if self.is_last_part(ticket) {
            self.await_room(ticket);
        }
    }

    fn is_last_part(&mut self, ticket: Ticket) -> bool {
        let active = self.requests.get_mut(ticket);
        active.parts_left -= 1;
        active.parts_left == 0
    }

    fn await_room(&mut self, ticket: Ticket) {
        if self.requests.get(ticket).bytes.is_empty() {
            return self.complete(ticket, Outcome::Done);
        }
        self.cache.await_room(ticket);
        self.admit();
    }

    /// Lets writes send their data while there is room for them.
    fn admit(&mut self) {
        let unit_bytes = self.params.geometry.unit_bytes;
        while let Some(ticket) = self.cache.next_to_admit() {
            let active = self.requests.get_mut(ticket);
            let first = active.units(unit_bytes).start + active.admitted_count;
            let units = self.cache.promise(active.units(unit_bytes).end - first);
            let of_unit = |unit| u64::from(active.bytes_in(Unit(unit), unit_bytes));
            let bytes = (first..first + units).map(of_unit).sum();
            let is_first = active.admitted_count == 0;
            active.admitted_count += units;
            let at = self.link.receive(self.now, bytes, is_first);
            self.agenda.plan(at, Event::Received { ticket, units });
        }
    }

    /// Stores data of a write that have reached the cache.
    pub(super) fn take_received(&mut self, ticket: Ticket, units: u32) {
        let active = self.requests.get_mut(ticket);
        let first = active.units(self.params.geometry.unit_bytes).start + active.received_count;
        active.received_count += units;
        let is_durable = active.kind == RequestKind::Write { durable: true };
        for unit in (first..first + units).map(Unit) {
            self.put(unit, is_durable.then_some(ticket));
        }
        if is_durable {
            self.cache.force();
        }
        self.counters.units_written += u64::from(units);
        self.complete_write(ticket);
        self.admit();
        self.write_rows();
    }

    fn put(&mut self, unit: Unit, waiter: Option<Ticket>) {
        if let UnitLocation::Cache(slot) = self.mapping.location(unit)
            && waiter.is_none()
            && self.cache.overwrite(slot)
        {
            return;
        }
        let slot = self.cache.insert(unit, waiter);
        self.mapping.set(unit, UnitLocation::Cache(slot));
        if let Some(ticket) = waiter {
            self.requests.get_mut(ticket).parts_left += 1;
        }
    }

    /// Completes a write if all its data are in the cache and, for a durable write, in flash.
    fn complete_write(&mut self, ticket: Ticket) {
        let active = self.requests.get(ticket);
        let units = active.units(self.params.geometry.unit_bytes);
        if active.received_count == units.end - units.start && active.parts_left == 0 {
            self.complete(ticket, Outcome::Done);
        }
    }

    /// Sends cached data to flash as far as they fill rows and dies accept them.
    pub(super) fn write_rows(&mut self) {
        self.retry_stuck();
        while let Some(units) = self.units_to_write() {
            self.choose_dies(units.div_ceil(self.params.geometry.units_per_row));
            let Some(dies) = u32::try_from(self.chosen.len()).ok().filter(|&dies| dies > 0) else {
                return;
            };
            self.fill_rows(units.min(dies * self.params.geometry.units_per_row));
        }
    }

    /// Returns the number of units that are worth writing: rows for all dies of a stripe group, or
    /// fewer if writes wait for room or for flash.
    fn units_to_write(&self) -> Option<u32> {
        let row = self.params.geometry.units_per_row;
        let all = row * self.params.stripe_dies;
        match self.cache.pending_count() {
            pending if pending >= all => Some(all),
            pending if self.cache.is_forced() => Some(pending),
            pending if self.cache.has_waiting() && pending >= row => Some(pending - pending % row),
            _ => None,
        }
    }

    /// Fills `chosen` with at most `dies` dies that accept a row.
    fn choose_dies(&mut self, dies: u32) {
        while self.chosen.len() < dies as usize
            && let Some(die) = self.ready.pop_front()
        {
            // Copies may have taken the die's last free block since it was offered.
            if self.has_row(die) {
                self.dies[die as usize].write_state = WriteState::Writing;
                self.chosen.push(die);
            } else {
                self.dies[die as usize].write_state = WriteState::Closed;
            }
        }
    }

    fn has_row(&self, die: u32) -> bool {
        let Die { blocks, collector, .. } = &self.dies[die as usize];
        blocks.has_row() && (!self.is_short(die) || collector.has_credit())
    }

    /// Returns whether a die has so few free blocks that the host must wait for garbage
    /// collection.
    pub(super) fn is_short(&self, die: u32) -> bool {
        self.dies[die as usize].blocks.free_count() <= self.params.foreground_blocks
    }

    /// Deals `units` units out to the chosen dies.
    fn fill_rows(&mut self, units: u32) {
        let chosen = std::mem::take(&mut self.chosen);
        for &die in &chosen {
            self.begin_row(die);
        }
        let rows = u32::try_from(chosen.len()).expect("at most all dies");
        for index in 0..units {
            let (row, _) = self.params.geometry.dealt(index, rows);
            let slot = self.cache.take_pending();
            self.dies[chosen[row as usize] as usize].row.push(slot);
        }
        for &die in &chosen {
            self.load_page(die, Stream::Host);
        }
        self.chosen = chosen;
        self.chosen.clear();
    }

    fn begin_row(&mut self, die: u32) {
        let is_short = self.is_short(die);
        let geometry = &self.params.geometry;
        let target = &mut self.dies[die as usize];
        target.collector.pace().spend(is_short);
        let start = target.blocks.begin_row(Stream::Host, geometry);
        target.row.begin(start, geometry);
        self.counters.rows_written += 1;
        // The row may have taken a free block.
        self.collect_if_needed(die);
    }

    /// Sends the next page of a row to its die.
    pub(super) fn load_page(&mut self, die: u32, stream: Stream) {
        let at = self.cross_channel(die, self.params.geometry.page_bytes);
        self.agenda.plan(at, Event::Loaded { die, stream });
    }

    /// Records that a page of a row has reached its die.
    pub(super) fn take_loaded(&mut self, die: u32, stream: Stream) {
        let target = &mut self.dies[die as usize];
        let is_last = match stream {
            Stream::Host => target.row.note_page(),
            Stream::Copy => target.collector.row.note_page(),
        };
        if is_last {
            target.queue.push_work(Job::Program(stream), &self.params.timing);
            self.start(die);
        } else {
            self.load_page(die, stream);
        }
    }

    /// Records that a host row is in flash.
    pub(super) fn end_row(&mut self, die: u32) {
        let row = std::mem::take(&mut self.dies[die as usize].row);
        for (address, &slot) in row.placed() {
            self.leave_cache(slot, address);
        }
        self.dies[die as usize].row = row;
        self.dies[die as usize].blocks.end_row(Stream::Host, &self.params.geometry);
        self.complete_flushes();
        self.offer(die);
        self.admit();
        self.write_rows();
    }

    fn leave_cache(&mut self, slot: Slot, address: Address) {
        let Released { unit, waiter } = self.cache.release(slot);
        // Otherwise the unit was overwritten meanwhile, and this content is stale.
        if self.mapping.location(unit) == UnitLocation::Cache(slot) {
            self.mapping.set(unit, UnitLocation::Flash(address));
        }
        if let Some(ticket) = waiter {
            self.requests.get_mut(ticket).parts_left -= 1;
            self.complete_write(ticket);
        }
    }

    /// Queues a die for host data if it has room.
    pub(super) fn offer(&mut self, die: u32) {
        if self.has_row(die) {
            self.dies[die as usize].write_state = WriteState::Offered;
            self.ready.push_back(die);
        } else {
            self.dies[die as usize].write_state = WriteState::Closed;
        }
    }

    pub(super) fn begin_flush(&mut self, ticket: Ticket) {
        if self.params.power_loss_protection {
            return self.complete(ticket, Outcome::Done);
        }
        self.cache.flush(ticket);
        self.complete_flushes();
        self.write_rows();
    }

    fn complete_flushes(&mut self) {
        while let Some(ticket) = self.cache.flushed() {
            self.complete(ticket, Outcome::Done);
        }
    }
}

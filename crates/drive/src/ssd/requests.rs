// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The requests that the drive holds, and the remaining work of each.

use std::ops::Range;

use tidegate_model::{Lba, Op, Request, RequestId};

use super::geometry::Unit;

/// Identifies a request while the drive holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket(u32);

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// Returns data to the host.
    Read,
    /// Stores data; a `durable` write completes only when its data are in flash.
    Write { durable: bool },
    /// Makes all earlier writes durable.
    Flush,
}

/// A request that the drive holds.
#[derive(Debug, Clone)]
pub(super) struct Active {
    pub(super) id: RequestId,
    pub(super) kind: RequestKind,
    /// The bytes that the request addresses.
    pub(super) bytes: Range<u64>,
    /// The number of a write's units that have reserved room in the cache.
    pub(super) admitted_count: u32,
    /// The number of a write's units that have reached the cache.
    pub(super) received_count: u32,
    /// The remaining parts: pages to be read, or units to be programmed.
    pub(super) parts_left: u32,
}

impl Active {
    pub(super) fn new(request: &Request, is_durable: bool) -> Self {
        let begin = request.start.get().saturating_mul(Lba::SECTOR_BYTES);
        let kind = match request.op {
            Op::Read => RequestKind::Read,
            Op::Write => RequestKind::Write { durable: is_durable },
        };
        // A sum beyond the end of any drive saturates; such a request fails.
        let end = begin.saturating_add(request.size.get());
        Self { bytes: begin..end, ..Self::of(request.id, kind) }
    }

    pub(super) fn flush(id: RequestId) -> Self {
        Self::of(id, RequestKind::Flush)
    }

    fn of(id: RequestId, kind: RequestKind) -> Self {
        Self { id, kind, bytes: 0..0, admitted_count: 0, received_count: 0, parts_left: 0 }
    }

    /// Returns the units that the request touches.
    ///
    /// # Panics
    /// If the request is beyond the end of the drive.
    pub(super) fn units(&self, unit_bytes: u32) -> Range<u32> {
        let unit_bytes = u64::from(unit_bytes);
        let number = |unit: u64| u32::try_from(unit).expect("a unit of the drive");
        number(self.bytes.start / unit_bytes)..number(self.bytes.end.div_ceil(unit_bytes))
    }

    /// Returns the number of the request's bytes that are in a unit.
    pub(super) fn bytes_in(&self, unit: Unit, unit_bytes: u32) -> u32 {
        let begin = u64::from(unit.0) * u64::from(unit_bytes);
        let end = (begin + u64::from(unit_bytes)).min(self.bytes.end);
        let bytes = end.saturating_sub(begin.max(self.bytes.start)); // none in a unit beside it
        u32::try_from(bytes).expect("at most a unit")
    }
}

/// The requests that the drive holds: at most K, so memory is bounded.
#[derive(Debug, Clone)]
pub(super) struct Requests {
    held: Vec<Option<Active>>,
    free: Vec<Ticket>,
    depth: u32,
}

impl Requests {
    pub(super) fn new(depth: u32) -> Self {
        Self { held: Vec::new(), free: Vec::new(), depth }
    }

    pub(super) fn count(&self) -> usize {
        self.held.len() - self.free.len()
    }

    /// Adds a request.
    ///
    /// # Panics
    /// If the drive already holds K requests.
    pub(super) fn hold(&mut self, active: Active) -> Ticket {
        if let Some(ticket) = self.free.pop() {
            self.held[ticket.0 as usize] = Some(active);
            return ticket;
        }
        assert!(self.held.len() < self.depth as usize, "the drive holds {} requests", self.depth);
        self.held.push(Some(active));
        Ticket(u32::try_from(self.held.len() - 1).expect("at most K"))
    }

    pub(super) fn get(&self, ticket: Ticket) -> &Active {
        self.held[ticket.0 as usize].as_ref().expect("a ticket is of a request that is held")
    }

    pub(super) fn get_mut(&mut self, ticket: Ticket) -> &mut Active {
        self.held[ticket.0 as usize].as_mut().expect("a ticket is of a request that is held")
    }

    /// Removes a completed request.
    pub(super) fn release(&mut self, ticket: Ticket) -> RequestId {
        let active = self.held[ticket.0 as usize].take();
        self.free.push(ticket);
        active.expect("a ticket is of a request that is held").id
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The room of one export for requests in progress: a connection is read only while its export has
//! room for the request.
//!
//! The rooms have the same sizes as those of `gate`, but only the service's thread uses them, so
//! there is no lock. A connection without room is left unread, whereas `gate` makes a thread wait.

use std::collections::VecDeque;

use tidegate_model::{ExportSpec, Op, Time};

use super::super::CallError;
use super::super::call::piece_parts;
use super::super::gate::{Load, Rooms};
use super::memory::rounded;

/// The room that a request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Charge {
    is_agreed: bool,
    load: Load,
}

/// One room, and the connections that wait for it.
#[derive(Debug)]
struct Room {
    free: Load,
    waiting: VecDeque<usize>,
}

/// The rooms of one export.
#[derive(Debug)]
pub(super) struct Lane {
    agreed: Option<Op>,
    part_max: usize,
    /// The largest pieces in bytes: of the contract's operation, and of the other one.
    piece_max: [usize; 2],
    of_contract: Room,
    beside: Room,
    /// The number of the export's connections.
    pub(super) connections: usize,
    /// The last failure that was reported.
    pub(super) reported: Option<(&'static str, CallError)>,
    /// The instant from which the same failure is reported again.
    pub(super) next_report: Time,
    /// The number of failures since the last report.
    pub(super) unreported: u64,
}

/// Returns the rooms of an export, with the memory of its requests rounded up to whole pages.
pub(super) fn rooms(spec: &ExportSpec, part_max: usize) -> Rooms {
    let part_max = usize::try_from(rounded(part_max)).unwrap_or(usize::MAX);
    Rooms::of(spec.contract.as_ref(), part_max)
}

impl Lane {
    pub(super) fn new(spec: &ExportSpec, part_max: usize) -> Self {
        let Rooms { of_contract, beside } = rooms(spec, part_max);
        let contract = spec.contract.as_ref();
        let piece = |room: Load, at_once: usize| {
            let fits = (room.bytes / rounded(part_max)).min(room.parts);
            let parts = piece_parts(part_max, at_once);
            parts.min(usize::try_from(fits).unwrap_or(usize::MAX)).max(1).saturating_mul(part_max)
        };
        let at_once = contract.map_or(1, |contract| contract.requests as usize);
        let piece_max = [piece(of_contract, at_once), piece(beside, 1)];
        let room = |free| Room { free, waiting: VecDeque::new() };
        Self {
            agreed: contract.and_then(|contract| contract.op),
            part_max,
            piece_max,
            of_contract: room(of_contract),
            beside: room(beside),
            connections: 0,
            reported: None,
            next_report: Time::ZERO,
            unreported: 0,
        }
    }

    pub(super) fn part_max(&self) -> usize {
        self.part_max
    }

    fn is_agreed(&self, op: Op) -> bool {
        self.agreed.is_none_or(|agreed| agreed == op)
    }

    /// Returns the largest piece of a request with this operation, in bytes.
    pub(super) fn piece_max(&self, op: Op) -> usize {
        self.piece_max[usize::from(!self.is_agreed(op))]
    }

    fn room(&mut self, is_agreed: bool) -> &mut Room {
        if is_agreed { &mut self.of_contract } else { &mut self.beside }
    }

    /// Takes room for `length` bytes. If there is none, or other connections wait for it, this
    /// connection waits until [`Self::next`] returns it.
    pub(super) fn take(&mut self, op: Op, length: usize, connection: usize) -> Option<Charge> {
        let (is_agreed, part_max) = (self.is_agreed(op), self.part_max);
        let last = length % part_max;
        let whole = (length / part_max) as u64 * rounded(part_max);
        let bytes = whole + if last > 0 { rounded(last) } else { 0 };
        let load = Load { parts: Load::of(length, part_max).parts, bytes };
        let room = self.room(is_agreed);
        let is_first = room.waiting.front().is_none_or(|&first| first == connection);
        let Some(free) = room.free.without(load).filter(|_| is_first) else {
            if !room.waiting.contains(&connection) {
                room.waiting.push_back(connection);
            }
            return None;
        };
        room.free = free;
        room.waiting.pop_front();
        Some(Charge { is_agreed, load })
    }

    /// Frees the room of a request.
    pub(super) fn give(&mut self, charge: Charge) {
        let room = self.room(charge.is_agreed);
        room.free = room.free.with(charge.load);
    }

    /// Returns whether a connection waits for room.
    pub(super) fn has_waiting(&self) -> bool {
        [&self.of_contract, &self.beside].iter().any(|room| !room.waiting.is_empty())
    }

    /// Returns the connection that has waited longest for the room from which `charge` was taken.
    pub(super) fn next(&mut self, charge: Charge) -> Option<usize> {
        self.room(charge.is_agreed).waiting.front().copied()
    }

    /// Removes a connection. Returns, for each room, the connection that has then waited longest
    /// for it.
    pub(super) fn forget(&mut self, connection: usize) -> [Option<usize>; 2] {
        [true, false].map(|is_agreed| {
            let waiting = &mut self.room(is_agreed).waiting;
            waiting.retain(|&other| other != connection);
            waiting.front().copied()
        })
    }
}

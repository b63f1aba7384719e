// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Limits each export's requests in progress. Calls beyond the limit wait in their client's thread,
//! before memory is allocated for them and before the service's thread handles them.
//!
//! ```text
//!   client's thread: --enter--> memory, inbox, reply --leave--> the next waiting call enters
//! ```
//! Thus clients that send large calls on many connections neither lengthen the iterations of the
//! service's thread nor use up its memory. One export has at most [`PARTS`] requests and [`BYTES`]
//! bytes in progress, twice that if its contract covers only one operation, or the amount that its
//! contract allows if that is more.
//!
//! A client that keeps its contract never waits here. If the contract covers only reads or only
//! writes, the other operation has its own gate. If the contract makes excess requests wait, the
//! request that exceeds the limit is not allowed before an earlier one must be complete
//! ([`outstanding_max`]).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use oneshot::{Receiver, Sender, channel};
use tidegate_model::{ExportContract, Op};

use super::offer::ExportId;

/// The largest number of an export's requests in progress: two pieces of a large call, so that one
/// is ready when the other completes.
pub(super) const PARTS: u64 = 128;

/// The largest number of an export's bytes in progress.
pub(super) const BYTES: u64 = 16 << 20;

/// Returns the number of requests that a client within this contract can have outstanding at the
/// same time, including those of the period that begins. A server must read this number of requests
/// without waiting for a reply.
pub fn outstanding_max(contract: &ExportContract) -> u64 {
    let periods = contract.deadline.ns().div_ceil(contract.period.ns()).saturating_add(1);
    periods.saturating_mul(u64::from(contract.requests))
}

/// An amount of requests and bytes in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) parts: u64,
    pub(super) bytes: u64,
}

impl Load {
    pub(super) fn of(length: usize, part_max: usize) -> Self {
        Self { parts: length.div_ceil(part_max).max(1) as u64, bytes: length as u64 }
    }

    /// Returns this amount minus `other`; `None` if `other` is larger.
    pub(super) fn without(self, other: Self) -> Option<Self> {
        let parts = self.parts.checked_sub(other.parts)?;
        Some(Self { parts, bytes: self.bytes.checked_sub(other.bytes)? })
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self { parts: self.parts + other.parts, bytes: self.bytes + other.bytes }
    }
}

/// A limit on the amount in progress; calls enter in the order of their arrival.
///
/// # Invariants
/// - Invariant: there is not enough room for the first waiting call.
#[derive(Debug)]
struct Gate {
    room_max: Load,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    room: Load,
    waiting: VecDeque<(Load, Sender<()>)>,
}

impl Gate {
    fn new(room_max: Load) -> Self {
        let state = State { room: room_max, waiting: VecDeque::new() };
        Self { room_max, state: Mutex::new(state) }
    }

    /// Blocks until there is room.
    fn enter(&self, load: Load) -> Entered<'_> {
        let most = self.room_max;
        // A call larger than the limit enters alone.
        let load = Load { parts: load.parts.min(most.parts), bytes: load.bytes.min(most.bytes) };
        if let Some(admitted) = self.ask(load) {
            admitted.recv().expect("a gate outlives its waiting calls");
        }
        Entered { gate: self, load }
    }

    /// Takes the room; or returns the channel that reports when the room has been taken for this
    /// call.
    fn ask(&self, load: Load) -> Option<Receiver<()>> {
        let mut state = self.lock();
        let room = state.room.without(load).filter(|_| state.waiting.is_empty());
        let Some(room) = room else {
            let (admit, admitted) = channel();
            state.waiting.push_back((load, admit));
            return Some(admitted);
        };
        state.room = room;
        None
    }

    fn leave(&self, load: Load) {
        let mut state = self.lock();
        state.room = state.room.with(load);
        while let Some(&(next, _)) = state.waiting.front()
            && let Some(room) = state.room.without(next)
        {
            let (_, admit) = state.waiting.pop_front().expect("just seen");
            state.room = room;
            admit.send(()).expect("a waiting call only waits");
        }
    }

    fn is_empty(&self) -> bool {
        self.lock().room == self.room_max
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room that is taken until this value is dropped.
#[derive(Debug)]
#[must_use = "the room is free as soon as this is dropped"]
pub(super) struct Entered<'a> {
    gate: &'a Gate,
    load: Load,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.gate.leave(self.load);
    }
}

/// An export's gates: one for the contract's operation, one for the other operation.
#[derive(Debug)]
pub(super) struct Gates {
    agreed: Option<Op>,
    of_contract: Gate,
    beside: Gate,
}

/// The limits on an export's requests in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rooms {
    /// The limit for the contract's operation, or for all operations if the contract covers both or
    /// there is none.
    pub(super) of_contract: Load,
    /// The limit for the other operation.
    pub(super) beside: Load,
}

impl Rooms {
    /// Returns the rooms of an export whose requests have at most `part_max` bytes.
    pub(super) fn of(contract: Option<&ExportContract>, part_max: usize) -> Self {
        let beside = Load { parts: PARTS, bytes: BYTES.max(2 * part_max as u64) };
        let allowed = contract.map_or(0, outstanding_max);
        let of_contract = Load {
            parts: allowed.max(beside.parts),
            bytes: allowed.saturating_mul(part_max as u64).max(beside.bytes),
        };
        Self { of_contract, beside }
    }
}

impl Gates {
    fn new(contract: Option<&ExportContract>, part_max: usize) -> Self {
        let Rooms { of_contract, beside } = Rooms::of(contract, part_max);
        let agreed = contract.and_then(|contract| contract.op);
        Self { agreed, of_contract: Gate::new(of_contract), beside: Gate::new(beside) }
    }

    /// Blocks until there is room for `length` bytes, in requests of at most `part_max`.
    pub(super) fn enter(&self, op: Op, length: usize, part_max: usize) -> Entered<'_> {
        let is_agreed = self.agreed.is_none_or(|agreed| agreed == op);
        let gate = if is_agreed { &self.of_contract } else { &self.beside };
        gate.enter(Load::of(length, part_max))
    }

    fn is_empty(&self) -> bool {
        self.of_contract.is_empty() && self.beside.is_empty()
    }
}

/// The gates of all exports that clients have open.
#[derive(Debug, Default)]
pub(super) struct AllGates(Mutex<BTreeMap<ExportId, Weak<Gates>>>);

impl AllGates {
    /// Returns the export's gates, which all its clients share.
    pub(super) fn of(
        &self,
        id: ExportId,
        contract: Option<&ExportContract>,
        part_max: usize,
    ) -> Arc<Gates> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gates) = all.get(&id).and_then(Weak::upgrade) {
            return gates;
        }
        all.retain(|_, gates| gates.strong_count() > 0);
        let gates = Arc::new(Gates::new(contract, part_max));
        all.insert(id, Arc::downgrade(&gates));
        gates
    }

    /// Returns whether no call is in progress or waits.
    pub(super) fn are_empty(&self) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.values().filter_map(Weak::upgrade).all(|gates| gates.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{Beyond, Bytes, Duration};

    use super::*;

    fn contract(requests: u32, op: Option<Op>) -> ExportContract {
        let (period, deadline) = (Duration::from_ms(100), Duration::from_ms(250));
        let size_max = Bytes::from_kib(1 << 10);
        ExportContract { period, deadline, requests, size_max, op, beyond: Beyond::Wait }
    }

    /// Goal: waiting calls, including large ones, enter in order, and no small call overtakes.
    /// Method: fill a gate, then queue calls of three sizes.
    #[test]
    fn first_come_first_served() {
        let gate = Gate::new(Load { parts: 4, bytes: 400 });
        let load = |parts| Load { parts, bytes: 100 * parts };
        let first = [gate.enter(load(2)), gate.enter(load(1))];
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let waiting = |count: usize| {
                while gate.lock().waiting.len() < count {
                    std::thread::yield_now();
                }
            };
            for (number, parts) in [9, 1, 2].into_iter().enumerate() {
                let (gate, order) = (&gate, &order);
                scope.spawn(move || {
                    let _entered = gate.enter(load(parts));
                    order.lock().unwrap().push(parts);
                });
                waiting(number + 1);
            }
            assert_eq!(gate.lock().room, load(1));
            drop(first);
        });
        assert_eq!(order.lock().unwrap()[0], 9);
        assert!(gate.is_empty());
    }

    #[test]
    fn what_a_contract_allows_enters_beside_what_it_does_not_speak_of() {
        let gates = Gates::new(Some(&contract(100, Some(Op::Write))), 1 << 20);
        let reads: Vec<_> = (0..16).map(|_| gates.enter(Op::Read, 1 << 20, 1 << 20)).collect();
        // These are the requests of three periods until the last deadline, and of the period that
        // begins then.
        let writes: Vec<_> = (0..400).map(|_| gates.enter(Op::Write, 1 << 20, 1 << 20)).collect();
        let room = |gate: &Gate| gate.lock().room.bytes;
        assert_eq!((room(&gates.beside), room(&gates.of_contract)), (0, 0));
        drop((reads, writes));
        assert!(gates.is_empty());
    }

    #[test]
    fn the_gates_of_an_export_are_those_of_all_its_clients() {
        let all = AllGates::default();
        let one = all.of(ExportId(1), None, 4096);
        assert!(Arc::ptr_eq(&one, &all.of(ExportId(1), None, 4096)));
        let other = all.of(ExportId(2), None, 4096);
        assert!(!Arc::ptr_eq(&one, &other));
        let entered = other.enter(Op::Read, 4096, 4096);
        assert!(!all.are_empty());
        drop(entered);
        assert!(all.are_empty());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How much of an export is on its way at once: what goes beyond waits in its client's thread,
//! before there is memory for it and before the service's thread hears of it.
//!
//! ```text
//!   client's thread: --enter--> memory, inbox, answer --leave--> whoever came next enters
//! ```
//! So nobody makes the turns of the service's thread long, nor its memory large, by asking for much
//! on many connections: of one export there are never more than [`PARTS`] and [`BYTES`] to be put
//! in order, twice that where its contract speaks of one operation, or what its contract allows.
//!
//! Who keeps a contract never waits here. Where it speaks of reads or of writes alone, the others
//! have a gate of their own. Where requests beyond it wait, the one that comes so many later is
//! allowed no sooner than an earlier one is to be answered ([`outstanding_max`]).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use oneshot::{Receiver, Sender, channel};
use tidegate_model::{ExportContract, Op};

use super::offer::ExportId;

/// Requests of an export on their way at once: two pieces of a large call, so that one is there
/// when the other is answered.
pub(super) const PARTS: u64 = 128;

/// The same in bytes.
pub(super) const BYTES: u64 = 16 << 20;

/// Requests that a client within this contract may have outstanding at once, those of the period
/// that begins included: what a server must read of it without waiting for an answer.
pub fn outstanding_max(contract: &ExportContract) -> u64 {
    let periods = contract.deadline.ns().div_ceil(contract.period.ns()).saturating_add(1);
    periods.saturating_mul(u64::from(contract.requests))
}

/// What is on its way, or may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Load {
    parts: u64,
    bytes: u64,
}

impl Load {
    fn of(length: usize, part_max: usize) -> Self {
        Self { parts: length.div_ceil(part_max).max(1) as u64, bytes: length as u64 }
    }

    /// What is left of it beside `other`; none: `other` is more.
    fn without(self, other: Self) -> Option<Self> {
        let parts = self.parts.checked_sub(other.parts)?;
        Some(Self { parts, bytes: self.bytes.checked_sub(other.bytes)? })
    }

    fn with(self, other: Self) -> Self {
        Self { parts: self.parts + other.parts, bytes: self.bytes + other.bytes }
    }
}

/// First come, first served.
///
/// # Invariants
/// - Whoever waits first has no room.
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
        // More than fits fits alone.
        let load = Load { parts: load.parts.min(most.parts), bytes: load.bytes.min(most.bytes) };
        if let Some(admitted) = self.ask(load) {
            admitted.recv().expect("a gate outlives who waits at it");
        }
        Entered { gate: self, load }
    }

    /// Takes the room, or gives by what it is told that it is taken.
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
            admit.send(()).expect("who waits does nothing else");
        }
    }

    fn is_empty(&self) -> bool {
        self.lock().room == self.room_max
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room that is taken until this is dropped.
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

/// The gates of one export: of what its contract speaks of, and of the rest.
#[derive(Debug)]
pub(super) struct Gates {
    agreed: Option<Op>,
    of_contract: Gate,
    beside: Gate,
}

impl Gates {
    fn new(contract: Option<&ExportContract>, part_max: usize) -> Self {
        let beside = Load { parts: PARTS, bytes: BYTES.max(2 * part_max as u64) };
        let allowed = contract.map_or(0, outstanding_max);
        let of_contract = Load {
            parts: allowed.max(beside.parts),
            bytes: allowed.saturating_mul(part_max as u64).max(beside.bytes),
        };
        let agreed = contract.and_then(|contract| contract.op);
        Self { agreed, of_contract: Gate::new(of_contract), beside: Gate::new(beside) }
    }

    /// Blocks until there is room for so many bytes, in requests of at most `part_max`.
    pub(super) fn enter(&self, op: Op, length: usize, part_max: usize) -> Entered<'_> {
        let is_agreed = self.agreed.is_none_or(|agreed| agreed == op);
        let gate = if is_agreed { &self.of_contract } else { &self.beside };
        gate.enter(Load::of(length, part_max))
    }

    fn is_empty(&self) -> bool {
        self.of_contract.is_empty() && self.beside.is_empty()
    }
}

/// The gates of all exports that somebody holds.
#[derive(Debug, Default)]
pub(super) struct AllGates(Mutex<BTreeMap<ExportId, Weak<Gates>>>);

impl AllGates {
    /// Those of this export, the same for all its clients.
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

    /// Whether nothing is on its way, and nobody waits for that.
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

    /// Goal: who waits enters in turn, also what is large, and nothing small passes it.
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
        // Three periods until the last deadline, and the one that begins then.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A client's way to an export: calls that block, and calls that are submitted now and awaited
//! later, as a program with deadlines of its own wants them.
//!
//! ```text
//!   read, write, zero, flush                    submit, then wait
//!   submit_read, submit_write, submit_flush --> Pending, PendingRead --wait--> Answered
//! ```
//!
//! A call that blocks goes in pieces of at most 64 requests and 8 MiB (one request at least, and
//! as many as the contract allows at once), each when the one before it is answered and when there
//! is room for it beside the export's others (`gate`), so that neither a call nor many of them
//! keep the service's thread from others. A call is not atomic: between two pieces an overlapping
//! call of another thread may take effect, which NBD allows too. Each piece keeps the order of what
//! overlaps, as [`super`] promises. What is submitted waits for no room, comes all at once, and
//! costs the service's thread so: see [`Export::submit_read`].

use std::ops::Range;
use std::sync::Arc;

use tidegate_model::{Bytes, ExportSpec, Lba, Op, Time};
use tidegate_policy::NoticeKind;

use super::call::{Awaited, Call, CallError, CallKind, CallPart, mailbox};
use super::core::memory;
use super::gate::{Entered, Gates};
use super::inbox::Message;
use super::offer::ExportId;
use super::{Answered, Shared};

/// What of a call that blocks is on its way at once, at most, in parts and bytes: a part at least,
/// and what a contract allows at once, which was proved. A client may ask for 4 GiB of zeroes, and
/// all that comes at once is taken in one turn of the service's thread.
const PIECE_PARTS: usize = 64;
const PIECE_BYTES: usize = 8 << 20;

/// A client's access to one export; clones are the same.
#[derive(Debug, Clone)]
pub struct Export {
    shared: Arc<Shared>,
    id: ExportId,
    spec: Arc<ExportSpec>,
    gates: Arc<Gates>,
}

/// A write or a flush that was submitted. Dropped, it happens all the same, and nobody hears
/// what came of it.
#[derive(Debug)]
#[must_use = "what came of it is known only to who waits"]
pub struct Pending {
    shared: Arc<Shared>,
    /// None: there was nothing to do.
    awaited: Option<Awaited>,
}

/// A read that was submitted.
#[derive(Debug)]
#[must_use = "the data are given only to who waits"]
pub struct PendingRead {
    pending: Pending,
    length: usize,
    part_max: usize,
}

impl Export {
    pub(super) fn named(shared: &Arc<Shared>, name: &str) -> Option<Self> {
        let offer = shared.offer.get();
        let index = offer.exports().iter().position(|export| export.name == name)?;
        let spec = Arc::new(offer.exports()[index].clone());
        let (id, contract) = (offer.ids()[index], spec.contract.as_ref());
        let size_max = contract.map_or(shared.params.size_max, |contract| contract.size_max);
        let gates = shared.gates.of(id, contract, usize_of(size_max));
        Some(Self { shared: shared.clone(), id, spec, gates })
    }

    /// What was agreed.
    pub fn spec(&self) -> &ExportSpec {
        &self.spec
    }

    /// Every offset and length is a multiple of this.
    pub fn alignment(&self) -> Bytes {
        self.shared.params.alignment
    }

    /// Whether the store is known to turn.
    pub fn is_rotational(&self) -> bool {
        self.shared.params.drive.as_ref().is_some_and(|drive| drive.mechanics.is_some())
    }

    /// The largest request that is not cut.
    pub fn size_max(&self) -> Bytes {
        let contract = self.spec().contract.as_ref();
        contract.map_or(self.shared.params.size_max, |contract| contract.size_max)
    }

    /// Fills `data` from `offset` on, piece after piece (see the module's text).
    ///
    /// # Errors
    /// [`CallError`]; then any part of `data` may be filled.
    pub fn read(&self, offset: u64, data: &mut [u8]) -> Result<Answered, CallError> {
        self.in_pieces(Op::Read, offset, data.len(), |at, piece| {
            self.submit_read(at, piece.len())?.wait(&mut data[piece])
        })
    }

    /// Writes `data` from `offset` on, piece after piece (see the module's text); `is_durable`: on
    /// the medium before it is answered.
    ///
    /// # Errors
    /// [`CallError`]; then any part of it may be written.
    pub fn write(&self, offset: u64, data: &[u8], is_durable: bool) -> Result<Answered, CallError> {
        self.check_writable()?;
        self.in_pieces(Op::Write, offset, data.len(), |at, piece| {
            // The flush behind the last piece covers those before it.
            let is_durable = is_durable && piece.end == data.len();
            self.submit_write(at, &data[piece], is_durable)?.wait()
        })
    }

    /// Writes zeroes, at the cost of any other write, piece after piece (see the module's text).
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn zero(&self, offset: u64, length: usize, is_durable: bool) -> Result<(), CallError> {
        self.check_writable()?;
        let zeroed = self.in_pieces(Op::Write, offset, length, |at, piece| {
            let kind = CallKind::Write { is_durable: is_durable && piece.end == length };
            let parts = self.cut(at, piece.len(), |_, memory| memory.fill(0))?;
            self.call(kind, parts).wait()
        });
        zeroed.map(drop)
    }

    /// Carries out a call piece after piece: `carry_out` gets where in the export each begins, and
    /// which bytes of the call it is. What is answered is that of the slowest request.
    fn in_pieces(
        &self,
        op: Op,
        offset: u64,
        length: usize,
        mut carry_out: impl FnMut(u64, Range<usize>) -> Result<Answered, CallError>,
    ) -> Result<Answered, CallError> {
        self.check(offset, length as u64)?;
        if length == 0 {
            return Ok(Answered::default());
        }
        let piece_max = self.piece_max();
        // A contract allows no more at once than one piece.
        let is_one = length <= piece_max;
        let none = Answered { is_within_contract: is_one, ..Answered::best() };
        (0..length).step_by(piece_max).try_fold(none, |others, at| {
            let piece = at..at.saturating_add(piece_max).min(length);
            let _entered = self.gates.enter(op, piece.len(), self.part_max());
            Ok(others.and(carry_out(offset + at as u64, piece)?))
        })
    }

    /// Whether trims are carried out now: the store can, and nothing of the service has a contract.
    pub fn can_trim(&self) -> bool {
        let offer = self.shared.offer.get();
        let has_contract = offer.exports().iter().any(|export| export.contract.is_some());
        self.shared.params.can_trim && !self.spec().is_read_only && !has_contract
    }

    /// What lies there is no longer wanted. A hint: where nobody knows what that costs others, or
    /// the store cannot, nothing happens, and that is no failure.
    ///
    /// # Errors
    /// [`CallError`] of a range that is none.
    pub fn trim(&self, offset: u64, length: u64) -> Result<(), CallError> {
        self.check_writable()?;
        self.check(offset, length)?;
        if length == 0 || !self.shared.params.can_trim {
            return Ok(());
        }
        let (start, size) = (lba(self.spec().offset.get() + offset), Bytes::new(length));
        let _entered = self.enter_for_nothing();
        self.call(CallKind::Trim, vec![CallPart { start, size, data: None }]).wait().map(drop)
    }

    /// Makes everything durable that was answered before, whoever wrote it.
    ///
    /// # Errors
    /// [`CallError`]; then what was written since the last success may be lost.
    pub fn flush(&self) -> Result<Answered, CallError> {
        let _entered = self.enter_for_nothing();
        self.submit_flush().wait()
    }

    /// Begins to read `length` bytes from `offset` on, all at once.
    ///
    /// # Complexity
    /// One turn of the service's thread for all of it, in which nobody else is served: about half
    /// a microsecond for each request of [`Self::size_max`] that it is cut into, 1.3 to 2.4 where
    /// 200,000 come at once. What is long beside others' bounds is better read in several calls.
    ///
    /// # Errors
    /// [`CallError`] where there is nothing to read.
    pub fn submit_read(&self, offset: u64, length: usize) -> Result<PendingRead, CallError> {
        let pending = self.call(CallKind::Read, self.cut(offset, length, |_, _| ())?);
        Ok(PendingRead { pending, length, part_max: self.part_max() })
    }

    /// Begins to write `data` from `offset` on; they are copied, so the slice may change as soon
    /// as this returns. `is_durable`: on the medium before it is answered.
    ///
    /// # Complexity
    /// As [`Self::submit_read`].
    ///
    /// # Errors
    /// [`CallError`] where nothing can be written.
    pub fn submit_write(
        &self,
        offset: u64,
        data: &[u8],
        is_durable: bool,
    ) -> Result<Pending, CallError> {
        self.check_writable()?;
        let parts = self.cut(offset, data.len(), |at, memory| {
            memory.copy_from_slice(&data[at..at + memory.len()]);
        })?;
        Ok(self.call(CallKind::Write { is_durable }, parts))
    }

    /// Begins to make everything durable that was answered before, whoever wrote it.
    pub fn submit_flush(&self) -> Pending {
        let (start, size) = (lba(self.spec().offset.get()), self.shared.params.alignment);
        self.call(CallKind::Flush, vec![CallPart { start, size, data: None }])
    }

    /// Says something about the service that this export got.
    pub fn notice(&self, kind: NoticeKind) {
        self.shared.inbox.send(Message::Notice { export: self.id, kind });
    }

    fn part_max(&self) -> usize {
        usize_of(self.size_max())
    }

    /// Room for a request that moves nothing, and is counted as a write.
    fn enter_for_nothing(&self) -> Entered<'_> {
        self.gates.enter(Op::Write, 0, self.part_max())
    }

    /// What of a call is on its way at once, at most; whole parts.
    fn piece_max(&self) -> usize {
        let part_max = self.part_max();
        let contract = self.spec().contract.as_ref();
        let at_once = contract.map_or(1, |contract| contract.requests as usize);
        let parts = (PIECE_BYTES / part_max).clamp(1, PIECE_PARTS).max(at_once);
        parts.saturating_mul(part_max)
    }

    fn check_writable(&self) -> Result<(), CallError> {
        if self.spec().is_read_only { Err(CallError::ReadOnly) } else { Ok(()) }
    }

    fn check(&self, offset: u64, length: u64) -> Result<(), CallError> {
        let (spec, alignment) = (self.spec(), self.alignment());
        let end = offset.checked_add(length);
        if end.is_none_or(|end| end > spec.size.get()) {
            return Err(CallError::BeyondEnd { size: spec.size });
        }
        let is_aligned = |value: u64| value.is_multiple_of(alignment.get());
        if !is_aligned(offset) || !is_aligned(length) {
            return Err(CallError::Unaligned { alignment });
        }
        Ok(())
    }

    /// The parts of a call, their memory filled by `fill`, which gets what comes before.
    pub(super) fn cut(
        &self,
        offset: u64,
        length: usize,
        fill: impl Fn(usize, &mut [u8]),
    ) -> Result<Vec<CallPart>, CallError> {
        self.check(offset, length as u64)?;
        let part_max = self.part_max();
        let part = |at: usize| {
            let size = part_max.min(length - at);
            let mut data = self.shared.pool.take(Bytes::new(size as u64));
            fill(at, &mut data.bytes_mut()[..size]);
            let start = lba(self.spec().offset.get() + offset + at as u64);
            CallPart { start, size: Bytes::new(size as u64), data: Some(data) }
        };
        Ok((0..length).step_by(part_max).map(part).collect())
    }

    fn call(&self, kind: CallKind, parts: Vec<CallPart>) -> Pending {
        let shared = self.shared.clone();
        if parts.is_empty() {
            return Pending { shared, awaited: None };
        }
        let (answer, awaited) = mailbox();
        let call = Call { export: self.id, kind, released: Time::ZERO, parts, answer };
        shared.inbox.send(Message::Call(call));
        Pending { shared, awaited: Some(awaited) }
    }
}

impl Pending {
    /// Whether [`Self::wait`] returns at once.
    pub fn is_answered(&self) -> bool {
        self.awaited.as_ref().is_none_or(Awaited::is_there)
    }

    /// Blocks until it is answered.
    ///
    /// # Errors
    /// [`CallError`]; then any part of what was to be written may be, and what was to be durable
    /// may not be.
    pub fn wait(self) -> Result<Answered, CallError> {
        self.finish(|_| ())
    }

    /// Waits, shows the parts where it went well, and gives their memory back.
    fn finish(self, show: impl FnOnce(&[CallPart])) -> Result<Answered, CallError> {
        let Some(awaited) = self.awaited else { return Ok(Answered::default()) };
        let (result, parts) = awaited.wait();
        if result.is_ok() {
            show(&parts);
        }
        self.shared.pool.give(memory(parts));
        result
    }
}

impl PendingRead {
    /// Whether [`Self::wait`] returns at once.
    pub fn is_answered(&self) -> bool {
        self.pending.is_answered()
    }

    /// Blocks until it is answered, then fills `data`.
    ///
    /// # Errors
    /// [`CallError`]; then `data` is as it was.
    ///
    /// # Panics
    /// When `data` is not as long as what was asked for.
    pub fn wait(self, data: &mut [u8]) -> Result<Answered, CallError> {
        assert_eq!(data.len(), self.length, "the length that was asked for");
        let part_max = self.part_max;
        self.pending.finish(|parts| {
            for (piece, part) in data.chunks_mut(part_max).zip(parts) {
                if let Some(memory) = &part.data {
                    piece.copy_from_slice(&memory.bytes()[..piece.len()]);
                }
            }
        })
    }
}

fn usize_of(size: Bytes) -> usize {
    usize::try_from(size.get()).unwrap_or(usize::MAX)
}

pub(super) fn lba(offset: u64) -> Lba {
    Lba::new(offset / 512)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A client's access to an export. Calls either block, or are submitted and awaited later, for
//! programs with their own deadlines.
//!
//! ```text
//!   read, write, zero, flush                    submit, then wait
//!   submit_read, submit_write, submit_flush --> Pending, PendingRead --wait--> Answered
//! ```
//!
//! A blocking call is split into pieces of at most 64 requests and 8 MiB; a piece has at least one
//! request, and at least the number that the contract allows at the same time. Each piece starts
//! when the previous one is complete and the export has room for it (`gate`), so that neither a
//! large call nor many calls keep the service's thread from serving other clients. A call is not
//! atomic: an overlapping call of another thread can take effect between two pieces, which NBD also
//! allows. Each piece keeps the order of overlapping requests, as [`super`] promises. A submitted
//! call does not wait for room and is handled as a whole; for its cost see [`Export::submit_read`].

use std::ops::Range;
use std::sync::Arc;

use tidegate_model::{Bytes, ExportSpec, Lba, Op, Time};
use tidegate_policy::NoticeKind;

use super::call::{Answered, Awaited, Call, CallError, CallKind, CallPart, mailbox, piece_parts};
use super::core::memory;
use super::gate::{Entered, Gates};
use super::inbox::Message;
use super::offer::ExportId;
use super::shared::Shared;

/// A client's access to one export; clones share it.
#[derive(Debug, Clone)]
pub struct Export {
    shared: Arc<Shared>,
    id: ExportId,
    spec: Arc<ExportSpec>,
    gates: Arc<Gates>,
}

/// A submitted write or flush. If this value is dropped, the request is still executed, and its
/// result is lost.
#[derive(Debug)]
#[must_use = "only `wait` returns the result"]
pub struct Pending {
    shared: Arc<Shared>,
    /// `None` if the call had nothing to do.
    awaited: Option<Awaited>,
}

/// A submitted read.
#[derive(Debug)]
#[must_use = "only `wait` returns the data"]
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

    /// Returns the export's name, range and contract.
    pub fn spec(&self) -> &ExportSpec {
        &self.spec
    }

    /// Returns the alignment in bytes: offsets and lengths must be multiples of it.
    pub fn alignment(&self) -> Bytes {
        self.shared.params.alignment
    }

    /// Returns whether the store is known to be a rotating disk.
    pub fn is_rotational(&self) -> bool {
        self.shared.params.drive.as_ref().is_some_and(|drive| drive.mechanics.is_some())
    }

    /// Returns the size of the largest request that is not split.
    pub fn size_max(&self) -> Bytes {
        let contract = self.spec().contract.as_ref();
        contract.map_or(self.shared.params.size_max, |contract| contract.size_max)
    }

    /// Reads from `offset` on until `data` is full, piece by piece (see the module documentation).
    ///
    /// # Errors
    /// [`CallError`]; then any part of `data` may be filled.
    pub fn read(&self, offset: u64, data: &mut [u8]) -> Result<Answered, CallError> {
        self.in_pieces(Op::Read, offset, data.len(), |at, piece| {
            self.submit_read(at, piece.len())?.wait(&mut data[piece])
        })
    }

    /// Writes `data` from `offset` on, piece by piece (see the module documentation); with
    /// `is_durable`, the data is on the medium when the call returns.
    ///
    /// # Errors
    /// [`CallError`]; then any part of the data may be written.
    pub fn write(&self, offset: u64, data: &[u8], is_durable: bool) -> Result<Answered, CallError> {
        self.check_writable()?;
        self.in_pieces(Op::Write, offset, data.len(), |at, piece| {
            // The flush after the last piece covers the earlier pieces.
            let is_durable = is_durable && piece.end == data.len();
            self.submit_write(at, &data[piece], is_durable)?.wait()
        })
    }

    /// Writes zeroes, which costs the same as any other write, piece by piece (see the module
    /// documentation).
    ///
    /// # Errors
    /// The same as [`Self::write`].
    pub fn zero(&self, offset: u64, length: usize, is_durable: bool) -> Result<(), CallError> {
        self.check_writable()?;
        let zeroed = self.in_pieces(Op::Write, offset, length, |at, piece| {
            let kind = CallKind::Write { is_durable: is_durable && piece.end == length };
            let parts = self.cut(at, piece.len(), |_, memory| memory.fill(0))?;
            self.call(kind, parts).wait()
        });
        zeroed.map(drop)
    }

    /// Executes a call piece by piece: `carry_out` gets each piece's offset in the export and its
    /// range within the call's bytes. Returns the slowest request's result.
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
        // A contract never allows more than one piece at the same time.
        let is_one = length <= piece_max;
        let none = Answered { is_within_contract: is_one, ..Answered::best() };
        (0..length).step_by(piece_max).try_fold(none, |others, at| {
            let piece = at..at.saturating_add(piece_max).min(length);
            let _entered = self.gates.enter(op, piece.len(), self.part_max());
            Ok(others.and(carry_out(offset + at as u64, piece)?))
        })
    }

    /// Returns whether trims are currently executed: the store supports them, this export is
    /// writable, and no export is real time.
    pub fn can_trim(&self) -> bool {
        let offer = self.shared.offer.get();
        let has_real_time = offer.exports().iter().any(ExportSpec::is_real_time);
        self.shared.params.can_trim && !self.spec().is_read_only && !has_real_time
    }

    /// Tells the store that a client no longer needs the data in a range. This is a hint: if its
    /// cost to other exports is unknown or the store cannot trim, the call succeeds without effect.
    ///
    /// # Errors
    /// [`CallError`] if the range is not valid.
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

    /// Makes durable all writes of all clients and exports that completed before this call.
    ///
    /// # Errors
    /// [`CallError`]; then data written since the last success may be lost.
    pub fn flush(&self) -> Result<Answered, CallError> {
        let _entered = self.enter_for_nothing();
        self.submit_flush().wait()
    }

    /// Submits a read of `length` bytes from `offset` on, as a whole.
    ///
    /// # Complexity
    /// The cost is one iteration of the service's thread, in which no other client is served: about
    /// half a microsecond for each request of [`Self::size_max`] into which the read is split, or
    /// 1.3 to 2.4 microseconds if 200,000 arrive together. Split a read whose iteration would be
    /// long compared with other exports' bounds into several calls.
    ///
    /// # Errors
    /// [`CallError`] if the range cannot be read.
    pub fn submit_read(&self, offset: u64, length: usize) -> Result<PendingRead, CallError> {
        let pending = self.call(CallKind::Read, self.cut(offset, length, |_, _| ())?);
        Ok(PendingRead { pending, length, part_max: self.part_max() })
    }

    /// Submits a write of `data` from `offset` on. The data is copied, so the slice may change as
    /// soon as this returns. With `is_durable`, the data is on the medium before the reply.
    ///
    /// # Complexity
    /// The same as [`Self::submit_read`].
    ///
    /// # Errors
    /// [`CallError`] if the range cannot be written.
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

    /// Submits a flush, which makes durable all writes of all clients and exports that completed
    /// before this call.
    pub fn submit_flush(&self) -> Pending {
        let (start, size) = (lba(self.spec().offset.get()), self.shared.params.alignment);
        self.call(CallKind::Flush, vec![CallPart { start, size, data: None }])
    }

    /// Tells the policy how this export's client is served.
    pub fn notice(&self, kind: NoticeKind) {
        self.shared.inbox.send(Message::Notice { export: self.id, kind });
    }

    pub(crate) fn part_max(&self) -> usize {
        usize_of(self.size_max())
    }

    pub(crate) fn id(&self) -> ExportId {
        self.id
    }

    /// Takes room for a request that transfers no data and counts as a write.
    fn enter_for_nothing(&self) -> Entered<'_> {
        self.gates.enter(Op::Write, 0, self.part_max())
    }

    /// Returns the largest piece of a call in bytes; a multiple of the part size.
    fn piece_max(&self) -> usize {
        let part_max = self.part_max();
        let contract = self.spec().contract.as_ref();
        let at_once = contract.map_or(1, |contract| contract.requests as usize);
        piece_parts(part_max, at_once).saturating_mul(part_max)
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

    /// Splits a call into parts. `fill` fills each part's memory; it gets the part's offset in the
    /// call.
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
    /// Returns whether [`Self::wait`] returns immediately.
    pub fn is_answered(&self) -> bool {
        self.awaited.as_ref().is_none_or(Awaited::is_there)
    }

    /// Blocks until the request is complete.
    ///
    /// # Errors
    /// [`CallError`]; then any part of the data may be written, and it may not be durable.
    pub fn wait(self) -> Result<Answered, CallError> {
        self.finish(|_| ())
    }

    /// Waits for the reply, passes the parts to `show` on success, and returns their memory to the
    /// pool.
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
    /// Returns whether [`Self::wait`] returns immediately.
    pub fn is_answered(&self) -> bool {
        self.pending.is_answered()
    }

    /// Blocks until the read is complete, then fills `data`.
    ///
    /// # Errors
    /// [`CallError`]; then `data` is unchanged.
    ///
    /// # Panics
    /// If `data` is not as long as the submitted read.
    pub fn wait(self, data: &mut [u8]) -> Result<Answered, CallError> {
        assert_eq!(data.len(), self.length, "the length of the submitted read");
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

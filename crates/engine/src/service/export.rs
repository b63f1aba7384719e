// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A client's way to an export: calls that block, and calls that are submitted now and awaited
//! later, as a program with deadlines of its own wants them.
//!
//! ```text
//!   read, write, zero, flush                    submit, then wait
//!   submit_read, submit_write, submit_flush --> Pending, PendingRead --wait--> Answered
//! ```

use std::sync::Arc;

use model::{Bytes, ExportSpec, Lba, Time};
use policy::NoticeKind;

use super::call::{Awaited, Call, CallError, CallKind, CallPart, mailbox};
use super::core::memory;
use super::inbox::Message;
use super::offer::ExportId;
use super::{Answered, Shared};

/// How many zeroes are on their way at once: a client may ask for 4 GiB of them.
const ZEROES_MAX: usize = 8 << 20;

/// A client's access to one export; clones are the same.
#[derive(Debug, Clone)]
pub struct Export {
    shared: Arc<Shared>,
    id: ExportId,
    spec: Arc<ExportSpec>,
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
        Some(Self { shared: shared.clone(), id: offer.ids()[index], spec })
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

    /// Fills `data` from `offset` on.
    ///
    /// # Errors
    /// [`CallError`]; then `data` is as it was.
    pub fn read(&self, offset: u64, data: &mut [u8]) -> Result<Answered, CallError> {
        self.submit_read(offset, data.len())?.wait(data)
    }

    /// Writes `data` from `offset` on; `is_durable`: on the medium before it is answered.
    ///
    /// # Errors
    /// [`CallError`]; then any part of it may be written.
    pub fn write(&self, offset: u64, data: &[u8], is_durable: bool) -> Result<Answered, CallError> {
        self.submit_write(offset, data, is_durable)?.wait()
    }

    /// Writes zeroes, at the cost of any other write, 8 MiB after 8 MiB.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn zero(&self, offset: u64, length: usize, is_durable: bool) -> Result<(), CallError> {
        self.check_writable()?;
        self.check(offset, length as u64)?;
        let part_max = self.part_max();
        // Whole parts, so that no more of them are needed than for all at once.
        let piece_max = (ZEROES_MAX / part_max).max(1) * part_max;
        for at in (0..length).step_by(piece_max) {
            let piece = piece_max.min(length - at);
            // The flush behind the last piece covers those before it.
            let kind = CallKind::Write { is_durable: is_durable && at + piece == length };
            let parts = self.cut(offset + at as u64, piece, |_, memory| memory.fill(0))?;
            self.call(kind, parts).wait()?;
        }
        Ok(())
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
        self.call(CallKind::Trim, vec![CallPart { start, size, data: None }]).wait().map(drop)
    }

    /// Makes everything durable that was answered before, whoever wrote it.
    ///
    /// # Errors
    /// [`CallError`]; then what was written since the last success may be lost.
    pub fn flush(&self) -> Result<Answered, CallError> {
        self.submit_flush().wait()
    }

    /// Begins to read `length` bytes from `offset` on.
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
        usize::try_from(self.size_max().get()).unwrap_or(usize::MAX)
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

pub(super) fn lba(offset: u64) -> Lba {
    Lba::new(offset / 512)
}

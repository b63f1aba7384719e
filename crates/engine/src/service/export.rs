// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One export as its clients use it: calls cut into requests, on the client's own thread.

use std::sync::Arc;

use model::{Bytes, ExportSpec, Lba};
use policy::NoticeKind;

use super::Shared;
use super::call::{self, Call, CallError, CallKind, CallPart, mailbox};
use super::core::memory;
use super::inbox::Message;
use super::offer::ExportId;

/// A client's access to one export; clones are the same.
#[derive(Debug, Clone)]
pub struct Export {
    shared: Arc<Shared>,
    id: ExportId,
    spec: Arc<ExportSpec>,
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
    pub fn read(&self, offset: u64, data: &mut [u8]) -> Result<(), CallError> {
        let parts = self.cut(offset, data.len(), |_, _| ())?;
        let (result, parts) = self.call(CallKind::Read, parts);
        if result.is_ok() {
            let part_max = self.part_max();
            for (piece, part) in data.chunks_mut(part_max).zip(&parts) {
                if let Some(memory) = &part.data {
                    piece.copy_from_slice(&memory.bytes()[..piece.len()]);
                }
            }
        }
        self.shared.pool.give(memory(parts));
        result
    }

    /// Writes `data` from `offset` on; `is_durable`: on the medium before it is answered.
    ///
    /// # Errors
    /// [`CallError`]; then any part of it may be written.
    pub fn write(&self, offset: u64, data: &[u8], is_durable: bool) -> Result<(), CallError> {
        self.write_with(offset, data.len(), is_durable, |at, memory| {
            memory.copy_from_slice(&data[at..at + memory.len()]);
        })
    }

    /// Writes zeroes, at the cost of any other write.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn zero(&self, offset: u64, length: usize, is_durable: bool) -> Result<(), CallError> {
        self.write_with(offset, length, is_durable, |_, memory| memory.fill(0))
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
        if self.spec().is_read_only {
            return Err(CallError::ReadOnly);
        }
        self.check_range(offset, length)?;
        if length == 0 || !self.shared.params.can_trim {
            return Ok(());
        }
        let (start, size) = (lba(self.spec().offset.get() + offset), Bytes::new(length));
        self.call(CallKind::Trim, vec![CallPart { start, size, data: None }]).0
    }

    /// Makes everything durable that was answered before, whoever wrote it.
    ///
    /// # Errors
    /// [`CallError`]; then what was written since the last success may be lost.
    pub fn flush(&self) -> Result<(), CallError> {
        let (start, size) = (lba(self.spec().offset.get()), self.shared.params.alignment);
        self.call(CallKind::Flush, vec![CallPart { start, size, data: None }]).0
    }

    /// Says something about the service that this export got.
    pub fn notice(&self, kind: NoticeKind) {
        self.shared.inbox.send(Message::Notice { export: self.id, kind });
    }

    fn part_max(&self) -> usize {
        usize::try_from(self.size_max().get()).unwrap_or(usize::MAX)
    }

    fn write_with(
        &self,
        offset: u64,
        length: usize,
        is_durable: bool,
        fill: impl Fn(usize, &mut [u8]),
    ) -> Result<(), CallError> {
        if self.spec().is_read_only {
            return Err(CallError::ReadOnly);
        }
        let parts = self.cut(offset, length, fill)?;
        let (result, parts) = self.call(CallKind::Write { is_durable }, parts);
        self.shared.pool.give(memory(parts));
        result
    }

    /// The parts of a call, their memory filled by `fill`, which gets what comes before.
    fn cut(
        &self,
        offset: u64,
        length: usize,
        fill: impl Fn(usize, &mut [u8]),
    ) -> Result<Vec<CallPart>, CallError> {
        self.check_range(offset, length as u64)?;
        let spec = self.spec();
        let part_max = self.part_max();
        let mut parts = Vec::with_capacity(length.div_ceil(part_max));
        for at in (0..length).step_by(part_max) {
            let size = part_max.min(length - at);
            let mut data = self.shared.pool.take(Bytes::new(size as u64));
            fill(at, &mut data.bytes_mut()[..size]);
            let start = lba(spec.offset.get() + offset + at as u64);
            parts.push(CallPart { start, size: Bytes::new(size as u64), data: Some(data) });
        }
        Ok(parts)
    }

    fn check_range(&self, offset: u64, length: u64) -> Result<(), CallError> {
        let (size, alignment) = (self.spec().size, self.alignment());
        let end = offset.checked_add(length);
        if end.is_none_or(|end| end > size.get()) {
            return Err(CallError::BeyondEnd { size });
        }
        let is_aligned = |bytes: u64| bytes.is_multiple_of(alignment.get());
        if !is_aligned(offset) || !is_aligned(length) {
            return Err(CallError::Unaligned { alignment });
        }
        Ok(())
    }

    fn call(&self, kind: CallKind, parts: Vec<CallPart>) -> call::Answered {
        if parts.is_empty() {
            return (Ok(()), parts);
        }
        let (answer, awaited) = mailbox();
        let released = model::Time::ZERO;
        let call = Call { export: self.id, kind, released, parts, answer };
        self.shared.inbox.send(Message::Call(call));
        awaited.wait()
    }
}

fn lba(offset: u64) -> Lba {
    Lba::new(offset / 512)
}

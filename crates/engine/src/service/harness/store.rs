// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A store in memory behind a simulated drive; it keeps a journal of its operations.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;

use rustix::io::Errno;
use tidegate_device::{IoBuffer, IoError};
use tidegate_drive::{Drive, PseudoDisk};
use tidegate_model::{BatchTable, Bytes, Duration, Lba, Op, Request, RequestId, Time};

use tidegate_host::Backend;

use crate::service::data_backend::Returned;

pub(crate) const BLOCK: usize = 4096;

/// The duration of a flush.
pub(crate) const FLUSH_TIME: Duration = Duration::from_ms(3);

/// An operation of the store, in the journal's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A write of these stamps, starting at this block, completed; it is not yet known to be
    /// durable.
    Written { block: usize, stamps: Vec<u32> },
    /// A flush was sent.
    FlushSent(RequestId),
    /// A flush completed: all data written before it was sent is durable.
    Flushed(RequestId),
    /// A flush failed: data that was not durable before the failure is lost.
    FlushFailed(RequestId),
}

/// The store, its drive and its journal.
pub(crate) struct Store {
    drive: Box<dyn Drive>,
    pub(crate) now: Time,
    /// The stamp of each block.
    pub(crate) blocks: Vec<u32>,
    pub(crate) journal: Vec<Entry>,
    /// The number of requests in each submission.
    pub(crate) batches: Vec<usize>,
    on_drive: HashMap<RequestId, (Request, IoBuffer)>,
    /// The flushes in flight, with their completion times.
    flushes: Vec<(Time, RequestId)>,
    /// The trims in flight, with their completion times.
    trims: Vec<(Time, RequestId, usize, usize)>,
    /// The duration of a flush.
    pub(crate) flush_time: Duration,
    /// The injected faults.
    pub(crate) faults: Faults,
    /// Completions that have not been returned yet.
    returned: Vec<tidegate_drive::Completion>,
}

/// The faults injected into a store.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// All transfers and flushes fail.
    pub(crate) all: Option<IoError>,
    /// Transfers that overlap these blocks fail.
    pub(crate) region: Option<(Range<usize>, IoError)>,
    /// The number of further transfers that fail.
    pub(crate) transfers: u32,
    /// The number of further flushes that fail.
    pub(crate) flushes: u32,
    /// The instant before which nothing completes.
    pub(crate) stalled_until: Time,
}

/// The most common error of a device.
pub(crate) const EIO: IoError = IoError::Device(Errno::IO);

impl Faults {
    fn of_transfer(&mut self, first: usize, count: usize) -> Result<(), IoError> {
        if let Some(error) = self.all {
            return Err(error);
        }
        if let Some((region, error)) = &self.region
            && first < region.end
            && region.start < first + count
        {
            return Err(*error);
        }
        let left = self.transfers.checked_sub(1);
        self.transfers = left.unwrap_or(0);
        left.map_or(Ok(()), |_| Err(EIO))
    }

    fn of_flush(&mut self) -> Result<(), IoError> {
        if let Some(error) = self.all {
            return Err(error);
        }
        let left = self.flushes.checked_sub(1);
        self.flushes = left.unwrap_or(0);
        left.map_or(Ok(()), |_| Err(EIO))
    }
}

impl Store {
    pub(crate) fn new(drive: Box<dyn Drive>, blocks: usize) -> Self {
        Self {
            drive,
            now: Time::ZERO,
            blocks: vec![0; blocks],
            journal: Vec::new(),
            batches: Vec::new(),
            on_drive: HashMap::new(),
            flushes: Vec::new(),
            trims: Vec::new(),
            flush_time: FLUSH_TIME,
            faults: Faults::default(),
            returned: Vec::new(),
        }
    }

    /// Makes a store on a drive that completes its requests in any order.
    pub(crate) fn pseudo(table: &BatchTable, blocks: usize, seed: u64) -> Self {
        Self::new(Box::new(PseudoDisk::new(table.batch_max(), table.clone(), seed)), blocks)
    }

    /// Returns whether a request in flight is not complete yet.
    #[cfg(test)]
    pub(crate) fn is_busy(&self) -> bool {
        !self.on_drive.is_empty() && self.drive.next_event().is_some_and(|next| next > self.now)
    }

    /// Returns the number of contracts' requests in flight.
    #[cfg(test)]
    pub(crate) fn of_contracts(&self) -> usize {
        let requests = self.on_drive.values().map(|(request, _)| request);
        requests.filter(|request| request.class != tidegate_model::Class::BestEffort).count()
    }

    fn move_data(&mut self, request: &Request, data: &mut IoBuffer) {
        let (first, count) = (block_of(request), blocks_of(request));
        let pieces = data.bytes_mut().chunks_exact_mut(BLOCK).take(count);
        match request.op {
            Op::Read => {
                for (piece, stamp) in pieces.zip(&self.blocks[first..]) {
                    piece[..4].copy_from_slice(&stamp.to_le_bytes());
                }
            }
            Op::Write => {
                let stamps: Vec<u32> = pieces.map(|piece| stamp_of(piece)).collect();
                self.blocks[first..first + count].copy_from_slice(&stamps);
                self.journal.push(Entry::Written { block: first, stamps });
            }
        }
    }
}

pub(crate) fn stamp_of(piece: &[u8]) -> u32 {
    u32::from_le_bytes(piece[..4].try_into().unwrap())
}

fn block_of(request: &Request) -> usize {
    usize::try_from(request.start.offset_bytes()).unwrap() / BLOCK
}

fn blocks_of(request: &Request) -> usize {
    usize::try_from(request.size.get()).unwrap() / BLOCK
}

impl crate::service::DataBackend for Store {}

impl Backend for Store {
    type Payload = IoBuffer;
    type Fault = IoError;
    type Error = Infallible;

    fn now(&self) -> Time {
        self.now
    }

    fn submit(
        &mut self,
        batch: &[Request],
        payloads: &mut Vec<IoBuffer>,
    ) -> Result<(), Infallible> {
        self.batches.push(batch.len());
        // By the drives' protocol, due completions are delivered before a submission.
        self.drive.advance(self.now, &mut self.returned);
        self.drive.submit(self.now, batch);
        for (&request, data) in batch.iter().zip(payloads.drain(..)) {
            self.on_drive.insert(request.id, (request, data));
        }
        Ok(())
    }

    fn flush(&mut self, id: RequestId) {
        self.journal.push(Entry::FlushSent(id));
        self.flushes.push((self.now + self.flush_time, id));
    }

    fn trim(&mut self, id: RequestId, start: Lba, size: Bytes) {
        assert!(self.trims.is_empty(), "one at a time");
        let block = |bytes: u64| usize::try_from(bytes).unwrap() / BLOCK;
        let (first, count) = (block(start.offset_bytes()), block(size.get()));
        self.trims.push((self.now + self.flush_time, id, first, count));
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), Infallible> {
        let stall = self.faults.stalled_until;
        let next = if self.now < stall {
            until.map_or(stall, |until| until.min(stall))
        } else if self.returned.is_empty() {
            let flushed = self.flushes.iter().map(|flush| flush.0);
            let flushed = flushed.chain(self.trims.iter().map(|trim| trim.0)).min();
            let next = [until, self.drive.next_event(), flushed].into_iter().flatten().min();
            next.unwrap_or(self.now)
        } else {
            self.now
        };
        self.now = next.max(self.now);
        Ok(())
    }

    fn reap(&mut self, moved: &mut Vec<Returned>) -> Result<(), Infallible> {
        if self.now < self.faults.stalled_until {
            return Ok(());
        }
        self.drive.advance(self.now, &mut self.returned);
        for tidegate_drive::Completion { id, .. } in std::mem::take(&mut self.returned) {
            let (request, mut data) = self.on_drive.remove(&id).expect("it was given");
            let result = self.faults.of_transfer(block_of(&request), blocks_of(&request));
            if result.is_ok() {
                self.move_data(&request, &mut data);
            }
            moved.push(Returned { id, payload: Some(data), result });
        }
        for (_, id, first, count) in self.trims.extract_if(.., |trim| trim.0 <= self.now) {
            self.blocks[first..first + count].fill(0);
            moved.push(Returned { id, payload: None, result: Ok(()) });
        }
        for (_, id) in self.flushes.extract_if(.., |flush| flush.0 <= self.now) {
            let result = self.faults.of_flush();
            self.journal.push(match result {
                Ok(()) => Entry::Flushed(id),
                Err(_) => Entry::FlushFailed(id),
            });
            moved.push(Returned { id, payload: None, result });
        }
        Ok(())
    }
}

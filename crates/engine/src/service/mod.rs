// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A service: one store shared by exports, each with its contract, while clients come and go.
//!
//! [`Service::start`] begins a thread that owns policy and store. Clients, on threads of their
//! own, call [`Export::read`], [`Export::write`] and [`Export::flush`], which block until the
//! answer is there. No transport is known here: an NBD server is a thin shim over it.
//!
//! # Promises
//! - A flush covers every write that was answered before it was asked for, of any export. A
//!   write that must be durable is, when it is answered.
//! - Overlapping requests of one export take effect in the order in which they came.
//! - When a flush failed, no later one succeeds, nor does a write that must be durable: what was
//!   lost cannot be seen from here.
//! - Dropping the service answers everything first.

mod backing;
mod call;
mod core;
mod device_backing;
#[cfg(any(test, feature = "harness"))]
pub(crate) mod harness;
mod inbox;
mod ordering;
mod pool;
mod response_counts;
mod rounds;
mod shares;
mod statistics;
mod summary;
mod tenant;
#[cfg(test)]
mod tests;
mod view;

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use device::realtime::{self, RealTime};
use device::{Clock, RingError, Waker};
use model::{AccessTime, Bytes, DriveFile, Duration, Lba, Plan, PolicyName};
use policy::NoticeKind;

use self::call::{Call, CallKind, CallPart, mailbox};
use self::core::{Core, memory};
use self::inbox::{Inbox, Message};
use self::pool::Pool;
use self::statistics::Watch;

pub use self::backing::{Backing, Move, Moved};
pub use self::call::CallError;
pub use self::device_backing::DeviceBacking;
pub use self::response_counts::ResponseCounts;
pub use self::statistics::{Overrun, ServiceStatistics, Stall, Trouble};
pub use self::summary::Summary;
pub use self::tenant::ExportStatistics;
pub use self::view::View;
pub use model::{ExportContract, ExportSpec};

/// Troubles that wait for whoever hears of them.
const TROUBLES_WAITING_MAX: usize = 256;

/// What a service is made of.
#[derive(Debug, Clone)]
pub struct ServiceParams {
    /// What is offered. Those with contracts are the plan's tasks, in the same order.
    pub exports: Vec<ExportSpec>,
    /// What was proved of each: the longest time from when its contract allows a request to its
    /// answer; none where nothing was.
    pub bounds: Vec<Option<Duration>>,
    /// Who decides.
    pub policy: PolicyName,
    /// By what.
    pub plan: Plan,
    /// Whether the plan's table was measured, so that batches can be held against it.
    pub is_measured: bool,
    /// Every offset and length is a multiple of this.
    pub alignment: Bytes,
    /// The largest request that the store is given; larger calls are cut.
    pub size_max: Bytes,
    /// How much best effort a policy may choose from.
    pub window: u32,
    /// What is known of the store's positions, for policies that order by them.
    pub drive: Option<DriveFile>,
}

impl ServiceParams {
    fn access_time(&self) -> Option<Box<dyn AccessTime>> {
        drive::access_time(self.drive.as_ref()?)
    }
}

/// Why a service cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The policy cannot be had.
    #[error(transparent)]
    Policy(#[from] policy::BuildError),
    /// The store cannot be driven.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// No thread is to be had.
    #[error("no thread for the service: {0}")]
    Thread(#[source] std::io::Error),
    /// No bell is to be had.
    #[error("no event descriptor for the service: {0}")]
    Event(String),
}

/// What clients and the service's thread share.
#[derive(Debug)]
struct Shared {
    params: ServiceParams,
    inbox: Inbox,
    pool: Pool,
    recent: view::Recent,
}

/// A service at work; dropping it ends it.
#[derive(Debug)]
pub struct Service {
    shared: Arc<Shared>,
    real_time: RealTime,
    troubles: Mutex<Option<Receiver<Trouble>>>,
    thread: Option<JoinHandle<Result<(), RingError>>>,
}

impl Service {
    /// Begins a service on the store that `make` makes, in the service's own thread, which does
    /// nothing else.
    ///
    /// # Errors
    /// [`ServiceError`], before anything is served.
    ///
    /// # Panics
    /// When `make` does.
    pub fn start<B, M>(params: ServiceParams, make: M) -> Result<Self, ServiceError>
    where
        B: Backing,
        M: FnOnce(Clock, Waker) -> Result<B, RingError> + Send + 'static,
    {
        // Built here once to be refused early; policies do not cross threads.
        drop(policy::build(params.policy, &params.plan, params.access_time())?);
        let waker = Waker::new().map_err(|source| ServiceError::Event(source.to_string()))?;
        let clock = Clock::start();
        let pool = Pool::new(params.size_max);
        let inbox = Inbox::new(clock, waker.clone());
        let shared = Arc::new(Shared { params, inbox, pool, recent: view::Recent::default() });
        let (ready, is_ready) = sync_channel(1);
        let (heard_by, troubles) = sync_channel(TROUBLES_WAITING_MAX);
        let of_thread = shared.clone();
        let thread = std::thread::Builder::new()
            .name("tidegate".to_owned())
            .spawn(move || {
                let _closing = Closing { inbox: &of_thread.inbox, heard_by: heard_by.clone() };
                let served = serve(&of_thread, || make(clock, waker), &ready, heard_by.clone());
                if let Err(error) = &served {
                    let _ = heard_by.try_send(Trouble::Ended { reason: error.to_string() });
                }
                served
            })
            .map_err(ServiceError::Thread)?;
        match is_ready.recv() {
            Ok(real_time) => {
                let troubles = Mutex::new(Some(troubles));
                Ok(Self { shared, real_time, troubles, thread: Some(thread) })
            }
            // It ended before it began: why, the thread tells.
            Err(_) => match thread.join() {
                Ok(Err(source)) => Err(source.into()),
                Ok(Ok(())) => unreachable!("it says that it is ready before it ends well"),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }

    /// What the host granted the service's thread.
    pub fn real_time(&self) -> RealTime {
        self.real_time
    }

    /// The export of that name.
    pub fn export(&self, name: &str) -> Option<Export> {
        let index = self.shared.params.exports.iter().position(|export| export.name == name)?;
        Some(Export { shared: self.shared.clone(), index })
    }

    /// What is offered.
    pub fn exports(&self) -> &[ExportSpec] {
        &self.shared.params.exports
    }

    /// What was proved of each export, as [`ServiceParams::bounds`].
    pub fn bounds(&self) -> &[Option<Duration>] {
        &self.shared.params.bounds
    }

    /// What was seen so far; none when the service ended.
    pub fn statistics(&self) -> Option<ServiceStatistics> {
        self.shared.inbox.ask(0..self.exports().len(), None)
    }

    /// What somebody should hear of, as it happens: above all batches that took longer than the
    /// table says; for the first who asks. It ends with the service, which waits for nobody: what
    /// is not fetched in time is missing here, and counted in [`ServiceStatistics`].
    pub fn troubles(&self) -> Option<Receiver<Trouble>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Answers what is outstanding, then ends. New calls are refused from here on.
    ///
    /// # Errors
    /// When the store could not be driven any more.
    ///
    /// # Panics
    /// When the service's thread did.
    pub fn stop(mut self) -> Result<(), RingError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), RingError> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        self.shared.inbox.stop();
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = self.end();
        }
    }
}

/// Refuses clients when the service's thread ends, however it does.
struct Closing<'a> {
    inbox: &'a Inbox,
    heard_by: SyncSender<Trouble>,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.inbox.close();
        if std::thread::panicking() {
            let reason = "a fault of the program, which is said above".to_owned();
            let _ = self.heard_by.try_send(Trouble::Ended { reason });
        }
    }
}

/// The thread's work: until it is told to stop and everything is answered.
fn serve<B: Backing>(
    shared: &Shared,
    make: impl FnOnce() -> Result<B, RingError>,
    ready: &SyncSender<RealTime>,
    heard_by: SyncSender<Trouble>,
) -> Result<(), RingError> {
    let params = &shared.params;
    let ServiceParams { exports, policy, plan, is_measured, window, .. } = params;
    let policy = policy::build(*policy, plan, params.access_time()).expect("built before");
    let table = is_measured.then(|| plan.table.clone());
    let watch = Watch::new(table).by_costs(plan.charges.clone()).telling(heard_by);
    let mut core = Core::new(make()?, policy, exports, *window as usize, watch);
    // Whoever waits for it may have gone: that changes nothing.
    let _ = ready.send(realtime::request_for_server(realtime::PRIORITY));
    let (mut messages, mut calls) = (Vec::new(), Vec::new());
    let mut is_stopping = false;
    loop {
        shared.inbox.take(&mut messages);
        for message in messages.drain(..) {
            match message {
                Message::Call(call) => calls.push(call),
                Message::Notice { export, kind } => core.notice(export, kind),
                Message::Ask { exports, answer } => {
                    // Whoever asked may have gone: that changes nothing.
                    let _ = answer.send(core.statistics_of(exports));
                }
                Message::Stop => is_stopping = true,
            }
        }
        core.turn(calls.drain(..));
        if is_stopping && core.is_idle() {
            return Ok(());
        }
        core.wait()?;
    }
}

/// A client's access to one export; clones are the same.
#[derive(Debug, Clone)]
pub struct Export {
    shared: Arc<Shared>,
    index: usize,
}

impl Export {
    /// What was agreed.
    pub fn spec(&self) -> &ExportSpec {
        &self.shared.params.exports[self.index]
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
        let params = &self.shared.params;
        let contract = self.spec().contract.as_ref();
        contract.map_or(params.size_max, |contract| contract.size_max.min(params.size_max))
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
        self.shared.inbox.send(Message::Notice { export: self.index, kind });
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
        let (spec, alignment) = (self.spec(), self.alignment());
        let end = offset.checked_add(length as u64);
        if end.is_none_or(|end| end > spec.size.get()) {
            return Err(CallError::BeyondEnd { size: spec.size });
        }
        if !offset.is_multiple_of(alignment.get())
            || !(length as u64).is_multiple_of(alignment.get())
        {
            return Err(CallError::Unaligned { alignment });
        }
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

    fn call(&self, kind: CallKind, parts: Vec<CallPart>) -> call::Answered {
        if parts.is_empty() {
            return (Ok(()), parts);
        }
        let (answer, awaited) = mailbox();
        let released = model::Time::ZERO;
        let call = Call { export: self.index, kind, released, parts, answer };
        self.shared.inbox.send(Message::Call(call));
        awaited.wait()
    }
}

fn lba(offset: u64) -> Lba {
    Lba::new(offset / 512)
}

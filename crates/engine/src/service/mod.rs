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
//! - Overlapping requests of one export take effect in the order in which they came; large calls
//!   that block come in pieces, one after the other ([`Export::read`]).
//! - When a flush failed, no later one succeeds, nor does a write that must be durable: what was
//!   lost cannot be seen from here.
//! - Exports may be admitted and removed at any time ([`Service::admit`], [`Service::remove`]);
//!   what was proved of the others holds throughout.
//! - Dropping the service answers everything first.

mod call;
mod change;
mod core;
mod data_backend;
mod device_store;
mod export;
mod flush_groups;
mod gate;
#[cfg(any(test, feature = "harness"))]
pub(crate) mod harness;
mod inbox;
mod offer;
mod ordering;
mod pool;
mod response_counts;
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

use tidegate_device::{RingError, Waker};
use tidegate_model::{AccessTime, Bytes, DriveFile, Plan, PolicyName, Time, Workload};
use tidegate_platform::Clock;
use tidegate_platform::realtime::{self, RealTime};
use tidegate_policy::Policy;

use self::change::ExportTable;
use self::core::{Core, Successor, Switch};
use self::gate::AllGates;
use self::inbox::{Change, Inbox, Message};
use self::offer::{CurrentOffer, Member};
use self::pool::Pool;
use self::statistics::Watch;

pub use self::call::{Answered, CallError};
pub use self::change::{Admitted, ChangeError, Prover, Refusal, Removed};
pub use self::data_backend::DataBackend;
pub use self::device_store::DeviceStore;
pub use self::export::{Export, Pending, PendingRead};
pub use self::gate::outstanding_max;
pub use self::offer::{Arrangement, Offer};
pub use self::response_counts::ResponseCounts;
pub use self::statistics::{Overrun, ServiceStatistics, Stall, Trouble};
pub use self::summary::Summary;
pub use self::tenant::ExportStatistics;
pub use self::view::{Look, View};
pub use tidegate_model::{Duration, ExportContract, ExportPlace, ExportSpec, NewExport};
pub use tidegate_policy::NoticeKind;

/// Troubles that wait for whoever hears of them.
const TROUBLES_WAITING_MAX: usize = 256;

/// What a service is made of.
#[derive(Debug, Clone)]
pub struct ServiceParams {
    /// What is offered at first.
    pub exports: Vec<ExportSpec>,
    /// How they are carried out.
    pub arrangement: Arrangement,
    /// Whether the plan's table was measured, so that batches can be held against it.
    pub is_measured: bool,
    /// Every offset and length is a multiple of this.
    pub alignment: Bytes,
    /// The largest request of an export without a contract; larger calls are cut.
    pub size_max: Bytes,
    /// Whether the store gives up the space of blocks on demand.
    pub can_trim: bool,
    /// What is known of the store's positions, for policies that order by them.
    pub drive: Option<DriveFile>,
    /// Who proves other sets of exports; none: this one never changes.
    pub prover: Option<Arc<dyn Prover>>,
}

impl ServiceParams {
    fn access_time(&self) -> Option<Box<dyn AccessTime>> {
        tidegate_drive::access_time(self.drive.as_ref()?)
    }

    /// The largest request of all.
    fn largest(&self) -> Bytes {
        let contracts = self.exports.iter().filter_map(|export| export.contract.as_ref());
        contracts.map(|terms| terms.size_max).fold(self.size_max, Bytes::max)
    }

    fn policy(
        &self,
        arrangement: &Arrangement,
    ) -> Result<Box<dyn Policy>, tidegate_policy::BuildError> {
        tidegate_policy::build(arrangement.policy, &arrangement.plan, self.access_time())
    }
}

/// Why a service cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The policy cannot be had.
    #[error(transparent)]
    Policy(#[from] tidegate_policy::BuildError),
    /// The store cannot be driven.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// No thread is to be had.
    #[error("no thread for the service: {0}")]
    Thread(#[source] std::io::Error),
    /// The process has no event descriptor left.
    #[error("no event descriptor for the service: {0}")]
    Event(String),
}

/// What clients and the service's thread share.
#[derive(Debug)]
struct Shared {
    params: ServiceParams,
    inbox: Inbox,
    pool: Pool,
    gates: AllGates,
    offer: CurrentOffer,
    /// Who is there and by what plan.
    table: Mutex<ExportTable>,
    /// Held by whoever changes that, for as long as it takes.
    changing: Mutex<()>,
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
        B: DataBackend,
        RingError: From<B::Error>,
        M: FnOnce(Clock, Waker) -> Result<B, RingError> + Send + 'static,
    {
        // Built here once to be refused early; policies do not cross threads.
        drop(params.policy(&params.arrangement)?);
        let waker = Waker::new().map_err(|source| ServiceError::Event(source.to_string()))?;
        let clock = Clock::start();
        let pool = Pool::new(params.largest());
        let inbox = Inbox::new(clock, waker.clone());
        let table = ExportTable::new(&params.exports, &params.arrangement);
        let offer = CurrentOffer::new(table.offer());
        let (table, recent) = (Mutex::new(table), view::Recent::default());
        let (gates, changing) = (AllGates::default(), Mutex::default());
        let shared = Shared { params, inbox, pool, gates, offer, table, changing, recent };
        let shared = Arc::new(shared);
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
        Export::named(&self.shared, name)
    }

    /// What is offered now, and what was proved of it.
    pub fn offer(&self) -> Arc<Offer> {
        self.shared.offer.get()
    }

    /// What is offered now.
    pub fn exports(&self) -> Vec<ExportSpec> {
        self.offer().exports().to_vec()
    }

    /// What was proved of each export, as [`Arrangement::bounds`].
    pub fn bounds(&self) -> Vec<Option<Duration>> {
        self.offer().bounds().to_vec()
    }

    /// What was seen so far of each export that is offered now; none when the service ended.
    pub fn statistics(&self) -> Option<ServiceStatistics> {
        self.shared.inbox.ask(self.offer().ids().to_vec(), None)
    }

    /// Whether no call that blocks is on its way, or about to be.
    pub fn is_quiet(&self) -> bool {
        self.shared.gates.are_empty()
    }

    /// What somebody should hear of, as it happens: above all batches that took longer than the
    /// table says; for the first who asks. It ends with the service, which waits for nobody: what
    /// is not fetched in time is missing here, and counted in [`ServiceStatistics`].
    pub fn troubles(&self) -> Option<Receiver<Trouble>> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Nothing new is to come: what is outstanding is answered as soon as can be, best effort too
    /// where a policy would have kept the drive free for what contracts may ask next. What comes
    /// all the same is served, and nothing is promised to it.
    pub fn wind_down(&self) {
        self.shared.inbox.send(Message::WindDown);
    }

    /// Answers what is outstanding, then ends. New calls are refused from here on.
    ///
    /// # Errors
    /// When the store could not be driven any more.
    ///
    /// # Panics
    /// When the service's thread did.
    pub fn stop(mut self) -> Result<(), RingError> {
        self.end().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn end(&mut self) -> std::thread::Result<Result<(), RingError>> {
        let Some(thread) = self.thread.take() else { return Ok(Ok(())) };
        self.shared.inbox.stop();
        thread.join()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // Its own panic was said when it came, and may not pass where a server in C asks for the
            // end.
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
fn serve<B: DataBackend>(
    shared: &Shared,
    make: impl FnOnce() -> Result<B, RingError>,
    ready: &SyncSender<RealTime>,
    heard_by: SyncSender<Trouble>,
) -> Result<(), RingError>
where
    RingError: From<B::Error>,
{
    let params = &shared.params;
    let ServiceParams { exports, arrangement, is_measured, .. } = params;
    let Arrangement { plan, bounds, window, .. } = arrangement;
    let policy = params.policy(arrangement).expect("built before");
    let table = is_measured.then(|| plan.table.clone());
    let watch = Watch::new(table).by_costs(plan.charges.clone()).telling(heard_by);
    let members = Member::of_exports(exports, bounds);
    let mut core = Core::new(make()?, policy, &members, *window as usize, watch);
    // Whoever waits for it may have gone: that changes nothing.
    let _ = ready.send(realtime::request_for_server(realtime::PRIORITY));
    let (mut messages, mut calls) = (Vec::new(), Vec::new());
    let (mut latest, mut is_stopping) = (Time::ZERO, false);
    loop {
        shared.inbox.take(&mut messages, &mut latest);
        for message in messages.drain(..) {
            match message {
                Message::Call(call) => calls.push(call),
                Message::Notice { export, kind } => core.notice(export, kind),
                Message::Ask { exports, answer } => {
                    // Whoever asked may have gone: that changes nothing.
                    let _ = answer.send(core.statistics_of(&exports));
                }
                Message::Close { export } => core.close(export),
                Message::Change(change) => core.switch(switch(params, *change)),
                Message::WindDown => core.wind_down(last_policy(params)),
                Message::Stop => {
                    core.wind_down(last_policy(params));
                    is_stopping = true;
                }
            }
        }
        latest = latest.max(core.iterate(calls.drain(..))?);
        if is_stopping && core.is_idle() {
            return Ok(());
        }
        core.wait()?;
    }
}

/// A change as the core takes it: the policy is made here, for policies do not cross threads.
fn switch(params: &ServiceParams, change: Change) -> Switch {
    let Change { members, arrangement, until, answer } = change;
    let successor = arrangement.map(|arrangement| Successor {
        policy: params.policy(&arrangement).expect("built before"),
        window: arrangement.window as usize,
        plan: Some(Box::new(arrangement.plan)),
    });
    Switch { members: Some(members), successor, until, answer }
}

/// Who carries out what is left when nothing new is to come: batches as large as the drive takes.
fn last_policy(params: &ServiceParams) -> Box<dyn Policy> {
    let plan = &params.arrangement.plan;
    let batch_max = plan.table.batch_max().min(plan.depth);
    let table = plan.table.clone();
    let plan = Plan {
        best_effort_fill: batch_max,
        batch_max,
        ..Plan::of(&Workload::new("what is left", plan.depth, table))
    };
    tidegate_policy::build(PolicyName::Dqf, &plan, None).expect("it needs nothing but the table")
}

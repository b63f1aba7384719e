// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A service: one store that several exports share, each with its contract and any number of
//! clients.
//!
//! [`Service::start`] starts a thread that owns the policy and the store. Clients in the same
//! process call [`Export::read`], [`Export::write`] and [`Export::flush`] on their own threads, and
//! block until the reply. Clients over NBD are served by the service's own thread (`connections`),
//! once the acceptor has performed their handshake.
//!
//! # Promises
//! - A flush covers every write of any export that completed before the flush was requested. A
//!   durable write is on the medium when it completes.
//! - Overlapping requests of one export take effect in the order of their arrival; large blocking
//!   calls are split into pieces that run one after the other ([`Export::read`]).
//! - After a failed flush, no flush and no durable write succeeds, because the service cannot know
//!   which data was lost.
//! - Exports can be admitted and removed at any time ([`Service::admit`], [`Service::remove`]); the
//!   other exports' bounds hold throughout.
//! - Dropping the service completes all requests first.

mod call;
mod change;
pub(crate) mod connections;
mod core;
mod data_backend;
mod device_store;
mod export;
mod export_statistics;
mod export_table;
mod flush_groups;
mod gate;
mod guarantee;
#[cfg(any(test, feature = "harness"))]
pub(crate) mod harness;
mod inbox;
mod incidents;
mod look;
mod offer;
mod ordering;
mod params;
mod pool;
mod prover;
mod request_sink;
mod shared;
mod shares;
mod statistics;
mod summary;
mod tenant;
#[cfg(test)]
mod tests;
mod view;

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tidegate_device::{RingError, Waker};
use tidegate_model::{Plan, PolicyName, Time, Workload};
use tidegate_platform::Clock;
use tidegate_platform::affinity::Affinity;
use tidegate_platform::realtime::{self, RealTime};
use tidegate_policy::Policy;

use self::connections::Connections;
use self::core::{Core, Successor, Switch};
use self::export_table::ExportTable;
use self::gate::AllGates;
use self::inbox::{Change, Inbox, Message};
use self::incidents::IncidentSender;
use self::look::Recent;
use self::offer::{CurrentOffer, Member};
use self::pool::Pool;
use self::request_sink::RequestReporter;
use self::shared::Shared;
use self::statistics::Watch;

pub use self::call::{Answered, CallError};
pub(crate) use self::change::CHANGE_MAX;
pub use self::change::{Admitted, ChangeError, Removed};
pub use self::data_backend::DataBackend;
pub use self::device_store::DeviceStore;
pub use self::export::{Export, Pending, PendingRead};
pub use self::export_statistics::ExportStatistics;
pub use self::gate::outstanding_max;
pub use self::guarantee::Guarantee;
pub use self::incidents::{Incident, Incidents, Overrun, Stall};
pub use self::look::Look;
pub use self::offer::{Arrangement, Offer};
pub use self::params::ServiceParams;
pub use self::prover::{Prover, Refusal};
pub use self::request_sink::{RequestSink, ServedRequest};
pub use self::statistics::ServiceStatistics;
pub use self::summary::Summary;
pub use self::view::View;
pub use tidegate_model::{Duration, ExportContract, ExportPlace, ExportSpec, NewExport};
pub use tidegate_policy::NoticeKind;

/// The reason why a service cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The policy cannot be built.
    #[error(transparent)]
    Policy(#[from] tidegate_policy::BuildError),
    /// The store cannot be used.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The thread cannot be started.
    #[error("cannot start the service's thread: {0}")]
    Thread(#[source] std::io::Error),
    /// The process cannot get another event descriptor.
    #[error("cannot create an event descriptor for the service: {0}")]
    Event(String),
}

/// A running service; dropping it stops it.
#[derive(Debug)]
pub struct Service {
    shared: Arc<Shared>,
    real_time: RealTime,
    incidents: Mutex<Option<Incidents>>,
    thread: Option<JoinHandle<Result<(), RingError>>>,
}

impl Service {
    /// Starts a service on the store that `make` makes in the service's own thread, which does
    /// nothing else.
    ///
    /// # Errors
    /// [`ServiceError`], before anything is served.
    ///
    /// # Panics
    /// If `make` panics.
    pub fn start<B, M>(params: ServiceParams, make: M) -> Result<Self, ServiceError>
    where
        B: DataBackend,
        RingError: From<B::Error>,
        M: FnOnce(Clock, Waker) -> Result<B, RingError> + Send + 'static,
    {
        // The policy is built here once to detect errors early, and again in its thread, because
        // policies cannot be sent to another thread.
        drop(params.policy(&params.arrangement)?);
        let waker = Waker::new().map_err(|source| ServiceError::Event(source.to_string()))?;
        let clock = Clock::start();
        let pool = Pool::new(params.largest());
        let inbox = Inbox::new(clock, waker.clone());
        let table = ExportTable::new(&params.exports, &params.arrangement);
        let offer = CurrentOffer::new(table.offer());
        let (table, recent) = (Mutex::new(table), Recent::default());
        let (gates, changing) = (AllGates::default(), Mutex::default());
        let shared = Shared { params, inbox, pool, gates, offer, table, changing, recent };
        let shared = Arc::new(shared);
        let (ready, is_ready) = sync_channel(1);
        let (heard_by, incidents) = incidents::incidents();
        let of_thread = shared.clone();
        let thread = std::thread::Builder::new()
            .name("tidegate".to_owned())
            .spawn(move || {
                let _closing = Closing { inbox: &of_thread.inbox, heard_by: heard_by.clone() };
                let served = serve(&of_thread, || make(clock, waker), &ready, heard_by.clone());
                if let Err(error) = &served {
                    heard_by.send(Incident::Ended { reason: error.to_string() });
                }
                served
            })
            .map_err(ServiceError::Thread)?;
        match is_ready.recv() {
            Ok(real_time) => {
                let incidents = Mutex::new(Some(incidents));
                Ok(Self { shared, real_time, incidents, thread: Some(thread) })
            }
            // The thread ended before it was ready; its result tells the reason.
            Err(_) => match thread.join() {
                Ok(Err(source)) => Err(source.into()),
                Ok(Ok(())) => unreachable!("success is reported before the end"),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }

    /// Returns the real-time settings that the host granted to the service's thread.
    pub fn real_time(&self) -> RealTime {
        self.real_time
    }

    /// Returns the export called `name`; `None` if there is none.
    pub fn export(&self, name: &str) -> Option<Export> {
        Export::named(&self.shared, name)
    }

    /// Returns the current offer with its bounds.
    pub fn offer(&self) -> Arc<Offer> {
        self.shared.offer.get()
    }

    /// Returns the exports currently offered.
    pub fn exports(&self) -> Vec<ExportSpec> {
        self.offer().exports().to_vec()
    }

    /// Returns the bound of each export, in the same order as [`Arrangement::bounds`].
    pub fn bounds(&self) -> Vec<Option<Duration>> {
        self.offer().bounds().to_vec()
    }

    /// Returns the statistics so far of each export currently offered; `None` if the service ended.
    pub fn statistics(&self) -> Option<ServiceStatistics> {
        self.shared.inbox.ask(self.offer().ids().to_vec(), None)
    }

    /// Returns whether no blocking call is in progress or waiting.
    pub fn is_quiet(&self) -> bool {
        self.shared.gates.are_empty()
    }

    /// Returns the channel of events that an operator must know about, above all batches that took
    /// longer than the table allows. Only the first caller gets it. The channel ends with the
    /// service. The service does not wait for the receiver: overruns and stalls that are not
    /// received in time are lost, but [`ServiceStatistics`] counts them.
    pub fn incidents(&self) -> Option<Incidents> {
        self.incidents.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Prepares the end: outstanding requests complete as soon as possible, including best effort
    /// that a policy would hold back for contracts. Requests that still arrive are served without a
    /// bound.
    pub fn wind_down(&self) {
        self.shared.inbox.send(Message::WindDown);
    }

    /// Completes the outstanding requests, then ends the service. New calls are refused from now
    /// on.
    ///
    /// # Errors
    /// If the store failed.
    ///
    /// # Panics
    /// If the service's thread panicked.
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
            // The panic was reported when it happened, and must not propagate into a server written
            // in C.
            let _ = self.end();
        }
    }
}

/// Refuses clients when the service's thread ends for any reason.
struct Closing<'a> {
    inbox: &'a Inbox,
    heard_by: IncidentSender,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.inbox.close();
        if std::thread::panicking() {
            let reason = "a fault of the program, reported above".to_owned();
            self.heard_by.send(Incident::Ended { reason });
        }
    }
}

/// The thread's loop, which runs until the service is stopped and all calls have been answered.
fn serve<B: DataBackend>(
    shared: &Shared,
    make: impl FnOnce() -> Result<B, RingError>,
    ready: &SyncSender<RealTime>,
    heard_by: IncidentSender,
) -> Result<(), RingError>
where
    RingError: From<B::Error>,
{
    let params = &shared.params;
    let ServiceParams { exports, arrangement, is_measured, .. } = params;
    let Arrangement { plan, bounds, window, .. } = arrangement;
    let policy = params.policy(arrangement).expect("built before");
    let watch = Watch::new(is_measured.then_some(&plan.limits)).telling(heard_by);
    let sink = params.requests_to.clone();
    let watch = watch.reporting(sink.map(|sink| RequestReporter::new(sink, plan.depth)));
    let members = Member::of_exports(exports, bounds);
    if let Some(affinity) = Affinity::of_cpus(&params.placement.processors)
        && affinity.cpus().next().is_some()
    {
        // A server checks the processors before it starts; in other services, a failure has no
        // effect.
        let _ = affinity.apply(None);
    }
    let core = Core::new(make()?, policy, &members, *window as usize, watch);
    let mut core = core.behind_host(params.host);
    // The receiver may no longer exist, which has no effect.
    let priority = params.placement.priority.unwrap_or(realtime::PRIORITY);
    let _ = ready.send(realtime::request_for_server(priority));
    let (mut messages, mut calls, mut replies) = (Vec::new(), Vec::new(), Vec::new());
    let (mut latest, mut is_ending, mut is_stopping) = (Time::ZERO, false, false);
    let mut connections = Connections::default();
    loop {
        shared.inbox.take(&mut messages, &mut latest);
        for message in messages.drain(..) {
            match message {
                Message::Call(call) => calls.push(call),
                Message::Notice { export, kind } => core.notice(export, kind),
                Message::Ask { exports, answer } => {
                    // The requester may no longer exist, which has no effect.
                    let _ = answer.send(core.statistics_of(&exports));
                }
                Message::Close { export } => core.close(export),
                Message::Connect(newcomer) => connections.welcome(*newcomer),
                Message::Change(change) => core.switch(switch(params, *change)),
                Message::WindDown => {
                    core.wind_down(last_policy(params));
                    connections.end();
                    is_ending = true;
                }
                Message::Stop => {
                    core.wind_down(last_policy(params));
                    connections.end();
                    (is_ending, is_stopping) = (true, true);
                }
            }
        }
        let arrived = latest.max(core.now());
        if let Some(ring) = core.backend_mut().ring() {
            connections.receive(ring, arrived, &mut calls);
            latest = arrived;
        }
        latest = latest.max(core.iterate(calls.drain(..))?);
        core.take_replies(&mut replies);
        for reply in replies.drain(..) {
            connections.answer(latest, reply, &mut calls);
        }
        connections.read(latest, &mut calls);
        if let Some(ring) = core.backend_mut().ring() {
            connections.flush(ring, latest);
        }
        connections.take_sent(|(export, sent)| core.sent(export, &sent));
        if is_ending && core.is_idle() && calls.is_empty() {
            connections.limit_last_replies(latest);
            if is_stopping && connections.is_empty() {
                return Ok(());
            }
        }
        // Large requests continue immediately.
        let sooner = if calls.is_empty() { connections.look_at() } else { Some(Time::ZERO) };
        core.wait(sooner)?;
    }
}

/// Converts a change for the core. The policy is made here, because policies cannot be sent to
/// another thread.
fn switch(params: &ServiceParams, change: Change) -> Switch {
    let Change { members, arrangement, until, answer } = change;
    let successor = arrangement.map(|arrangement| Successor {
        policy: params.policy(&arrangement).expect("built before"),
        window: arrangement.window as usize,
        plan: Some(Box::new(arrangement.plan)),
    });
    Switch { members: Some(members), successor, until, answer }
}

/// Returns the policy that serves the last requests, with batches as large as the drive accepts.
fn last_policy(params: &ServiceParams) -> Box<dyn Policy> {
    let plan = &params.arrangement.plan;
    let batch_max = plan.table.batch_max().min(plan.depth);
    let table = plan.table.clone();
    let plan = Plan {
        best_effort_fill: batch_max,
        batch_max,
        ..Plan::of(&Workload::new("what is left", plan.depth, table))
    };
    tidegate_policy::build(PolicyName::Dqf, &plan, None).expect("dqf needs only the table")
}

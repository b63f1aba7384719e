// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A service with its clients: store, acceptor, control socket, metrics and log.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tidegate_model::serve_file::{Layout, Listen, Tls};
use tidegate_model::{Bytes, ExportSpec};

use super::control_plane::ControlPlane;
use super::{Prepared, SIMULATED_ALIGNMENT, ServeError};
use crate::acceptor::{Acceptor, Encryption, Footprint, Listener, raise_descriptors};
use crate::peers::LogSink;
use crate::service::{RequestSink, Service, Summary, View};

/// The number of exports that can be admitted later with a full share of connections and memory.
const EXPORTS_MORE: usize = 8;

/// The largest number of connections of the whole service. Each takes two slots of the ring, in
/// addition to the disk's slots.
const CONNECTIONS_MAX: usize = 1_536;

/// The interval between two checks for outstanding requests while the server ends.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A message of a running server to its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEvent {
    /// The owner must end the server, because a peer asked for it or the service has ended by
    /// itself.
    Stop,
    /// The owner must call [`Server::reload`].
    Reload,
}

/// A running server; dropping it ends it immediately.
#[derive(Debug)]
pub struct Server {
    // These fields are declared in the order in which they must be dropped.
    acceptor: Option<Acceptor>,
    control_plane: Option<ControlPlane>,
    service: Option<Service>,
    footprint: Footprint,
    /// The file as it was at the start, and the names of the exports in the file when it was last
    /// read.
    pub(super) prepared: Prepared,
    pub(super) names: Vec<String>,
    events: Receiver<ServerEvent>,
    sender: Sender<ServerEvent>,
}

impl Prepared {
    /// Opens the store and accepts clients at `listener`. `say` gets the log, one line per call.
    ///
    /// With `is_forced`, contracts that are not proved are served as best effort.
    ///
    /// # Errors
    /// [`ServeError`], before anything is served.
    ///
    /// # Panics
    /// Never: the number of connections is limited.
    pub fn serve(
        &self,
        is_forced: bool,
        listener: Listener,
        say: LogSink,
    ) -> Result<Server, ServeError> {
        self.check_processors()?;
        let encryption = self.encryption()?;
        let footprint = self.footprint()?;
        let descriptors = raise_descriptors(footprint.descriptors);
        let connections = footprint.connections_with(descriptors);
        if connections < self.file.export_count() {
            return Err(ServeError::Descriptors { needed: footprint.descriptors, descriptors });
        }
        let sockets = u32::try_from(connections).expect("at most CONNECTIONS_MAX");
        let requests_max = Bytes::new(footprint.requests.get() + footprint.later.get());
        let service = self.open_with(is_forced, sockets, Some(requests_max))?;
        let (view, limits) = (service.view(), self.file.limits);
        let (sender, events) = channel();
        let stop = sender.clone();
        let stop = move || {
            // The owner may no longer receive, which has no effect.
            let _ = stop.send(ServerEvent::Stop);
        };
        let control_plane = self.stand_by(&service, stop, say.clone())?;
        let acceptor = Acceptor::open(listener, view, limits, connections, encryption, say);
        let acceptor = acceptor.map_err(|source| ServeError::ControlPlane {
            what: "the thread that accepts clients".to_owned(),
            source,
        })?;
        Ok(Server {
            acceptor: Some(acceptor),
            control_plane: Some(control_plane),
            service: Some(service),
            footprint,
            prepared: self.clone(),
            names: self.file.export_names().map(str::to_owned).collect(),
            events,
            sender,
        })
    }

    /// Returns upper bounds on the memory and descriptors that a server of this file uses, whatever
    /// its clients do.
    ///
    /// # Errors
    /// [`ServeError::Faulty`] if the exports are not valid.
    pub fn footprint(&self) -> Result<Footprint, ServeError> {
        // The exports' positions do not matter, so the store need not be open.
        let layout = Layout { size: Bytes::new(u64::MAX), alignment: SIMULATED_ALIGNMENT };
        let exports = self.file.exports(layout).map_err(|error| self.faulty(error))?;
        let size_max = self.size_max(layout)?;
        let part_max = |spec: &ExportSpec| {
            let size = spec.contract.as_ref().map_or(size_max, |contract| contract.size_max);
            usize::try_from(size.get()).unwrap_or(usize::MAX)
        };
        let wanted = (exports.len() + EXPORTS_MORE) * self.file.limits.connections;
        let (is_tcp, is_encrypted) = match &self.file.listen {
            Listen::Unix(_) => (false, false),
            Listen::Tcp { tls, .. } => (true, tls.is_some()),
        };
        let parts = exports.iter().map(|spec| (spec, part_max(spec)));
        let connections = wanted.min(CONNECTIONS_MAX);
        let limits = &self.file.limits;
        let footprint =
            Footprint::of(parts, EXPORTS_MORE, limits, connections, is_tcp, is_encrypted);
        let of_log = self.requests_to.as_ref().map_or(0, |_| RequestSink::BYTES as u64);
        Ok(Footprint { rest: Bytes::new(footprint.rest.get() + of_log), ..footprint })
    }

    /// Refuses keys that [`Self::serve`] could not use.
    ///
    /// # Errors
    /// [`ServeError::Keys`].
    pub fn check_keys(&self) -> Result<(), ServeError> {
        self.encryption().map(drop)
    }

    /// Refuses the file if its server could not start on this computer now: its store is absent or
    /// in use, its control socket or its metrics cannot be opened, or it names a processor that
    /// this process may not use. Changes nothing. It does not check the address where clients
    /// connect; the command that serves does.
    ///
    /// # Errors
    /// The error that [`Self::serve`] would return.
    pub fn check_start(&self) -> Result<(), ServeError> {
        self.check_processors()?;
        self.check_store()?;
        self.check_control_plane()
    }

    /// Reads the keys that the file names.
    fn encryption(&self) -> Result<Option<Encryption>, ServeError> {
        let Listen::Tcp { tls: Some(tls), .. } = &self.file.listen else { return Ok(None) };
        let (Tls::Psk(named) | Tls::Certificates(named)) = tls;
        let path = self.resolve(named.get_ref());
        let made = match tls {
            Tls::Psk(_) => Encryption::with_keys(&path),
            Tls::Certificates(_) => Encryption::with_certificates(&path),
        };
        made.map(Some).map_err(|what| ServeError::Keys { path, what })
    }

    fn check_processors(&self) -> Result<(), ServeError> {
        let Ok(allowed) = tidegate_platform::affinity::Affinity::of(None) else { return Ok(()) };
        let named = &self.file.placement.processors;
        match named.iter().find(|&&cpu| !allowed.contains(cpu)) {
            Some(&processor) => Err(ServeError::Processor { processor }),
            None => Ok(()),
        }
    }
}

impl Server {
    /// Returns upper bounds on the memory and descriptors that the server uses, whatever its
    /// clients do.
    pub fn footprint(&self) -> Footprint {
        self.footprint
    }

    /// Returns the receiver of events, including those sent through [`Self::sender`].
    pub fn events(&self) -> &Receiver<ServerEvent> {
        &self.events
    }

    /// Returns a sender of events, for any thread.
    pub fn sender(&self) -> Sender<ServerEvent> {
        self.sender.clone()
    }

    /// Returns a view of the service.
    ///
    /// # Panics
    /// Never: the service exists until [`Self::stop`].
    pub fn view(&self) -> View {
        self.service().view()
    }

    /// Returns the service.
    ///
    /// # Panics
    /// Never: the service exists until [`Self::stop`].
    pub fn service(&self) -> &Service {
        self.service.as_ref().expect("it runs until `stop`")
    }

    /// Accepts no more clients, completes the outstanding requests, sends the replies that clients
    /// take within a second, and ends. Returns the summary; `None` if the service has ended by
    /// itself.
    ///
    /// # Panics
    /// If the service's thread panicked.
    pub fn stop(mut self) -> Option<Summary> {
        let service = self.service.take()?;
        service.wind_down();
        let is_busy = || {
            let seen = service.statistics()?;
            Some(seen.exports.iter().any(|export| export.outstanding > 0))
        };
        while is_busy() == Some(true) {
            std::thread::sleep(POLL_INTERVAL);
        }
        let summary = service.summary();
        let ended = service.stop();
        // These are dropped last, because the acceptor's thread closes the last connections.
        drop(self.acceptor.take());
        drop(self.control_plane.take());
        summary.filter(|_| ended.is_ok())
    }
}

impl Footprint {
    /// Returns the memory limit for a service manager: the footprint, rounded up to a multiple of
    /// 16 MiB.
    pub fn memory_max(&self) -> Bytes {
        const STEP: u64 = 16 << 20;
        Bytes::new(self.total().get().div_ceil(STEP).saturating_mul(STEP))
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The control plane of a running service: its control socket, its metrics and its warnings.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use super::{Prepared, ServeError, incident_log};
use crate::control::Control;
use crate::metrics::Metrics;
use crate::peers::LogSink;
use crate::service::{Offer, Service};
use tidegate_model::{Grade, Weight};

/// A service's control plane; dropping it closes its sockets.
#[derive(Debug)]
pub struct ControlPlane {
    _control: Option<Control>,
    metrics: Option<Metrics>,
    /// The thread of the log, which ends with the service.
    _log: Option<JoinHandle<()>>,
}

impl ControlPlane {
    /// Returns the address that serves the metrics; `None` if no address does.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(Metrics::address)
    }
}

impl Prepared {
    /// Opens the control plane that the file configures. It calls `stop` when a peer of the control
    /// socket asks to stop the service, or when the service has ended by itself; `stop` must not
    /// wait until the service has ended. `say` gets the grade of the bounds with its doubts, and
    /// warnings, one line per call.
    ///
    /// # Errors
    /// [`ServeError::ControlPlane`].
    pub fn stand_by(
        &self,
        service: &Service,
        stop: impl Fn() + Send + Sync + 'static,
        say: LogSink,
    ) -> Result<ControlPlane, ServeError> {
        say_grade(&service.view().offer(), &say);
        let stop = Arc::new(stop);
        let at_end = stop.clone();
        let begin = |incidents| incident_log::start(incidents, say.clone(), move || at_end());
        let log = service.incidents().map(begin).transpose();
        let log = log.map_err(|source| {
            let what = "the log of incidents".to_owned();
            ServeError::ControlPlane { what, source }
        })?;
        let control = self.control_path().map(|path| {
            let control = Control::open(&path, service.view(), move || stop(), say.clone());
            control.map_err(|source| control_failure(&path, source))
        });
        let control = control.transpose()?;
        let metrics = self.file.metrics.map(|address| {
            let metrics = Metrics::open(address, service.view(), say);
            metrics.map_err(|source| metrics_failure(address, source))
        });
        let metrics = metrics.transpose()?;
        Ok(ControlPlane { _control: control, metrics, _log: log })
    }

    /// Refuses a control socket or a metrics address that cannot be opened; leaves nothing behind.
    pub(super) fn check_control_plane(&self) -> Result<(), ServeError> {
        if let Some(path) = self.control_path() {
            Control::check(&path).map_err(|source| control_failure(&path, source))?;
        }
        if let Some(address) = self.file.metrics {
            Metrics::check(address).map_err(|source| metrics_failure(address, source))?;
        }
        Ok(())
    }

    fn control_path(&self) -> Option<PathBuf> {
        self.file.control.as_ref().map(|named| self.resolve(named.get_ref()))
    }
}

fn control_failure(path: &Path, source: io::Error) -> ServeError {
    ServeError::ControlPlane { what: format!("the control socket {}", path.display()), source }
}

fn metrics_failure(address: SocketAddr, source: io::Error) -> ServeError {
    ServeError::ControlPlane { what: format!("metrics at {address}"), source }
}

/// Logs the grade of the bounds and every doubt about them; logs nothing if nothing is proved.
fn say_grade(offer: &Offer, say: &LogSink) {
    let premises = offer.premises();
    match offer.grade() {
        None => {}
        Some(Grade::Strong) => say("the contracts are proven, strong: no doubt is known"),
        Some(Grade::Weak) => {
            say(&format!("the contracts are proven, weak: {}", premises.doubts()));
            premises.of(Weight::Weak).for_each(|premise| say(&format!("doubt: {}", premise.text)));
        }
    }
}

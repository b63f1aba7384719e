// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where a running service is seen and told: control socket, metrics, and its warnings.

use std::thread::JoinHandle;

use super::{Prepared, ServeError, overrun_log};
use crate::control::Control;
use crate::metrics::Metrics;
use crate::peers::Say;
use crate::service::Service;

/// What stands beside a service; dropping it closes its sockets.
#[derive(Debug)]
pub struct Sidelines {
    _control: Option<Control>,
    metrics: Option<Metrics>,
    /// It ends with the service.
    _log: Option<JoinHandle<()>>,
}

impl Sidelines {
    /// Where metrics are read.
    pub fn metrics_address(&self) -> Option<std::net::SocketAddr> {
        self.metrics.as_ref().map(Metrics::address)
    }
}

impl Prepared {
    /// Opens what the file says to stand beside `service`. `stop` is called when somebody asks
    /// for the end, and should not wait for it; `say` gets warnings, a line each.
    ///
    /// # Errors
    /// [`ServeError::Sideline`].
    pub fn stand_by(
        &self,
        service: &Service,
        stop: impl Fn() + Send + 'static,
        say: Say,
    ) -> Result<Sidelines, ServeError> {
        let failed =
            |what: String| move |source| ServeError::Sideline { what: what.clone(), source };
        let overruns = service.overruns();
        let log = overruns.map(|overruns| overrun_log::start(overruns, say.clone())).transpose();
        let log = log.map_err(failed("the log of overruns".to_owned()))?;
        let control = match &self.file.control {
            None => None,
            Some(named) => {
                let path = self.resolve(named.get_ref());
                let control = Control::open(&path, service.view(), stop, say.clone());
                Some(control.map_err(failed(format!("the control socket {}", path.display())))?)
            }
        };
        let metrics = match self.file.metrics {
            None => None,
            Some(address) => {
                let metrics = Metrics::open(address, service.view(), say);
                Some(metrics.map_err(failed(format!("metrics at {address}")))?)
            }
        };
        Ok(Sidelines { _control: control, metrics, _log: log })
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where a running service is seen and told: control socket, metrics, and its warnings.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::{Prepared, ServeError, trouble_log};
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
    /// for the end, or the service ended by itself, and should not wait for it; `say` gets warnings, a line each.
    ///
    /// # Errors
    /// [`ServeError::Sideline`].
    pub fn stand_by(
        &self,
        service: &Service,
        stop: impl Fn() + Send + Sync + 'static,
        say: Say,
    ) -> Result<Sidelines, ServeError> {
        let failed =
            |what: String| move |source| ServeError::Sideline { what: what.clone(), source };
        let stop = Arc::new(stop);
        let at_end = stop.clone();
        let begin = |troubles| trouble_log::start(troubles, say.clone(), move || at_end());
        let log = service.troubles().map(begin).transpose();
        let log = log.map_err(failed("the log of troubles".to_owned()))?;
        let control = match &self.file.control {
            None => None,
            Some(named) => {
                let path = self.resolve(named.get_ref());
                let control = Control::open(&path, service.view(), move || stop(), say.clone());
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

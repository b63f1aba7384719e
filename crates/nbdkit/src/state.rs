// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state that nbdkit's callbacks share: settings, and the service while it runs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tidegate_engine::serve::{ControlPlane, Margin, Places};
use tidegate_engine::service::Service;

/// Holds the command line's settings, and the service while it runs.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) config: Option<PathBuf>,
    pub(crate) is_forced: bool,
    /// The margin in place of the serve file's.
    pub(crate) margin: Option<Margin>,
    /// The number of concurrent requests per connection (the server's `--threads`), if the command
    /// line gives it.
    pub(crate) threads: Option<u64>,
    /// The limit on concurrent connections, if the command line gives one.
    pub(crate) places: Option<Places>,
    /// Whether a service was started.
    pub(crate) is_begun: bool,
    pub(crate) service: Option<Arc<Service>>,
    pub(crate) control_plane: Option<ControlPlane>,
}

static STATE: Mutex<State> = Mutex::new(State {
    config: None,
    is_forced: false,
    margin: None,
    threads: None,
    places: None,
    is_begun: false,
    service: None,
    control_plane: None,
});

pub(crate) fn with_state<T>(act: impl FnOnce(&mut State) -> T) -> T {
    act(&mut STATE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the service while it runs.
pub(crate) fn service() -> Option<Arc<Service>> {
    with_state(|state| state.service.clone())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reports the server's state to the service manager (`sd_notify`).
//!
//! # Source
//! The protocol is that of `sd_notify(3)` and `sd_watchdog_enabled(3)`: a datagram of `KEY=VALUE`
//! lines to the socket that `NOTIFY_SOCKET` names.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use tidegate_engine::serve::Server;
use tidegate_model::count;

/// The interval between two status lines if no watchdog requires a shorter one.
const INTERVAL: Duration = Duration::from_secs(10);

/// The service manager, if one started the process.
pub(super) struct Manager {
    to: Option<(UnixDatagram, SocketAddr)>,
    interval: Duration,
}

impl Manager {
    /// Returns the manager that the environment variables name.
    pub(super) fn of_environment() -> Self {
        let address =
            std::env::var("NOTIFY_SOCKET").ok().and_then(|name| match name.strip_prefix('@') {
                Some(name) => SocketAddr::from_abstract_name(name).ok(),
                None => SocketAddr::from_pathname(name).ok(),
            });
        let to = address.and_then(|address| {
            let socket = UnixDatagram::unbound().ok()?;
            // A manager that does not read must not stop the server.
            socket.set_nonblocking(true).ok()?;
            Some((socket, address))
        });
        let is_ours = |pid: String| pid.parse() == Ok(std::process::id());
        let is_watched = std::env::var("WATCHDOG_PID").ok().is_none_or(is_ours);
        let limit = std::env::var("WATCHDOG_USEC").ok().and_then(|us| us.parse().ok());
        let limit = limit.filter(|_| is_watched).map(Duration::from_micros);
        Self { to, interval: limit.map_or(INTERVAL, |limit| (limit / 2).min(INTERVAL)) }
    }

    /// Returns the longest interval between two messages that show that the server works.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Sends lines. A manager that does not receive them in time misses them.
    pub(super) fn say(&self, lines: &str) {
        if let Some((socket, address)) = &self.to {
            let _ = socket.send_to_addr(lines.as_bytes(), address);
        }
    }
}

/// Returns the lines that announce a reload, with the time stamp that the manager demands.
pub(super) fn reloading() -> String {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let us = i128::from(now.tv_sec) * 1_000_000 + i128::from(now.tv_nsec) / 1_000;
    format!("RELOADING=1\nMONOTONIC_USEC={us}\nSTATUS=reading the serve file again")
}

/// Describes the server's state in one line.
pub(super) fn status(server: &Server) -> String {
    let Some(look) = server.view().look() else { return "does not answer".to_owned() };
    let outstanding: u64 = look.seen.exports.iter().map(|export| export.outstanding).sum();
    let guarantee = match look.offer.grade() {
        None => "nothing is promised",
        Some(_) if look.is_degraded() => "the guarantee is degraded",
        Some(_) => "the guarantee stands",
    };
    format!(
        "{}, {} outstanding; {guarantee}",
        count(look.seen.exports.len(), "export"),
        count(outstanding, "request")
    )
}

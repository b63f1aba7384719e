// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Serves a service's metrics over HTTP, only to this computer: as OpenMetrics, or in Prometheus'
//! text format for clients that prefer it.
//!
//! The only page is `/metrics`, for `GET` and `HEAD`; each reply closes its connection. Every local
//! user can read the page, so it shows no data of the exports.

mod accept;
mod exposition;
mod http;
#[cfg(test)]
pub(crate) mod tests;

use std::io;
use std::net::SocketAddr;

use crate::peers::{LogSink, Peers, PortListener};
use crate::service::View;

use self::http::Page;

/// A port that serves metrics; closed when dropped.
#[derive(Debug)]
pub struct Metrics {
    address: SocketAddr,
    _peers: Peers,
}

impl Metrics {
    /// Opens `address`, which must be a loopback address.
    ///
    /// # Errors
    /// If the address is not available or is reachable from other computers, or if no thread can be
    /// started.
    pub fn open(address: SocketAddr, view: View, say: LogSink) -> io::Result<Self> {
        let listener = listen(address)?;
        let address = listener.address()?;
        let peers = Peers::start("tidegate-http", listener, Page { view }, say)?;
        Ok(Self { address, _peers: peers })
    }

    /// Refuses an address at which [`Self::open`] could not listen.
    pub(crate) fn check(address: SocketAddr) -> io::Result<()> {
        listen(address).map(drop)
    }

    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn listen(address: SocketAddr) -> io::Result<PortListener> {
    if !address.ip().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "metrics are served to this machine only: use a loopback address such as 127.0.0.1:9464",
        ));
    }
    PortListener::open(address)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Metrics of a service: OpenMetrics text over HTTP, for this machine only.
//!
//! One page, `/metrics`, as `GET` and `HEAD` have it; each answer ends its connection. Whoever is
//! on this machine may read it, so it tells nothing that is in the exports.

mod exposition;
mod http;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;

use crate::peers::{LogSink, Peers, PortListener};
use crate::service::View;

use self::http::Page;

/// A port at which metrics are read; dropping it closes it.
#[derive(Debug)]
pub struct Metrics {
    address: SocketAddr,
    _peers: Peers,
}

impl Metrics {
    /// Opens `address`, which is this machine's own.
    ///
    /// # Errors
    /// When it is not to be had, or others could reach it, or there is no thread.
    pub fn open(address: SocketAddr, view: View, say: LogSink) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "metrics are given to this machine only: take an address like 127.0.0.1:9464",
            ));
        }
        let listener = PortListener::open(address)?;
        let address = listener.address()?;
        let peers = Peers::start("tidegate-http", listener, Page { view }, say)?;
        Ok(Self { address, _peers: peers })
    }

    /// Where it is read.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

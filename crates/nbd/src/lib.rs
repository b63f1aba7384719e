// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The NBD protocol as state machines: bytes in, bytes out, without threads or sockets.
//!
//! ```text
//!   server: Handshake --Step::Enter--> Session: parse requests, encode replies
//!   client: Client::connect ---------> submit requests, take replies
//! ```
//! The server half never stores more than one option of a client's input. The client half blocks on
//! any stream; tests, benchmarks and `tidegate nbd` use it.
//!
//! # Source
//! The specification is <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>.
//! Supported: fixed newstyle, structured replies, extended headers, TLS negotiation,
//! `base:allocation`. Not supported: oldstyle, `NBD_CMD_CACHE`, `NBD_CMD_RESIZE`, filters of block
//! status.

mod bytes;
pub mod client;
mod export;
mod failure;
mod handshake;
#[cfg(any(test, feature = "harness"))]
#[doc(hidden)]
pub mod harness;
mod meta;
mod reply;
mod request;
mod session;
#[cfg(test)]
mod tests;
mod uri;
pub mod wire;

pub use export::{BlockSizes, ExportInfo, Listed};
pub use failure::Failure;
pub use handshake::{
    Catalogue, Dialect, Entered, Handshake, HandshakeError, Step, Tls, Unavailable,
};
pub use request::{Command, Request};
pub use session::{Breach, Parsed, Refused, Session};
pub use uri::{Address, Uri, UriError};

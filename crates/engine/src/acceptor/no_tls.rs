// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Replaces `tls.rs` in a program that is built without OpenSSL: no keys can be read.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use tidegate_device::Socket;

/// The number of bytes moved in one step: zero, because there are no encrypted connections.
pub(super) const PIECE_BYTES: usize = 0;
/// The stack size of an encrypted connection's thread: zero, because there are no such threads.
pub(super) const STACK_BYTES: usize = 0;

const REFUSAL: &str = "this tidegate is built without TLS, so it cannot use the keys";

/// The server's keys, which this program never holds.
#[derive(Debug)]
pub(crate) enum Encryption {}

impl Encryption {
    /// Refuses pre-shared keys.
    pub(crate) fn with_keys(_: &Path) -> Result<Self, String> {
        Err(REFUSAL.to_owned())
    }

    /// Refuses certificates.
    pub(crate) fn with_certificates(_: &Path) -> Result<Self, String> {
        Err(REFUSAL.to_owned())
    }

    /// Cannot be called, because no value of this type exists.
    pub(super) fn start(&self, _: &Socket, _: Duration) -> io::Result<OwnedFd> {
        match *self {}
    }
}

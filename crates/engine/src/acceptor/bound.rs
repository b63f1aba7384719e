// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Computes the most memory and descriptors that a server can use, whatever its clients do.

use std::fmt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tidegate_model::serve_file::ServerLimits;
use tidegate_model::{Bytes, ExportSpec};

use super::tls;
use crate::service::connections::{BEST_EFFORT_BYTES, INPUT_BYTES, KEPT_BYTES, room_bytes};

/// The size that is requested for each buffer of a TCP socket; the kernel allocates twice as much.
pub(super) const TCP_BUFFER_BYTES: usize = 256 << 10;

/// The number of descriptors for other uses than clients: the target, rings, control socket,
/// metrics and their peers.
const DESCRIPTORS_KEPT: usize = 128;

/// The memory of the program itself: code, stacks, statistics, the control socket's peers.
const PROGRAM_BYTES: u64 = 96 << 20;

/// The memory of a guest: one option, the replies to it, and the kernel's data for its socket.
const GUEST_BYTES: u64 = 64 << 10;

/// The memory of a connection besides its buffers.
const CONNECTION_BYTES: u64 = 8 << 10;

/// The memory of an encrypted connection's thread: its stack, the buffers for both directions, and
/// OpenSSL's data.
const TLS_BYTES: u64 = (tls::STACK_BYTES + 3 * tls::PIECE_BYTES + (128 << 10)) as u64;

/// Upper bounds on the memory and the descriptors that a server uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// The memory of the requests that the serve file's exports can have outstanding.
    pub requests: Bytes,
    /// The memory reserved for requests of exports that are admitted later; an export that needs
    /// more is refused.
    pub later: Bytes,
    /// The memory of the connections: their input, and the kernel's socket buffers.
    pub connections: Bytes,
    /// All other memory: the program, the guests, and what the service itself reserves.
    pub rest: Bytes,
    /// The number of connections that can exist at the same time.
    pub connection_count: usize,
    /// The number of descriptors that the whole server can use.
    pub descriptors: usize,
}

impl Footprint {
    /// Computes the footprint of a server. `exports` yields each export, with the largest size of a
    /// part of its requests. `later_count` exports without a contract can be admitted later.
    pub(crate) fn of<'a>(
        exports: impl Iterator<Item = (&'a ExportSpec, usize)>,
        later_count: usize,
        limits: &ServerLimits,
        connection_count: usize,
        is_tcp: bool,
        is_encrypted: bool,
    ) -> Self {
        let rooms = exports.map(|(spec, part_max)| room_bytes(spec, part_max));
        let requests = rooms.fold(0, u64::saturating_add);
        let sockets = if is_encrypted { 3 } else { 1 };
        let of_socket = if is_tcp { 4 * TCP_BUFFER_BYTES as u64 } else { unix_buffers() };
        let of_tls = if is_encrypted { TLS_BYTES } else { 0 };
        let each = INPUT_BYTES + CONNECTION_BYTES + of_tls + of_socket * sockets;
        let guests = limits.handshakes as u64 * (GUEST_BYTES + of_tls);
        let per_socket = usize::try_from(sockets).unwrap_or(3);
        Self {
            requests: Bytes::new(requests),
            later: Bytes::new(later_count as u64 * BEST_EFFORT_BYTES),
            connections: Bytes::new(each.saturating_mul(connection_count as u64)),
            rest: Bytes::new(PROGRAM_BYTES + KEPT_BYTES + guests),
            connection_count,
            descriptors: (connection_count + limits.handshakes) * per_socket + DESCRIPTORS_KEPT,
        }
    }

    /// Returns the sum of all memory.
    pub fn total(&self) -> Bytes {
        let parts = [self.requests, self.later, self.connections, self.rest];
        Bytes::new(parts.iter().fold(0, |sum, part| sum.saturating_add(part.get())))
    }

    /// Returns the number of connections that `descriptors` descriptors allow.
    pub fn connections_with(&self, descriptors: usize) -> usize {
        let lacking = self.descriptors.saturating_sub(descriptors);
        let each = self.descriptors / (self.connection_count + 1).max(1);
        self.connection_count.saturating_sub(lacking.div_ceil(each.clamp(1, 3)))
    }
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: Bytes| bytes.get().div_ceil(1 << 20);
        write!(
            f,
            "at most {} MiB of memory: {} for requests, {} for those of exports admitted later, {} \
             for {} connections, {} for the rest; at most {} descriptors",
            mib(self.total()),
            mib(self.requests),
            mib(self.later),
            mib(self.connections),
            self.connection_count,
            mib(self.rest),
            self.descriptors
        )
    }
}

/// Returns the size of the kernel's buffers at both ends of a Unix socket.
fn unix_buffers() -> u64 {
    // The kernel's default for a page size of 4 KiB.
    const DEFAULT: u64 = 212_992;
    let read = |name: &str| -> Option<u64> {
        let path = format!("/proc/sys/net/core/{name}_default");
        std::fs::read_to_string(path).ok()?.trim().parse().ok()
    };
    read("wmem").unwrap_or(DEFAULT) + read("rmem").unwrap_or(DEFAULT)
}

/// Raises the process's limit on descriptors to `wanted`, or as far as permitted; returns the new
/// limit.
pub(crate) fn raise_descriptors(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let wanted = wanted as u64;
    let current = limit.current.unwrap_or(u64::MAX);
    if current < wanted {
        let raised = limit.maximum.unwrap_or(u64::MAX).min(wanted);
        let new = Rlimit { current: Some(raised), maximum: limit.maximum };
        if setrlimit(Resource::Nofile, new).is_ok() {
            return usize::try_from(raised).unwrap_or(usize::MAX);
        }
    }
    usize::try_from(current).unwrap_or(usize::MAX)
}

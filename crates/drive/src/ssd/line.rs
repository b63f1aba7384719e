// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Serial lines: the channels to the dies and the link to the host. Each carries one transfer at
//! a time, first come, first served.

use tidegate_model::ssd::Link;
use tidegate_model::{Duration, Time};

/// A line with a rate.
#[derive(Debug, Clone)]
pub(super) struct SerialLine {
    bytes_per_s: u64,
    free_at: Time,
}

impl SerialLine {
    pub(super) fn new(bytes_per_s: u64) -> Self {
        Self { bytes_per_s, free_at: Time::ZERO }
    }

    /// Appends a transfer of `bytes` to the line's queue; it takes `more` in addition to the time
    /// of the bytes. Returns when it ends. `now` never decreases.
    pub(super) fn transfer(&mut self, now: Time, bytes: u64, more: Duration) -> Time {
        self.free_at = self.free_at.max(now) + time(bytes, self.bytes_per_s) + more;
        self.free_at
    }
}

/// Returns the time of a transfer of `bytes`, rounded up.
pub(super) fn time(bytes: u64, bytes_per_s: u64) -> Duration {
    const SECOND_NS: u64 = 1_000_000_000;
    let ns = match bytes.checked_mul(SECOND_NS) {
        Some(product) => product.div_ceil(bytes_per_s),
        // For more than 18 GB in one transfer, the product overflows.
        None => bytes.div_ceil(bytes_per_s).saturating_mul(SECOND_NS),
    };
    Duration::from_ns(ns)
}

/// The link to the host.
#[derive(Debug, Clone)]
pub(super) struct HostLink {
    /// The line to the host; it serves both directions if the link is not full-duplex.
    up: SerialLine,
    down: SerialLine,
    command: Duration,
    full_duplex: bool,
}

impl HostLink {
    pub(super) fn new(params: &Link) -> Self {
        Self {
            up: SerialLine::new(params.bytes_per_s),
            down: SerialLine::new(params.bytes_per_s),
            command: Duration::from_ns(params.command_ns),
            full_duplex: params.full_duplex,
        }
    }

    /// Returns the instant at which `bytes` have reached the host; the last transfer of a command
    /// carries its status.
    pub(super) fn send(&mut self, now: Time, bytes: u64, is_last: bool) -> Time {
        self.up.transfer(now, bytes, self.once(is_last))
    }

    /// Returns the instant at which `bytes` have arrived from the host; the first transfer of a
    /// command carries the command.
    pub(super) fn receive(&mut self, now: Time, bytes: u64, is_first: bool) -> Time {
        let more = self.once(is_first);
        let line = if self.full_duplex { &mut self.down } else { &mut self.up };
        line.transfer(now, bytes, more)
    }

    fn once(&self, is_with_command: bool) -> Duration {
        if is_with_command { self.command } else { Duration::ZERO }
    }
}

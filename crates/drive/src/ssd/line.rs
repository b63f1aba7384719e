// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Lines that carry one transfer at a time, first come, first served: the channels to the
//! dies and the link to the host.

use tidegate_model::ssd::Link;
use tidegate_model::{Duration, Time};

/// A line at a rate.
#[derive(Debug, Clone)]
pub(super) struct Line {
    bytes_per_s: u64,
    free_at: Time,
}

impl Line {
    pub(super) fn new(bytes_per_s: u64) -> Self {
        Self { bytes_per_s, free_at: Time::ZERO }
    }

    /// Appends a transfer of `bytes`, and `more` time, to what the line is busy with; when it
    /// will be over. `now` never decreases.
    pub(super) fn transfer(&mut self, now: Time, bytes: u64, more: Duration) -> Time {
        self.free_at = self.free_at.max(now) + self.time(bytes) + more;
        self.free_at
    }

    /// The time of a transfer, rounded up.
    fn time(&self, bytes: u64) -> Duration {
        const SECOND_NS: u64 = 1_000_000_000;
        let ns = match bytes.checked_mul(SECOND_NS) {
            Some(product) => product.div_ceil(self.bytes_per_s),
            // Beyond 18 GB at once.
            None => bytes.div_ceil(self.bytes_per_s).saturating_mul(SECOND_NS),
        };
        Duration::from_ns(ns)
    }
}

/// The way to the host.
#[derive(Debug, Clone)]
pub(super) struct HostLink {
    /// To the host; in both directions if the link is not full-duplex.
    up: Line,
    down: Line,
    command: Duration,
    full_duplex: bool,
}

impl HostLink {
    pub(super) fn new(params: &Link) -> Self {
        Self {
            up: Line::new(params.bytes_per_s),
            down: Line::new(params.bytes_per_s),
            command: Duration::from_ns(params.command_ns),
            full_duplex: params.full_duplex,
        }
    }

    /// When `bytes` will have reached the host; the last of a command carry its status.
    pub(super) fn send(&mut self, now: Time, bytes: u64, is_last: bool) -> Time {
        self.up.transfer(now, bytes, self.once(is_last))
    }

    /// When `bytes` will have come from the host; the first of a command carry itself.
    pub(super) fn receive(&mut self, now: Time, bytes: u64, is_first: bool) -> Time {
        let more = self.once(is_first);
        let line = if self.full_duplex { &mut self.down } else { &mut self.up };
        line.transfer(now, bytes, more)
    }

    fn once(&self, is_with_command: bool) -> Duration {
        if is_with_command { self.command } else { Duration::ZERO }
    }
}

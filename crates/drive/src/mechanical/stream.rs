// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The transfer of one request between drive and host, sector by sector, as fast as the bus and
//! the medium allow.

use tidegate_model::{Duration, Time};

/// The transfer of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    sector_ps: u64,
    /// The instant at which the transfer of the last sector added so far ends.
    end_at: Time,
    /// The gate, while the transfer waits for enough sectors.
    gate: Option<Gate>,
}

/// A gate that delays a transfer until enough sectors are ready.
#[derive(Debug, Clone, Copy)]
struct Gate {
    /// The number of sectors needed, at least 1.
    sectors: u64,
    /// The number of sectors that are ready.
    ready: u64,
    /// The latest instant at which one of the ready sectors became ready. Sectors are added in the
    /// host's order, not in time order.
    ready_at: Time,
    delay: Duration,
}

impl Stream {
    /// Creates a transfer that can begin at `begin_at`.
    pub(crate) fn new(begin_at: Time, sector_ps: u64) -> Self {
        Self { sector_ps, end_at: begin_at, gate: None }
    }

    /// Creates a transfer that can begin at `begin_at`, and not before `delay` after `sectors`
    /// sectors are ready.
    pub(crate) fn gated(begin_at: Time, sector_ps: u64, sectors: u64, delay: Duration) -> Self {
        let gate = Gate { sectors: sectors.max(1), ready: 0, ready_at: begin_at, delay };
        Self { sector_ps, end_at: begin_at, gate: Some(gate) }
    }

    /// Returns the transfer time of `sectors` sectors, rounded up.
    fn time(self, sectors: u64) -> Duration {
        let ps = u128::from(self.sector_ps) * u128::from(sectors);
        Duration::from_ns(u64::try_from(ps.div_ceil(1000)).expect("a transfer of centuries"))
    }

    /// Adds `sectors` that become ready one after the other, evenly spaced, the first at
    /// `first_at` and the last at `last_at`.
    ///
    /// Sector i ends one transfer time after it is ready and the previous sector has ended. With
    /// even spacing the maximum of these sums is at the first or the last sector.
    pub(crate) fn add(&mut self, sectors: u64, first_at: Time, last_at: Time) {
        if sectors == 0 || self.is_held(sectors, first_at, last_at) {
            return;
        }
        let all = self.time(sectors);
        let one = self.time(1);
        self.end_at = (self.end_at + all).max(first_at + all).max(last_at + one);
    }

    /// Adds `sectors` that pass the head one after the other, evenly spaced, between `begin_at` and
    /// `end_at`.
    pub(crate) fn add_passing(&mut self, sectors: u64, begin_at: Time, end_at: Time) {
        let one = Duration::from_ns((end_at - begin_at).ns().div_ceil(sectors.max(1)));
        self.add(sectors, begin_at + one, end_at);
    }

    /// Returns whether the gate holds these sectors back. If they open it, the sectors held back
    /// earlier are transferred first.
    fn is_held(&mut self, sectors: u64, first_at: Time, last_at: Time) -> bool {
        let Some(gate) = &mut self.gate else { return false };
        let missing = gate.sectors - gate.ready;
        if sectors < missing {
            gate.ready += sectors;
            gate.ready_at = gate.ready_at.max(last_at);
            return true;
        }
        let Gate { ready, ready_at, delay, .. } = *gate;
        self.gate = None;
        let enough_at = between((first_at, last_at), missing - 1, sectors);
        let open_at = enough_at.max(ready_at) + delay;
        self.end_at = self.end_at.max(open_at) + self.time(ready);
        false
    }

    /// Returns the instant at which the transfer of the last sector added so far ends.
    pub(crate) fn end_at(self) -> Time {
        self.end_at
    }
}

/// Returns the instant of the sector with this index, of `count` evenly spaced sectors.
pub(crate) fn between((first, last): (Time, Time), index: u64, count: u64) -> Time {
    if count <= 1 {
        return last;
    }
    let time = u128::from((last - first).ns()) * u128::from(index) / u128::from(count - 1);
    first + Duration::from_ns(u64::try_from(time).expect("less than the whole"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bus that takes 1 us per sector.
    const SECTOR_PS: u64 = 1_000_000;

    fn at(us: u64) -> Time {
        Time::from_ns(us * 1_000)
    }

    #[test]
    fn a_slow_medium_leaves_one_sector_to_transfer_after_the_last() {
        let mut stream = Stream::new(at(0), SECTOR_PS);
        stream.add(10, at(2), at(20));
        assert_eq!(stream.end_at(), at(21));
    }

    #[test]
    fn a_slow_bus_transfers_on_after_the_last_sector_is_ready() {
        let mut stream = Stream::new(at(0), SECTOR_PS);
        stream.add(10, at(2), at(5));
        assert_eq!(stream.end_at(), at(12));
    }

    #[test]
    fn ready_sectors_wait_for_the_bus() {
        let mut stream = Stream::new(at(50), SECTOR_PS);
        stream.add(4, at(2), at(5));
        stream.add(2, at(6), at(60));
        assert_eq!(stream.end_at(), at(61));
    }

    #[test]
    fn a_gate_opens_when_enough_is_ready_and_held_sectors_go_first() {
        let mut stream = Stream::gated(at(0), SECTOR_PS, 6, Duration::from_us(3));
        stream.add(4, at(1), at(4));
        assert_eq!(stream.end_at(), at(0), "held");
        // The sixth sector is the second of these and is ready at 20 us; 3 us later, the transfer
        // of all 14 begins.
        stream.add(10, at(10), at(100));
        assert_eq!(stream.end_at(), at(101));
        let mut stream = Stream::gated(at(0), SECTOR_PS, 6, Duration::from_us(3));
        stream.add(4, at(1), at(4));
        stream.add(10, at(10), at(19));
        assert_eq!(stream.end_at(), at(11 + 3 + 4 + 10));
    }

    #[test]
    fn sectors_at_equal_distances_are_interpolated_from_both_ends() {
        assert_eq!(between((at(10), at(20)), 0, 6), at(10));
        assert_eq!(between((at(10), at(20)), 3, 6), at(16));
        assert_eq!(between((at(10), at(20)), 0, 1), at(20));
    }
}

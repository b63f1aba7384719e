// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Best effort of many exports in the order of their weights, each within its limit.
//!
//! Start-time fair queueing (Goyal, Vin, Cheng 1996): a request's start tag is the later of the
//! virtual time and the finish tag of its export's last one; the least start tag goes first. An
//! export that was idle is not repaid for it, one that floods waits behind its own requests only.
//! A request is charged its bytes and what they would have been while the drive positions.
//!
//! A policy is shown a *window* of these requests: what it is not shown, it cannot reorder.

use std::collections::{BTreeMap, VecDeque};

use super::offer::ExportId;
use tidegate_model::{Bandwidth, Bytes, Duration, RequestId, Time};

/// What a request is charged beside its bytes: about what a disk moves while it positions.
const POSITIONING_BYTES: u64 = 256 << 10;

/// How much of its limit an export may use up at once.
const BURST: Duration = Duration::from_ms(100);

/// One export's best effort.
#[derive(Debug)]
struct Lane {
    weight: u32,
    limit: Option<Bandwidth>,
    queue: VecDeque<(RequestId, Bytes)>,
    /// Virtual time at which its last request ends.
    finish: u64,
    /// When its limit is used up to the last byte.
    used_until: Time,
}

impl Lane {
    fn start(&self, virtual_time: u64) -> u64 {
        self.finish.max(virtual_time)
    }

    /// From when its first request may go.
    fn opens(&self) -> Time {
        Time::from_ns(self.used_until.ns().saturating_sub(BURST.ns()))
    }
}

/// Best-effort requests that wait for the window; see the module's text.
///
/// # Complexity
/// O(exports) for each request.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    lanes: BTreeMap<ExportId, Lane>,
    virtual_time: u64,
}

impl Shares {
    /// Another export, of at least weight 1.
    pub(crate) fn add_lane(&mut self, id: ExportId, weight: u32, limit: Option<Bandwidth>) {
        assert!(weight >= 1, "an export without weight would never be served");
        let queue = VecDeque::new();
        let lane = Lane { weight, limit, queue, finish: 0, used_until: Time::ZERO };
        self.lanes.insert(id, lane);
    }

    /// An export is gone, and what waits of it.
    pub(crate) fn remove_lane(&mut self, id: ExportId) {
        self.lanes.remove(&id);
    }

    /// Nobody is kept back any more.
    pub(crate) fn lift_limits(&mut self) {
        for lane in self.lanes.values_mut() {
            (lane.limit, lane.used_until) = (None, Time::ZERO);
        }
    }

    /// A request of that export waits.
    pub(crate) fn push(&mut self, lane: ExportId, id: RequestId, size: Bytes) {
        let lane = self.lanes.get_mut(&lane).expect("every export has a lane");
        lane.queue.push_back((id, size));
    }

    /// The request that is next, unless limits keep all of them back.
    pub(crate) fn pop(&mut self, now: Time) -> Option<RequestId> {
        let virtual_time = self.virtual_time;
        let open =
            self.lanes.values_mut().filter(|lane| !lane.queue.is_empty() && lane.opens() <= now);
        let lane = open.min_by_key(|lane| lane.start(virtual_time))?;
        let (id, size) = lane.queue.pop_front().expect("filtered");
        let start = lane.start(virtual_time);
        let charge = (size.get() + POSITIONING_BYTES) / u64::from(lane.weight);
        (self.virtual_time, lane.finish) = (start, start + charge.max(1));
        if let Some(limit) = lane.limit {
            let spent = limit.transfer_time_floor(size);
            lane.used_until = lane.used_until.max(now) + spent;
        }
        Some(id)
    }

    /// When a limit lets something go that waits.
    pub(crate) fn opens(&self) -> Option<Time> {
        self.lanes.values().filter(|lane| !lane.queue.is_empty()).map(Lane::opens).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Bytes = Bytes::from_kib(64);

    fn shares(weights: &[u32]) -> Shares {
        let mut shares = Shares::default();
        for (id, &weight) in (0..).map(ExportId).zip(weights) {
            shares.add_lane(id, weight, None);
        }
        shares
    }

    /// Lanes in the order in which their requests leave; a request's name is its lane.
    fn drained(shares: &mut Shares, count: usize) -> Vec<u64> {
        let one = |_| shares.pop(Time::ZERO).expect("something waits").0;
        (0..count).map(one).collect()
    }

    fn fill(shares: &mut Shares, lane: u64, count: usize) {
        for _ in 0..count {
            shares.push(ExportId(lane), RequestId(lane), SIZE);
        }
    }

    #[test]
    fn a_flood_waits_behind_itself() {
        let mut shares = shares(&[1, 1]);
        fill(&mut shares, 0, 100);
        drained(&mut shares, 50);
        fill(&mut shares, 1, 2);
        assert_eq!(drained(&mut shares, 4).iter().filter(|&&lane| lane == 1).count(), 2);
    }

    #[test]
    fn shares_follow_weights_and_idleness_is_not_repaid() {
        let mut shares = shares(&[3, 1]);
        fill(&mut shares, 0, 1000);
        drained(&mut shares, 300);
        fill(&mut shares, 1, 1000);
        let served = drained(&mut shares, 400);
        let second = served.iter().filter(|&&lane| lane == 1).count();
        assert!((98..=102).contains(&second), "{second} of 400 for a quarter");
    }

    #[test]
    fn a_limit_is_kept_in_the_long_run_and_opens_in_time() {
        let mut shares = Shares::default();
        shares.add_lane(ExportId(0), 1, Bandwidth::new(1_000_000));
        for _ in 0..100 {
            shares.push(ExportId(0), RequestId(0), Bytes::new(50_000));
        }
        let (mut now, mut count) = (Time::ZERO, 0);
        while count < 100 {
            match shares.pop(now) {
                Some(_) => count += 1,
                None => now = shares.opens().expect("something waits"),
            }
        }
        // 5 MB at 1 MB/s, the first tenth of a second and one request at once.
        let seconds = now.ns() / 1_000_000;
        assert!((4_850..=4_900).contains(&seconds), "{seconds} ms");
    }
}

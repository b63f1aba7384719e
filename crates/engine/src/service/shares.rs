// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Orders the best-effort requests of many exports by the exports' weights, within their limits.
//!
//! Start-time fair queueing (Goyal, Vin, Cheng 1996): a request's start tag is the later of the
//! virtual time and the finish tag of its export's last request; the lowest start tag goes first.
//! An export that was idle gets no compensation, and an export that floods makes only its own
//! requests wait longer. A request is charged its bytes plus the bytes that the drive would
//! transfer while it positions.
//!
//! The policy gets a *window* of these requests; it cannot reorder requests outside the window.
//! Shares and limits decide which requests enter the window, and the policy decides in which order
//! they leave it. So the number of an export's requests that were served falls behind the number
//! that entered by at most one window: an order by position takes at most that number of requests
//! from one export's share and gives them to others, and gives them back as the window advances.
//! Limits apply to requests when they enter the window.

use std::collections::{BTreeMap, VecDeque};

use super::offer::ExportId;
use tidegate_model::{Bandwidth, Bytes, Duration, RequestId, Time};

/// The charge of a request in addition to its bytes: about the amount that a disk transfers during
/// one positioning.
const POSITIONING_BYTES: u64 = 256 << 10;

/// The largest burst that a limit allows, as the time in which the limit admits the burst's bytes.
const BURST: Duration = Duration::from_ms(100);

/// One export's best-effort requests.
#[derive(Debug)]
struct Lane {
    weight: u32,
    limit: Option<Bandwidth>,
    queue: VecDeque<(RequestId, Bytes)>,
    /// The finish tag of the export's last request, in virtual time.
    finish: u64,
    /// The instant up to which the export's limit is used up.
    used_until: Time,
}

impl Lane {
    fn start(&self, virtual_time: u64) -> u64 {
        self.finish.max(virtual_time)
    }

    /// Returns the instant from which the export's first request can be sent.
    fn opens(&self) -> Time {
        Time::from_ns(self.used_until.ns().saturating_sub(BURST.ns()))
    }
}

/// The best-effort requests that wait for the window.
///
/// # Complexity
/// Each request costs O(exports).
#[derive(Debug, Default)]
pub(crate) struct Shares {
    lanes: BTreeMap<ExportId, Lane>,
    virtual_time: u64,
}

impl Shares {
    /// Adds an export with a weight of at least 1.
    pub(crate) fn add_lane(&mut self, id: ExportId, weight: u32, limit: Option<Bandwidth>) {
        assert!(weight >= 1, "an export without weight would never be served");
        let queue = VecDeque::new();
        let lane = Lane { weight, limit, queue, finish: 0, used_until: Time::ZERO };
        self.lanes.insert(id, lane);
    }

    /// Removes an export and its waiting requests.
    pub(crate) fn remove_lane(&mut self, id: ExportId) {
        self.lanes.remove(&id);
    }

    /// Lifts all exports' limits.
    pub(crate) fn lift_limits(&mut self) {
        for lane in self.lanes.values_mut() {
            (lane.limit, lane.used_until) = (None, Time::ZERO);
        }
    }

    /// Adds a waiting request of the export `lane`.
    pub(crate) fn push(&mut self, lane: ExportId, id: RequestId, size: Bytes) {
        let lane = self.lanes.get_mut(&lane).expect("every export has a lane");
        lane.queue.push_back((id, size));
    }

    /// Returns the next request; `None` if none waits or limits hold all of them back.
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

    /// Returns the earliest instant at which a limit admits a waiting request.
    pub(crate) fn opens(&self) -> Option<Time> {
        self.lanes.values().filter(|lane| !lane.queue.is_empty()).map(Lane::opens).min()
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{
        BatchTable, BestEffortOrder, Class, Lba, Outcome, Plan, PolicyName, Request, Workload,
    };
    use tidegate_policy::{Decision, Event, Policy};

    use super::*;

    const SIZE: Bytes = Bytes::from_kib(64);

    fn shares(weights: &[u32]) -> Shares {
        let mut shares = Shares::default();
        for (id, &weight) in (0..).map(ExportId).zip(weights) {
            shares.add_lane(id, weight, None);
        }
        shares
    }

    /// Returns the lanes in the order in which their requests leave; a request's identifier is its
    /// lane.
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

    /// Goal: an order by position moves at most one window of service between exports, wherever
    /// their requests are. Method: the first export, with a quarter of the weight, always places
    /// its requests just ahead of the heads; the elevator serves the window.
    #[test]
    fn an_order_takes_at_most_a_window_from_a_share() {
        const WINDOW: usize = 64;
        let table = BatchTable::new(&[Duration::from_ms(5)]).unwrap();
        let plan = Plan {
            best_effort_order: BestEffortOrder::Elevator,
            ..Plan::of(&Workload::new("test", 1, table))
        };
        let mut policy = tidegate_policy::build(PolicyName::Edf, &plan, None).unwrap();
        let mut shares = shares(&[1, 3]);
        let (mut admitted, mut served, mut heads_at) = ([0_usize; 2], [0_usize; 2], 0);
        let mut owners = std::collections::BTreeMap::new();
        for lane in 0..2 {
            fill(&mut shares, lane, 10_000);
        }
        for number in 0..5_000 {
            while owners.len() < WINDOW {
                let RequestId(lane) = shares.pop(Time::ZERO).unwrap();
                let id = RequestId(admitted.iter().sum::<usize>() as u64);
                let far = (id.0 * 7_919) % 1_000_003;
                let sector = if lane == 0 { heads_at + 1 } else { far };
                let made = Request::plain(id, Class::BestEffort, SIZE);
                let request = Request { start: Lba::new(sector), ..made };
                policy.observe(Time::ZERO, Event::Release(request)).unwrap();
                owners.insert(id, (usize::try_from(lane).unwrap(), sector));
                admitted[usize::try_from(lane).unwrap()] += 1;
            }
            let Decision::Dispatch { id, .. } = policy.decide(Time::ZERO) else { panic!("queued") };
            let done = Event::Complete { id, outcome: Outcome::Done };
            policy.observe(Time::ZERO, done).unwrap();
            let (lane, sector) = owners.remove(&id).unwrap();
            (served[lane], heads_at) = (served[lane] + 1, sector);
            let fair = (number + 1) / 4;
            assert!(served[0] <= fair + WINDOW / 4 + 2, "{served:?} after {number}");
            assert!(served[0] + WINDOW >= fair, "{served:?} after {number}");
            assert!(admitted[0].abs_diff(admitted.iter().sum::<usize>() / 4) <= 2);
        }
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
        // 5 MB at 1 MB/s take 5 s, minus the initial burst of 0.1 s and one request.
        let seconds = now.ns() / 1_000_000;
        assert!((4_850..=4_900).contains(&seconds), "{seconds} ms");
    }
}

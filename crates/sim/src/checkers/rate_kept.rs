// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: a shaper passes best effort on at its rate, neither faster nor slower (`token-bucket`,
//! `mdn`, `mdn-extended`). It is watched from both sides.
//!
//! - The requests that pass in any window cost at most `max(burst, cost of the first)` plus the
//!   tokens that the rate brings from the first to the last. From the start of the run they cost at
//!   most `burst` plus the tokens since then; after a new limit or plan, at most the tokens since
//!   that change.
//! - The first waiting request passes as soon as these bounds allow it, unless the policy behind has
//!   no room. Under a steered rate it passes as soon as the rate has brought its tokens since it
//!   became first: while a rate grows without requests, no rule says how full the bucket is.
//! - No other request waits, and none changes its class unless streams are detected. Which sources
//!   are streams is not checked.
//!
//! The rate is the stated one, the share that the tasks leave ([`super::charge`]), or the rate that
//! notices allow ([`super::steered`]). Writes and interactive requests with rates of their own are
//! checked in the same way.

use std::collections::VecDeque;

use tidegate_model::parameters::{Shaping, TokenRate, TokenUnit};
use tidegate_model::{Class, Duration, Op, Outcome, Plan, RegulatorName, Request, RequestId, Time};
use tidegate_policy::Event;

use super::charge::{Charge, fixed_rate};
use super::steered::{Grows, Steered};
use super::supply::{PARTS, Supply};
use super::{Breach, ViolationLog};
use crate::Observer;

/// The lane of interactive requests.
const INTERACTIVE: usize = 0;
/// The lane of best effort.
const BEST_EFFORT: usize = 1;
/// The lane of best-effort writes.
const WRITES: usize = 2;

/// Requests that wait for the tokens of one rate.
#[derive(Debug)]
struct Lane {
    unit: TokenUnit,
    supply: Supply,
    /// Whether notices change the rate.
    is_steered: bool,
    burst: Duration,
    /// The parts that could pass when `counted` parts had been gained.
    allowance: u128,
    counted: u128,
    /// The waiting requests with their cost in parts, oldest first.
    waiting: VecDeque<(Request, u128)>,
    /// The parts gained when the first waiting request became the first.
    first_since: u128,
}

impl Lane {
    fn new(unit: TokenUnit, per_s: Option<u64>, burst: Duration) -> Self {
        let (supply, waiting) = (Supply::of_rate(per_s), VecDeque::new());
        let (allowance, counted, first_since) = Default::default();
        let is_steered = false;
        let lane =
            Self { unit, supply, is_steered, burst, allowance, counted, waiting, first_since };
        Self { allowance: lane.full(), ..lane }
    }

    /// Returns the parts that the rate brings in `burst`.
    fn full(&self) -> u128 {
        u128::from(self.supply.per_s.unwrap_or(0)) * u128::from(self.burst.ns())
    }

    /// Adds the parts gained until `now` to the allowance, up to `most`.
    fn refill(&mut self, now: Time, most: u128) {
        let gained = self.supply.gained(now);
        // Saturation is intended: the largest value exceeds `most`.
        self.allowance = self.allowance.saturating_add(gained - self.counted).min(most);
        self.counted = gained;
    }

    /// Begins again with an empty bucket.
    fn restart(&mut self, now: Time) {
        let gained = self.supply.gained(now);
        (self.allowance, self.counted, self.first_since) = (0, gained, gained);
    }

    fn arrive(&mut self, now: Time, request: Request, cost: u128) {
        if self.waiting.is_empty() {
            self.refill(now, self.full());
            self.first_since = self.counted;
        }
        self.waiting.push_back((request, cost));
    }

    /// Removes a waiting request and returns whether it was there.
    fn leave(&mut self, now: Time, id: RequestId) -> bool {
        let place = self.waiting.iter().position(|(waiting, _)| waiting.id == id);
        if place == Some(0) {
            self.first_since = self.supply.gained(now);
        }
        place.and_then(|place| self.waiting.remove(place)).is_some()
    }

    /// Takes the cost of a request; returns the parts that are missing.
    fn take(&mut self, now: Time, cost: u128) -> Option<u128> {
        self.supply.gained(now);
        self.supply.per_s?;
        self.refill(now, self.full().max(cost));
        let missing = cost.saturating_sub(self.allowance); // none, if there are enough
        self.allowance = self.allowance.saturating_sub(cost); // none are left after a breach
        (missing > 0).then_some(missing)
    }

    /// Returns the first request if it waits although it has its tokens.
    fn overdue(&mut self, now: Time) -> Option<RequestId> {
        let gained = self.supply.gained(now);
        let &(Request { id, .. }, cost) = self.waiting.front()?;
        let own = if self.is_steered { 0 } else { self.allowance };
        let since = if self.is_steered { self.first_since } else { self.counted };
        let has_tokens = own.saturating_add(gained - since) >= cost;
        (self.supply.per_s.is_none() || has_tokens).then_some(id)
    }
}

/// Checks that a shaper keeps its rate; see the module documentation.
#[derive(Debug)]
pub struct RateKept {
    regulator: RegulatorName,
    shaping: Shaping,
    charge: Charge,
    lanes: [Lane; 3],
    steered: Option<Steered>,
    /// For each lane, whether the policy behind the shaper has had no room for a request of this
    /// lane since the last round.
    were_refused: [bool; 3],
    log: ViolationLog,
}

impl RateKept {
    /// Creates the checker of a regulator under `plan`; `None` if the regulator shapes nothing.
    pub fn of(regulator: RegulatorName, plan: &Plan) -> Option<Self> {
        let steered = |params, grows| (params, Some(Steered::new(grows, params, plan)));
        let (shaping, rate, steered) = match regulator {
            RegulatorName::DepthLimit | RegulatorName::TokensPerTask => return None,
            RegulatorName::TokenBucket => {
                let TokenRate { unit, per_s } = fixed_rate(plan);
                (plan.parameters.token_bucket.shaping, (unit, Some(per_s)), None)
            }
            RegulatorName::Mdn => {
                let (params, steered) = steered(plan.parameters.mdn, Grows::Always);
                (params.shaping, (params.increase.unit, None), steered)
            }
            RegulatorName::MdnExtended => {
                let (params, steered) = steered(plan.parameters.mdn_extended, Grows::AfterStreams);
                (params.shaping, (params.increase.unit, None), steered)
            }
        };
        let own = |rate: Option<TokenRate>| {
            let unit = rate.map_or(TokenUnit::Request, |rate| rate.unit);
            Lane::new(unit, rate.map(|rate| rate.per_s), shaping.burst)
        };
        let is_steered = steered.is_some();
        let best_effort = Lane { is_steered, ..Lane::new(rate.0, rate.1, shaping.burst) };
        Some(Self {
            regulator,
            shaping,
            charge: Charge::of(plan),
            lanes: [own(shaping.interactive_rate), best_effort, own(shaping.write_rate)],
            steered,
            were_refused: [false; 3],
            log: ViolationLog::default(),
        })
    }

    /// Returns the lane in which a request waits.
    fn lane(&self, request: &Request) -> Option<usize> {
        match (request.class, request.op) {
            (Class::Hard | Class::Soft, _) => None,
            (Class::Interactive, _) => self.shaping.interactive_rate.map(|_| INTERACTIVE),
            (Class::BestEffort, Op::Write) if self.shaping.write_rate.is_some() => Some(WRITES),
            (Class::BestEffort, Op::Read | Op::Write) => Some(BEST_EFFORT),
        }
    }

    fn tokens(&self, lane: usize, request: &Request) -> u64 {
        self.charge.tokens(self.lanes[lane].unit, request.op, request.size)
    }

    /// Records that the shaper gets a request.
    pub(super) fn arrive(&mut self, now: Time, request: &Request) {
        if let Some(lane) = self.lane(request) {
            let cost = u128::from(self.tokens(lane, request)) * PARTS;
            self.lanes[lane].arrive(now, *request, cost);
        }
    }

    /// Records that the shaper lost a request, because it had no room or because the request was
    /// cancelled.
    pub(super) fn lose(&mut self, now: Time, id: RequestId) {
        self.leave(now, id);
    }

    fn leave(&mut self, now: Time, id: RequestId) -> Option<usize> {
        self.lanes.iter_mut().position(|lane| lane.leave(now, id))
    }

    /// Records that the policy behind the shaper had no room for a request. While the policy has no
    /// room for real time, all lanes may wait.
    pub(super) fn refused_behind(&mut self, request: &Request) {
        match self.lane(request) {
            Some(lane) => self.were_refused[lane] = true,
            None => self.were_refused = [true; 3],
        }
    }

    /// Records that the shaper passed a request on.
    fn pass(&mut self, now: Time, request: &Request) {
        let arrived_in = self.leave(now, request.id);
        // A stream among best effort passes as real time.
        let is_stream = self.shaping.is_detecting && request.class == Class::Soft;
        let lane = arrived_in.filter(|_| !is_stream);
        let missing = lane.and_then(|lane| {
            let cost = u128::from(self.tokens(lane, request)) * PARTS;
            self.lanes[lane].take(now, cost)
        });
        if let Some(missing) = missing {
            let missing = missing.div_ceil(PARTS);
            let tokens_missing = u64::try_from(missing).unwrap_or(u64::MAX);
            self.log.add(now, Breach::RateExceeded { id: request.id, tokens_missing });
        }
        let steered_tokens = lane.filter(|&lane| lane == BEST_EFFORT);
        let tokens = steered_tokens.map(|lane| self.tokens(lane, request));
        if let Some(steered) = &mut self.steered {
            steered.pass(request, tokens, lane.is_some());
        }
    }

    /// Records any other event that reached the policy behind the shaper.
    pub(super) fn tell(&mut self, now: Time, event: &Event) {
        match event {
            Event::Reconfigure(plan) => self.reconfigure(now, plan),
            Event::Notice { task, kind } => {
                let lane = &mut self.lanes[BEST_EFFORT];
                lane.supply.gained(now);
                if let Some(steered) = &mut self.steered
                    && steered.notice(now, *task, *kind, &mut lane.supply)
                {
                    lane.restart(now);
                }
            }
            Event::Release(_) | Event::Complete { .. } | Event::Cancel(_) => {}
        }
    }

    /// Begins again under a new plan. Requests wait where they waited, but writes without a rate of
    /// their own wait with other best effort.
    fn reconfigure(&mut self, now: Time, plan: &Plan) {
        let Some(fresh) = Self::of(self.regulator, plan) else { return };
        let old = std::mem::replace(self, fresh);
        self.log = old.log;
        self.were_refused = old.were_refused;
        let [interactive, mut best_effort, mut writes] = old.lanes;
        if let (Some(steered), Some(before)) = (&mut self.steered, old.steered) {
            let lane = &mut self.lanes[BEST_EFFORT];
            let before_per_s = best_effort.supply.per_s.filter(|_| best_effort.unit == lane.unit);
            lane.supply.per_s = before_per_s;
            steered.succeed(now, before, &mut lane.supply);
        }
        if self.shaping.write_rate.is_none() {
            best_effort.waiting.append(&mut writes.waiting);
            let waiting = best_effort.waiting.make_contiguous();
            waiting.sort_by_key(|(request, _)| (request.released, request.id));
        }
        for (index, old) in [interactive, best_effort, writes].into_iter().enumerate() {
            let waiting = old
                .waiting
                .into_iter()
                .map(|(request, _)| (request, u128::from(self.tokens(index, &request)) * PARTS));
            let waiting = waiting.collect();
            self.lanes[index].waiting = waiting;
            self.lanes[index].restart(now);
        }
    }
}

keeps_log!(RateKept);

/// The events behind the shaper, and the end of each of its rounds.
impl Observer for RateKept {
    fn released(&mut self, now: Time, request: &Request) {
        self.pass(now, request);
    }

    fn completed(&mut self, now: Time, request: &Request, _outcome: Outcome) {
        if let Some(steered) = &mut self.steered {
            steered.complete(now, request.id);
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        if let Some(steered) = &mut self.steered {
            steered.drop(request.id);
        }
    }

    fn settled(&mut self, now: Time) {
        let were_refused = std::mem::take(&mut self.were_refused);
        for (lane, was_refused) in self.lanes.iter_mut().zip(were_refused) {
            if let Some(id) = lane.overdue(now).filter(|_| !was_refused) {
                self.log.add(now, Breach::HeldTooLong { id });
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A first-in, first-out queue of requests that wait for their tokens from one bucket.

use std::collections::VecDeque;

use tidegate_model::parameters::{TokenRate, TokenUnit};
use tidegate_model::{Duration, Plan, Request, RequestId, Time};

use super::bucket::Bucket;
use super::device_time::DeviceTime;
use crate::Full;

/// Parts of a token: a rate of one token per second adds one part per nanosecond.
const PARTS: u128 = 1_000_000_000;

/// Requests that wait for their tokens, oldest first, at most `queued_max`.
///
/// # Invariants
/// - Before the head changes, the bucket is replenished for the old head's cost.
#[derive(Debug)]
pub(crate) struct Lane {
    queue: VecDeque<Request>,
    queued_max: u32,
    unit: TokenUnit,
    /// The bucket of the lane's tokens; `None` if there is no limit.
    bucket: Option<Bucket>,
    burst: Duration,
    /// The charges of requests in device time.
    device_time: DeviceTime,
    /// Whether the wrapped policy had no room for the head, although the head has its tokens.
    is_refused: bool,
}

impl Lane {
    /// Returns a lane with a full bucket at `per_s` tokens per second, or without a limit.
    pub(crate) fn new(unit: TokenUnit, per_s: Option<u64>, burst: Duration, plan: &Plan) -> Self {
        Self {
            queue: VecDeque::new(),
            queued_max: plan.queued_max,
            unit,
            bucket: per_s.map(|per_s| Bucket::full(per_s, burst)),
            burst,
            device_time: DeviceTime::of(plan),
            is_refused: false,
        }
    }

    /// Returns a lane with a full bucket at this rate, or without a limit if there is no rate.
    pub(crate) fn of_rate(rate: Option<TokenRate>, burst: Duration, plan: &Plan) -> Self {
        let unit = rate.map_or(TokenUnit::Request, |rate| rate.unit);
        Self::new(unit, rate.map(|rate| rate.per_s), burst, plan)
    }

    /// Takes over the waiting requests of `old`. The bucket starts empty, because the old one
    /// filled under another rule.
    pub(crate) fn succeed(&mut self, now: Time, old: Self) {
        self.queue = old.queue;
        if let Some(bucket) = &mut self.bucket {
            bucket.drain(now);
        }
    }

    /// Takes over the waiting requests of `other`, in order of release. The lane may then hold more
    /// than its bound, as after any plan with a smaller bound.
    pub(crate) fn join(&mut self, other: &mut Self) {
        if !other.queue.is_empty() {
            self.queue.append(&mut other.queue);
            let queue = self.queue.make_contiguous();
            queue.sort_unstable_by_key(|request| (request.released, request.id));
        }
    }

    /// Returns the tokens per second; `None` without a limit.
    pub(crate) fn tokens_per_s(&self) -> Option<TokenRate> {
        self.bucket.map(|bucket| TokenRate { unit: self.unit, per_s: bucket.gain() })
    }

    /// Limits the lane to `per_s` tokens per second from now on, or removes the limit.
    pub(crate) fn set_rate(&mut self, now: Time, per_s: Option<u64>) {
        self.replenish(now);
        self.bucket = per_s.map(|per_s| {
            // A new limit starts with an empty bucket.
            let bucket = self.bucket.unwrap_or_else(|| Bucket::empty(per_s, self.burst, now));
            bucket.with_rate(per_s, self.burst)
        });
    }

    /// Returns the tokens that a request takes.
    pub(crate) fn tokens(&self, request: &Request) -> u64 {
        match self.unit {
            TokenUnit::Request => 1,
            TokenUnit::Byte => request.size.get(),
            TokenUnit::DeviceTime => self.device_time.ns(request.op, request.size),
        }
    }

    pub(crate) fn push(&mut self, now: Time, request: Request) -> Result<(), Full> {
        if self.queue.len() >= self.queued_max as usize {
            return Err(Full);
        }
        if self.queue.is_empty() {
            self.replenish(now);
        }
        self.queue.push_back(request);
        Ok(())
    }

    /// Removes a request from anywhere in the lane and returns whether it was there. O(queued).
    pub(crate) fn cancel(&mut self, now: Time, id: RequestId) -> bool {
        let position = self.queue.iter().position(|queued| queued.id == id);
        if position == Some(0) {
            self.replenish(now);
            self.is_refused = false;
        }
        position.and_then(|position| self.queue.remove(position)).is_some()
    }

    /// Passes the head to `take` if it has its tokens; returns whether it was accepted.
    pub(crate) fn release_head(
        &mut self,
        now: Time,
        take: impl FnOnce(Request) -> Result<(), Full>,
    ) -> bool {
        self.is_refused = false;
        self.replenish(now);
        let Some(&head) = self.queue.front() else { return false };
        let cost = self.cost(&head);
        let paid = self.bucket.map(|mut bucket| bucket.take(cost).then_some(bucket));
        if paid == Some(None) {
            return false;
        }
        self.is_refused = take(Request { eligible: now, ..head }).is_err();
        if self.is_refused {
            return false;
        }
        self.bucket = paid.flatten();
        self.queue.pop_front();
        true
    }

    /// Returns the instant at which the head has its tokens, if it waits for nothing else.
    pub(crate) fn ready_at(&self) -> Option<Time> {
        let head = self.queue.front().filter(|_| !self.is_refused)?;
        self.bucket?.ready_at(self.cost(head))
    }

    /// Holds the head back until the next attempt.
    pub(crate) const fn refuse(&mut self) {
        self.is_refused = true;
    }

    /// Returns whether the wrapped policy had no room for a head that has its tokens.
    pub(crate) const fn is_refused(&self) -> bool {
        self.is_refused
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    fn replenish(&mut self, now: Time) {
        let wanted = self.queue.front().map_or(0, |head| self.cost(head));
        if let Some(bucket) = &mut self.bucket {
            bucket.replenish(now, wanted);
        }
    }

    fn cost(&self, request: &Request) -> u128 {
        u128::from(self.tokens(request)) * PARTS
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{BatchTable, Bytes, Class, Workload};

    use super::*;

    #[test]
    fn request_is_eligible_from_the_instant_at_which_it_has_its_token() {
        let table = BatchTable::new(&[Duration::from_ms(10)]).unwrap();
        let plan = Plan::of(&Workload::new("test", 1, table));
        let mut lane = Lane::new(TokenUnit::Request, Some(10), Duration::ZERO, &plan);
        let request = Request::plain(RequestId(1), Class::BestEffort, Bytes::from_kib(4));
        lane.push(Time::ZERO, request).unwrap();
        let ready = Time::from_ns(100_000_000);
        assert_eq!(lane.ready_at(), Some(ready));
        let passed = lane.release_head(ready, |passed| {
            assert_eq!(passed, Request { eligible: ready, ..request });
            Ok(())
        });
        assert!(passed);
    }
}

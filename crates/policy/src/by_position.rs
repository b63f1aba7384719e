// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `sstf`, `scan` and `c-look`: serve requests by position, one request on the drive at a time.
//!
//! Rules, whenever the drive is idle:
//! - `sstf` sends the request nearest to the heads.
//! - `scan` sends the next request in the heads' direction, and reverses when there is none.
//! - `c-look` sends the next request above the heads, or the lowest if there is none.
//!
//! A position is a cylinder if the drive's mechanics are known, otherwise a sector number, as in
//! kernels. At equal positions the oldest request goes first. The heads are assumed to be at the
//! end of the last request. All classes share one queue. None of the three policies has a bound:
//! requests that keep arriving at or before the heads delay others indefinitely.
//!
//! Source: P. Denning, "Effects of Scheduling on File Memory Operations", AFIPS 1967 (SSTF,
//! SCAN; here in the form that turns at the last request, LOOK); A. Merten, "Some Quantitative
//! Techniques for File Organization", Madison 1970 (C-LOOK).

use std::collections::BTreeMap;

use tidegate_model::{AccessTime, Request, RequestId, Time};

use crate::{Decision, Event, Full, Policy, Tag};

/// The rule that selects the next queued request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The nearest request.
    Nearest,
    /// The next request in the heads' direction, which reverses after the last one.
    BothWays,
    /// The next request upwards; after the highest, the lowest.
    OneWay,
}

/// A position and a sequence number: unique, and the oldest request of a position comes first.
type Key = (u64, u64);

/// A queued request and the position of the heads after it.
#[derive(Debug, Clone, Copy)]
struct Queued {
    id: RequestId,
    end: u64,
}

/// Serves one request at a time, by position; see the module documentation.
///
/// # Complexity
/// O(log n) for a decision and for a release, O(n) for a cancellation.
#[derive(Debug)]
pub struct ByPosition {
    rule: Rule,
    access: Option<Box<dyn AccessTime>>,
    queue: BTreeMap<Key, Queued>,
    queued_max: u32,
    released_count: u64,
    /// The position of the heads after the last request.
    heads_at: u64,
    is_upward: bool,
    in_flight: Option<RequestId>,
}

impl ByPosition {
    /// Returns a policy that follows `rule` and holds at most `queued_max` requests. `access` gives
    /// the drive's positions if they are known.
    pub fn new(rule: Rule, access: Option<Box<dyn AccessTime>>, queued_max: u32) -> Self {
        Self {
            rule,
            access,
            queue: BTreeMap::new(),
            queued_max,
            released_count: 0,
            heads_at: 0,
            is_upward: true,
            in_flight: None,
        }
    }

    fn push(&mut self, request: &Request) -> Result<(), Full> {
        if self.queue.len() >= self.queued_max as usize {
            return Err(Full);
        }
        let (begin, end) = if let Some(access) = &self.access {
            let cylinder = u64::from(access.target(request).cylinder);
            (cylinder, cylinder)
        } else {
            let begin = request.start.get();
            (begin, begin.saturating_add(request.size.sectors_ceil()))
        };
        self.queue.insert((begin, self.released_count), Queued { id: request.id, end });
        self.released_count += 1;
        Ok(())
    }

    /// Returns the first request at or above the heads.
    fn above(&self) -> Option<Key> {
        self.queue.range((self.heads_at, 0)..).next().map(|(&key, _)| key)
    }

    /// Returns the oldest request at the highest position at or below the heads.
    fn below(&self) -> Option<Key> {
        let (&(position, _), _) = self.queue.range(..=(self.heads_at, u64::MAX)).next_back()?;
        self.queue.range((position, 0)..).next().map(|(&key, _)| key)
    }

    fn nearest(&self) -> Option<Key> {
        let distance = |&(position, number): &Key| (position.abs_diff(self.heads_at), number);
        [self.above(), self.below()].into_iter().flatten().min_by_key(distance)
    }

    fn next(&mut self) -> Option<Key> {
        match self.rule {
            Rule::Nearest => self.nearest(),
            Rule::OneWay => self.above().or_else(|| self.queue.keys().next().copied()),
            Rule::BothWays => {
                let way = |upward: bool| if upward { self.above() } else { self.below() };
                let ahead = way(self.is_upward);
                let next = ahead.or_else(|| way(!self.is_upward));
                if ahead.is_none() && next.is_some() {
                    self.is_upward = !self.is_upward;
                }
                next
            }
        }
    }
}

impl Policy for ByPosition {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.push(&request)?,
            Event::Complete { id, .. } => {
                assert_eq!(
                    self.in_flight.take(),
                    Some(id),
                    "the completed request was not in flight"
                );
            }
            Event::Cancel(id) => self.queue.retain(|_, queued| queued.id != id),
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => self.queued_max = plan.queued_max,
        }
        Ok(())
    }

    fn decide(&mut self, _now: Time) -> Decision {
        if self.in_flight.is_some() {
            return Decision::AwaitEvent;
        }
        let Some(key) = self.next() else { return Decision::AwaitEvent };
        let Queued { id, end } = self.queue.remove(&key).expect("just seen");
        self.heads_at = end;
        self.in_flight = Some(id);
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

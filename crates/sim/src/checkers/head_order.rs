// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: the next request is chosen by its distance or direction from the heads (`sstf`, `scan`,
//! `c-look`, and best effort in the order `nearest`). The heads are at the end of the last request;
//! for `c-look`, at its start. Of equally good requests the oldest is sent.
//!
//! Sectors are the positions. A policy that knows the drive's cylinders orders by them, and this
//! checker does not apply. Once the host has held requests back because the policy was full, the
//! checker stops: the policy chose its direction without them.

use std::collections::BTreeMap;

use tidegate_model::{Lba, Request, RequestId, Time};

use super::arrivals::Arrivals;
use super::policy_room::PolicyRoom;
use super::{Breach, ViolationLog, end_of, is_best_effort};
use crate::Observer;

/// The way in which the heads sweep over the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sweep {
    /// To the nearest request.
    Nearest,
    /// In one direction, until no request is ahead.
    BothWays,
    /// Upwards, and after the highest request to the lowest.
    OneWay,
}

/// A position and the number of the request's arrival.
type Key = (Lba, u64);

/// Checks the order by distance or direction from the heads; see the module documentation.
#[derive(Debug)]
pub struct HeadOrder {
    sweep: Sweep,
    is_of_best_effort: bool,
    room: PolicyRoom,
    queued: BTreeMap<Key, RequestId>,
    arrivals: Arrivals,
    heads_at: Lba,
    is_upward: bool,
    log: ViolationLog,
}

impl HeadOrder {
    /// Creates the checker of a policy that holds `queued_max` requests of all classes together.
    pub fn new(sweep: Sweep, queued_max: u32) -> Self {
        let (queued, arrivals, log) = Default::default();
        Self {
            sweep,
            is_of_best_effort: false,
            room: PolicyRoom::of_all(queued_max),
            queued,
            arrivals,
            heads_at: Lba::new(0),
            is_upward: true,
            log,
        }
    }

    /// Creates the checker of a policy that orders only best effort in this way and holds
    /// `queued_max` requests of it.
    pub fn of_best_effort(sweep: Sweep, queued_max: u32) -> Self {
        let room = PolicyRoom::of_best_effort(queued_max);
        Self { is_of_best_effort: true, room, ..Self::new(sweep, queued_max) }
    }

    /// Returns whether the request's order is not checked.
    fn ignores(&self, request: &Request) -> bool {
        self.is_of_best_effort && !is_best_effort(request)
    }

    /// Returns the first request at or above the heads.
    fn above(&self) -> Option<Key> {
        self.queued.range((self.heads_at, 0)..).next().map(|(&key, _)| key)
    }

    /// Returns the oldest request at the highest position at or below the heads.
    fn below(&self) -> Option<Key> {
        let (&(highest, _), _) = self.queued.range(..=(self.heads_at, u64::MAX)).next_back()?;
        self.queued.range((highest, 0)..).next().map(|(&key, _)| key)
    }

    fn next(&self) -> Option<Key> {
        let (above, below) = (self.above(), self.below());
        match self.sweep {
            Sweep::Nearest => {
                let heads_at = self.heads_at.get();
                let distance = |&(start, number): &Key| (start.get().abs_diff(heads_at), number);
                above.into_iter().chain(below).min_by_key(distance)
            }
            Sweep::BothWays if self.is_upward => above.or(below),
            Sweep::BothWays => below.or(above),
            Sweep::OneWay => above.or_else(|| self.queued.keys().next().copied()),
        }
    }

    fn remove(&mut self, request: &Request) -> Option<Key> {
        let key = (request.start, self.arrivals.leave(request.id)?);
        self.queued.remove(&key);
        Some(key)
    }
}

keeps_log!(HeadOrder);

impl Observer for HeadOrder {
    fn released(&mut self, _now: Time, request: &Request) {
        self.room.enter(request);
        if self.ignores(request) {
            return;
        }
        let number = self.arrivals.arrive(request.id);
        self.queued.insert((request.start, number), request.id);
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            self.room.leave(request);
            let next = self.next().map(|key| (key, self.queued[&key]));
            // Another checker reports a request that never arrived.
            let Some(key) = self.remove(request) else { continue };
            if let Some((next, expected)) = next.filter(|_| !self.room.was_exceeded())
                && next != key
            {
                self.log.add(now, Breach::OutOfPosition { id: request.id, expected });
            }
            if request.start != self.heads_at {
                self.is_upward = request.start > self.heads_at;
            }
            self.heads_at = match self.sweep {
                Sweep::OneWay => request.start,
                Sweep::Nearest | Sweep::BothWays => end_of(request),
            };
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.room.leave(request);
        self.remove(request);
    }
}

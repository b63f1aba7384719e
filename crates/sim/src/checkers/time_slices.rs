// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: sources are served in turn (`cfq`).
//!
//! - **Slices**: while a source waits, any other source of its queue or a lower queue sends for
//!   less than one time slice. The wait ends with the waiting source's own dispatch, or when the
//!   drive holds as many of its requests as allowed.
//! - **Idling**: the drive is kept for the source whose turn it is, until the source has used up
//!   its slice, or has had nothing queued and nothing on the drive for 8 ms.
//! - **Priority**: no source of the lower queue begins a turn while a source of the real-time queue
//!   waits.
//! - **Quantum**: while other sources wait, a source has at most 4 requests on the drive.
//!
//! A checker cannot see when a turn begins. The turn begins after the previous source's last
//! request, and no later than the new source's first.
//!
//! Once the host has held requests back because the policy was full, the checker stops: it no
//! longer knows which source waits in the policy's queues.

use std::collections::BTreeMap;

use tidegate_model::{Class, Duration, Outcome, Request, TaskIndex, Time};

use super::{Breach, ViolationLog};
use crate::Observer;

/// The kernel's `slice_idle`: how long the drive is kept for an idle source.
const IDLE: Duration = Duration::from_ms(8);
/// The kernel's `quantum`: the largest number of requests of one source on the drive while others
/// wait.
const QUANTUM: u64 = 4;

/// The state of one source.
#[derive(Debug)]
struct Source {
    class: Class,
    queued_count: u64,
    in_flight_count: u64,
    /// The instant at which the source's last request completed.
    back: Time,
    /// The instant since which the source has had a queued request.
    waiting_since: Time,
    /// The other sources that sent while this source waited, each with its first dispatch.
    others: BTreeMap<TaskIndex, Time>,
}

impl Source {
    const fn is_real_time(&self) -> bool {
        match self.class {
            Class::Hard => true,
            Class::Soft | Class::Interactive | Class::BestEffort => false,
        }
    }

    const fn slice(&self) -> Duration {
        match self.class {
            Class::Hard | Class::Interactive => Duration::from_ms(100),
            Class::Soft => Duration::from_ms(180),
            Class::BestEffort => Duration::from_ms(40),
        }
    }

    /// Returns whether a turn of this source is over because it is idle.
    fn is_given_up(&self, now: Time) -> bool {
        self.queued_count == 0 && self.in_flight_count == 0 && now >= self.back + IDLE
    }

    /// Returns whether the source could send in its turn.
    const fn is_ready(&self) -> bool {
        self.queued_count > 0 && self.in_flight_count < QUANTUM
    }
}

/// A turn: its source, and an instant before which it cannot have begun.
#[derive(Debug, Clone, Copy)]
struct Turn {
    source: TaskIndex,
    begins_after: Time,
    /// Whether the turn's source idled for too long before a new request arrived.
    is_given_up: bool,
}

/// Checks turns, slices and idling; see the module documentation.
#[derive(Debug)]
pub struct TimeSlices {
    sources: BTreeMap<TaskIndex, Source>,
    turn: Option<Turn>,
    /// The time of the last dispatch.
    last: Time,
    /// Number of queued requests of each class.
    queued: [u64; 4],
    queued_max: u64,
    is_over: bool,
    log: ViolationLog,
}

impl TimeSlices {
    /// Creates the checker of a policy that holds `queued_max` requests of each class.
    pub fn new(queued_max: u32) -> Self {
        let (sources, turn, queued, is_over, log) = Default::default();
        let queued_max = u64::from(queued_max);
        Self { sources, turn, last: Time::ZERO, queued, queued_max, is_over, log }
    }

    /// Returns the breaches that occur if this request is sent now.
    fn breaches(&self, now: Time, request: &Request) -> Vec<Breach> {
        let (id, own) = (request.id, &self.sources[&request.task]);
        let others = || self.sources.iter().filter(|(task, _)| **task != request.task);
        let mut breaches = Vec::new();
        let is_overdue = |source: &Source| {
            let since = source.others.get(&request.task);
            since.is_some_and(|&since| now >= since + own.slice())
        };
        let is_ahead = |source: &Source| source.is_real_time() || !own.is_real_time();
        let waits = |(_, source): &(&TaskIndex, &Source)| {
            source.is_ready() && is_ahead(source) && is_overdue(source)
        };
        if let Some((&waiting, _)) = others().find(waits) {
            breaches.push(Breach::SliceExceeded { id, waiting });
        }
        let has_company = others().any(|(_, source)| source.queued_count > 0);
        let in_flight_count = own.in_flight_count + 1;
        if has_company && in_flight_count > QUANTUM {
            let in_flight_max = QUANTUM;
            breaches.push(Breach::TooManyInFlight { in_flight_count, in_flight_max });
        }
        if self.turn.is_none_or(|turn| turn.source != request.task) {
            if let Some(kept_for) = self.kept_for(now) {
                breaches.push(Breach::TurnTaken { id, kept_for });
            }
            let outranks = |source: &Source| {
                source.is_real_time()
                    && source.queued_count > 0
                    && source.waiting_since <= self.last
            };
            if !own.is_real_time() && others().any(|(_, source)| outranks(source)) {
                breaches.push(Breach::ClassOvertook { id });
            }
        }
        breaches
    }

    /// Returns the source for which the drive is kept.
    fn kept_for(&self, now: Time) -> Option<TaskIndex> {
        let turn = self.turn?;
        let source = &self.sources[&turn.source];
        let is_used_up = now >= turn.begins_after + source.slice();
        let is_given_up = turn.is_given_up || source.is_given_up(now);
        (!is_given_up && !is_used_up).then_some(turn.source)
    }

    /// Ends a turn whose source has idled for too long, before a new request arrives.
    fn give_up(&mut self, now: Time) {
        if let Some(turn) = &mut self.turn {
            turn.is_given_up |= self.sources[&turn.source].is_given_up(now);
        }
    }

    /// Records that a source sends.
    fn send(&mut self, now: Time, request: &Request) {
        let task = request.task;
        // The source may have kept its turn or begun a new one. The checker assumes the first: then
        // the turn ends earlier, and less is asserted.
        let own = self.turn.filter(|turn| turn.source == task);
        let begins_after = own.map_or(self.last, |turn| turn.begins_after);
        self.turn = Some(Turn { source: task, begins_after, is_given_up: false });
        self.last = now;
        let own = self.sources.get_mut(&task).expect("it released the request");
        own.queued_count -= 1;
        own.in_flight_count += 1;
        own.others.clear();
        self.queued[request.class as usize] -= 1;
        for (_, source) in self.sources.iter_mut().filter(|(other, _)| **other != task) {
            if source.is_ready() {
                source.others.entry(task).or_insert(now);
            } else {
                source.others.clear();
            }
        }
    }
}

keeps_log!(TimeSlices);

impl Observer for TimeSlices {
    fn released(&mut self, now: Time, request: &Request) {
        self.give_up(now);
        let queued = &mut self.queued[request.class as usize];
        *queued += 1;
        self.is_over |= *queued > self.queued_max;
        let new = || Source {
            class: request.class,
            queued_count: 0,
            in_flight_count: 0,
            back: Time::ZERO,
            waiting_since: now,
            others: BTreeMap::new(),
        };
        let source = self.sources.entry(request.task).or_insert_with(new);
        if source.queued_count == 0 {
            source.waiting_since = now;
        }
        source.queued_count += 1;
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            // Another checker reports a request that never arrived.
            let own = self.sources.get(&request.task);
            if own.is_none_or(|own| own.queued_count == 0) {
                continue;
            }
            if !self.is_over {
                for breach in self.breaches(now, request) {
                    self.log.add(now, breach);
                }
            }
            self.send(now, request);
        }
    }

    fn completed(&mut self, now: Time, request: &Request, _outcome: Outcome) {
        if let Some(source) = self.sources.get_mut(&request.task) {
            // Saturation is safe: another checker reports a request returned twice.
            source.in_flight_count = source.in_flight_count.saturating_sub(1);
            source.back = now;
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.queued[request.class as usize] -= 1;
        if let Some(source) = self.sources.get_mut(&request.task) {
            source.queued_count -= 1;
            source.others.clear();
        }
    }
}

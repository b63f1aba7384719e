// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sends batches to an idle drive: the second of the two queues, whatever the order of the first.
//!
//! `dqf` and `dq-edf` differ only in the order in which real-time requests wait. A batch of at most
//! z requests goes to the drive only when it is idle. Best effort fills a batch that holds j
//! real-time requests up to f(j) = max(j, beta) in total, unless it is held back because the drive
//! was late (`overrun`).
//!
//! If batches are also limited by cost, a batch is the longest prefix of the real-time queue with
//! at most z requests and a cost of at most Z, but at least one request. A batch that takes the
//! whole queue at a cost of C is filled with best effort up to max(C, F) in cost and max(j, beta)
//! in number; a batch that leaves requests behind holds no best effort.
//!
//! ```text
//!            idle drive, something      batch is
//!            may be sent                complete
//!   Idle ------------------> Forming --------------> Serving
//!     ^                                                 |
//!     +-------------------------------------------------+
//!                 last request of the batch completes
//! ```

use tidegate_model::{BatchCost, BatchTable, Class, Duration, Time};

use crate::order::OrderedQueue;
use crate::overrun::Overrun;
use crate::queue::{Prefix, RealTimeQueue};
use crate::{Decision, Event, Full, Tag};

/// The state of the current batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The drive is empty and no batch has begun.
    Idle,
    /// A batch of this cost has begun; it gets `real_time_left` more real-time requests, and the
    /// best effort that fits into the room.
    Forming { real_time_left: u32, room: Room, in_flight_count: u32, cost_ns: u64 },
    /// The batch is on the drive; this number of its requests is not yet complete.
    Serving { in_flight_count: u32 },
}

/// The room of a batch for best effort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Room {
    count: u32,
    /// The remaining cost in ns; unused if batches are not limited by cost.
    cost_ns: u64,
}

/// Sends real-time requests in the order of `Q` and best effort in an order of its own, one batch
/// at a time; see the module documentation.
///
/// # Invariants
/// - In `Forming` the real-time queue holds at least the requests that are not yet dispatched.
/// - In `Serving` at least one request is in flight.
/// - `best_effort_fill <= batch_max`.
#[derive(Debug)]
pub(crate) struct DualQueue<Q> {
    real_time: Q,
    best_effort: OrderedQueue,
    batch_max: u32,
    best_effort_fill: u32,
    /// The cost limits Z and F, if batches are limited by cost.
    cost: Option<BatchCost>,
    phase: Phase,
    overrun: Overrun,
}

impl<Q: RealTimeQueue> DualQueue<Q> {
    /// Returns a queue with batches of at most `batch_max` (z) requests, filled with best effort up
    /// to `best_effort_fill` (beta) requests. It holds at most `queued_max` best-effort requests.
    ///
    /// # Panics
    /// If `batch_max` is 0 or `best_effort_fill` exceeds it.
    pub(crate) fn new(
        real_time: Q,
        batch_max: u32,
        best_effort_fill: u32,
        queued_max: u32,
    ) -> Self {
        assert!(batch_max >= 1, "a batch has at least one request");
        assert!(best_effort_fill <= batch_max, "best effort fills a batch up to z at most");
        let best_effort = OrderedQueue::first_come(queued_max);
        let (cost, phase, overrun) = (None, Phase::Idle, Overrun::default());
        Self { real_time, best_effort, batch_max, best_effort_fill, cost, phase, overrun }
    }

    /// From the next batch on, delays best effort after batches that take longer than `table` says.
    pub(crate) fn mind_overruns(&mut self, table: BatchTable) {
        self.overrun.set_table(table);
    }

    /// Sets or removes the limit by cost, from the next batch on.
    pub(crate) fn limit_cost(&mut self, cost: Option<BatchCost>) {
        self.cost = cost;
    }

    /// Returns the queue of best effort.
    pub(crate) fn best_effort_mut(&mut self) -> &mut OrderedQueue {
        &mut self.best_effort
    }

    /// Returns whether the next round may begin a batch.
    pub(crate) fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Returns the number of real-time requests that wait for a batch.
    pub(crate) fn real_time_queued(&self) -> u32 {
        self.real_time.len()
    }

    /// Sets z, which must be at least beta, from the next batch on.
    pub(crate) fn set_batch_max(&mut self, batch_max: u32) {
        self.batch_max = batch_max;
    }

    /// Returns the batch that an idle drive gets now, or `Idle` if there is nothing to send.
    fn begin_batch(&self, now: Time) -> Phase {
        let real_time = self.real_time.prefix(self.batch_max, self.cost.as_ref());
        let is_paying = self.overrun.wait(now).is_some();
        let room = if is_paying { Room::default() } else { self.room_beside(real_time) };
        if real_time.count == 0 && self.next_within(room).is_none() {
            return Phase::Idle;
        }
        Phase::Forming {
            real_time_left: real_time.count,
            room,
            in_flight_count: 0,
            cost_ns: real_time.cost_ns,
        }
    }

    /// Returns the room of a batch with these real-time requests.
    fn room_beside(&self, real_time: Prefix) -> Room {
        // f(j) = max(j, beta), `docs/theory/dual-queue-fifo.md` section 5.
        let count = self.best_effort_fill.max(real_time.count) - real_time.count;
        let Some(cost) = &self.cost else { return Room { count, cost_ns: 0 } };
        if self.real_time.len() > real_time.count {
            // The proof charges a batch that leaves requests behind for real-time requests only.
            return Room::default();
        }
        // Saturation is intended: a batch that costs more than F has no room.
        Room { count, cost_ns: cost.best_effort_fill.ns().saturating_sub(real_time.cost_ns) }
    }

    /// Returns the cost of the next best-effort request if it fits into the room; 0 if batches are
    /// not limited by cost.
    fn next_within(&self, room: Room) -> Option<u64> {
        if room.count == 0 || self.best_effort.is_empty() {
            return None;
        }
        let Some(cost) = &self.cost else { return Some(0) };
        let next = self.best_effort.peek()?;
        Some(cost.charge_ns(next.op, next.size)).filter(|&charge_ns| charge_ns <= room.cost_ns)
    }

    /// Returns the longest time of a batch of this cost; `None` if batches are not limited by cost.
    fn time_max(&self, cost_ns: u64) -> Option<Duration> {
        let positioning_max = self.cost.as_ref()?.charges.positioning_max;
        positioning_max.checked_add(Duration::from_ns(cost_ns))
    }

    fn complete(&mut self, now: Time) {
        self.phase = match self.phase {
            Phase::Serving { in_flight_count: 1 } => {
                self.overrun.end(now);
                Phase::Idle
            }
            Phase::Serving { in_flight_count } => {
                Phase::Serving { in_flight_count: in_flight_count - 1 }
            }
            phase @ (Phase::Idle | Phase::Forming { .. }) => {
                panic!("completion while nothing is on the drive: {phase:?}")
            }
        };
    }

    /// Returns the decision to wait: until an idle drive may get best effort again, or for an
    /// event.
    fn await_turn(&self, now: Time) -> Decision {
        let is_waiting = self.phase == Phase::Idle && self.best_effort_fill > 0;
        let resume = self.overrun.wait(now).filter(|_| is_waiting && !self.best_effort.is_empty());
        resume.map_or(Decision::AwaitEvent, Decision::NotBefore)
    }

    /// Handles an event, as [`crate::Policy::observe`] describes.
    pub(crate) fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        // A batch is formed within one round of `decide`; hosts observe only between rounds.
        assert!(!matches!(self.phase, Phase::Forming { .. }), "event in the middle of a round");
        match event {
            Event::Release(request) if request.class == Class::BestEffort => {
                self.best_effort.push(request)?;
            }
            Event::Release(request) => self.real_time.push(&request)?,
            Event::Complete { .. } => self.complete(now),
            Event::Cancel(id) => {
                if !self.real_time.cancel(id) {
                    self.best_effort.cancel(id);
                }
            }
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => {
                self.batch_max = plan.batch_max;
                self.best_effort_fill = plan.best_effort_fill;
                self.real_time.reconfigure(&plan);
                self.best_effort.set_queued_max(plan.queued_max);
                self.cost = plan.batch_cost;
                if self.overrun.is_counting() {
                    self.overrun.set_table(plan.table);
                }
            }
        }
        Ok(())
    }

    /// Returns the next decision, as [`crate::Policy::decide`] describes.
    pub(crate) fn decide(&mut self, now: Time) -> Decision {
        if self.phase == Phase::Idle {
            self.phase = self.begin_batch(now);
        }
        let Phase::Forming { real_time_left, room, in_flight_count, cost_ns } = self.phase else {
            return self.await_turn(now);
        };
        let sent = in_flight_count + 1;
        let (id, forming) = if real_time_left > 0 {
            let id = self.real_time.pop().expect("counted when the batch was begun");
            let real_time_left = real_time_left - 1;
            (id, Phase::Forming { real_time_left, room, in_flight_count: sent, cost_ns })
        } else if let Some(charge_ns) = self.next_within(room) {
            let id = self.best_effort.pop().expect("`next_within` saw it").id;
            let room = Room { count: room.count - 1, cost_ns: room.cost_ns - charge_ns };
            let cost_ns = cost_ns.saturating_add(charge_ns);
            (id, Phase::Forming { real_time_left, room, in_flight_count: sent, cost_ns })
        } else {
            self.phase = Phase::Serving { in_flight_count };
            self.overrun.send(now, in_flight_count, self.time_max(cost_ns));
            return Decision::AwaitEvent;
        };
        self.phase = forming;
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

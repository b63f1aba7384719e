// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The longest time of a batch on a disk, from the disk's parts and the order of its queue.
//!
//! ```text
//!   n = 4, nearest first, on a disk of L cylinders; each movement is followed by at most one turn
//!   and the transfer:
//!
//!     |<----------------- L ----------------->|    the longest: L
//!     |<------- L/2 ------>|                       the next: L / 2
//!     |<--- L/3 --->|                              the next: L / 3
//!     |<- L/4 ->|                                  the next: L / 4
//! ```
//!
//! # Bound
//! A batch of n takes at most `sum over r = 1..n of S(D_r)`. S(d) is the longest service of one
//! request whose movement crosses at most d cylinders: the [`Ceiling`] with this movement in place
//! of the longest. D_r bounds the r-th longest distance of a batch.
//!
//! # Why it is a bound
//! *Services follow each other.* Let U be the latest of: the end of the command that the heads
//! serve, the instant at which the bus is free, the last completion. Each request raises U by at
//! most its S, whether the heads or the memory serve it.
//!
//! *Nearest first (SSTF).* When the drive chooses the k-th request for the heads, let `c_k` be the
//! cylinder of the heads and `d_k` the distance to the nearest waiting request. Take any r choices
//! with `d_k >= d`. At each of them except the first, the heads are within the stray s
//! ([`InBatch::stray`]) of a request that was waiting at all earlier choices, and the request
//! chosen last was waiting at all r choices. So the r places `c_k` and the place of the request
//! chosen last are pairwise at least `d - s` apart. Of r + 1 places on L cylinders, some two are at
//! most `L / r` apart, so the r-th longest distance is at most `L / r + s`.
//!
//! *Shortest access first (SATF).* The chosen access takes no longer than an access to the nearest
//! request, which takes at most its movement and one turn. So the distances have the same bounds.
//! But a request can be chosen for one angle and served at another: if it is chosen before its
//! command is processed; if it is a read that begins in the middle of its sectors; if it is a write
//! whose data are late; and after faults. In the first case only the last such request counts,
//! because the services before it end before the commands are processed. Its movement is charged as
//! the longest, so the r-th longest of all is at most `L / (r - 1) + s`. In the other cases the
//! ceiling includes the time that the difference can cost. Requests of one batch wait equally long,
//! so ageing changes nothing.
//!
//! *In a sweep (SCAN, C-LOOK, SCAN with SSTF).* Together the movements cross at most `2 L` and the
//! strays, so the r-th longest crosses at most `2 L / r + s`.
//!
//! *Begun in memory.* Distances are measured to the first sector of a request. If memory has the
//! beginning of a read, the heads go straight to a later sector. S includes the path through the
//! first sector (a movement to it, a turn, and the passage from it), and on that path the heads
//! arrive no earlier. The argument requires a seek curve on which no detour through other tracks is
//! shorter than the direct movement: a curve that rises too steeply or has a dent may allow one.
//! It also requires that the heads stay where they are after a hit. If either fails, the batch is
//! charged n times the longest service.
//!
//! *Starvation.* The order holds while no request has waited too long. If the bound of a batch
//! reaches the starvation time, the batch is charged n times the longest service, in any order.
//!
//! # Assumptions
//! The drive is idle before the batch and gets no other request until the batch is complete. All
//! tags are simple.
//!
//! # Source
//! Own derivation. The dissertation's equation 7.4.1.7 has two long seeks and n short ones on a
//! linear curve, for SCAN alone.

use tidegate_model::mechanics::{Mechanics, MechanicsError, Queue, Scheduler};
use tidegate_model::{Bytes, Duration, Op};

use super::ceiling::{self, Ceiling, InBatch};
use super::mechanism::Mechanism;

/// Ceilings of the times of batches that consist of given kinds of requests.
#[derive(Debug)]
pub struct BatchCeiling<'a> {
    mechanism: Mechanism,
    queue: &'a Queue,
    /// The number of cylinders that a full stroke crosses.
    stroke: u32,
    ops: Vec<Op>,
    in_batch: InBatch,
    /// The longest time of one request.
    one: Duration,
    /// Whether the order of the queue bounds the distances of the movements.
    is_in_order: bool,
}

impl<'a> BatchCeiling<'a> {
    /// Returns the ceilings of batches that consist of requests of these kinds; `None` if the
    /// disk's memory takes some of the requests. A kind is an operation with a largest size.
    ///
    /// # Errors
    /// [`MechanicsError`] if the description is wrong.
    ///
    /// # Complexity
    /// As [`Ceiling::of`], for each kind; with reads, plus one pass over the cylinders for each
    /// distance between consecutive tracks.
    pub fn of(
        mechanics: &'a Mechanics,
        kinds: &[(Op, Bytes)],
    ) -> Result<Option<Self>, MechanicsError> {
        let mut one = Duration::ZERO;
        let mut all = InBatch::default();
        for &(op, size) in kinds {
            let Some(ceiling) = Ceiling::of(mechanics, op, size)? else { return Ok(None) };
            let own = ceiling.in_batch;
            one = one.max(ceiling.total());
            all = InBatch {
                but_movement: all
                    .but_movement
                    .max(own.but_movement + misjudged(mechanics, op, &ceiling)),
                movement_min: all.movement_min.max(own.movement_min),
                stray: all.stray.max(own.stray),
            };
        }
        let reads = kinds.iter().filter(|(op, _)| *op == Op::Read).map(|&(_, size)| size).max();
        let has_shortcuts =
            reads.map_or(Ok(false), |size| ceiling::has_shortcuts(mechanics, size))?;
        let follows_hits = mechanics.cache.as_ref().is_some_and(|it| it.read_ahead_after_hits);
        Ok(Some(Self {
            mechanism: Mechanism::new(mechanics)?,
            queue: &mechanics.queue,
            stroke: mechanics.cylinders.saturating_sub(1),
            ops: kinds.iter().map(|&(op, _)| op).collect(),
            // If the heads read ahead after hits, a hit may send them to any other cylinder.
            is_in_order: !follows_hits && !has_shortcuts,
            in_batch: all,
            one,
        }))
    }

    /// Returns the longest time of one request.
    pub fn one(&self) -> Duration {
        self.one
    }

    /// Returns the longest times of batches of 1, 2, .. `count` requests on an idle disk.
    pub fn batches(&self, count: u32) -> Vec<Duration> {
        let starvation = self.queue.starvation_ns.map(Duration::from_ns);
        let (mut sum, mut times) = (Duration::ZERO, Vec::new());
        for requests in 1..=count {
            sum += self.service(self.distance(requests));
            let in_any_order = self.in_any_order(requests);
            let is_starved = starvation.is_some_and(|bound| sum >= bound);
            let is_ordered = self.is_in_order && !is_starved;
            times.push(if is_ordered { sum.min(in_any_order) } else { in_any_order });
        }
        times
    }

    /// Returns the longest time in which the disk serves this many queued requests, in any order.
    pub fn in_any_order(&self, requests: u32) -> Duration {
        self.one * u64::from(requests)
    }

    /// Returns the longest wait of a request while other requests are sent and at most `depth`
    /// requests are outstanding; `None` if nothing bounds it.
    ///
    /// When the request has waited for `starvation_ns`, one request is in service and at most
    /// `depth - 2` older ones go before it.
    pub fn starvation(&self, depth: u32) -> Option<Duration> {
        Some(Duration::from_ns(self.queue.starvation_ns?) + self.in_any_order(depth))
    }

    /// Returns the longest service time of a request whose movement crosses at most `distance`
    /// cylinders.
    fn service(&self, distance: u32) -> Duration {
        let InBatch { but_movement, movement_min, .. } = self.in_batch;
        let within = |&op: &Op| self.mechanism.movement_within(distance, op);
        let movement = self.ops.iter().map(within).max().unwrap_or_default();
        but_movement + movement.max(movement_min)
    }

    /// Returns the bound on the r-th longest distance; see the module documentation.
    fn distance(&self, r: u32) -> u32 {
        let share = match self.queue.scheduler {
            Scheduler::Fifo => self.stroke,
            Scheduler::Sstf => self.stroke / r,
            // One request may be chosen for an angle other than the one at which it is served.
            Scheduler::Satf | Scheduler::SatfAging => self.stroke / (r - 1).max(1),
            Scheduler::Scan | Scheduler::CLook | Scheduler::ScanSstf => {
                self.stroke.saturating_mul(2) / r
            }
        };
        share.saturating_add(self.in_batch.stray)
    }
}

/// Returns the longest time that one request can lose because it was chosen by access time for an
/// angle other than the one at which it is served.
fn misjudged(mechanics: &Mechanics, op: Op, ceiling: &Ceiling) -> Duration {
    let by_access = match mechanics.queue.scheduler {
        Scheduler::Satf | Scheduler::SatfAging => true,
        Scheduler::Fifo
        | Scheduler::Sstf
        | Scheduler::Scan
        | Scheduler::CLook
        | Scheduler::ScanSstf => false,
    };
    if !by_access {
        return Duration::ZERO;
    }
    let turns = u64::from(op == Op::Write) + u64::from(mechanics.faults.is_some());
    let from_middle = mechanics.zero_latency && op == Op::Read;
    let middle = if from_middle { ceiling.transfer.min(ceiling.rotation) } else { Duration::ZERO };
    ceiling.rotation * turns + middle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    /// On the built-in disks no detour through other tracks is shorter than the direct movement, so
    /// the order of their queues bounds distances.
    #[test]
    fn built_in_disks_have_no_shortcuts() {
        let mut disks = 0;
        for name in builtin::names() {
            let file = builtin::load(name).expect("a built-in drive");
            let Some(mechanics) = file.mechanics.as_deref() else { continue };
            assert!(!ceiling::has_shortcuts(mechanics, Bytes::from_kib(256)).unwrap(), "{name}");
            disks += 1;
        }
        assert!(disks > 5, "{disks} disks");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: once the oldest request of a direction has expired, at most the rest of one batch of
//! this direction is sent before it. Beside a waiting write, at most the rest of a batch and two
//! more batches of reads are sent (`deadline`, `mq-deadline`).
//!
//! `mq-deadline` claims this only while all requests that it has queued or on the drive are of one
//! class of the kernel. With several classes, each search for an aged request of a lower class
//! may begin a new batch. A batch of the higher class then never ends, and its expired request
//! waits while others arrive at higher positions.
//!
//! Once the host has held requests back because the policy was full, the checker stops: the policy
//! counts their age from a later instant.

use std::collections::BTreeMap;

use tidegate_model::{Op, Outcome, Request, RequestId, Time};

use super::position_order::{expiry, kernel_class};
use super::{Breach, ViolationLog};
use crate::Observer;

/// The kernel's `fifo_batch`: the largest number of requests in a batch.
const BATCH_MAX: u64 = 16;
/// The kernel's `writes_starved`: the maximum number of read batches in a row that precede waiting
/// writes.
const WRITES_STARVED_MAX: u64 = 2;

/// The waiting requests of one direction, the oldest first.
#[derive(Debug, Default)]
struct Direction {
    queued: BTreeMap<u64, (RequestId, Time)>,
    /// The oldest request, once it has expired, and the number of requests sent before it since.
    expired: Option<(u64, u64)>,
}

/// Checks that expired requests are sent; see the module documentation.
#[derive(Debug)]
pub struct Expiry {
    directions: [Direction; 2],
    numbers: BTreeMap<RequestId, (usize, u64)>,
    arrived: u64,
    /// Number of reads sent while a write waited.
    reads_preferred: u64,
    /// Number of queued requests of each class.
    queued: [u64; 4],
    queued_max: u64,
    /// Number of requests queued or on the drive in each class of the kernel, if classes share a
    /// batch.
    outstanding: Option<[u64; 3]>,
    is_over: bool,
    log: ViolationLog,
}

impl Expiry {
    /// Creates the checker of a policy that holds `queued_max` requests of each class.
    pub fn new(queued_max: u32) -> Self {
        Self {
            directions: Default::default(),
            numbers: BTreeMap::new(),
            arrived: 0,
            reads_preferred: 0,
            queued: [0; 4],
            queued_max: u64::from(queued_max),
            outstanding: None,
            is_over: false,
            log: ViolationLog::default(),
        }
    }

    /// Restricts the checker to times in which one class of the kernel has requests.
    #[must_use]
    pub fn of_one_class(self) -> Self {
        Self { outstanding: Some([0; 3]), ..self }
    }

    /// Returns whether requests of several classes share a batch.
    fn is_mixed(&self) -> bool {
        let counts = self.outstanding.iter().flatten();
        counts.filter(|&&count| count > 0).count() > 1
    }

    /// Resets the counts of requests that were sent before waiting ones.
    fn restart(&mut self) {
        self.reads_preferred = 0;
        for direction in &mut self.directions {
            direction.expired = None;
        }
    }

    /// Records that a request is no longer queued or on the drive.
    fn end(&mut self, request: &Request) {
        if let Some(counts) = &mut self.outstanding {
            // Saturation is safe: another checker reports a request returned twice.
            let count = &mut counts[kernel_class(request.class) as usize];
            *count = count.saturating_sub(1);
        }
    }

    fn remove(&mut self, request: &Request) -> Option<(usize, u64)> {
        let (index, number) = self.numbers.remove(&request.id)?;
        self.queued[request.class as usize] -= 1;
        self.directions[index].queued.remove(&number);
        Some((index, number))
    }

    fn check_age(&mut self, now: Time, request: &Request, index: usize, number: u64) {
        let direction = &mut self.directions[index];
        let Some((&oldest, &(waiting, at))) = direction.queued.first_key_value() else {
            direction.expired = None;
            return;
        };
        if number < oldest || now.since(at) < expiry(request.op) {
            direction.expired = None;
            return;
        }
        let before = direction.expired.filter(|&(of, _)| of == oldest).map_or(0, |(_, it)| it) + 1;
        direction.expired = Some((oldest, before));
        if before > BATCH_MAX {
            self.log.add(now, Breach::ExpiredLeft { id: request.id, waiting });
        }
    }

    fn check_writes(&mut self, now: Time, request: &Request) {
        let waiting = self.directions[index_of(Op::Write)].queued.values().next();
        match (request.op, waiting) {
            (Op::Write, _) | (Op::Read, None) => self.reads_preferred = 0,
            (Op::Read, Some(&(waiting, _))) => {
                self.reads_preferred += 1;
                if self.reads_preferred > BATCH_MAX * (WRITES_STARVED_MAX + 1) {
                    self.log.add(now, Breach::ExpiredLeft { id: request.id, waiting });
                }
            }
        }
    }
}

const fn index_of(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
    }
}

keeps_log!(Expiry);

impl Observer for Expiry {
    fn released(&mut self, now: Time, request: &Request) {
        let index = index_of(request.op);
        self.directions[index].queued.insert(self.arrived, (request.id, now));
        self.numbers.insert(request.id, (index, self.arrived));
        self.arrived += 1;
        let queued = &mut self.queued[request.class as usize];
        *queued += 1;
        self.is_over |= *queued > self.queued_max;
        if let Some(counts) = &mut self.outstanding {
            counts[kernel_class(request.class) as usize] += 1;
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let is_silent = self.is_over || self.is_mixed();
        if is_silent {
            self.restart();
        }
        for request in batch {
            let Some((index, number)) = self.remove(request) else { continue };
            if !is_silent {
                self.check_age(now, request, index, number);
                self.check_writes(now, request);
            }
        }
    }

    fn completed(&mut self, _now: Time, request: &Request, _outcome: Outcome) {
        self.end(request);
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        if self.remove(request).is_some() {
            self.end(request);
        }
    }
}

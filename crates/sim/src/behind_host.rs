// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A drive behind a host that takes time: batches reach the drive late, and completions reach the
//! policy late, each by a random time up to the stated one.
//!
//! ```text
//!   submit --up to `submit`--> drive --up to `complete`--> completion
//! ```
//!
//! Batches stay in order. The wrapper takes any drive, so every simulated drive can test the bounds
//! with host time (`docs/theory/host-time.md` section 30).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tidegate_drive::{Completion, Drive};
use tidegate_host::delay_up_to;
use tidegate_model::{HostTime, Outcome, Random, Request, RequestId, Time};

/// A batch or a flush on its way to the drive.
enum Sent {
    Batch(Vec<Request>),
    Flush(RequestId),
}

/// A drive behind a host; see the module documentation.
pub struct BehindHost<D> {
    drive: D,
    host: HostTime,
    random: Random,
    /// Batches and flushes on their way to the drive, in order of arrival at the drive.
    sent: VecDeque<(Time, Sent)>,
    /// Completions on their way to the policy, ordered by the instant at which the policy sees
    /// them, then by id.
    completed: BinaryHeap<Reverse<(Time, RequestId, bool)>>,
    /// A scratch list, empty between events.
    returned: Vec<Completion>,
}

impl<D: Drive> BehindHost<D> {
    /// The random stream of the host's delays, which no source of a workload uses.
    const STREAM: u64 = 1 << 40;

    /// Puts a drive behind a host with these times.
    pub fn new(drive: D, host: HostTime, seed: u64) -> Self {
        Self {
            drive,
            host,
            random: Random::new(seed, Self::STREAM),
            sent: VecDeque::new(),
            completed: BinaryHeap::new(),
            returned: Vec::new(),
        }
    }

    fn send(&mut self, now: Time, sent: Sent) {
        let at = now + delay_up_to(self.host.submit, &mut self.random);
        let at = self.sent.back().map_or(at, |&(last, _)| at.max(last));
        self.sent.push_back((at, sent));
        self.proceed(now);
    }

    /// Lets the drive work up to `now`, and gives it the batches and flushes that have arrived.
    fn proceed(&mut self, now: Time) {
        loop {
            let arrival = self.sent.front().map(|&(at, _)| at);
            let next = [self.drive.next_event(), arrival].into_iter().flatten().min();
            let Some(at) = next.filter(|&at| at <= now) else { return };
            self.drive.advance(at, &mut self.returned);
            for Completion { id, outcome, .. } in self.returned.drain(..) {
                let seen = at + delay_up_to(self.host.complete, &mut self.random);
                self.completed.push(Reverse((seen, id, outcome == Outcome::Done)));
            }
            if arrival.is_some_and(|arrival| arrival <= at) {
                match self.sent.pop_front().expect("it has arrived").1 {
                    Sent::Batch(batch) => self.drive.submit(at, &batch),
                    Sent::Flush(id) => self.drive.flush(at, id),
                }
            }
        }
    }
}

impl<D: Drive> Drive for BehindHost<D> {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        self.send(now, Sent::Batch(batch.to_vec()));
    }

    fn next_event(&self) -> Option<Time> {
        let arrival = self.sent.front().map(|&(at, _)| at);
        let seen = self.completed.peek().map(|&Reverse((at, ..))| at);
        [self.drive.next_event(), arrival, seen].into_iter().flatten().min()
    }

    fn flush(&mut self, now: Time, id: RequestId) {
        self.send(now, Sent::Flush(id));
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        self.proceed(now);
        while let Some(&Reverse((at, id, is_done))) = self.completed.peek()
            && at <= now
        {
            self.completed.pop();
            let outcome = if is_done { Outcome::Done } else { Outcome::Failed };
            out.push(Completion { id, at, outcome });
        }
    }
}

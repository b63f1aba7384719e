// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A drive that keeps only priority(q).
//!
//! ```text
//!   q with priority, none on the drive
//!   |<----------- priority(q) ---------->|  all q are back, whatever else is sent
//!        another with priority joins: no bound holds for either
//!   best effort comes back whenever the drive likes
//! ```
//!
//! The contract does not cover two rounds at the same time, or more requests than its table has
//! entries. The drive takes much longer for them than for any covered round, so a policy that lets
//! two rounds meet is late.

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_drive::{Completion, Drive};
use tidegate_model::{BatchTable, Duration, Request, RequestId, Tag, Time, Workload};

use crate::held::{self, Held};
use crate::workloads;

/// Time of two overlapping rounds, in multiples of the longest round.
const SPOILT: u64 = 5;

/// Returns `workload` on a drive with times for requests with priority. It has no more tasks than
/// the table covers, each released as often as two rounds allow, or almost as often.
///
/// # Panics
/// Never, because there is a task and it has a request.
#[must_use]
pub fn leaning_on_priority(random: &mut Pcg64, mut workload: Workload) -> Workload {
    let priority = table(random, &workload.table);
    let together = random.random_range(1..=priority.batch_max());
    workloads::keep_what_fits(&mut workload, together);
    let requests: u32 = workload.tasks.iter().map(|task| task.requests).sum();
    let rounds = |first: u32| priority.time_max(first) + priority.time_max(requests - first);
    let longest = (0..requests).map(rounds).max().expect("a task has a request");
    // With more than one request the bound must be below every period.
    let tightest_ns = longest.ns() + u64::from(requests > 1);
    workloads::release_about_every(random, &mut workload, tightest_ns);
    workload.contracts.priority = Some(priority);
    workload
}

/// Returns a table whose entries are one share of b(q), plus one time of at most b(1) for a request
/// that is already being served.
fn table(random: &mut Pcg64, batches: &BatchTable) -> BatchTable {
    let percent = random.random_range(10..=100);
    let begun_ns = random.random_range(1..=batches.time_max(1).ns());
    let time = |q| Duration::from_ns(batches.time_max(q).ns() * percent / 100 + begun_ns);
    let entries = random.random_range(1..=batches.batch_max());
    let times: Vec<Duration> = (1..=entries).map(time).collect();
    BatchTable::new(&times).expect("no entry is zero")
}

/// The drive that keeps only priority(q).
#[derive(Debug, Clone)]
pub struct PriorityBox {
    priority: BatchTable,
    random: Pcg64,
    held: Vec<Held>,
}

impl PriorityBox {
    /// Creates an idle drive.
    #[must_use]
    pub const fn new(priority: BatchTable, random: Pcg64) -> Self {
        Self { priority, random, held: Vec::new() }
    }

    /// Returns the most requests that the contract covers.
    fn round_max(&self) -> usize {
        self.priority.batch_max() as usize
    }

    /// Returns the time of the longest round.
    fn longest(&self) -> Duration {
        self.priority.time_max(self.priority.batch_max())
    }

    fn any_instant(&mut self, now: Time, span: Duration) -> Time {
        now + Duration::from_ns(self.random.random_range(1..=span.ns()))
    }

    /// Starts a round: its last request completes at the last instant, the others at that instant
    /// or earlier.
    fn hold_round(&mut self, now: Time, round: &[Request]) {
        let time = self.priority.time_max(u32::try_from(round.len()).expect("few"));
        let is_burst = self.random.random_bool(0.5);
        let last = self.random.random_range(0..round.len());
        for (place, &request) in round.iter().enumerate() {
            let is_last = is_burst || place == last;
            let completes = if is_last { now + time } else { self.any_instant(now, time) };
            self.held.push(Held { request, completes });
        }
    }

    /// Delays all requests with priority, because two rounds overlap or a round exceeds the
    /// contract.
    fn spoil(&mut self, now: Time, round: &[Request]) {
        let completes = now + self.longest() * SPOILT;
        for held in self.held.iter_mut().filter(|held| held.has_priority()) {
            held.completes = completes;
        }
        self.held.extend(round.iter().map(|&request| Held { request, completes }));
    }

    fn hold_best_effort(&mut self, now: Time, request: Request) {
        // Some requests complete immediately and are replaced; some stay for several rounds.
        let spans = [Duration::from_ns(1), self.longest(), self.longest() * SPOILT];
        let span = spans[self.random.random_range(0..spans.len())];
        let completes = self.any_instant(now, span);
        self.held.push(Held { request, completes });
    }
}

impl Drive for PriorityBox {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        let has_priority = |request: &Request| request.tag == Tag::Priority;
        let (round, others): (Vec<_>, Vec<_>) = batch.iter().copied().partition(has_priority);
        let is_alone = !self.held.iter().any(Held::has_priority);
        if is_alone && (1..=self.round_max()).contains(&round.len()) {
            self.hold_round(now, &round);
        } else if !round.is_empty() {
            self.spoil(now, &round);
        }
        for request in others {
            self.hold_best_effort(now, request);
        }
    }

    fn flush(&mut self, _now: Time, _id: RequestId) {
        unreachable!("these tests send no flush");
    }

    fn next_event(&self) -> Option<Time> {
        held::next_event(&self.held)
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        held::advance(&mut self.held, now, out);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One export in the core: its contract's accounts and its statistics.

use std::collections::VecDeque;

use tidegate_model::{Class, Duration, Op, RequestId, TaskIndex, Time};
use tidegate_stats::{Distribution, Memory};

use super::ordering::Ordering;
use super::response_counts::ResponseCounts;
use super::statistics::Lateness;
use tidegate_model::{Beyond, ExportContract as Contract};

/// An export's statistics.
#[derive(Debug, Clone)]
pub struct ExportStatistics {
    /// Response times of requests within the contract, or of best-effort requests: from the
    /// arrival, or from when no earlier overlapping request was outstanding, to the reply.
    pub responses: Distribution,
    /// Response times from when the contract allowed a request to its reply, which the bound
    /// limits. Empty for best effort.
    pub bounded: Distribution,
    /// The same response times in classes.
    pub bounded_counts: ResponseCounts,
    /// Response times of best effort in classes, including requests beyond the contract.
    pub best_effort_counts: ResponseCounts,
    /// The number of requests that the contract allows now.
    pub tokens: u32,
    /// The times from when the contract allowed a request (without a contract: from its arrival)
    /// until its reply was handed to the client's socket, in classes; without the time for which
    /// the client left no room for it. Only for clients of the service's own server.
    pub at_socket: ResponseCounts,
    /// The longest of these times of in-contract requests.
    pub at_socket_max: Duration,
    /// The sum of the times for which clients left no room for replies.
    pub client_full: Duration,
    /// The number of in-contract requests that completed after their deadline.
    pub misses: u64,
    /// The number of in-contract requests that completed after the bound proved at that time.
    pub exceeded: u64,
    /// The largest excess over the bound.
    pub excess_max: Duration,
    /// The number of these requests that were delayed by overruns within the proof's tolerance and
    /// completed by their deadline.
    pub exceeded_tolerated: u64,
    /// Whether another response exceeded the bound and the guarantee does not stand again yet.
    pub is_degraded: bool,
    /// The number of these requests whose excess is larger than the lateness of drive and host in
    /// the same busy interval: the longest wait of a request to be read, the host's time from
    /// reading to sending, and the time by which batches exceeded the drive's table. It is 0 unless
    /// the proof is wrong.
    pub unexplained: u64,
    /// The number of requests beyond the contract.
    pub beyond: u64,
    /// The number of failed requests.
    pub failed: u64,
    /// The number of requests that are not complete.
    pub outstanding: u64,
    /// The number of bytes read and written.
    pub bytes: u64,
    /// The number of flushes and durable writes.
    pub flushes: u64,
}

impl Default for ExportStatistics {
    fn default() -> Self {
        Self {
            responses: Distribution::new(Memory::AsNeeded),
            bounded: Distribution::new(Memory::AsNeeded),
            bounded_counts: ResponseCounts::default(),
            best_effort_counts: ResponseCounts::default(),
            tokens: 0,
            at_socket: ResponseCounts::default(),
            at_socket_max: Duration::ZERO,
            client_full: Duration::ZERO,
            misses: 0,
            exceeded: 0,
            excess_max: Duration::ZERO,
            exceeded_tolerated: 0,
            is_degraded: false,
            unexplained: 0,
            beyond: 0,
            failed: 0,
            outstanding: 0,
            bytes: 0,
            flushes: 0,
        }
    }
}

/// The class and times that the contract gives a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Admission {
    pub(crate) class: Class,
    /// The instant from which the contract allows it.
    pub(crate) eligible: Time,
    pub(crate) due: Option<Time>,
}

/// A reply that its client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The time from when the request was allowed, without `client_full`.
    pub(crate) response: Duration,
    /// The time for which the client left no room.
    pub(crate) client_full: Duration,
    pub(crate) is_within_contract: bool,
}

/// An export in service.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) task: TaskIndex,
    /// The export's current proved bound.
    pub(crate) bound: Option<Duration>,
    /// Whether it accepts no more calls.
    pub(crate) is_closed: bool,
    /// The number of in-contract requests that the policy has, or gets in this iteration.
    pub(crate) admitted: usize,
    /// In-contract requests that wait until the policy has fewer, oldest first.
    pub(crate) line: VecDeque<RequestId>,
    contract: Option<Contract>,
    /// The instants at which the tokens are available again, the earliest first: one per request of
    /// the contract.
    tokens: VecDeque<Time>,
    pub(crate) ordering: Ordering,
    pub(crate) statistics: ExportStatistics,
}

impl Tenant {
    /// Makes a tenant without a task number and without a bound.
    pub(crate) fn new(contract: Option<Contract>) -> Self {
        let count = contract.as_ref().map_or(0, |contract| contract.requests as usize);
        Self {
            task: TaskIndex(0),
            bound: None,
            is_closed: false,
            admitted: 0,
            line: VecDeque::new(),
            contract,
            tokens: VecDeque::from(vec![Time::ZERO; count]),
            ordering: Ordering::default(),
            statistics: ExportStatistics::default(),
        }
    }

    /// Takes the first waiting request, if the policy has fewer than `room`.
    pub(crate) fn next_in_line(&mut self, room: usize) -> Option<RequestId> {
        let next = if self.admitted < room { self.line.pop_front() } else { None };
        self.admitted += usize::from(next.is_some());
        next
    }

    pub(crate) fn has_contract(&self) -> bool {
        self.contract.is_some()
    }

    /// Records a request that arrived at `released`. The accounts are the same as in
    /// `tokens-per-task`; they are kept here too, so that the statistics distinguish the drive's
    /// lateness from the tenant's excess demand.
    ///
    /// The proof does not include requests that the contract does not cover, for example reads if
    /// it covers writes.
    pub(crate) fn admit(&mut self, released: Time, op: Op) -> Admission {
        let best_effort = Admission { class: Class::BestEffort, eligible: released, due: None };
        let Some(contract) = &self.contract else { return best_effort };
        if contract.op.is_some_and(|agreed| agreed != op) {
            self.statistics.beyond += 1;
            return best_effort;
        }
        let back = *self.tokens.front().expect("a contract has a token");
        if back > released {
            self.statistics.beyond += 1;
            if contract.beyond == Beyond::BestEffort {
                return best_effort;
            }
        }
        let eligible = back.max(released);
        self.tokens.pop_front();
        self.tokens.push_back(after(eligible, contract.period));
        Admission { class: Class::Hard, eligible, due: Some(after(eligible, contract.deadline)) }
    }

    /// Records that a client has its reply.
    pub(crate) fn sent(&mut self, sent: &Sent) {
        let of = &mut self.statistics;
        of.at_socket.record(sent.response);
        // Saturates after 584 years.
        let full = of.client_full.ns().saturating_add(sent.client_full.ns());
        of.client_full = Duration::from_ns(full);
        if sent.is_within_contract {
            of.at_socket_max = of.at_socket_max.max(sent.response);
        }
    }

    /// Returns the statistics up to now.
    pub(crate) fn seen(&self, now: Time) -> ExportStatistics {
        let back = self.tokens.partition_point(|&back| back <= now);
        let tokens = u32::try_from(back).expect("as many as the contract has requests");
        ExportStatistics { tokens, ..self.statistics.clone() }
    }

    /// Lets the bound stand again; returns whether it does. If the lateness of every batch is known
    /// (`has_timed_all`) and does not explain an excess, the proof may be wrong: the bound then
    /// stays degraded.
    pub(crate) fn stand_again(&mut self, has_timed_all: bool) -> bool {
        let is_refuted = has_timed_all && self.statistics.unexplained > 0;
        self.statistics.is_degraded &= is_refuted;
        !self.statistics.is_degraded
    }

    /// Records the reply to an admitted request; `late` is the lateness of drive and host while it
    /// was outstanding.
    pub(crate) fn answered(
        &mut self,
        now: Time,
        released: Time,
        admission: Admission,
        late: Lateness,
    ) {
        if admission.class == Class::BestEffort {
            let response = now.since(released);
            self.statistics.responses.record(response);
            self.statistics.best_effort_counts.record(response);
            return;
        }
        let contract = self.contract.as_ref().expect("real time has a contract");
        let bounded: Duration = now.since(admission.eligible);
        self.statistics.bounded.record(bounded);
        self.statistics.bounded_counts.record(bounded);
        if admission.eligible == released {
            self.statistics.responses.record(bounded);
        }
        self.statistics.misses += u64::from(bounded > contract.deadline);
        if let Some(bound) = self.bound.filter(|&bound| bounded > bound) {
            let excess = bounded - bound;
            self.statistics.exceeded += 1;
            self.statistics.excess_max = self.statistics.excess_max.max(excess);
            let is_tolerated = !late.drive.is_zero() && bounded <= contract.deadline;
            self.statistics.exceeded_tolerated += u64::from(is_tolerated);
            self.statistics.is_degraded |= !is_tolerated;
            self.statistics.unexplained += u64::from(excess > late.total());
        }
    }
}

/// Adds a duration; a sum beyond the end of time becomes its end, as in the policy's accounts.
fn after(instant: Time, by: Duration) -> Time {
    instant.checked_add(by).unwrap_or(Time::MAX)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One export in the core: the accounts of its contract, and its statistics.

use std::collections::VecDeque;

use tidegate_model::{Class, Duration, HostTime, Op, RequestId, TaskIndex, Time};

use super::export_statistics::ExportStatistics;
use super::ordering::Ordering;
use super::statistics::Lateness;
use tidegate_model::{Beyond, ExportContract as Contract};

/// The class and the times that the contract assigns to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Admission {
    pub(crate) class: Class,
    /// The instant from which the contract allows the request.
    pub(crate) eligible: Time,
    pub(crate) due: Option<Time>,
}

/// A reply that was sent to its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The time from when the request was allowed to its reply at the socket, without
    /// `client_full`.
    pub(crate) response: Duration,
    /// The time during which the client's socket had no room for the reply.
    pub(crate) client_full: Duration,
    pub(crate) is_within_contract: bool,
}

/// An export that the core serves.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) task: TaskIndex,
    /// The export's current proved bound.
    pub(crate) bound: Option<Duration>,
    /// Whether the export accepts no more calls.
    pub(crate) is_closed: bool,
    /// The number of in-contract requests that the policy holds, or gets in this iteration.
    pub(crate) admitted: usize,
    /// In-contract requests that wait until the policy holds fewer, oldest first.
    pub(crate) line: VecDeque<RequestId>,
    contract: Option<Contract>,
    is_soft: bool,
    /// The instants at which the tokens are available again, earliest first; there is one token per
    /// request of the contract.
    tokens: VecDeque<Time>,
    pub(crate) ordering: Ordering,
    pub(crate) statistics: ExportStatistics,
}

impl Tenant {
    /// Makes a tenant without a task number and without a bound.
    pub(crate) fn new(contract: Option<Contract>, is_soft: bool) -> Self {
        let count = contract.as_ref().map_or(0, |contract| contract.requests as usize);
        Self {
            task: TaskIndex(0),
            bound: None,
            is_closed: false,
            admitted: 0,
            line: VecDeque::new(),
            contract,
            is_soft,
            tokens: VecDeque::from(vec![Time::ZERO; count]),
            ordering: Ordering::default(),
            statistics: ExportStatistics::default(),
        }
    }

    /// Takes the first waiting request, if the policy holds fewer than `room`.
    pub(crate) fn next_in_line(&mut self, room: usize) -> Option<RequestId> {
        let next = if self.admitted < room { self.line.pop_front() } else { None };
        self.admitted += usize::from(next.is_some());
        next
    }

    /// Returns whether the export is soft real time, so that its notices count.
    pub(crate) fn is_soft(&self) -> bool {
        self.is_soft
    }

    /// Returns whether any of the export's requests is real time.
    pub(crate) fn is_real_time(&self) -> bool {
        self.contract.is_some() || self.is_soft
    }

    /// Records a request that arrived at `released`. The accounts are the same as in
    /// `tokens-per-task`; they are kept here too, so that the statistics distinguish the drive's
    /// lateness from the export's excess demand.
    ///
    /// The accounts use the period and deadline that remain behind the host.
    ///
    /// Requests that the contract does not cover, for example reads if it covers only writes, are
    /// best effort.
    pub(crate) fn admit(&mut self, released: Time, op: Op, host: HostTime) -> Admission {
        let best_effort = Admission { class: Class::BestEffort, eligible: released, due: None };
        let Some(contract) = &self.contract else {
            // A stream without figures has no deadline and no limit.
            return if self.is_soft {
                Admission { class: Class::Soft, ..best_effort }
            } else {
                best_effort
            };
        };
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
        let (period, deadline) = (contract.period, contract.deadline);
        // If the host's time uses up the contract, nothing is proved, and the contract is used
        // unchanged.
        let behind = host.contract_behind(period, deadline, None);
        let (period, deadline) = behind.unwrap_or((period, deadline));
        self.tokens.push_back(after(eligible, period));
        let class = if self.is_soft { Class::Soft } else { Class::Hard };
        Admission { class, eligible, due: Some(after(eligible, deadline)) }
    }

    /// Records that a reply was sent to its client.
    pub(crate) fn sent(&mut self, sent: &Sent) {
        let of = &mut self.statistics;
        of.at_socket.record(sent.response);
        // The sum saturates after 584 years.
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

    /// Restores the bound unless the proof may be wrong; returns whether the bound is restored. The
    /// proof may be wrong if the lateness of every batch is known (`has_timed_all`) and does not
    /// explain an excess.
    pub(crate) fn stand_again(&mut self, has_timed_all: bool) -> bool {
        let is_refuted = has_timed_all && self.statistics.unexplained > 0;
        self.statistics.is_degraded &= is_refuted;
        !self.statistics.is_degraded
    }

    /// Records the reply to an admitted request; `late` is the lateness of drive and host during
    /// its busy interval.
    pub(crate) fn answered(
        &mut self,
        now: Time,
        released: Time,
        admission: Admission,
        late: Lateness,
    ) {
        let contract = self.contract.as_ref().filter(|_| admission.class != Class::BestEffort);
        let Some(contract) = contract else {
            let response = now.since(released);
            self.statistics.responses.record(response);
            self.statistics.best_effort_counts.record(response);
            return;
        };
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

/// Adds a duration to an instant, saturating at the largest time, as in the policy's accounts.
fn after(instant: Time, by: Duration) -> Time {
    instant.checked_add(by).unwrap_or(Time::MAX)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One export as the core sees it: what it may ask for, and what it got.

use std::collections::VecDeque;

use tidegate_model::{Class, Duration, Op, RequestId, TaskIndex, Time};
use tidegate_stats::{Distribution, Memory};

use super::ordering::Ordering;
use super::response_counts::ResponseCounts;
use tidegate_model::{Beyond, ExportContract as Contract};

/// What is known of an export's service.
#[derive(Debug, Clone)]
pub struct ExportStatistics {
    /// To the answer from arrival, or from when no request before it overlapped it any more; of
    /// requests that kept within the contract, or of best-effort ones.
    pub responses: Distribution,
    /// From the instant at which the contract allowed a request to its answer: what a bound
    /// speaks of. Empty for best effort.
    pub bounded: Distribution,
    /// The same in classes.
    pub bounded_counts: ResponseCounts,
    /// Responses of best effort, in classes: what rode beyond a contract too.
    pub best_effort_counts: ResponseCounts,
    /// Requests that the contract allows at once, now.
    pub tokens: u32,
    /// Requests within the contract that were answered after their deadline.
    pub misses: u64,
    /// Requests within the contract that were answered later than what was proved then.
    pub exceeded: u64,
    /// Those of them that were later than what was proved and how late drive and host were in the
    /// same busy interval: how long requests waited to be read, what the host took from there
    /// until they were sent, and by how much batches exceeded the drive's table. None, unless the
    /// proof is wrong.
    pub unexplained: u64,
    /// Requests beyond the contract.
    pub beyond: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Requests that are not complete.
    pub outstanding: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Flushes, and writes that had to be durable.
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
            misses: 0,
            exceeded: 0,
            unexplained: 0,
            beyond: 0,
            failed: 0,
            outstanding: 0,
            bytes: 0,
            flushes: 0,
        }
    }
}

/// How the contract takes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Admission {
    pub(crate) class: Class,
    /// From when the contract allows it.
    pub(crate) eligible: Time,
    pub(crate) due: Option<Time>,
}

/// An export at work.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) task: TaskIndex,
    /// What is proved of it now.
    pub(crate) bound: Option<Duration>,
    /// It takes no more calls.
    pub(crate) is_closed: bool,
    /// Requests of the contract that the policy knows of, or is about to.
    pub(crate) admitted: usize,
    /// Those that it is kept from until there are fewer, oldest first.
    pub(crate) line: VecDeque<RequestId>,
    contract: Option<Contract>,
    /// When each token is back, the soonest first: as many as the contract has requests.
    tokens: VecDeque<Time>,
    pub(crate) ordering: Ordering,
    pub(crate) statistics: ExportStatistics,
}

impl Tenant {
    /// Of no task yet, and with nothing proved.
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

    /// The first in line, if the policy may know of so many.
    pub(crate) fn next_in_line(&mut self, room: usize) -> Option<RequestId> {
        let next = if self.admitted < room { self.line.pop_front() } else { None };
        self.admitted += usize::from(next.is_some());
        next
    }

    pub(crate) fn has_contract(&self) -> bool {
        self.contract.is_some()
    }

    /// Takes note of a request that came at `released`: the accounts of `tokens-per-task`, kept
    /// here too, so that results tell what the drive owed from what the tenant asked too much.
    ///
    /// What a contract does not speak of was not proved with it: reads, where it is about writes.
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

    /// What was seen of it so far.
    pub(crate) fn seen(&self, now: Time) -> ExportStatistics {
        let back = self.tokens.partition_point(|&back| back <= now);
        let tokens = u32::try_from(back).expect("as many as the contract has requests");
        ExportStatistics { tokens, ..self.statistics.clone() }
    }

    /// A request that was admitted so was answered; drive and host were so `late` meanwhile.
    pub(crate) fn answered(
        &mut self,
        now: Time,
        released: Time,
        admission: Admission,
        late: Duration,
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
            self.statistics.exceeded += 1;
            self.statistics.unexplained += u64::from(bounded - bound > late);
        }
    }
}

/// What would be after the end of time is never: as the policy's accounts have it.
fn after(instant: Time, by: Duration) -> Time {
    instant.checked_add(by).unwrap_or(Time::MAX)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The tokens of one task and the queue of requests that wait for them. The regulator decides the
//! order among the tasks.

use std::collections::VecDeque;

use tidegate_model::{Class, Duration, Request, RequestId, Task, TaskIndex, Time};

/// The instant at which the head of a queue becomes eligible, the head's id, and the task of the
/// queue.
pub(super) type Turn = (Time, RequestId, TaskIndex);

/// The contract of a task in tokens: e tokens, each of which returns a period after it was taken.
#[derive(Debug, Clone, Copy)]
struct TokenContract {
    /// e: the number of tokens, not zero.
    tokens: u32,
    period: Duration,
}

/// A token that was taken.
#[derive(Debug, Clone, Copy)]
struct Taken {
    at: Time,
    returns: Time,
}

/// The tokens and the queue of one task.
///
/// # Invariants
/// - `taken` is sorted by the instant of return. It holds more than e only after e became smaller.
/// - Requests become eligible at nondecreasing instants.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// `None` for a task that is not in the plan: its waiting requests pass as best effort.
    contract: Option<TokenContract>,
    taken: VecDeque<Taken>,
    /// The waiting requests, oldest first.
    pub(super) waiting: VecDeque<Request>,
    /// Whether the wrapped policy had no room for the queue's head.
    pub(super) is_head_refused: bool,
    /// The last instant at which a request became eligible.
    last: Time,
}

impl Account {
    /// Sets the contract. A taken token returns at the later of the instants given by the old and
    /// the new contract.
    pub(super) fn set_contract(&mut self, task: Option<&Task>) {
        self.contract =
            task.map(|task| TokenContract { tokens: task.requests, period: task.period });
        let Some(TokenContract { tokens, period }) = self.contract else { return };
        assert!(tokens > 0, "a job has a request");
        for taken in &mut self.taken {
            taken.returns = taken.returns.max(returns(taken.at, period));
        }
        self.taken.make_contiguous().sort_by_key(|taken| taken.returns);
    }

    /// Returns the instant at which the queue's head becomes eligible, as its turn; `None` if the
    /// queue is empty.
    pub(super) fn turn(&self, task: TaskIndex) -> Option<Turn> {
        let head = self.waiting.front()?;
        let at = head.eligible.max(self.last).max(self.token_at());
        Some((at, head.id, task))
    }

    /// Returns the instant at which a token is available.
    fn token_at(&self) -> Time {
        let tokens = self.contract.map_or(usize::MAX, |contract| contract.tokens as usize);
        let is_waited_for = self.taken.len().checked_sub(tokens);
        is_waited_for.map_or(Time::ZERO, |index| self.taken[index].returns)
    }

    /// Returns the queue's head as the wrapped policy must see it, with the instant at which it
    /// takes its token: its turn `at`, or later if it was refused then.
    pub(super) fn offer(&self, at: Time, now: Time) -> (Time, Request) {
        let at = if self.is_head_refused { at.max(now) } else { at };
        let head = *self.waiting.front().expect("a task with a turn has a waiting request");
        if self.contract.is_none() {
            return (at, without_contract(Request { eligible: at, ..head }));
        }
        let waited = at.since(head.eligible);
        // A deadline past `Time::MAX` counts as no deadline.
        let due = head.due.and_then(|due| due.checked_add(waited));
        (at, Request { eligible: at, due, ..head })
    }

    /// Records that the head became eligible at this instant.
    pub(super) fn take(&mut self, at: Time) {
        self.waiting.pop_front();
        self.is_head_refused = false;
        self.last = at;
        let Some(contract) = self.contract else { return };
        while self.taken.front().is_some_and(|taken| taken.returns <= at) {
            self.taken.pop_front();
        }
        let taken = Taken { at, returns: returns(at, contract.period) };
        // The token belongs at the end, unless the period became shorter.
        let position = self.taken.partition_point(|other| other.returns <= taken.returns);
        self.taken.insert(position, taken);
    }
}

/// Returns the instant at which a token returns; `Time::MAX` if it never does.
fn returns(taken: Time, period: Duration) -> Time {
    taken.checked_add(period).unwrap_or(Time::MAX)
}

/// Turns a request without a contract into best effort, unless it belongs to a stream without
/// figures.
pub(super) fn without_contract(request: Request) -> Request {
    if request.class == Class::Soft && request.due.is_none() {
        return request;
    }
    Request { class: Class::BestEffort, due: None, ..request }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{Bytes, RequestId};

    use super::*;

    /// Goal: only a stream without figures keeps its class without a contract.
    #[test]
    fn a_stream_without_figures_stays_soft_and_a_task_without_a_contract_does_not() {
        let stream = Request::plain(RequestId(1), Class::Soft, Bytes::from_kib(4));
        assert_eq!(without_contract(stream), stream);
        let due = Some(Time::ZERO + Duration::from_ms(1));
        for request in [
            Request { due, ..stream },
            Request { class: Class::Hard, ..stream },
            Request { class: Class::Hard, due, ..stream },
        ] {
            let best_effort = Request { class: Class::BestEffort, due: None, ..request };
            assert_eq!(without_contract(request), best_effort);
        }
    }
}

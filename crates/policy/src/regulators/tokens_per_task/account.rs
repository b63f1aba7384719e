// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One task's tokens and the line of what waits for them. Apart from the regulator, which
//! knows whose turn it is among the tasks.

use std::collections::VecDeque;

use tidegate_model::{Duration, Request, Task, TaskIndex, Time};

use super::{Turn, without_contract};

/// What a task was promised: so many requests, each again after a period.
#[derive(Debug, Clone, Copy)]
struct Contract {
    /// e, not zero.
    tokens: u32,
    period: Duration,
}

/// A token that was taken.
#[derive(Debug, Clone, Copy)]
struct Taken {
    at: Time,
    returns: Time,
}

/// The tokens and the line of one task.
///
/// # Invariants
/// - `taken` is sorted by return. It holds more than e only after e became smaller.
/// - Requests become eligible at instants that never decrease.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// None for a task that is not in the plan: what waits passes as best effort.
    contract: Option<Contract>,
    taken: VecDeque<Taken>,
    /// The oldest first.
    pub(super) waiting: VecDeque<Request>,
    /// Whether the wrapped policy had no room for the head of the line.
    pub(super) is_head_refused: bool,
    /// When a request became eligible last.
    last: Time,
}

impl Account {
    /// A token that is out returns as late as the stricter of old and new contract says.
    pub(super) fn set_contract(&mut self, task: Option<&Task>) {
        self.contract = task.map(|task| Contract { tokens: task.requests, period: task.period });
        let Some(Contract { tokens, period }) = self.contract else { return };
        assert!(tokens > 0, "a job has a request");
        for taken in &mut self.taken {
            taken.returns = taken.returns.max(returns(taken.at, period));
        }
        self.taken.make_contiguous().sort_by_key(|taken| taken.returns);
    }

    /// When the head of the line may become eligible; none without one.
    pub(super) fn turn(&self, task: TaskIndex) -> Option<Turn> {
        let head = self.waiting.front()?;
        let at = head.eligible.max(self.last).max(self.token_at());
        Some((at, head.id, task))
    }

    /// When there is a token.
    fn token_at(&self) -> Time {
        let tokens = self.contract.map_or(usize::MAX, |contract| contract.tokens as usize);
        let is_waited_for = self.taken.len().checked_sub(tokens);
        is_waited_for.map_or(Time::ZERO, |index| self.taken[index].returns)
    }

    /// The head of the line as the wrapped policy is to see it at its turn `at`, and when it
    /// takes its token: later than its turn if it was refused then.
    pub(super) fn offer(&self, at: Time, now: Time) -> (Time, Request) {
        let at = if self.is_head_refused { at.max(now) } else { at };
        let head = *self.waiting.front().expect("a turn is of a line that is not empty");
        if self.contract.is_none() {
            return (at, without_contract(Request { eligible: at, ..head }));
        }
        let waited = at.since(head.eligible);
        // A due beyond the end of time is none.
        let due = head.due.and_then(|due| due.checked_add(waited));
        (at, Request { eligible: at, due, ..head })
    }

    /// The head became eligible at this instant.
    pub(super) fn take(&mut self, at: Time) {
        self.waiting.pop_front();
        self.is_head_refused = false;
        self.last = at;
        let Some(contract) = self.contract else { return };
        while self.taken.front().is_some_and(|taken| taken.returns <= at) {
            self.taken.pop_front();
        }
        let taken = Taken { at, returns: returns(at, contract.period) };
        // At the end, but after the period became shorter.
        let position = self.taken.partition_point(|other| other.returns <= taken.returns);
        self.taken.insert(position, taken);
    }
}

/// A token that returned after the end of time would never return.
fn returns(taken: Time, period: Duration) -> Time {
    taken.checked_add(period).unwrap_or(Time::MAX)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tokens-per-task`: a task that exceeds its contract delays only itself.
//!
//! Rule: task i owns `e_i` tokens. A request takes one to become eligible, that is, visible to the
//! wrapped policy. The token returns `p_i` after it was taken, whatever happens to the request. A
//! request without a token waits here, in one queue per task, in the order of release.
//!
//! ```text
//!   release --> queue of its task --(token)--> eligible: the wrapped policy --> drive
//!                                     ^                 |
//!                                     +----- p_i -------+
//! ```
//!
//! Own derivation, `docs/theory/isolation.md` section 12: tokens turn any stream into `e_i`
//! sporadic tasks of one request each (dissertation 6.3, unit servers).

mod account;

use std::collections::BTreeSet;

use tidegate_model::parameters::TokenRate;
use tidegate_model::{Class, Plan, Request, RequestId, TaskIndex, Time};

use crate::{Decision, Event, Full, Policy};

use account::{Account, Turn, without_contract};

/// Tokens for each task in front of `inner`; see the module documentation.
///
/// # Bound
/// In any closed window of length D at most `e_i (floor(D / p_i) + 1)` requests of task i become
/// eligible. So bounds of `inner` for unit tasks hold from eligibility, whatever other tasks do,
/// and eligibility equals release for a task that keeps its contract.
///
/// # Assumptions
/// - Instants are nominal, like releases: a token is taken at the later of the request's release
///   and the token's return, even if the host is late. Otherwise a host that was late once would
///   delay a strictly periodic task forever. If the wrapped policy had no room, the token is taken
///   when it has room.
/// - The deadline of a request that waited moves by its waiting time: it counts from eligibility,
///   so no policy serves the request before others because of a delay that its task caused.
/// - A best-effort request passes without a token. A request of a task without a contract passes as
///   best effort, without a deadline, because no proof covers it. A soft request without a deadline
///   passes unchanged: it belongs to a stream without figures, beside which nothing is proved.
///
/// # Invariants
/// - Every non-empty queue has one turn, in `turns` or in `refused`.
///
/// # Complexity
/// O(log tasks) per request that becomes eligible; O(waiting) to cancel one.
#[derive(Debug)]
pub struct TokensPerTask<P> {
    inner: P,
    /// The account of each task, by task index. Accounts of tasks that left the plan remain,
    /// without a contract.
    accounts: Vec<Account>,
    turns: BTreeSet<Turn>,
    /// Turns that were due while the wrapped policy had no room.
    refused: Vec<Turn>,
    queued_max: u32,
    round: Round,
}

/// The wrapped policy's round: it observes events only between rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Between rounds: the wrapped policy can observe events.
    Between,
    /// Within a round: the wrapped policy returned a decision, and `decide` must be called again.
    Within,
}

impl<P: Policy> TokensPerTask<P> {
    /// Wraps `inner` with the contracts of the plan's tasks. Each queue holds at most the plan's
    /// `queued_max` requests.
    pub fn new(inner: P, plan: &Plan) -> Self {
        let mut regulator = Self {
            inner,
            accounts: Vec::new(),
            turns: BTreeSet::new(),
            refused: Vec::new(),
            queued_max: plan.queued_max,
            round: Round::Between,
        };
        regulator.adopt(plan);
        regulator
    }

    /// Takes over the plan's contracts and bounds; queues and tokens remain.
    fn adopt(&mut self, plan: &Plan) {
        self.queued_max = plan.queued_max;
        if self.accounts.len() < plan.tasks.len() {
            self.accounts.resize_with(plan.tasks.len(), Account::default);
        }
        for (index, account) in self.accounts.iter_mut().enumerate() {
            account.set_contract(plan.tasks.get(index));
        }
        self.turns.clear();
        self.refused.clear();
        for (account, task) in self.accounts.iter().zip((0..).map(TaskIndex)) {
            self.turns.extend(account.turn(task));
        }
    }

    fn release(&mut self, now: Time, request: Request) -> Result<(), Full> {
        // A request that becomes eligible earlier reaches the policy first.
        self.hand_over(now, request.eligible.min(now));
        let index = request.task;
        if request.class == Class::BestEffort {
            return self.inner.observe(now, Event::Release(request));
        }
        let Some(account) = self.accounts.get_mut(index.index()) else {
            return self.inner.observe(now, Event::Release(without_contract(request)));
        };
        if account.waiting.len() >= self.queued_max as usize {
            return Err(Full);
        }
        account.waiting.push_back(request);
        if account.waiting.len() == 1 {
            self.turns.extend(account.turn(index));
            self.hand_over(now, request.eligible.min(now));
        }
        Ok(())
    }

    /// Hands over the requests that become eligible up to `until`, in the order of eligibility;
    /// returns whether the wrapped policy accepted any.
    fn hand_over(&mut self, now: Time, until: Time) -> bool {
        let mut is_any_taken = false;
        self.turns.extend(self.refused.drain(..));
        while let Some(&turn) = self.turns.first()
            && turn.0 <= until
        {
            self.turns.pop_first();
            let (at, _, task) = turn;
            let account = &mut self.accounts[task.index()];
            let (at, request) = account.offer(at, now);
            if self.inner.observe(now, Event::Release(request)) == Err(Full) {
                account.is_head_refused = true;
                self.refused.push(turn);
                continue;
            }
            account.take(at);
            self.turns.extend(account.turn(task));
            is_any_taken = true;
        }
        is_any_taken
    }

    /// Removes a waiting request and returns whether it was there.
    fn cancel(&mut self, id: RequestId) -> bool {
        for (account, task) in self.accounts.iter_mut().zip((0..).map(TaskIndex)) {
            let position = account.waiting.iter().position(|request| request.id == id);
            let Some(position) = position else { continue };
            account.waiting.remove(position);
            if position == 0 {
                account.is_head_refused = false;
                self.turns.retain(|turn| turn.2 != task);
                self.refused.retain(|turn| turn.2 != task);
                self.turns.extend(account.turn(task));
            }
            return true;
        }
        false
    }

    /// Returns the wrapped policy's decision, or the next turn if it is sooner.
    fn no_later_than_next_turn(&self, decision: Decision) -> Decision {
        match (decision, self.turns.first()) {
            (Decision::NotBefore(at), Some(turn)) => Decision::NotBefore(at.min(turn.0)),
            (Decision::AwaitEvent, Some(turn)) => Decision::NotBefore(turn.0),
            _ => decision,
        }
    }
}

impl<P: Policy> Policy for TokensPerTask<P> {
    fn tokens_per_s(&self) -> Option<TokenRate> {
        self.inner.tokens_per_s()
    }

    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.release(now, request),
            Event::Cancel(id) if self.cancel(id) => Ok(()),
            Event::Reconfigure(plan) => {
                self.adopt(&plan);
                self.inner.observe(now, Event::Reconfigure(plan))
            }
            Event::Complete { .. } | Event::Cancel(_) | Event::Notice { .. } => {
                self.inner.observe(now, event)
            }
        }
    }

    fn decide(&mut self, now: Time) -> Decision {
        if self.round == Round::Between {
            self.hand_over(now, now);
        }
        loop {
            let decision = self.inner.decide(now);
            if matches!(decision, Decision::Dispatch { .. } | Decision::Drop(_)) {
                self.round = Round::Within;
                return decision;
            }
            // The dispatches of the round may have made room for a refused request.
            let has_sent = std::mem::replace(&mut self.round, Round::Between) == Round::Within;
            if has_sent && !self.refused.is_empty() && self.hand_over(now, now) {
                continue;
            }
            return self.no_later_than_next_turn(decision);
        }
    }
}

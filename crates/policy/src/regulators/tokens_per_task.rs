// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tokens-per-task`: a task that asks for more than its contract delays only itself.
//!
//! Rule: task i owns `e_i` tokens. A request takes one to become eligible, that is, to be seen
//! by the wrapped policy; the token returns `p_i` after it was taken, whatever became of the
//! request. What finds no token waits here, a line for each task, in the order of release.
//!
//! ```text
//!   release --> line of its task --(token)--> eligible: the wrapped policy --> drive
//!                                    ^                 |
//!                                    +----- p_i -------+
//! ```
//!
//! Own derivation, `docs/theory/isolation.md` section 12: tokens make `e_i` sporadic tasks of one request
//! each out of any stream (dissertation 6.3, the swarm of unit servers).

mod account;

use std::collections::BTreeSet;

use tidegate_model::{Class, Plan, Request, RequestId, TaskIndex, Time};

use crate::{Decision, Event, Full, Policy};

use account::Account;

/// When the head of a line becomes eligible, its name, whose line it is.
type Turn = (Time, RequestId, TaskIndex);

/// Tokens for each task in front of `inner`; see the module's text.
///
/// # Bound
/// In any closed window of length D at most `e_i (floor(D / p_i) + 1)` requests of task i become
/// eligible. So bounds of `inner` for unit tasks hold from eligibility, whatever other tasks
/// do, and eligibility is release for a task that keeps its contract.
///
/// # Assumptions
/// - Instants are nominal, as releases are: a token is taken at the later of the request's
///   release and the token's return, though the host may come to it late. Otherwise a host
///   that was late once would delay a strictly periodic task for ever. Where the wrapped
///   policy had no room, it is taken when there is some.
/// - The due of a request that waited moves by as long as it waited: its deadline counts from
///   eligibility, so that no policy serves it before others because it is late by its own
///   fault.
/// - A request of class best effort passes. One of a task without a contract passes as best
///   effort, without a due: nobody has reckoned with it.
///
/// # Invariants
/// - Every line that is not empty has one turn, in `turns` or in `refused`.
///
/// # Complexity
/// O(log tasks) for each request that becomes eligible; O(waiting) to cancel one.
#[derive(Debug)]
pub struct TokensPerTask<P> {
    inner: P,
    /// Index = task. Accounts of tasks that left the plan stay, without a contract.
    accounts: Vec<Account>,
    turns: BTreeSet<Turn>,
    /// Turns that came and for which the wrapped policy had no room.
    refused: Vec<Turn>,
    queued_max: u32,
    round: Round,
}

/// Where the wrapped policy stands: it takes events between rounds only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// It waits to be asked.
    Between,
    /// It answered, and is to be asked again.
    Within,
}

impl<P: Policy> TokensPerTask<P> {
    /// `inner` behind the contracts of the plan's tasks. Each line holds at most the plan's
    /// `queued_max`.
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

    /// Takes over contracts and bounds; lines and tokens stay.
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
        // Whoever becomes eligible before this one comes before it.
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

    /// Hands over what becomes eligible up to `until`, in the order of eligibility; whether
    /// the wrapped policy took any of it.
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

    /// Forgets a waiting request; whether there was one of that name.
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

    /// The wrapped policy's answer, and when a line moves if that is sooner.
    fn no_later_than_next_turn(&self, decision: Decision) -> Decision {
        match (decision, self.turns.first()) {
            (Decision::NotBefore(at), Some(turn)) => Decision::NotBefore(at.min(turn.0)),
            (Decision::AwaitEvent, Some(turn)) => Decision::NotBefore(turn.0),
            _ => decision,
        }
    }
}

impl<P: Policy> Policy for TokensPerTask<P> {
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
            // What the round sent made room for what there was none for.
            let has_sent = std::mem::replace(&mut self.round, Round::Between) == Round::Within;
            if has_sent && !self.refused.is_empty() && self.hand_over(now, now) {
                continue;
            }
            return self.no_later_than_next_turn(decision);
        }
    }
}

/// A request that no contract covers, as best effort.
fn without_contract(request: Request) -> Request {
    Request { class: Class::BestEffort, due: None, ..request }
}

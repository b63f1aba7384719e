// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: every request is released, dispatched and completed in this order, each once, or is
//! dropped instead of dispatched. At the end of the run no real-time request is missing.
//!
//! Best effort may be left over, because a run does not wait for it.

use std::collections::BTreeMap;

use tidegate_model::{Outcome, Request, RequestId, Time};

use super::{Breach, ViolationLog, is_best_effort};
use crate::Observer;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Queued,
    InFlight,
}

#[derive(Debug)]
struct Account {
    stage: Stage,
    is_best_effort: bool,
}

/// Checks that each request completes exactly once; see the module documentation.
#[derive(Debug, Default)]
pub struct ExactlyOnce {
    /// Requests that are released and not complete.
    accounts: BTreeMap<RequestId, Account>,
    log: ViolationLog,
}

keeps_log!(ExactlyOnce);

impl Observer for ExactlyOnce {
    fn released(&mut self, now: Time, request: &Request) {
        let id = request.id;
        let account = Account { stage: Stage::Queued, is_best_effort: is_best_effort(request) };
        if self.accounts.insert(id, account).is_some() {
            self.log.add(now, Breach::ReleasedTwice { id });
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for &Request { id, .. } in batch {
            match self.accounts.get_mut(&id) {
                Some(account) if account.stage == Stage::Queued => account.stage = Stage::InFlight,
                _ => self.log.add(now, Breach::DispatchedUnqueued { id }),
            }
        }
    }

    fn completed(&mut self, now: Time, request: &Request, _outcome: Outcome) {
        let id = request.id;
        let account = self.accounts.remove(&id);
        if account.is_none_or(|account| account.stage != Stage::InFlight) {
            self.log.add(now, Breach::CompletedUndispatched { id });
        }
    }

    fn dropped(&mut self, now: Time, request: &Request) {
        let id = request.id;
        let account = self.accounts.remove(&id);
        if account.is_none_or(|account| account.stage != Stage::Queued) {
            self.log.add(now, Breach::DroppedUnqueued { id });
        }
    }

    fn ended(&mut self, now: Time) {
        for (&id, account) in &self.accounts {
            if !account.is_best_effort {
                self.log.add(now, Breach::NeverCompleted { id });
            }
        }
    }
}

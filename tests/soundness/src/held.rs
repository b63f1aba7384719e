// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The requests on a drive that knows the instant of each completion.

use tidegate_drive::Completion;
use tidegate_model::{Outcome, Request, Tag, Time};

/// A request on the drive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(crate) request: Request,
    pub(crate) completes: Time,
}

impl Held {
    pub(crate) fn has_priority(&self) -> bool {
        self.request.tag == Tag::Priority
    }
}

/// Returns the first completion.
pub(crate) fn next_event(held: &[Held]) -> Option<Time> {
    held.iter().map(|held| held.completes).min()
}

/// Completes the requests that are due by `now`, in order of their completions.
pub(crate) fn advance(held: &mut Vec<Held>, now: Time, out: &mut Vec<Completion>) {
    let mut done: Vec<Held> = held.extract_if(.., |held| held.completes <= now).collect();
    done.sort_by_key(|held| (held.completes, held.request.id));
    out.extend(done.iter().map(|held| Completion {
        id: held.request.id,
        at: held.completes,
        outcome: Outcome::Done,
    }));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A host for any drive. It keeps the protocol of `Drive` and checks that the drive does too: no
//! request is lost, completes twice, or completes at an instant other than the announced one.

use std::collections::BTreeSet;

use tidegate_drive::{Completion, Drive};
use tidegate_model::{Duration, Random, Request, RequestId, Time};

/// The maximum number of steps between two instants. A drive that needs more counts as looping
/// endlessly.
const STEPS_MAX: usize = 10_000;

/// A drive and the host's records.
pub(crate) struct Checked<D> {
    pub(crate) drive: D,
    pub(crate) now: Time,
    depth: usize,
    held: BTreeSet<RequestId>,
    done: Vec<Completion>,
    /// Decides when the host calls `advance` although nothing is due.
    looks: Option<Random>,
}

impl<D: Drive> Checked<D> {
    pub(crate) fn new(drive: D, depth: u32, looks: Option<Random>) -> Self {
        let (held, done, depth) = (BTreeSet::new(), Vec::new(), depth as usize);
        Self { drive, now: Time::ZERO, depth, held, done, looks }
    }

    /// Returns for how many requests the drive has room.
    pub(crate) fn room(&self) -> usize {
        self.depth - self.held.len()
    }

    /// Submits requests; those for which the drive has no room are dropped. Returns how many the
    /// drive took.
    pub(crate) fn submit(&mut self, batch: &[Request]) -> usize {
        let batch = &batch[..batch.len().min(self.room())];
        for request in batch {
            self.hold(request.id);
        }
        self.drive.submit(self.now, batch);
        batch.len()
    }

    /// Records that the drive holds this request now.
    pub(crate) fn hold(&mut self, id: RequestId) {
        assert!(self.held.insert(id), "{id:?} is outstanding");
    }

    /// Advances the drive, event by event, up to this instant.
    pub(crate) fn go_to(&mut self, until: Time) {
        let mut steps = 0..STEPS_MAX;
        while let Some(at) = self.next_event().filter(|&at| at <= until) {
            steps.next().expect("it goes in circles");
            self.look_before(at);
            self.step();
        }
        self.look_before(until);
        let known = self.done.len();
        self.advance(until);
        assert_eq!(self.done.len(), known, "at {until:?}, without an event");
    }

    /// Advances to the drive's next event, if there is one.
    pub(crate) fn step(&mut self) {
        let known = self.done.len();
        let at = self.next_event().unwrap_or(self.now);
        self.advance(at);
        for completion in &self.done[known..] {
            assert_eq!(completion.at, at, "{completion:?}: neither early nor late");
        }
    }

    /// Calls the drive's `advance` once for this instant and checks the completions.
    pub(crate) fn advance(&mut self, to: Time) {
        let known = self.done.len();
        self.drive.advance(to, &mut self.done);
        for completion in &self.done[known..] {
            assert!(self.held.remove(&completion.id), "{completion:?} is not outstanding");
            assert!((self.now..=to).contains(&completion.at), "{completion:?}: in the past");
        }
        self.now = to;
    }

    /// Returns the drive's next event; asserts that there is one while the drive holds requests.
    fn next_event(&self) -> Option<Time> {
        let event = self.drive.next_event();
        assert!(event.is_some() || self.held.is_empty(), "{:?} are forgotten", self.held);
        assert!(event.is_none_or(|at| at >= self.now), "{event:?} is before {:?}", self.now);
        event
    }

    /// Sometimes calls `advance` before `at`, when nothing is due.
    fn look_before(&mut self, at: Time) {
        let gap = (at - self.now).ns();
        let Some(looks) = self.looks.as_mut().filter(|_| gap > 0) else { return };
        let mut instants = [0, 1, 2].map(|_| self.now + Duration::from_ns(looks.below(gap)));
        instants.sort_unstable();
        let count = self.done.len();
        for instant in instants {
            self.advance(instant);
        }
        assert_eq!(self.done.len(), count, "before {at:?}, the next event");
    }

    /// Lets the drive finish; returns it and all completions.
    pub(crate) fn finish(mut self) -> (D, Vec<Completion>) {
        while let Some(at) = self.next_event() {
            self.go_to(at);
        }
        assert_eq!(self.held, BTreeSet::new(), "not returned");
        assert!(self.done.is_sorted_by_key(|completion| completion.at), "out of order");
        (self.drive, self.done)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Who may watch a run: checkers, recorders of traces. A run that nobody watches takes
//! `()`, and the compiler removes every call.

use tidegate_model::{Outcome, Request, Time};

/// Something that is told what happens in a run, in order of time.
///
/// `RequestId`s rise in the order of release. Instants are those at which the host came to
/// it: on the real clock a request is told of later than its nominal `released`, and a batch
/// at the instant of submission, later than what led to it.
pub trait Observer {
    /// A request became ready; the policy may not have had room for it yet.
    fn released(&mut self, _now: Time, _request: &Request) {}

    /// The policy sent these requests to the drive as one batch, never an empty one.
    fn dispatched(&mut self, _now: Time, _batch: &[Request]) {}

    /// The drive returned a request.
    fn completed(&mut self, _now: Time, _request: &Request, _outcome: Outcome) {}

    /// The policy gave up a queued request, as the contract of its task allows.
    fn dropped(&mut self, _now: Time, _request: &Request) {}

    /// Everything that happens at this instant has happened and the policy has decided.
    fn settled(&mut self, _now: Time) {}

    /// The run is over.
    fn ended(&mut self, _now: Time) {}
}

/// Watches nothing, and costs nothing.
impl Observer for () {}

/// Both watch, the first first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn released(&mut self, now: Time, request: &Request) {
        self.0.released(now, request);
        self.1.released(now, request);
    }
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        self.0.dispatched(now, batch);
        self.1.dispatched(now, batch);
    }
    fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        self.0.completed(now, request, outcome);
        self.1.completed(now, request, outcome);
    }
    fn dropped(&mut self, now: Time, request: &Request) {
        self.0.dropped(now, request);
        self.1.dropped(now, request);
    }
    fn settled(&mut self, now: Time) {
        self.0.settled(now);
        self.1.settled(now);
    }
    fn ended(&mut self, now: Time) {
        self.0.ended(now);
        self.1.ended(now);
    }
}

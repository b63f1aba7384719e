// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Observers of a run, such as checkers and trace recorders. A run without an observer takes `()`,
//! and the compiler removes every call.

use tidegate_model::{Outcome, Request, Time};

/// Receives the events of a run, in order of time.
///
/// `RequestId`s rise in the order of release. Instants are those at which the host handled the
/// event: on the real clock a release is reported after the request's nominal `released`, and a
/// batch at the instant of submission, after the events that led to it.
pub trait Observer {
    /// A request was released; the policy may not have had room for it yet.
    fn released(&mut self, _now: Time, _request: &Request) {}

    /// The policy dispatched these requests as one batch, which is never empty.
    fn dispatched(&mut self, _now: Time, _batch: &[Request]) {}

    /// The drive completed a request.
    fn completed(&mut self, _now: Time, _request: &Request, _outcome: Outcome) {}

    /// The policy dropped a queued request, as its task's contract allows.
    fn dropped(&mut self, _now: Time, _request: &Request) {}

    /// All events at this instant have happened, and the policy has decided.
    fn settled(&mut self, _now: Time) {}

    /// The run has ended.
    fn ended(&mut self, _now: Time) {}
}

/// Observes nothing, at no cost.
impl Observer for () {}

/// Lends an observer to a run, so that it can be read afterwards.
impl<O: Observer> Observer for &mut O {
    fn released(&mut self, now: Time, request: &Request) {
        (**self).released(now, request);
    }
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        (**self).dispatched(now, batch);
    }
    fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        (**self).completed(now, request, outcome);
    }
    fn dropped(&mut self, now: Time, request: &Request) {
        (**self).dropped(now, request);
    }
    fn settled(&mut self, now: Time) {
        (**self).settled(now);
    }
    fn ended(&mut self, now: Time) {
        (**self).ended(now);
    }
}

/// Passes each event to the observer if there is one.
impl<O: Observer> Observer for Option<O> {
    fn released(&mut self, now: Time, request: &Request) {
        if let Some(observer) = self {
            observer.released(now, request);
        }
    }
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        if let Some(observer) = self {
            observer.dispatched(now, batch);
        }
    }
    fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        if let Some(observer) = self {
            observer.completed(now, request, outcome);
        }
    }
    fn dropped(&mut self, now: Time, request: &Request) {
        if let Some(observer) = self {
            observer.dropped(now, request);
        }
    }
    fn settled(&mut self, now: Time) {
        if let Some(observer) = self {
            observer.settled(now);
        }
    }
    fn ended(&mut self, now: Time) {
        if let Some(observer) = self {
            observer.ended(now);
        }
    }
}

/// Passes each event to both observers, in order.
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

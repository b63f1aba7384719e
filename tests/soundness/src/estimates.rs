// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Drives whose host has inexact estimates: an arbitrary estimate for each request, with a drive
//! that takes any time up to the estimate plus a margin; and a wrapper that adds errors to any
//! model.

use tidegate_drive::{Completion, Drive};
use tidegate_model::{
    AccessTime, Duration, Lba, Outcome, Random, Request, RequestId, Target, Time,
};

/// Returns a number that depends only on its arguments.
fn mixed(seed: u64, number: u64) -> u64 {
    Random::new(seed, number).bits()
}

/// A constant estimate for each place, at most C.
#[derive(Debug, Clone, Copy)]
pub struct Estimates {
    /// The seed of the estimates.
    pub seed: u64,
    /// C, the longest time of a request.
    pub service_max: Duration,
}

impl Estimates {
    /// Returns the estimated time of a request that starts at this sector.
    #[must_use]
    pub fn of(&self, start: Lba) -> Duration {
        let drawn = mixed(self.seed, start.get() + 1);
        let part = drawn % self.service_max.ns();
        Duration::from_ns(match drawn >> 62 {
            0 => self.service_max.ns(),
            1 => part + 1,
            // Half of the estimates are short, so that a policy can gain time.
            _ => part / 8 + 1,
        })
    }
}

impl AccessTime for Estimates {
    fn target(&self, request: &Request) -> Target {
        let (start, sectors) = (request.start, request.size.sectors_ceil());
        Target { start, sectors, op: request.op, cylinder: 0, head: 0, angle: 0, span: 0 }
    }
    fn advance(&mut self, _now: Time) {}
    fn access(&self, target: &Target) -> Duration {
        Duration::from_ns(self.of(target.start).ns() / 2)
    }
    fn service(&self, target: &Target) -> Option<Duration> {
        Some(self.of(target.start))
    }
    fn dispatched(&mut self, _now: Time, _target: &Target) {}
    fn completed(&mut self, _now: Time, _target: &Target) {}
}

/// A drive that takes one request at a time, for any time up to the estimate plus `error_max`, and
/// never longer than C. Three out of four requests take the longest time.
#[derive(Debug)]
pub struct EstimatedDrive {
    estimates: Estimates,
    error_max: Duration,
    longest: Duration,
    random: Random,
    active: Option<(RequestId, Time)>,
}

impl EstimatedDrive {
    /// Creates the drive of these estimates.
    #[must_use]
    pub fn new(estimates: Estimates, error_max: Duration) -> Self {
        let (longest, random) = (estimates.service_max, Random::new(estimates.seed, 0));
        Self { estimates, error_max, longest, random, active: None }
    }

    /// Lets a request take up to this time, instead of C.
    #[must_use]
    pub fn slowest(self, longest: Duration) -> Self {
        Self { longest, ..self }
    }

    fn accept(&mut self, now: Time, id: RequestId, longest: Duration) {
        assert!(self.active.is_none(), "one request at a time");
        let is_longest = self.random.below(4) > 0;
        let drawn = self.random.below(longest.ns()) + 1;
        let time = if is_longest { longest } else { Duration::from_ns(drawn) };
        self.active = Some((id, now + time));
    }
}

impl Drive for EstimatedDrive {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            let longest = self.estimates.of(request.start) + self.error_max;
            self.accept(now, request.id, longest.min(self.longest));
        }
    }
    fn flush(&mut self, now: Time, id: RequestId) {
        self.accept(now, id, self.longest);
    }
    fn next_event(&self) -> Option<Time> {
        self.active.map(|(_, at)| at)
    }
    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        if let Some((id, at)) = self.active.take_if(|(_, at)| *at <= now) {
            out.push(Completion { id, at, outcome: Outcome::Done });
        }
    }
}

/// A model with an error of up to `error_max` in both directions, which depends on the request and
/// the instant.
#[derive(Debug)]
pub struct Erring<A> {
    /// The model without errors.
    pub model: A,
    /// The largest error.
    pub error_max: Duration,
    /// The present instant.
    pub now: Time,
}

impl<A: AccessTime> Erring<A> {
    fn with_error(&self, time: Duration, target: &Target) -> Duration {
        let drawn = mixed(self.now.ns(), target.start.get()) % (2 * self.error_max.ns() + 1);
        // The result is never below zero.
        Duration::from_ns((time.ns() + drawn).saturating_sub(self.error_max.ns()))
    }
}

impl<A: AccessTime> AccessTime for Erring<A> {
    fn target(&self, request: &Request) -> Target {
        self.model.target(request)
    }
    fn advance(&mut self, now: Time) {
        self.now = now;
        self.model.advance(now);
    }
    fn access(&self, target: &Target) -> Duration {
        self.with_error(self.model.access(target), target)
    }
    fn service(&self, target: &Target) -> Option<Duration> {
        self.model.service(target).map(|service| self.with_error(service, target))
    }
    fn dispatched(&mut self, now: Time, target: &Target) {
        self.model.dispatched(now, target);
    }
    fn completed(&mut self, now: Time, target: &Target) {
        self.model.completed(now, target);
    }
}

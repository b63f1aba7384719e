// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `token-bucket`, `mdn`, `mdn-extended`: best effort shaped above another policy.
//!
//! Rule: a best-effort request waits here until it holds its tokens and goes to the policy
//! behind then, `eligible` from that instant. Hard and soft real time pass at once. Reads and
//! writes have one bucket, or one each; interactive requests pass at once, or have a bucket of
//! their own. The rate is fixed, or what the declared tasks leave ([`super::reserve`]), or
//! steered by notices ([`super::mdn`]). Where asked for, periodic streams of best effort are
//! found ([`super::periodic`]) and pass as soft real time.
//!
//! ```text
//!   hard, soft, streams found  ------------------------------------+
//!   interactive      [ lane ]--(bucket, or none)-------------------+--> policy behind
//!   best effort      [ lane ]--(bucket <-- rate, reserve, notices)-+
//!   its writes       [ lane ]--(bucket of their own, if any)-------+
//! ```
//!
//! Source: Wu and Brandt, "QoS Support for Intelligent Storage Devices", section 3 and the
//! extensions of section 6. There the process is blocked; here the request waits.

use tidegate_model::parameters::{BestEffortRate, MdnParameters, Shaping};
use tidegate_model::{Class, Op, Plan, Request, RequestId, TaskIndex, Time};

use super::lane::Lane;
use super::mdn::{Form, Steering};
use super::periodic::Detector;
use super::reserve;
use super::traced::{Trace, Traces};
use crate::{Decision, Event, Full, NoticeKind, Policy};

/// The lanes, in the order in which they go when several have their tokens.
const INTERACTIVE: usize = 0;
const BEST_EFFORT: usize = 1;
const WRITES: usize = 2;

/// Steps of growth that are carried out one by one after a long silence; growth that is older
/// fills the bucket at the rate before it, which is never too much.
const STEPS_MAX: u32 = 64;

/// Best effort shaped above another policy; see the module's text.
///
/// # Invariants
/// - A request is in a lane or behind the regulator, never both.
/// - Between rounds no lane's head has its tokens, unless the policy behind had no room for it.
///
/// # Complexity
/// O(1) for a decision and a release, beside the policy behind; O(log n) where notices or
/// streams are minded, n being what is behind.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not phases")]
pub(crate) struct TokenBucket {
    behind: Box<dyn Policy>,
    lanes: [Lane; 3],
    has_write_lane: bool,
    has_interactive_lane: bool,
    steering: Option<Steering>,
    detector: Option<Detector>,
    traces: Traces,
    /// The policy behind has not come to the end of its round.
    is_in_round: bool,
    /// Since the last round it had no room for real time: the next room is not for best effort,
    /// which would otherwise be there first each time.
    is_real_time_refused: bool,
}

impl TokenBucket {
    /// `behind` with best effort at the rate of `[policy.token-bucket]`.
    pub(crate) fn fixed(behind: Box<dyn Policy>, plan: &Plan) -> Self {
        Self::new(behind, plan, None)
    }

    /// `behind` with best effort at a rate that notices steer.
    pub(crate) fn steered(behind: Box<dyn Policy>, plan: &Plan, form: Form) -> Self {
        Self::new(behind, plan, Some(Steering::new(form, plan)))
    }

    fn new(behind: Box<dyn Policy>, plan: &Plan, steering: Option<Steering>) -> Self {
        let shaping = shaping(plan, steering.as_ref());
        Self {
            behind,
            lanes: lanes(plan, steering.as_ref()),
            has_write_lane: shaping.write_rate.is_some(),
            has_interactive_lane: shaping.interactive_rate.is_some(),
            detector: shaping.is_detecting.then(Detector::default),
            steering,
            traces: Traces::default(),
            is_in_round: false,
            is_real_time_refused: false,
        }
    }

    /// The lane of a request; none for one that passes at once.
    fn lane(&self, request: &Request) -> Option<usize> {
        match (request.class, request.op) {
            (Class::Hard | Class::Soft, _) => None,
            (Class::Interactive, _) => self.has_interactive_lane.then_some(INTERACTIVE),
            (Class::BestEffort, Op::Write) if self.has_write_lane => Some(WRITES),
            (Class::BestEffort, _) => Some(BEST_EFFORT),
        }
    }

    fn release(&mut self, now: Time, mut request: Request) -> Result<(), Full> {
        if request.class == Class::BestEffort
            && let Some(detector) = &mut self.detector
            && let Some(due) = detector.release(request.task, request.released)
        {
            (request.class, request.due) = (Class::Soft, Some(due));
        }
        let Some(lane) = self.lane(&request) else { return self.pass(now, request) };
        self.lanes[lane].push(now, request)
    }

    /// Gives the policy behind what never waits.
    fn pass(&mut self, now: Time, request: Request) -> Result<(), Full> {
        if self.behind.observe(now, Event::Release(request)).is_err() {
            self.is_real_time_refused = true;
            return Err(Full);
        }
        if let Some(steering) = &mut self.steering {
            steering.witness().release(&request);
        }
        self.trace(&request, None);
        Ok(())
    }

    fn trace(&mut self, request: &Request, tokens: Option<u64>) {
        if self.steering.is_some() || self.detector.is_some() {
            let Request { id, task, due, .. } = *request;
            self.traces.insert(id, Trace { task, due, tokens, is_dispatched: false });
        }
    }

    fn complete(&mut self, now: Time, id: RequestId) {
        let Some(trace) = self.traces.remove(id) else { return };
        if let Some(detector) = &mut self.detector {
            detector.complete(now, trace.task);
        }
        if let Some(steering) = &mut self.steering {
            steering.witness().complete(now, trace.task, trace.due);
            if let Some(tokens) = trace.tokens {
                steering.achieve(now, tokens);
            }
        }
    }

    fn notice(&mut self, now: Time, task: TaskIndex, kind: NoticeKind) {
        self.grow(now);
        let is_overdue = self.traces.is_overdue(now, task);
        if let Some(steering) = &mut self.steering
            && steering.notice(now, task, kind, is_overdue)
        {
            self.lanes[BEST_EFFORT].set_rate(now, steering.rate());
        }
    }

    fn cancel(&mut self, now: Time, id: RequestId) {
        self.traces.cancel(id);
        for lane in &mut self.lanes {
            lane.cancel(now, id);
        }
    }

    fn reconfigure(&mut self, now: Time, plan: &Plan) {
        self.grow(now);
        if let Some(steering) = &mut self.steering {
            steering.reconfigure(now, plan);
        }
        let shaping = shaping(plan, self.steering.as_ref());
        let mut old = std::mem::replace(&mut self.lanes, lanes(plan, self.steering.as_ref()));
        if shaping.write_rate.is_none() {
            let [_, best_effort, writes] = &mut old;
            best_effort.join(writes);
        }
        for (lane, old) in self.lanes.iter_mut().zip(old) {
            lane.succeed(now, old);
        }
        // Interactive requests that lost their rate go with the next round: they have no limit.
        self.has_write_lane = shaping.write_rate.is_some();
        self.has_interactive_lane = shaping.interactive_rate.is_some();
        self.detector = self.detector.take().filter(|_| shaping.is_detecting);
        if shaping.is_detecting && self.detector.is_none() {
            self.detector = Some(Detector::default());
        }
    }

    /// Carries out the steps of growth that are due, each at its instant.
    fn grow(&mut self, now: Time) {
        let Some(steering) = &mut self.steering else { return };
        let lane = &mut self.lanes[BEST_EFFORT];
        for _ in 0..STEPS_MAX {
            let Some(at) = steering.step(now) else { return };
            lane.set_rate(at, steering.rate());
        }
        steering.leap(now);
        lane.set_rate(now, steering.rate());
    }

    /// Gives the policy behind all that has its tokens; whether that was anything.
    fn feed(&mut self, now: Time) -> bool {
        self.feed_lanes(now, &[INTERACTIVE, BEST_EFFORT, WRITES])
    }

    /// The same of some lanes.
    fn feed_lanes(&mut self, now: Time, lanes: &[usize]) -> bool {
        self.grow(now);
        let mut is_any_fed = false;
        for &index in lanes {
            while let Some(request) = self.feed_head(now, index) {
                is_any_fed = true;
                let is_steered = index == BEST_EFFORT;
                let tokens = is_steered.then(|| self.lanes[index].tokens(&request));
                self.trace(&request, tokens);
            }
        }
        is_any_fed
    }

    /// Gives it the head of one lane, if that has its tokens and there is room.
    fn feed_head(&mut self, now: Time, index: usize) -> Option<Request> {
        let Self { lanes, behind, .. } = self;
        let mut fed = None;
        lanes[index].release_head(now, |request| {
            behind.observe(now, Event::Release(request))?;
            fed = Some(request);
            Ok(())
        });
        fed
    }

    /// When a request here has its tokens, or the rate grows for one that waits.
    fn next_instant(&self) -> Option<Time> {
        let ready = self.lanes.iter().filter_map(Lane::ready_at).min();
        let steering = self.steering.as_ref().filter(|_| !self.lanes[BEST_EFFORT].is_empty());
        let step = steering.and_then(Steering::next_step);
        ready.into_iter().chain(step).min()
    }

    /// What the policy behind decides, with what has its tokens.
    fn decide_behind(&mut self, now: Time) -> Decision {
        if self.is_real_time_refused {
            // The host offers it again after this round, and asks again when it is taken. A policy
            // may leave it for ever, one of a stream that was found among best effort: what is
            // real time by contract does not wait for that, if it has room of its own.
            self.lanes[BEST_EFFORT].refuse();
            self.lanes[WRITES].refuse();
            self.feed_lanes(now, if self.is_in_round { &[] } else { &[INTERACTIVE] });
            let decision = self.behind.decide(now);
            self.is_real_time_refused = !is_end_of_round(decision);
            return decision;
        }
        if !self.is_in_round {
            self.feed(now);
        }
        let mut decision = self.behind.decide(now);
        // What it just sent may have made room for what it had none for.
        while is_end_of_round(decision) && self.lanes.iter().any(Lane::is_refused) && self.feed(now)
        {
            decision = self.behind.decide(now);
        }
        decision
    }
}

const fn is_end_of_round(decision: Decision) -> bool {
    matches!(decision, Decision::NotBefore(_) | Decision::AwaitEvent)
}

fn shaping(plan: &Plan, steering: Option<&Steering>) -> Shaping {
    match steering {
        Some(steering) => Steering::params(steering.form(), plan).shaping,
        None => plan.parameters.token_bucket.shaping,
    }
}

/// Empty lanes with the rates of the plan, and of the steering where there is one.
fn lanes(plan: &Plan, steering: Option<&Steering>) -> [Lane; 3] {
    let shaping = shaping(plan, steering);
    let (unit, per_s) = match (steering, plan.parameters.token_bucket.rate) {
        (Some(steering), _) => {
            let MdnParameters { increase, .. } = Steering::params(steering.form(), plan);
            (increase.unit, steering.rate())
        }
        (None, BestEffortRate::Fixed(rate)) => (rate.unit, Some(rate.per_s)),
        (None, BestEffortRate::Reserve { capacity }) => {
            let (unit, per_s) = reserve::rate(plan, capacity);
            (unit, Some(per_s))
        }
    };
    [
        Lane::of_rate(shaping.interactive_rate, shaping.burst, plan),
        Lane::new(unit, per_s, shaping.burst, plan),
        Lane::of_rate(shaping.write_rate, shaping.burst, plan),
    ]
}

impl Policy for TokenBucket {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match &event {
            Event::Release(request) => return self.release(now, *request),
            Event::Complete { id, .. } => self.complete(now, *id),
            Event::Cancel(id) => self.cancel(now, *id),
            Event::Notice { task, kind } => self.notice(now, *task, *kind),
            Event::Reconfigure(plan) => self.reconfigure(now, plan),
        }
        self.behind.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        let decision = self.decide_behind(now);
        self.is_in_round = !is_end_of_round(decision);
        match decision {
            Decision::Dispatch { id, .. } => self.traces.dispatch(id),
            Decision::Drop(id) => drop(self.traces.remove(id)),
            Decision::NotBefore(_) | Decision::AwaitEvent => {}
        }
        match (decision, self.next_instant()) {
            (Decision::AwaitEvent, Some(at)) => Decision::NotBefore(at),
            (Decision::NotBefore(behind), Some(at)) => Decision::NotBefore(behind.min(at)),
            (decision, _) => decision,
        }
    }
}

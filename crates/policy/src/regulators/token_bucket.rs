// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `token-bucket`, `mdn`, `mdn-extended`: shape best effort before it reaches another policy.
//!
//! Rule: a best-effort request waits here until it has its tokens. It then passes to the wrapped
//! policy and is `eligible` from that instant. Hard and soft real-time requests pass immediately.
//! Reads and writes share one bucket or have one each; interactive requests pass immediately or
//! have their own bucket. The rate is fixed, or is the share that the declared tasks leave unused
//! ([`super::reserve`]), or is controlled by notices ([`super::mdn`]). If requested, periodic
//! streams of best effort are detected ([`super::periodic`]) and pass as soft real time.
//!
//! ```text
//!   hard, soft, streams found  ------------------------------------+
//!   interactive      [ lane ]--(bucket, or none)-------------------+--> policy behind
//!   best effort      [ lane ]--(bucket <-- rate, reserve, notices)-+
//!   its writes       [ lane ]--(bucket of their own, if any)-------+
//! ```
//!
//! Source: Wu and Brandt, "QoS Support for Intelligent Storage Devices", section 3 and the
//! extensions of section 6. The source blocks the process; here the request waits.

use tidegate_model::parameters::{BestEffortRate, MdnParameters, Shaping, TokenRate};
use tidegate_model::{Class, Op, Plan, Request, RequestId, TaskIndex, Time};

use super::lane::Lane;
use super::mdn::{Form, RateController};
use super::periodic::Detector;
use super::reserve;
use super::traced::{Trace, Traces};
use crate::{Decision, Event, Full, NoticeKind, Policy};

/// The lane of interactive requests. When several lanes have tokens, they pass requests in the
/// order of these numbers.
const INTERACTIVE: usize = 0;
/// The lane of best effort.
const BEST_EFFORT: usize = 1;
/// The lane of best-effort writes, if these have a rate of their own.
const WRITES: usize = 2;

/// The maximum number of growth steps that are applied one by one after a long silence. All further
/// steps are applied together at the end of the silence: until then the bucket fills at the lower
/// rate, which never gives best effort too much.
const STEPS_MAX: u32 = 64;

/// Shapes best effort before it reaches another policy; see the module documentation.
///
/// # Invariants
/// - A request is in a lane or in the wrapped policy, never in both.
/// - Between rounds no lane's head has its tokens, unless the wrapped policy had no room for it.
///
/// # Complexity
/// O(1) per decision and release, plus the wrapped policy's cost; O(log n) if notices or streams
/// are observed, with n requests in the wrapped policy.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not phases")]
pub(crate) struct TokenBucket {
    behind: Box<dyn Policy>,
    lanes: [Lane; 3],
    has_write_lane: bool,
    has_interactive_lane: bool,
    controller: Option<RateController>,
    detector: Option<Detector>,
    traces: Traces,
    /// Whether the wrapped policy is still within its round.
    is_in_round: bool,
    /// Whether the wrapped policy had no room for a real-time request since the last round. Best
    /// effort must not take the next free place, because it would otherwise always be first.
    is_real_time_refused: bool,
}

impl TokenBucket {
    /// Returns `behind` with best effort limited to the rate of `[policy.token-bucket]`.
    pub(crate) fn fixed(behind: Box<dyn Policy>, plan: &Plan) -> Self {
        Self::new(behind, plan, None)
    }

    /// Returns `behind` with best effort limited to a rate that missed-deadline notices control.
    pub(crate) fn steered(behind: Box<dyn Policy>, plan: &Plan, form: Form) -> Self {
        Self::new(behind, plan, Some(RateController::new(form, plan)))
    }

    fn new(behind: Box<dyn Policy>, plan: &Plan, controller: Option<RateController>) -> Self {
        let shaping = shaping(plan, controller.as_ref());
        Self {
            behind,
            lanes: lanes(plan, controller.as_ref()),
            has_write_lane: shaping.write_rate.is_some(),
            has_interactive_lane: shaping.interactive_rate.is_some(),
            detector: shaping.is_detecting.then(Detector::default),
            controller,
            traces: Traces::default(),
            is_in_round: false,
            is_real_time_refused: false,
        }
    }

    /// Returns the lane of a request; `None` if it passes immediately.
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

    /// Passes a request that never waits to the wrapped policy.
    fn pass(&mut self, now: Time, request: Request) -> Result<(), Full> {
        if self.behind.observe(now, Event::Release(request)).is_err() {
            self.is_real_time_refused = true;
            return Err(Full);
        }
        if let Some(controller) = &mut self.controller {
            controller.miss_reports().release(&request);
        }
        self.trace(&request, None);
        Ok(())
    }

    fn trace(&mut self, request: &Request, tokens: Option<u64>) {
        if self.controller.is_some() || self.detector.is_some() {
            let Request { id, task, due, .. } = *request;
            self.traces.insert(id, Trace { task, due, tokens, is_dispatched: false });
        }
    }

    fn complete(&mut self, now: Time, id: RequestId) {
        let Some(trace) = self.traces.remove(id) else { return };
        if let Some(detector) = &mut self.detector {
            detector.complete(now, trace.task);
        }
        if let Some(controller) = &mut self.controller {
            controller.miss_reports().complete(now, trace.task, trace.due);
            if let Some(tokens) = trace.tokens {
                controller.achieve(now, tokens);
            }
        }
    }

    fn notice(&mut self, now: Time, task: TaskIndex, kind: NoticeKind) {
        self.grow(now);
        let is_overdue = self.traces.is_overdue(now, task);
        if let Some(controller) = &mut self.controller
            && controller.notice(now, task, kind, is_overdue)
        {
            self.lanes[BEST_EFFORT].set_rate(now, controller.rate());
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
        if let Some(controller) = &mut self.controller {
            controller.reconfigure(now, plan);
        }
        let shaping = shaping(plan, self.controller.as_ref());
        let mut old = std::mem::replace(&mut self.lanes, lanes(plan, self.controller.as_ref()));
        if shaping.write_rate.is_none() {
            let [_, best_effort, writes] = &mut old;
            best_effort.join(writes);
        }
        for (lane, old) in self.lanes.iter_mut().zip(old) {
            lane.succeed(now, old);
        }
        // Interactive requests that lost their limit pass in the next round.
        self.has_write_lane = shaping.write_rate.is_some();
        self.has_interactive_lane = shaping.interactive_rate.is_some();
        self.detector = self.detector.take().filter(|_| shaping.is_detecting);
        if shaping.is_detecting && self.detector.is_none() {
            self.detector = Some(Detector::default());
        }
    }

    /// Applies the due steps of growth, each at its instant.
    fn grow(&mut self, now: Time) {
        let Some(controller) = &mut self.controller else { return };
        let lane = &mut self.lanes[BEST_EFFORT];
        for _ in 0..STEPS_MAX {
            let Some(at) = controller.step(now) else { return };
            lane.set_rate(at, controller.rate());
        }
        controller.leap(now);
        lane.set_rate(now, controller.rate());
    }

    /// Passes all requests that have their tokens to the wrapped policy; returns whether there were
    /// any.
    fn feed(&mut self, now: Time) -> bool {
        self.feed_lanes(now, &[INTERACTIVE, BEST_EFFORT, WRITES])
    }

    /// Like [`Self::feed`], for some lanes only.
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

    /// Passes the head of one lane to the wrapped policy, if it has its tokens and there is room.
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

    /// Returns the next instant at which a waiting request has its tokens, or at which the rate
    /// grows while best effort waits.
    fn next_instant(&self) -> Option<Time> {
        let ready = self.lanes.iter().filter_map(Lane::ready_at).min();
        let controller = self.controller.as_ref().filter(|_| !self.lanes[BEST_EFFORT].is_empty());
        let step = controller.and_then(RateController::next_step);
        ready.into_iter().chain(step).min()
    }

    /// Returns the wrapped policy's decision after passing the requests that have their tokens.
    fn decide_behind(&mut self, now: Time) -> Decision {
        if self.is_real_time_refused {
            // The host offers the request again after this round, and calls `decide` again when it
            // is accepted. A policy may refuse a request of a detected stream for ever. Real-time
            // requests with a contract must not wait for that request, if the policy has room for
            // their class.
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
        // The dispatch may have made room for a request that was refused.
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

fn shaping(plan: &Plan, controller: Option<&RateController>) -> Shaping {
    match controller {
        Some(controller) => RateController::params(controller.form(), plan).shaping,
        None => plan.parameters.token_bucket.shaping,
    }
}

/// Returns empty lanes with the rates of the plan, or of the controller if there is one.
fn lanes(plan: &Plan, controller: Option<&RateController>) -> [Lane; 3] {
    let shaping = shaping(plan, controller);
    let (unit, per_s) = match (controller, plan.parameters.token_bucket.rate) {
        (Some(controller), _) => {
            let MdnParameters { increase, .. } = RateController::params(controller.form(), plan);
            (increase.unit, controller.rate())
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
    fn tokens_per_s(&self) -> Option<TokenRate> {
        self.lanes[BEST_EFFORT].tokens_per_s()
    }

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

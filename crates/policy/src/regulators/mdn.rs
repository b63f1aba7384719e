// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rate of best effort as missed-deadline notices steer it.
//!
//! Rule: at first there is no limit. A notice that is believed takes a share of the rate away,
//! or of the rate that best effort achieved of late where that is less: below what it uses
//! anyway a limit does nothing. In the base form a little comes back at every interval, so the
//! rate is a sawtooth; in the extended form only from the end of a stream on, until the next
//! notice. It never falls below a floor: best effort is held back, never shut out.
//!
//! ```text
//!   base:                               extended:
//!                 notice                               notice
//!   Unlimited --------> Growing         Unlimited ----------> Still <---------+
//!                        |   ^                        stream    |      notice |
//!                        +---+                        ended     +--> Growing -+
//!                        notice
//! ```
//!
//! Source: Wu and Brandt, section 4. It leaves open by how much the rate falls (here by a
//! share, so that few notices do), how much comes back and when (here a step at a time of its
//! own, so that it does not depend on how often one asks), from which rate the first decrease
//! starts, what happens to the many notices of one congestion (here a hold), and a floor.

use tidegate_model::parameters::MdnParameters;
use tidegate_model::{Duration, Plan, TaskIndex, Time};

use super::meter::Meter;
use super::witness::Witness;
use crate::NoticeKind;

/// When the rate grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Always.
    Base,
    /// After a stream ended.
    Extended,
}

/// Decides the rate; see the module's text.
#[derive(Debug)]
pub(crate) struct Steering {
    form: Form,
    params: MdnParameters,
    /// Tokens per second; none without a limit.
    rate: Option<u64>,
    /// When the rate grows next; none while it does not.
    next_step: Option<Time>,
    /// Notices before this instant are about what was sent before the last decrease.
    hold_until: Time,
    meter: Meter,
    witness: Witness,
}

impl Steering {
    /// Without a limit at first.
    pub(crate) fn new(form: Form, plan: &Plan) -> Self {
        let params = Self::params(form, plan);
        Self {
            form,
            params,
            rate: None,
            next_step: None,
            hold_until: Time::ZERO,
            meter: Meter::new(params.window),
            witness: Witness::new(plan, params.mute),
        }
    }

    pub(crate) const fn params(form: Form, plan: &Plan) -> MdnParameters {
        match form {
            Form::Base => plan.parameters.mdn,
            Form::Extended => plan.parameters.mdn_extended,
        }
    }

    pub(crate) const fn form(&self) -> Form {
        self.form
    }

    /// Decides by another plan from now on; the rate stays unless its unit changed.
    pub(crate) fn reconfigure(&mut self, now: Time, plan: &Plan) {
        let rate = self.rate;
        let is_alike = Self::params(self.form, plan).increase.unit == self.params.increase.unit;
        *self = Self::new(self.form, plan);
        self.rate = rate.filter(|_| is_alike);
        self.grow_from(now);
    }

    pub(crate) const fn witness(&mut self) -> &mut Witness {
        &mut self.witness
    }

    /// So many tokens' worth of best effort came back.
    pub(crate) fn achieve(&mut self, now: Time, tokens: u64) {
        self.meter.add(now, tokens);
    }

    /// The rate as it is.
    pub(crate) const fn rate(&self) -> Option<u64> {
        self.rate
    }

    /// When the rate grows next.
    pub(crate) const fn next_step(&self) -> Option<Time> {
        self.next_step
    }

    /// Lets the rate grow by the step that is due, if one is by `now`; when it was. To be
    /// asked again until there is none.
    pub(crate) fn step(&mut self, now: Time) -> Option<Time> {
        let at = self.next_step.filter(|&at| at <= now)?;
        let increase = self.params.increase.per_s;
        // A rate beyond all numbers is no limit.
        self.rate = self.rate.and_then(|rate| rate.checked_add(increase));
        self.next_step =
            if self.rate.is_some() { at.checked_add(self.params.interval) } else { None };
        Some(at)
    }

    /// Lets the rate grow by all steps that are due by `now`, at once.
    pub(crate) fn leap(&mut self, now: Time) {
        let Some(at) = self.next_step.filter(|&at| at <= now) else { return };
        let passed = now.since(at).ns() / self.params.interval.ns();
        let grown = passed.checked_add(1).and_then(|n| n.checked_mul(self.params.increase.per_s));
        self.rate = self.rate.zip(grown).and_then(|(rate, grown)| rate.checked_add(grown));
        let ahead = self.params.interval.ns() - now.since(at).ns() % self.params.interval.ns();
        self.next_step =
            if self.rate.is_some() { now.checked_add(Duration::from_ns(ahead)) } else { None };
    }

    /// A task reports; `is_overdue` says whether a request of its own is outstanding past its
    /// due. Whether the rate changed.
    pub(crate) fn notice(
        &mut self,
        now: Time,
        task: TaskIndex,
        kind: NoticeKind,
        is_overdue: bool,
    ) -> bool {
        match kind {
            NoticeKind::DeadlineMissed => {
                self.witness.judge(now, task, is_overdue) && self.decrease(now)
            }
            NoticeKind::StreamEnded => {
                if self.witness.is_heard(now, task) && self.next_step.is_none() {
                    self.begin_growth(now);
                }
                false
            }
        }
    }

    /// Takes a share away; whether there was anything to take it from.
    fn decrease(&mut self, now: Time) -> bool {
        if now < self.hold_until {
            return false;
        }
        // Best effort that did nothing of late is not what was in the way.
        let Some(achieved) = self.meter.per_s(now) else { return false };
        let rate = self.rate.map_or(achieved, |rate| rate.min(achieved));
        let left = u128::from(rate) * u128::from(1_000_000 - self.params.decrease_ppm) / 1_000_000;
        let left = u64::try_from(left).expect("a share of a rate is at most the rate");
        self.rate = Some(left.max(self.params.rate_min.per_s));
        self.hold_until = now.checked_add(self.params.hold).unwrap_or(Time::MAX);
        self.next_step = None;
        self.grow_from(now);
        true
    }

    /// In the base form growth begins again at once.
    fn grow_from(&mut self, now: Time) {
        if self.form == Form::Base {
            self.begin_growth(now);
        }
    }

    fn begin_growth(&mut self, now: Time) {
        self.next_step =
            if self.rate.is_some() { now.checked_add(self.params.interval) } else { None };
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rate of best effort under the control of missed-deadline notices.
//!
//! Rule: initially there is no limit. A notice that is believed lowers the rate by a share. If best
//! effort recently achieved less than the rate, the share is taken from that, because a limit above
//! the actual use has no effect. In the base form the rate grows by a step at every interval, so it
//! forms a sawtooth. In the extended form it grows only after the end of a stream, until the next
//! notice. It never falls below a minimum: best effort is limited but never stopped.
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
//! Source: Wu and Brandt, section 4. The source leaves open by how much the rate falls (here by a
//! share, so that few notices suffice), how much and when it grows (here a step per interval,
//! independent of the number of calls), the rate from which the first decrease starts, the handling
//! of the many notices of one congestion (here a hold time), and a minimum.

use tidegate_model::parameters::MdnParameters;
use tidegate_model::{Duration, Plan, TaskIndex, Time};

use super::meter::Meter;
use super::miss_reports::MissReports;
use crate::NoticeKind;

/// The condition for the rate to grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The rate always grows.
    Base,
    /// The rate grows after a stream has ended, until the next notice.
    Extended,
}

/// Controls the rate; see the module documentation.
#[derive(Debug)]
pub(crate) struct RateController {
    form: Form,
    params: MdnParameters,
    /// Tokens per second; `None` without a limit.
    rate: Option<u64>,
    /// The instant of the next growth; `None` while the rate does not grow.
    next_step: Option<Time>,
    /// Notices before this instant concern requests sent before the last decrease.
    hold_until: Time,
    meter: Meter,
    miss_reports: MissReports,
}

impl RateController {
    /// Returns a state without a limit.
    pub(crate) fn new(form: Form, plan: &Plan) -> Self {
        let params = Self::params(form, plan);
        Self {
            form,
            params,
            rate: None,
            next_step: None,
            hold_until: Time::ZERO,
            meter: Meter::new(params.window),
            miss_reports: MissReports::new(plan, params.mute),
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

    /// Applies another plan; the rate is kept unless its unit changed.
    pub(crate) fn reconfigure(&mut self, now: Time, plan: &Plan) {
        let rate = self.rate;
        let is_alike = Self::params(self.form, plan).increase.unit == self.params.increase.unit;
        *self = Self::new(self.form, plan);
        self.rate = rate.filter(|_| is_alike);
        self.grow_from(now);
    }

    pub(crate) const fn miss_reports(&mut self) -> &mut MissReports {
        &mut self.miss_reports
    }

    /// Records that best effort worth `tokens` completed.
    pub(crate) fn achieve(&mut self, now: Time, tokens: u64) {
        self.meter.add(now, tokens);
    }

    /// Returns the current rate in tokens per second; `None` without a limit.
    pub(crate) const fn rate(&self) -> Option<u64> {
        self.rate
    }

    /// Returns the instant of the next growth.
    pub(crate) const fn next_step(&self) -> Option<Time> {
        self.next_step
    }

    /// Applies one step of growth that is due by `now` and returns its instant. Callers repeat this
    /// until it returns `None`.
    pub(crate) fn step(&mut self, now: Time) -> Option<Time> {
        let at = self.next_step.filter(|&at| at <= now)?;
        let increase = self.params.increase.per_s;
        // A rate beyond `u64` is no limit.
        self.rate = self.rate.and_then(|rate| rate.checked_add(increase));
        self.next_step =
            if self.rate.is_some() { at.checked_add(self.params.interval) } else { None };
        Some(at)
    }

    /// Applies all steps of growth that are due by `now` together.
    pub(crate) fn leap(&mut self, now: Time) {
        let Some(at) = self.next_step.filter(|&at| at <= now) else { return };
        let passed = now.since(at).ns() / self.params.interval.ns();
        let grown = passed.checked_add(1).and_then(|n| n.checked_mul(self.params.increase.per_s));
        self.rate = self.rate.zip(grown).and_then(|(rate, grown)| rate.checked_add(grown));
        let ahead = self.params.interval.ns() - now.since(at).ns() % self.params.interval.ns();
        self.next_step =
            if self.rate.is_some() { now.checked_add(Duration::from_ns(ahead)) } else { None };
    }

    /// Handles a task's report and returns whether the rate changed. `is_overdue` says whether one
    /// of the task's requests is outstanding past its deadline.
    pub(crate) fn notice(
        &mut self,
        now: Time,
        task: TaskIndex,
        kind: NoticeKind,
        is_overdue: bool,
    ) -> bool {
        match kind {
            NoticeKind::DeadlineMissed => {
                self.miss_reports.judge(now, task, is_overdue) && self.decrease(now)
            }
            NoticeKind::StreamEnded => {
                if self.miss_reports.is_heard(now, task) && self.next_step.is_none() {
                    self.begin_growth(now);
                }
                false
            }
        }
    }

    /// Decreases the rate by its share and returns whether it changed.
    fn decrease(&mut self, now: Time) -> bool {
        if now < self.hold_until {
            return false;
        }
        // Best effort that was idle recently did not cause the miss.
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

    /// Restarts growth immediately in the base form.
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

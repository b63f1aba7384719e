// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Code shared by the tests of a run: its settings, on the backend of the loop's tests.

#[path = "../../../../host/tests/all/common/in_order.rs"]
mod in_order;

use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use tidegate_engine::{DeviceRun, Length, Limits, RunError, RunParams};
use tidegate_model::{Bytes, Duration, Plan, PolicyName, Workload};
use tidegate_stats::Distribution;

pub(crate) use self::in_order::*;

pub(crate) const LIMITS: Limits = Limits {
    capacity: Bytes::from_kib(1 << 20),
    alignment: Bytes::from_kib(4),
    size_max: Bytes::from_kib(128),
    in_flight_max: 8,
    is_writable: false,
};

/// The settings of a test run; by default each has no effect.
pub(crate) struct Setting {
    pub(crate) policy: PolicyName,
    pub(crate) batch_max: u32,
    pub(crate) best_effort_fill: u32,
    pub(crate) queued_max: u32,
    pub(crate) length: Length,
    pub(crate) backend: InOrder,
    pub(crate) limits: Limits,
    pub(crate) cancel: Rc<AtomicBool>,
}

impl Setting {
    pub(crate) fn new(policy: PolicyName, length: Length) -> Self {
        Self {
            policy,
            batch_max: 2,
            best_effort_fill: 0,
            queued_max: Plan::QUEUED_MAX_DEFAULT,
            length,
            backend: InOrder::default(),
            limits: LIMITS,
            cancel: Rc::default(),
        }
    }

    pub(crate) fn run(mut self, workload: &Workload) -> Result<DeviceRun, RunError> {
        let mut plan = plan(workload, self.batch_max, self.best_effort_fill);
        plan.queued_max = self.queued_max;
        let (policy, length) = (self.policy, self.length);
        let limits = self.limits;
        let params = RunParams { workload, plan: &plan, policy, length, seed: 1, limits };
        tidegate_engine::run(&params, None, &mut self.backend, (), &self.cancel)
    }
}

/// Returns the shortest and the longest time.
pub(crate) fn extremes(times: &Distribution) -> (Duration, Duration) {
    times.min().zip(times.max()).expect("something was recorded")
}

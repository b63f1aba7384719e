// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Helpers for the loop's tests: the settings of a run.

mod in_order;

use std::cell::Cell;
use std::rc::Rc;

use tidegate_host::{Host, HostParams, Length, Run};
use tidegate_model::{Duration, Plan, PolicyName, Workload};

pub(crate) use self::in_order::*;

/// The settings of a test run; each default has no effect.
pub(crate) struct Setting {
    pub(crate) policy: PolicyName,
    pub(crate) batch_max: u32,
    pub(crate) best_effort_fill: u32,
    pub(crate) queued_max: u32,
    pub(crate) outstanding_max: Option<u32>,
    pub(crate) length: Length,
    pub(crate) backend: InOrder,
    pub(crate) cancel: Rc<Cell<bool>>,
}

impl Setting {
    pub(crate) fn new(policy: PolicyName, length: Length) -> Self {
        Self {
            policy,
            batch_max: 2,
            best_effort_fill: 0,
            queued_max: Plan::QUEUED_MAX_DEFAULT,
            outstanding_max: None,
            length,
            backend: InOrder::default(),
            cancel: Rc::default(),
        }
    }

    /// Runs, then waits for the requests in flight.
    pub(crate) fn run(mut self, workload: &Workload) -> Run {
        let mut plan = plan(workload, self.batch_max, self.best_effort_fill);
        plan.queued_max = self.queued_max;
        let params = HostParams::new(workload, self.length);
        let outstanding_max = self.outstanding_max.unwrap_or(params.outstanding_max);
        let params = HostParams { outstanding_max, ..params };
        let policy = tidegate_policy::build(self.policy, &plan, None).unwrap();
        let mut nobody = ();
        let mut host = Host::new(&params, policy, &mut self.backend, &mut nobody);
        let Ok(()) = host.run(|| self.cancel.get());
        let Ok(()) = host.drain();
        host.finish()
    }
}

/// Returns the shortest and longest response time of each task.
pub(crate) fn responses(run: &Run) -> Vec<(Duration, Duration)> {
    let responses = run.metrics.tasks().iter().map(|task| &task.responses);
    responses.filter_map(|responses| responses.min().zip(responses.max())).collect()
}

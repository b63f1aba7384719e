// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A run against a real target: checked, watched, and to be cancelled.
//!
//! # How it waits
//! The thread blocks until a completion or the next release, and does not spin: spinning
//! before each release costs a core, starves others under a real-time priority, and hides
//! from the results what an application would see. Without a real-time priority the kernel may
//! wake the thread up to 50 us late to save wake-ups (timer slack), and later if the
//! processors are busy. Either way the lateness is part of the response times and is
//! reported apart.

use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_host::{Backend, Host, HostParams, Run, RunEnd};
use tidegate_model::AccessTime;
use tidegate_policy::Policy;
use tidegate_stats::Memory;

use crate::device_backend::BackendError;
use crate::device_watch::DeviceWatch;
use crate::limits;
use crate::params::{RunError, RunParams};

/// The most requests that are under way at once, held, queued and in flight together: with
/// what is kept of each, two gigabytes.
const OUTSTANDING_MAX: u32 = 1 << 24;

/// What a run on a real clock found.
#[derive(Debug, PartialEq)]
pub struct DeviceRun {
    /// What every run finds; it ended when nothing was in flight any more.
    pub run: Run,
    /// What host and device did, apart from the policy.
    pub watch: DeviceWatch,
}

/// Executes a workload under a policy and tells what was found; `access` is what is known of
/// the device's positions, for policies that order by them.
///
/// One thread does everything. Setting `cancel` stops all releases before the next instant at
/// which something happens; a signal that interrupts the thread makes that come at once. What
/// is in flight at the end is waited for.
///
/// # Errors
/// [`RunError`]: before anything starts when the target cannot carry the workload; later
/// only when execution itself fails. Requests that fail are counted and stop nothing.
///
/// # Panics
/// When the policy breaks its protocol, for example by leaving a job waiting on an idle
/// device without saying until when.
pub fn run<B: Backend<Payload = ()>>(
    params: &RunParams<'_>,
    access: Option<Box<dyn AccessTime>>,
    backend: &mut B,
    cancel: &AtomicBool,
) -> Result<DeviceRun, RunError>
where
    BackendError: From<B::Error>,
{
    let policy = tidegate_policy::build(params.policy, params.plan, access)?;
    run_policy(params, policy, backend, cancel)
}

/// [`run()`] with a policy that is already built.
fn run_policy<B: Backend<Payload = ()>>(
    params: &RunParams<'_>,
    policy: impl Policy,
    backend: &mut B,
    cancel: &AtomicBool,
) -> Result<DeviceRun, RunError>
where
    BackendError: From<B::Error>,
{
    limits::check(params)?;
    let host_params = HostParams {
        seed: params.seed,
        capacity: params.limits.capacity,
        outstanding_max: OUTSTANDING_MAX,
        memory: Memory::Beforehand,
        ..HostParams::new(params.workload, params.length)
    };
    let mut watch = DeviceWatch::new(params.plan, host_params.expected_outstanding());
    let mut host = Host::new(&host_params, policy, backend, &mut watch);
    let is_cancelled = || cancel.load(Ordering::Relaxed);
    host.run(is_cancelled).and_then(|()| host.drain()).map_err(BackendError::from)?;
    let run = host.finish();
    assert!(
        run.end != RunEnd::Complete || run.real_time_left == 0,
        "`{}` leaves a job waiting on an idle device and does not say until when",
        params.policy
    );
    Ok(DeviceRun { run, watch })
}

#[cfg(test)]
mod tests;

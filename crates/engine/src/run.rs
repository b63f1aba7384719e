// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A run against a real target: checked, observed, and cancellable.
//!
//! # How it waits
//! The thread blocks until a completion or the next release, and does not spin. Spinning before
//! each release would use up a core, starve other threads under a real-time priority, and hide
//! delays that an application would experience. Without a real-time priority the kernel can wake
//! the thread up to 50 us late to save wake-ups (timer slack), and later if the processors are
//! busy. In both cases the lateness is part of the response times and is also reported separately.

use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_host::{Backend, Host, HostParams, Observer, Run, RunEnd};
use tidegate_model::AccessTime;
use tidegate_policy::Policy;
use tidegate_stats::Memory;

use crate::device_backend::BackendError;
use crate::device_watch::DeviceWatch;
use crate::params::{RunError, RunParams};

/// The largest number of outstanding requests (held, queued and in flight together); their records
/// take two gigabytes.
const OUTSTANDING_MAX: u32 = 1 << 24;

/// The results of a run on a real clock.
#[derive(Debug, PartialEq)]
pub struct DeviceRun {
    /// The results of the host's loop. The run ended when no request was in flight.
    pub run: Run,
    /// The measurements of host and device, separate from the policy.
    pub watch: DeviceWatch,
}

/// Executes a workload under a policy and returns the results; `access` gives the device's access
/// times to policies that order by them. `follower` observes the run on its thread, and must
/// neither wait nor allocate.
///
/// One thread does everything. Setting `cancel` stops all releases from the next event on; a signal
/// that interrupts the thread stops them immediately. The run waits for the requests in flight at
/// the end.
///
/// # Errors
/// [`RunError`]: before the start if the target does not allow the workload; later only if the
/// backend fails. Failed requests are counted, and the run continues.
///
/// # Panics
/// If the policy breaks its protocol, for example by leaving a job waiting on an idle device
/// without an instant for its next decision.
pub fn run<B: Backend<Payload = ()>>(
    params: &RunParams<'_>,
    access: Option<Box<dyn AccessTime>>,
    backend: &mut B,
    follower: impl Observer,
    cancel: &AtomicBool,
) -> Result<DeviceRun, RunError>
where
    BackendError: From<B::Error>,
{
    let policy = tidegate_policy::build(params.policy, params.plan, access)?;
    run_policy(params, policy, backend, follower, cancel)
}

/// Does the same as [`run()`] with a policy that is already built.
fn run_policy<B: Backend<Payload = ()>>(
    params: &RunParams<'_>,
    policy: impl Policy,
    backend: &mut B,
    follower: impl Observer,
    cancel: &AtomicBool,
) -> Result<DeviceRun, RunError>
where
    BackendError: From<B::Error>,
{
    params.check()?;
    let host_params = HostParams {
        seed: params.seed,
        capacity: params.limits.capacity,
        outstanding_max: OUTSTANDING_MAX,
        memory: Memory::Beforehand,
        ..HostParams::new(params.workload, params.length)
    };
    let watch =
        DeviceWatch::new(params.plan, params.workload.host, host_params.expected_outstanding());
    let mut observers = (watch, follower);
    let mut host = Host::new(&host_params, policy, backend, &mut observers);
    let is_cancelled = || cancel.load(Ordering::Relaxed);
    host.run(is_cancelled).and_then(|()| host.drain()).map_err(BackendError::from)?;
    let run = host.finish();
    assert!(
        run.end != RunEnd::Complete || run.real_time_left == 0,
        "`{}` leaves a job waiting on an idle device without an instant to be asked again",
        params.policy
    );
    let (watch, _) = observers;
    Ok(DeviceRun { run, watch })
}

#[cfg(test)]
mod tests;

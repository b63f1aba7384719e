// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs a simulation in virtual time in one call.

use tidegate_drive::Drive;
use tidegate_host::{Host, HostParams, Observer, Run};
use tidegate_policy::Policy;

use crate::behind_host::BehindHost;
use crate::virtual_drive::VirtualDrive;

/// Runs `policy` on `drive` under the workload of `params`, watched by `observer`.
///
/// The run ends when all requests are released and no real-time work remains; without tasks, when
/// the drive is idle and the policy sends nothing more. In a run that is measured in jobs, no best
/// effort is released after the last job's release. The run does not wait for requests that are
/// still in flight on the simulated drive.
///
/// If the workload states the host's time, the host is late by random times up to it.
///
/// The capacity of a simulated drive is an assumption, so a range that is too short for one request
/// still has one position; a real target refuses such a range.
///
/// # Panics
/// If policy, drive and host break their protocol with each other, or a run exceeds its counters
/// (584 years, 2^38 requests).
///
/// # Example
/// One request every 20 ms on a drive that takes up to 5 ms for it:
/// ```
/// use tidegate_drive::PseudoDisk;
/// use tidegate_model::{BatchTable, Bytes, Duration, Task, Workload};
/// use tidegate_policy::Dqf;
/// use tidegate_sim::{Length, SimParams, simulate};
///
/// let table = BatchTable::new(&[Duration::from_ms(5)]).unwrap();
/// let camera = Task::periodic("camera", Duration::from_ms(20), Bytes::from_kib(128));
/// let workload = Workload { tasks: vec![camera], ..Workload::new("example", 1, table.clone()) };
/// let params = SimParams::new(&workload, Length::Jobs(100));
/// let run = simulate(&params, Dqf::new(1, 0, 64), PseudoDisk::new(1, table, 42), &mut ());
///
/// let camera = &run.metrics.tasks()[0];
/// assert_eq!((camera.jobs(), camera.misses), (100, 0));
/// assert_eq!(camera.responses.max(), Some(Duration::from_ms(5)));
/// ```
pub fn simulate<P: Policy, D: Drive, O: Observer>(
    params: &HostParams<'_>,
    policy: P,
    drive: D,
    observer: &mut O,
) -> Run {
    simulate_until(params, policy, drive, observer, || false)
}

/// Like [`simulate`], but ends as interrupted when `is_cancelled`, which is checked before every
/// instant.
pub fn simulate_until<P: Policy, D: Drive, O: Observer>(
    params: &HostParams<'_>,
    policy: P,
    drive: D,
    observer: &mut O,
    is_cancelled: impl Fn() -> bool,
) -> Run {
    match params.workload.host.uncharged() {
        None => run(params, policy, drive, observer, is_cancelled),
        Some(time) => {
            let params = HostParams { delays: Some(time), ..*params };
            let drive = BehindHost::new(drive, time, params.seed);
            run(&params, policy, drive, observer, is_cancelled)
        }
    }
}

fn run<P: Policy, D: Drive, O: Observer>(
    params: &HostParams<'_>,
    policy: P,
    drive: D,
    observer: &mut O,
    is_cancelled: impl Fn() -> bool,
) -> Run {
    let mut backend = VirtualDrive::new(drive);
    let mut host = Host::new(params, policy, &mut backend, observer);
    let Ok(()) = host.run(is_cancelled);
    host.finish()
}

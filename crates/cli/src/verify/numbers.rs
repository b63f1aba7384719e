// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the numbers of a certificate with the files that it is about. Without this, a
//! certificate for other tasks or a faster drive would pass if it stated the hashes of these files.

use std::path::Path;

use tidegate_analysis::response_limit;
use tidegate_commands::{Changes, DriveChoice, Input};
use tidegate_model::quantity::Share;
use tidegate_model::{HostTime, PolicyName, Task, Workload};
use tidegate_report::{FileOrigin, WorkloadCosts, drain_ns_max};
use tidegate_verify::{Certificate, CertifiedTask, Refusal};

use crate::failure::Failure;

/// Reads the workload file, with its own drive or with `drive`, and with the certificate's margin.
pub(super) fn read(
    path: &Path,
    drive: Option<String>,
    certificate: &Certificate,
) -> Result<Input, Failure> {
    let changes = Changes {
        drive: drive.map(DriveChoice::Named),
        // The certificate states z, so an unsuitable z in the file must not cause a refusal.
        batch: Some(1),
        order: None,
        margin: Some(Share { ppm: certificate.margin_ppm }),
    };
    Ok(tidegate_commands::read(path, &changes, &[PolicyName::Dqf])?)
}

/// Returns the drive that the workload file names.
pub(super) fn drive_of((_, on_drive): &(FileOrigin, Option<Input>)) -> Option<FileOrigin> {
    on_drive.as_ref()?.drive_origin.clone()
}

/// Refuses a certificate whose numbers differ from the workload and its drive.
pub(super) fn compare(certificate: &Certificate, input: &Input) -> Result<(), Refusal> {
    let other = |what: String| Err(Refusal::OtherNumbers { what });
    match (&input.drive_origin, &certificate.drive) {
        (Some(found), Some(stated)) => super::compare(found, stated)?,
        (None, None) => {}
        (Some(_), None) => return Err(Refusal::NoDriveFile),
        (None, Some(stated)) => {
            return other(format!("the workload file holds its drive, not `{}`", stated.name));
        }
    }
    let host = input.workload.host.uncharged();
    let in_batch = input.workload.host_in_batch().ns();
    let found = host.map(|time| (time.release.ns(), in_batch, time.reply.ns()));
    let stated = certificate.host.as_ref().map(|it| (it.release_ns, it.batch_ns, it.reply_ns));
    if found != stated {
        return other("the workload states another time of the host".to_owned());
    }
    let planned = input.workload.planned();
    let tasks = &input.workload.tasks;
    if certificate.tasks.len() != tasks.len() {
        let (stated, found) = (certificate.tasks.len(), tasks.len());
        return other(format!("it states {stated} tasks, and the workload has {found}"));
    }
    let seen = planned.tasks.iter();
    let mut all = certificate.tasks.iter().zip(tasks.iter().zip(seen));
    let differs = |(stated, (task, seen)): &(&CertifiedTask, (&Task, &Task))| {
        !is_of(stated, seen) || !is_of_client(stated, task, host)
    };
    if let Some((stated, _)) = all.find(differs) {
        return other(format!("the workload has no such task `{}` in this place", stated.name));
    }
    let table = &planned.table;
    let times = (1..=table.batch_max()).map(|requests| Some(table.time_max(requests).ns()));
    let mut times = times.chain(std::iter::repeat(None));
    let differs = |&(_, &ns): &(u32, &u64)| times.next() != Some(Some(ns));
    if let Some((requests, _)) = (1_u32..).zip(&certificate.batch_ns_max).find(differs) {
        return other(format!(
            "b({requests}) is another one on the drive, with the margin and the host's time"
        ));
    }
    if !has_costs_of(certificate, &input.workload) {
        return other("the costs of requests on the drive differ, with the margin".to_owned());
    }
    let Some(drain) = &certificate.drain else { return Ok(()) };
    if drain_ns_max(&input.workload) != drain.ns_max {
        return other("the drain times of the drive differ, with the margin".to_owned());
    }
    if drain.has_best_effort == input.workload.best_effort.is_empty() {
        return other("the workload differs in whether it has best effort".to_owned());
    }
    Ok(())
}

/// Returns whether the costs in the certificate, if there are any, equal the workload's.
fn has_costs_of(certificate: &Certificate, workload: &Workload) -> bool {
    let Some(stated) = &certificate.costs else { return true };
    let requests = certificate.tasks.iter().map(|task| task.requests);
    let largest = requests.fold(0, u64::saturating_add).max(certificate.best_effort_fill);
    WorkloadCosts::of(workload).is_some_and(|found| {
        let of_tasks = certificate.tasks.iter().map(|task| task.cost_ns);
        !found.has_switches
            && found.known_max.is_none_or(|known| largest <= u64::from(known))
            && stated.positioning_ns == found.positioning.ns()
            && stated.best_effort_ns == found.best_effort.ns()
            && of_tasks.eq(found.of_tasks.iter().map(|cost| Some(cost.ns())))
    })
}

fn is_of(stated: &CertifiedTask, task: &Task) -> bool {
    stated.name == task.name
        && stated.period_ns == task.period.ns()
        && stated.deadline_ns == response_limit(task).ns()
        && stated.requests == u64::from(task.requests)
}

fn is_of_client(stated: &CertifiedTask, task: &Task, host: Option<HostTime>) -> bool {
    let has_way = host.is_some() || !task.jitter.is_zero();
    let found = has_way.then(|| (task.period.ns(), response_limit(task).ns(), task.jitter.ns()));
    stated.client.as_ref().map(|it| (it.period_ns, it.deadline_ns, it.jitter_ns)) == found
}

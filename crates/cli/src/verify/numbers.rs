// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the numbers of a certificate with the files that it is about: without this, a certificate
//! of other tasks or of a faster drive would pass with the hashes of the files.

use std::path::Path;

use tidegate_analysis::response_limit;
use tidegate_model::quantity::Share;
use tidegate_model::{PolicyName, Task};
use tidegate_report::FileOrigin;
use tidegate_verify::{Certificate, CertifiedTask, Refusal};

use crate::arguments::WorkloadArguments;
use crate::failure::Failure;
use crate::input::{self, Input};

/// Reads the workload file, on its own drive or on `drive`, with the certificate's margin.
pub(super) fn read(
    path: &Path,
    drive: Option<String>,
    certificate: &Certificate,
) -> Result<Input, Failure> {
    let arguments = WorkloadArguments {
        workload: path.to_owned(),
        drive,
        // The certificate states z; a z in the file that does not fit is no reason to refuse.
        batch: Some(1),
        order: None,
        margin: Some(Share { ppm: certificate.margin_ppm }),
    };
    input::read(&arguments, &[PolicyName::Dqf])
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
    let tasks = &input.workload.tasks;
    if certificate.tasks.len() != tasks.len() {
        let (stated, found) = (certificate.tasks.len(), tasks.len());
        return other(format!("it states {stated} tasks, and the workload has {found}"));
    }
    let mut pairs = certificate.tasks.iter().zip(tasks);
    if let Some((stated, _)) = pairs.find(|(stated, task)| !is_of(stated, task)) {
        return other(format!("the workload has no such task `{}` in this place", stated.name));
    }
    let table = &input.workload.planned().table;
    let times = (1..=table.batch_max()).map(|requests| Some(table.time_max(requests).ns()));
    let mut times = times.chain(std::iter::repeat(None));
    let differs = |&(_, &ns): &(u32, &u64)| times.next() != Some(Some(ns));
    match (1_u32..).zip(&certificate.batch_ns_max).find(differs) {
        Some((requests, _)) => {
            other(format!("b({requests}) is another one on the drive, with the margin"))
        }
        None => Ok(()),
    }
}

fn is_of(stated: &CertifiedTask, task: &Task) -> bool {
    stated.name == task.name
        && stated.period_ns == task.period.ns()
        && stated.deadline_ns == response_limit(task).ns()
        && stated.requests == u64::from(task.requests)
}

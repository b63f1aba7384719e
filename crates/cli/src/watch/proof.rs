// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The bounds of a workload under the disk's current settings.

use std::path::Path;

use tidegate_analysis::{Assessment, assess};
use tidegate_commands::{Changes, DriveChoice, read_text};
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{Document, DriveFile, DriveLimits, PolicyName, Workload};
use tidegate_report::{Origin, ResultFile};
use tidegate_tune::{Disk, Drift, Record};
use tidegate_watch::Declared;

use crate::failure::Failure;

/// A workload with its proved bounds.
pub(super) struct Proof {
    file: WorkloadFile,
    workload: Workload,
    drive: DriveFile,
    origin: Origin,
    assessment: Assessment,
    /// The differences from the settings of `tune`; `None` if the disk is not tuned.
    drift: Option<Vec<Drift>>,
}

impl Proof {
    /// Proves the workload at the queue depth that it states or, for a policy that needs one, at
    /// the disk's.
    pub(super) fn read(path: &Path, drive: Option<String>, disk: &Disk) -> Result<Self, Failure> {
        let drive = drive.map(DriveChoice::Named);
        let input = tidegate_commands::read(path, &Changes { drive, ..Changes::default() }, &[])?;
        check_policy(input.workload.policy)?;
        let origin = input.origin();
        let mut workload = input.workload;
        let tuned = &mut workload.parameters.mq_deadline_tuned;
        tuned.queue_depth = tuned.queue_depth.or_else(|| disk.queue_depth());
        // As in `tune`: if each request has a spare tag, the kernel takes none early.
        if tuned.queue_depth.is_some_and(|depth| disk.has_spare_tags(depth.get())) {
            tuned.taken_early = 0;
        }
        let assessment = assess(&workload, workload.policy);
        let record = Record::of(disk).map_err(|error| Failure::environment(&error))?;
        let drift = record.map(|record| record.drift(disk));
        Ok(Self { file: parse(path)?, workload, drive: input.drive, origin, assessment, drift })
    }

    /// Returns the entries of the workload with which requests are compared.
    pub(super) fn declared(&self) -> Declared {
        let bound = |task: &tidegate_analysis::TaskAssessment| Some(task.response_max?.0);
        let bounds: Vec<_> = self.assessment.tasks.iter().map(bound).collect();
        Declared::of(&self.file, &self.workload, &bounds)
    }

    /// Returns the times in the drive's tables, and the excess that the verdict tolerates.
    pub(super) fn limits(&self) -> DriveLimits {
        self.assessment.tolerant_plan(&self.workload).limits
    }

    /// Returns how the disk differs from the settings that `tune` made; `None` if it is not tuned.
    pub(super) fn drift(&self) -> Option<&[Drift]> {
        self.drift.as_deref()
    }

    /// Adds the drive and the premises of the proof to the result of a watch.
    pub(super) fn complete(&self, file: ResultFile) -> ResultFile {
        file.with_drive(Some(&self.drive))
            .with_premises(&self.assessment.premises, Some(&self.origin))
    }

    /// Returns the assessment with the verdict.
    pub(super) const fn assessment(&self) -> &Assessment {
        &self.assessment
    }
}

/// Refuses the bounds of a policy that the kernel does not enforce.
fn check_policy(policy: PolicyName) -> Result<(), Failure> {
    const ENFORCED: PolicyName = PolicyName::MqDeadlineTuned;
    if policy == ENFORCED {
        return Ok(());
    }
    Err(Failure::input(
        format!(
            "the workload's policy is `{}`, and the kernel enforces only `{}`",
            policy.name(),
            ENFORCED.name()
        ),
        format!("write `name = \"{}\"` below [policy]", ENFORCED.name()),
    ))
}

/// Reads the file again to get the units of its entries.
fn parse(path: &Path) -> Result<WorkloadFile, Failure> {
    let text = read_text(path, "workload file")?;
    let in_file = |error| Failure::in_file(path, &text, &error);
    let mut document = Document::parse(&text).map_err(in_file)?;
    // Only the disk part names units.
    let _processor = document.take_processor();
    WorkloadFile::of_document(document).map_err(in_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_another_policy_are_refused() {
        for policy in PolicyName::ALL {
            let is_enforced = policy == PolicyName::MqDeadlineTuned;
            assert_eq!(check_policy(policy).is_ok(), is_enforced, "{policy:?}");
        }
    }
}

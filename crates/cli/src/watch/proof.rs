// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The bounds of a workload under the settings that the disk has.

use std::path::Path;

use tidegate_analysis::{Assessment, assess};
use tidegate_commands::{Changes, DriveChoice, read_text};
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{Document, DriveLimits, Workload};
use tidegate_tune::Disk;
use tidegate_watch::Declared;

use crate::failure::Failure;

/// A workload with its bounds.
pub(super) struct Proof {
    file: WorkloadFile,
    workload: Workload,
    assessment: Assessment,
}

impl Proof {
    /// Proves the workload at the queue depth that it states or, for a policy that needs one, at
    /// the disk's.
    pub(super) fn read(path: &Path, drive: Option<String>, disk: &Disk) -> Result<Self, Failure> {
        let drive = drive.map(DriveChoice::Named);
        let input = tidegate_commands::read(path, &Changes { drive, ..Changes::default() }, &[])?;
        let mut workload = input.workload;
        let tuned = &mut workload.parameters.mq_deadline_tuned;
        tuned.queue_depth = tuned.queue_depth.or_else(|| disk.queue_depth());
        let assessment = assess(&workload, workload.policy);
        Ok(Self { file: parse(path)?, workload, assessment })
    }

    /// Returns the entries of the workload, to be compared.
    pub(super) fn declared(&self) -> Declared {
        let bound = |task: &tidegate_analysis::TaskAssessment| Some(task.response_max?.0);
        let bounds: Vec<_> = self.assessment.tasks.iter().map(bound).collect();
        Declared::of(&self.file, &self.workload, &bounds)
    }

    /// Returns the times of the drive's tables, and what the verdict tolerates.
    pub(super) fn limits(&self) -> DriveLimits {
        self.assessment.tolerant_plan(&self.workload).limits
    }

    /// Returns the verdict.
    pub(super) const fn assessment(&self) -> &Assessment {
        &self.assessment
    }
}

/// Reads the file again for the units of its entries.
fn parse(path: &Path) -> Result<WorkloadFile, Failure> {
    let text = read_text(path, "workload file")?;
    let in_file = |error| Failure::in_file(path, &text, &error);
    let mut document = Document::parse(&text).map_err(in_file)?;
    // The disk part alone names units.
    let _processor = document.take_processor();
    WorkloadFile::of_document(document).map_err(in_file)
}

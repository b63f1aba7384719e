// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads a workload and its drive.

use std::path::Path;

use tidegate_cpu_model::MachineFile;
use tidegate_model::quantity::Share;
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{BatchChoice, BestEffortOrder, DriveFile, FileError, PolicyName, Workload};
use tidegate_report::{FileOrigin, Origin};

use crate::drive::{NamedDrive, NotFound};
use crate::fault::Faults;
use crate::processor::{Processor, add_interference, with_profiles};
use crate::suggestion::{completed, completed_fault, quoted};
use crate::text::WorkloadFault;
use crate::{origin, tables, text};

/// The values that replace those in a workload file.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The drive to use.
    pub drive: Option<DriveChoice>,
    /// The largest batch, in requests.
    pub batch: Option<u32>,
    /// The order in which best effort is served.
    pub order: Option<BestEffortOrder>,
    /// The share by which the drive is planned to exceed its tables.
    pub margin: Option<Share>,
}

/// A drive that replaces the workload's drive.
#[derive(Debug, Clone)]
pub enum DriveChoice {
    /// A built-in drive's name, or the path of a drive file.
    Named(String),
    /// The drive itself.
    Given(Box<NamedDrive>),
}

impl Changes {
    /// Returns whether any change was given. All changes concern the disk part of a workload.
    pub fn is_some(&self) -> bool {
        let Self { drive, batch, order, margin } = self;
        drive.is_some() || batch.is_some() || order.is_some() || margin.is_some()
    }
}

/// A workload bound to its drive.
pub struct Input {
    /// The workload.
    pub workload: Workload,
    /// The drive.
    pub drive: DriveFile,
    /// The origin of the drive; `None` if the drive is in the workload file.
    pub drive_origin: Option<FileOrigin>,
    /// The text of the drive file; `None` if the drive is in the workload file.
    pub drive_text: Option<String>,
    /// The name and the hash of the workload file.
    pub workload_origin: FileOrigin,
}

impl Input {
    /// Returns the origin of a verdict on this input: the tool and the files.
    pub fn origin(&self) -> Origin {
        origin::of(self.workload_origin.clone(), self.drive_origin.clone())
    }

    /// Completes the commands in a text about the drive.
    pub fn completed(&self, text: &str) -> String {
        completed(text, &self.drive, self.drive_origin.as_ref().map(|origin| &*origin.name))
    }
}

/// The disk part and the processor part of a workload file, which has at least one of them.
pub struct Machine {
    /// The disk part.
    pub disk: Option<Input>,
    /// The processor part.
    pub cpu: Option<Processor>,
    /// The name and the hash of the workload file.
    pub workload_origin: FileOrigin,
}

/// Reads the workload file at `path` and its drive. `asked` holds the policies that replace the
/// file's.
///
/// # Errors
/// All faults of the workload file or of the drive file, or the fault that the workload file has no
/// disk.
pub fn read(path: &Path, changes: &Changes, asked: &[PolicyName]) -> Result<Input, Faults> {
    parse(path, &text::read_text(path, "workload file")?, changes, asked)
}

/// Does the same as [`read`] for a workload with this `text`. Relative names in it are relative to
/// the folder of `path`, which also names the workload in faults.
///
/// # Errors
/// The same as [`read`].
pub fn parse(
    path: &Path,
    text: &str,
    changes: &Changes,
    asked: &[PolicyName],
) -> Result<Input, Faults> {
    let make = |machine: MachineFile, text: &str| {
        // The processor part is parsed too, because its faults must not go unnoticed.
        let disk = machine.disk.map_or_else(|| WorkloadFile::parse(text), Ok)?;
        bind(disk, (path, text), changes, asked)
    };
    text::parse_workload(path, text, make).map_err(|faults| in_place(faults, path))
}

/// Inserts the workload file's name into the commands that faults suggest.
fn in_place(faults: Faults, path: &Path) -> Faults {
    faults.completed(|text| text.replace("WORKLOAD", &quoted(&path.to_string_lossy())))
}

/// Reads both parts of a workload file with this `text`, with the drive and the profiles that they
/// name. Relative names in it are relative to the folder of `path`, which also names the file in
/// faults.
///
/// # Errors
/// The same as [`read`]; also the first fault of a profile.
pub fn parse_machine(
    path: &Path,
    text: &str,
    changes: &Changes,
    asked: &[PolicyName],
) -> Result<Machine, Faults> {
    let make = |file: MachineFile, text: &str| {
        let disk = file.disk.map(|disk| bind(disk, (path, text), changes, asked)).transpose()?;
        let cpu = file.cpu.map(|cpu| with_profiles(cpu, path)).transpose()?;
        Ok(Machine { disk, cpu, workload_origin: origin::of_file(path, text) })
    };
    text::parse_workload(path, text, make).map_err(|faults| in_place(faults, path))
}

/// Binds the disk part of the workload file at this path, with this text, to its drive.
fn bind(
    mut file: WorkloadFile,
    (path, text): (&Path, &str),
    changes: &Changes,
    asked: &[PolicyName],
) -> Result<Input, WorkloadFault> {
    file.also_try(asked);
    if let Some(order) = changes.order {
        file.set_best_effort_order(order);
    }
    if let Some(margin) = changes.margin {
        file.set_margin(margin);
    }
    if changes.batch.is_some() {
        // The file's value is replaced, so it is no reason to refuse the file.
        file.set_batch(BatchChoice::Auto);
    }
    if let Some(host) = &mut file.host {
        add_interference(host, path)?;
    }
    let (drive, drive_origin, drive_text) = match (&changes.drive, &file.drive) {
        (Some(DriveChoice::Named(name)), _) => from_file(NamedDrive::new(name)?),
        (Some(DriveChoice::Given(drive)), _) => from_file((**drive).clone()),
        (None, DriveReference::Inline(drive)) => ((**drive).clone(), None, None),
        (None, DriveReference::Named { name, span }) => {
            let folder = path.parent().unwrap_or(Path::new(""));
            from_file(NamedDrive::beside(name, folder).map_err(|reason| match reason {
                NotFound::Missing { message, help } => {
                    FileError::new(span.clone(), message, help).into()
                }
                NotFound::Faulty(faults) => WorkloadFault::Elsewhere(faults),
            })?)
        }
    };
    let drive = tables::with_tables(&drive, &file.without_table(&drive)).unwrap_or(drive);
    let workload = file.bind(&drive).map_err(|fault| match &drive_origin {
        Some(origin) => completed_fault(fault, &drive, &origin.name),
        None => fault,
    })?;
    let mut workload = tidegate_drive::with_prediction(workload, &drive);
    let known = drive_origin.as_ref().map(|origin| &*origin.name);
    workload.premises.change_to_do(|command| completed(command, &drive, known));
    if let Some(batch_max) = changes.batch {
        check_batch(batch_max, &workload)?;
        workload.batch = BatchChoice::Fixed(batch_max);
    }
    let workload_origin = origin::of_file(path, text);
    Ok(Input { workload, drive, drive_origin, drive_text, workload_origin })
}

fn from_file(drive: NamedDrive) -> (DriveFile, Option<FileOrigin>, Option<String>) {
    (drive.file, Some(drive.origin), Some(drive.text))
}

fn check_batch(batch_max: u32, workload: &Workload) -> Result<(), Faults> {
    let largest = workload.table.batch_max();
    if batch_max == 0 {
        return Err(Faults::one(
            "batch is 0, so no request would ever be served",
            format!("allow 1 to {largest} requests in a batch"),
        ));
    }
    if batch_max <= largest {
        return Ok(());
    }
    Err(Faults::one(
        format!(
            "a batch of {batch_max} exceeds the table of `{}`, which ends at {largest}",
            workload.drive_name
        ),
        format!("allow at most {largest} requests in a batch"),
    ))
}

/// Returns the policies in `asked`, each once; if there are none, the workload's own policy.
pub fn policies(asked: &[PolicyName], workload: &Workload) -> Vec<PolicyName> {
    let mut policies = if asked.is_empty() { vec![workload.policy] } else { asked.to_vec() };
    let mut seen = Vec::new();
    policies.retain(|policy| {
        let is_new = !seen.contains(policy);
        seen.push(*policy);
        is_new
    });
    policies
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Changes, parse};

    const CAMERA: &str = "drive = \"maxtor-atlas-10k-v\"\n\
                          [[task]]\nname = \"camera\"\nperiod = \"40ms\"\nsize = \"128KiB\"\n";

    fn fault_of_batch(batch: u32) -> Option<String> {
        let changes = Changes { batch: Some(batch), ..Changes::default() };
        let parsed = parse(Path::new("workload"), CAMERA, &changes, &[]);
        parsed.err().map(|faults| faults.0[0].message.clone())
    }

    #[test]
    fn a_batch_in_place_of_the_files_is_within_the_table() {
        assert_eq!(fault_of_batch(1), None);
        let none = fault_of_batch(0).expect("refused");
        assert_eq!(none, "batch is 0, so no request would ever be served");
        let most = fault_of_batch(u32::MAX).expect("refused");
        assert!(most.contains("exceeds the table"), "{most}");
    }
}

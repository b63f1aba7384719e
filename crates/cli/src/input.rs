// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads a workload and its drive.

use std::path::Path;

use tidegate_cpu_model::MachineFile;
use tidegate_drive::NamedError;
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{BatchChoice, DriveFile, FileError, FileKind, PolicyName, Workload};
use tidegate_platform::text_file;
use tidegate_report::{FileOrigin, Origin};

use crate::arguments::WorkloadArguments;
use crate::command_line::{completed, completed_fault, quoted};
use crate::cpu::input::{Processor, add_interference, with_profiles};
use crate::failure::Failure;
use crate::origin;
use crate::text_input::{self, WorkloadFault};

/// A workload bound to its drive.
pub(crate) struct Input {
    pub(crate) workload: Workload,
    pub(crate) drive: DriveFile,
    /// Where the drive is from; `None` if it is in the workload file.
    pub(crate) drive_origin: Option<FileOrigin>,
    pub(crate) workload_origin: FileOrigin,
}

impl Input {
    /// Returns what a verdict on it is made from.
    pub(crate) fn origin(&self) -> Origin {
        origin::of(self.workload_origin.clone(), self.drive_origin.clone())
    }
}

impl Input {
    /// Completes the commands in a text about the drive.
    pub(crate) fn completed(&self, text: &str) -> String {
        let known = self.drive_origin.as_ref().map(|origin| &*origin.name);
        completed(text, &self.drive, known)
    }
}

/// The disk part and the processor part of a workload file; it has at least one of them.
pub(crate) struct Machine {
    pub(crate) disk: Option<Input>,
    pub(crate) cpu: Option<Processor>,
    pub(crate) workload_origin: FileOrigin,
}

/// Reads the workload file and the drive that the file or the command line names; `asked` holds the
/// policies that the command line names.
pub(crate) fn read(arguments: &WorkloadArguments, asked: &[PolicyName]) -> Result<Input, Failure> {
    let path = &arguments.workload;
    let in_place = |text: &str| text.replace("WORKLOAD", &quoted(&path.to_string_lossy()));
    let read = |machine: MachineFile, text: &str| {
        // The processor's part is checked too: a fault there must not pass unnoticed.
        let disk = machine.disk.map_or_else(|| WorkloadFile::parse(text), Ok)?;
        bind(disk, text, arguments, asked)
    };
    text_input::read_workload(path, read).map_err(|failure| failure.completed(in_place))
}

/// Reads both parts of a workload file, with the drive and the profiles that they name.
pub(crate) fn read_machine(
    arguments: &WorkloadArguments,
    asked: &[PolicyName],
) -> Result<Machine, Failure> {
    let path = &arguments.workload;
    let WorkloadArguments { drive, batch, order, margin, .. } = arguments;
    let is_about_disk = drive.is_some()
        || batch.is_some()
        || order.is_some()
        || margin.is_some()
        || !asked.is_empty();
    text_input::read_workload(path, |file, text| {
        if file.disk.is_none() && is_about_disk {
            return Err(WorkloadFault::Elsewhere(Failure::input(
                "--drive, --batch, --order, --margin and --policy apply to a disk, but the workload has none",
                "leave these options out, or add a drive and a [[task]] to the file",
            )));
        }
        let disk = file.disk.map(|disk| bind(disk, text, arguments, asked)).transpose()?;
        let cpu = file.cpu.map(|cpu| with_profiles(cpu, path)).transpose()?;
        Ok(Machine { disk, cpu, workload_origin: origin::of_file(path, text) })
    })
}

/// Binds the disk part of a workload file to its drive.
fn bind(
    mut file: WorkloadFile,
    text: &str,
    arguments: &WorkloadArguments,
    asked: &[PolicyName],
) -> Result<Input, WorkloadFault> {
    let path = &arguments.workload;
    file.also_try(asked);
    if let Some(order) = arguments.order {
        file.set_best_effort_order(order);
    }
    if let Some(margin) = arguments.margin {
        file.set_margin(margin);
    }
    if arguments.batch.is_some() {
        // The command line overrides the file's value, which therefore is not a reason to refuse
        // the file.
        file.set_batch(BatchChoice::Auto);
    }
    if let Some(host) = &mut file.host {
        add_interference(host, path)?;
    }
    let of_file = |(drive, origin)| (drive, Some(origin));
    let (drive, drive_origin) = match (&arguments.drive, &file.drive) {
        (Some(name), _) => {
            of_file(read_drive(name, Path::new("")).map_err(DriveFault::on_command_line)?)
        }
        (None, DriveReference::Inline(drive)) => ((**drive).clone(), None),
        (None, DriveReference::Named { name, span }) => {
            let folder = path.parent().unwrap_or(Path::new(""));
            of_file(read_drive(name, folder).map_err(|fault| match fault {
                DriveFault::Missing { message, help } => {
                    WorkloadFault::InFile(FileError::new(span.clone(), message, help))
                }
                DriveFault::Faulty(failure) => WorkloadFault::Elsewhere(failure),
            })?)
        }
    };
    let workload = file.bind(&drive).map_err(|fault| match &drive_origin {
        Some(origin) => completed_fault(fault, &drive, &origin.name),
        None => fault,
    })?;
    let mut workload = tidegate_drive::with_prediction(workload, &drive);
    let known = drive_origin.as_ref().map(|origin| &*origin.name);
    workload.premises.change_to_do(|command| completed(command, &drive, known));
    if let Some(batch_max) = arguments.batch {
        check_batch(batch_max, &workload)?;
        workload.batch = BatchChoice::Fixed(batch_max);
    }
    Ok(Input { workload, drive, drive_origin, workload_origin: origin::of_file(path, text) })
}

fn check_batch(batch_max: u32, workload: &Workload) -> Result<(), Failure> {
    let largest = workload.table.batch_max();
    if batch_max <= largest {
        return Ok(());
    }
    Err(Failure::input(
        format!(
            "--batch {batch_max} exceeds the table of `{}`, which ends at {largest}",
            workload.drive_name
        ),
        format!("write at most --batch {largest}"),
    ))
}

/// Returns the policies on the command line, or the one that the workload names.
pub(crate) fn policies(asked: &[PolicyName], workload: &Workload) -> Vec<PolicyName> {
    let mut policies = if asked.is_empty() { vec![workload.policy] } else { asked.to_vec() };
    let mut seen = Vec::new();
    policies.retain(|policy| {
        let is_new = !seen.contains(policy);
        seen.push(*policy);
        is_new
    });
    policies
}

/// The reason why a drive cannot be used.
enum DriveFault {
    /// No drive has this name; the fault is reported where the name is given.
    Missing { message: String, help: String },
    /// The drive file is faulty.
    Faulty(Failure),
}

impl DriveFault {
    fn on_command_line(self) -> Failure {
        match self {
            Self::Missing { message, help } => Failure::input(message, help),
            Self::Faulty(failure) => failure,
        }
    }
}

/// Reads the drive that the command line names: a built-in one, or a file.
pub(crate) fn drive_named(name: &str) -> Result<DriveFile, Failure> {
    let read = read_drive(name, Path::new(""));
    read.map(|(drive, _)| drive).map_err(DriveFault::on_command_line)
}

/// Returns where the drive that the command line names is from.
pub(crate) fn drive_origin(name: &str) -> Result<FileOrigin, Failure> {
    let read = read_drive(name, Path::new(""));
    read.map(|(_, origin)| origin).map_err(DriveFault::on_command_line)
}

/// Returns the drive of that name, a built-in one or a file relative to `folder`, and its origin.
fn read_drive(name: &str, folder: &Path) -> Result<(DriveFile, FileOrigin), DriveFault> {
    let built_in = tidegate_drive::builtin::text(name);
    let mut origin = built_in.map(|text| origin::of_built_in(name, text)).ok();
    let read = |path: &Path| {
        let text = text_file::read(path)?;
        origin = Some(origin::of_file(path, &text));
        Ok::<_, text_file::ReadError>(text)
    };
    let drive = tidegate_drive::named(name, folder, read).map_err(|error| match error {
        NamedError::Unreadable { path, source } => {
            let (message, help) = tidegate_drive::unreadable(name, &path, &source);
            DriveFault::Missing { message, help }
        }
        NamedError::Faulty { path, text, error } => DriveFault::Faulty(Failure::of_reading(
            &path,
            &text,
            FileKind::Drive,
            error,
            DriveFile::parse,
        )),
    })?;
    Ok((drive, origin.expect("it is built in, or was read")))
}

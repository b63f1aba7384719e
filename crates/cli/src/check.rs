// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate check`: proves the deadlines of a workload or the contracts of a serve file, or says
//! that it cannot.

use std::path::Path;

use tidegate_commands::{explained, file_origin, origin_of};
use tidegate_model::{DriveFile, FileKind};
use tidegate_report::cpu::CpuReport;
use tidegate_report::{
    CheckReport, MachineReport, NoCertificate, Origin, ResultCommand, ResultFile,
};

use crate::answer::Answer;
use crate::arguments::CheckArguments;
use crate::command_line;
use crate::distinct_files::check_distinct;
use crate::failure::Failure;
use crate::result::Destination;
use crate::run_progress::WallTime;
use crate::serve::proof;
use crate::show::{self, Form};

/// Runs the command for a serve file, or for a workload's disk, its processor, or both; the
/// verdicts on both give one answer.
pub(crate) fn check(arguments: &CheckArguments) -> Result<Answer, Failure> {
    check_distinct(&[
        ("--certificate", arguments.certificate.as_deref()),
        ("--result", arguments.result.result.as_deref()),
    ])?;
    let path = &arguments.workload.workload;
    let text = tidegate_commands::read_text(path, "workload file")?;
    if FileKind::of(&text) == Some(FileKind::Serve) {
        return check_contracts(arguments);
    }
    let result = Destination::prepare(arguments.result.result.as_deref())?;
    let changes = arguments.workload.changes();
    let asked = arguments.policy.as_slice();
    let machine = tidegate_commands::parse_machine(path, &text, &changes, asked)?;
    if machine.disk.is_none() && (changes.is_some() || !asked.is_empty()) {
        return Err(Failure::input(
            "--drive, --batch, --order, --margin and --policy apply to a disk, but the workload has none",
            "leave these options out, or add a drive and a [[task]] to the file",
        ));
    }
    // On a drive with a large table, the search for the largest batch takes seconds.
    let working = WallTime::of_work("Checking").map_err(|error| Failure::environment(&error))?;
    let disk = machine.disk.as_ref().map(|disk| {
        let policy = arguments.policy.unwrap_or(disk.workload.policy);
        let report = CheckReport::of(&disk.workload, policy).with_fits();
        let more = command_line::changed(&[], &["--explain"]);
        let report = report.with_commands(|command| disk.completed(command), more);
        if arguments.explain { explained(report, disk) } else { report }
    });
    let cpu = machine.cpu.as_ref().map(|cpu| CpuReport::of(&cpu.workload, &cpu.measured));
    drop(working);
    let of_drive = machine.disk.as_ref().and_then(|disk| disk.drive_origin.clone());
    let origin = origin_of(machine.workload_origin.clone(), of_drive);
    if let Some(path) = &arguments.certificate {
        certify(path, disk.as_ref(), &origin)?;
    }
    let report = MachineReport::of(disk, cpu, arguments.require, origin);
    let drive = machine.disk.as_ref().map(|disk| &disk.drive);
    answer(&report, &result, drive, arguments.form.into())
}

/// Proves the contracts of a serve file. The store need not be on this computer.
fn check_contracts(arguments: &CheckArguments) -> Result<Answer, Failure> {
    let asked = &arguments.workload;
    if asked.drive.is_some()
        || asked.batch.is_some()
        || asked.order.is_some()
        || arguments.policy.is_some()
    {
        return Err(Failure::input(
            "--drive, --batch, --order and --policy apply to a workload file",
            "leave these options out, and change the serve file: its `drive` and its [policy]",
        ));
    }
    let result = Destination::prepare(arguments.result.result.as_deref())?;
    let path = &asked.workload;
    let prepared = proof::read(path, asked.margin)?;
    let more = command_line::changed(&[], &["--explain"]);
    let working = WallTime::of_work("Checking").map_err(|error| Failure::environment(&error))?;
    let report = proof::report(&prepared, path, more);
    drop(working);
    let Some(report) = report else {
        return Err(Failure::input(
            format!("{} has no contract to prove", path.display()),
            "give an export a `contract`, or check a workload file",
        ));
    };
    let report = if arguments.explain { report.explained(None) } else { report };
    let drive = proof::known_drive(prepared.file(), path).map(|(_, drive)| drive);
    let of_drive = drive.as_ref().map(|drive| drive.origin.clone());
    let origin = origin_of(file_origin(path, prepared.text()), of_drive);
    if let Some(path) = &arguments.certificate {
        certify(path, Some(&report), &origin)?;
    }
    let report = MachineReport::of(Some(report), None, arguments.require, origin);
    let drive = drive.as_ref().map(|drive| &drive.file);
    answer(&report, &result, drive, arguments.form.into())
}

/// Prints the report, and writes the result if a file is named.
fn answer(
    report: &MachineReport<'_>,
    result: &Destination,
    drive: Option<&DriveFile>,
    form: Form,
) -> Result<Answer, Failure> {
    show::report_in(report, form);
    result.write(|| {
        let file = ResultFile::of(ResultCommand::Check, report, Vec::new());
        file.with_drive(drive).with_curves(report.curves())
    })?;
    Ok(Answer::of(report.is_enough()))
}

/// Writes the certificate of the disk's verdict. If the verdict proves nothing, there is no
/// certificate, which is not a failure.
fn certify(path: &Path, disk: Option<&CheckReport<'_>>, origin: &Origin) -> Result<(), Failure> {
    let Some(disk) = disk else {
        return Err(Failure::input(
            "--certificate applies to a disk, but the workload has none",
            "leave the option out, or add a drive and a [[task]] to the file",
        ));
    };
    let certificate = match disk.certificate(origin.clone()) {
        Ok(certificate) => certificate,
        Err(NoCertificate::NotProven) => {
            show::complain(format!("no certificate: {}", NoCertificate::NotProven));
            return Ok(());
        }
        Err(reason) => {
            let message = format!("no certificate: {reason}");
            return Err(Failure::input(message, "check the workload without --certificate"));
        }
    };
    let text = serde_json::to_string_pretty(&certificate).expect("a certificate has string keys");
    std::fs::write(path, text + "\n").map_err(|error| {
        Failure::input(
            format!("cannot write the certificate {}: {error}", path.display()),
            "name a file in a folder that can be written",
        )
    })
}

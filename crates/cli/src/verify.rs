// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate verify`: checks the certificate of a verdict, without the code that made the verdict.

mod numbers;

use serde::Serialize;
use tidegate_commands::{Input, NamedDrive, file_origin, read_text};
use tidegate_model::FileError;
use tidegate_report::{FileOrigin, Page, Report};
use tidegate_verify::{Accepted, Certificate, FileHash, Refusal};

use crate::answer::Answer;
use crate::arguments::VerifyArguments;
use crate::failure::Failure;
use crate::show;

/// Runs the command. Without files to compare, it reports which files the certificate is about.
pub(crate) fn verify(arguments: &VerifyArguments) -> Result<Answer, Failure> {
    let path = &arguments.certificate;
    let text = read_text(path, "certificate")?;
    let certificate: Certificate = serde_json::from_str(&text).map_err(|error| {
        let help = "name a file that `tidegate check --certificate FILE` wrote";
        Failure::in_file(path, &text, &json_fault(&text, &error, "certificate", help))
    })?;
    let workload = arguments.workload.as_ref().map(|path| {
        let text = read_text(path, "workload file")?;
        let file = file_origin(path, &text);
        let is_it = file.sha256 == certificate.workload.sha256;
        let on_drive = is_it.then(|| numbers::read(path, arguments.drive.clone(), &certificate));
        Ok::<_, Failure>((file, on_drive.transpose()?))
    });
    let drive =
        arguments.drive.as_ref().map(|name| NamedDrive::new(name).map(|drive| drive.origin));
    let drive = drive.or_else(|| numbers::drive_of(workload.as_ref()?.as_ref().ok()?).map(Ok));
    let (workload, drive) = (workload.transpose()?, drive.transpose()?);
    let found = checked(&certificate, workload.as_ref(), drive.as_ref());
    let report = VerifyReport {
        is_accepted: found.is_ok(),
        tasks: found.as_ref().map_or(0, |found| found.tasks),
        by_window: found.as_ref().map_or(0, |found| found.by_window),
        refusal: found.err().map(|refusal| refusal.to_string()),
        workload: About::of(&certificate.workload, workload.is_some()),
        drive: certificate.drive.as_ref().map(|file| About::of(file, drive.is_some())),
    };
    show::report_in(&report, arguments.form);
    Ok(Answer::of(report.is_accepted))
}

/// Whether a certificate is accepted, and the files that it is about.
#[derive(Debug, Serialize)]
struct VerifyReport<'a> {
    is_accepted: bool,
    tasks: usize,
    by_window: usize,
    refusal: Option<String>,
    workload: About<'a>,
    /// The drive file; `None` if the workload file contains the drive.
    drive: Option<About<'a>>,
}

/// A file that a certificate is about.
#[derive(Debug, Serialize)]
struct About<'a> {
    name: &'a str,
    sha256: &'a str,
    is_compared: bool,
}

impl<'a> About<'a> {
    fn of(file: &'a FileHash, is_compared: bool) -> Self {
        Self { name: &file.name, sha256: &file.sha256, is_compared }
    }

    fn write(&self, label: &str, page: &mut Page) {
        let how = if self.is_compared { "compared with your file" } else { "not compared" };
        page.labelled(label, format!("{} ({how}), SHA-256", self.name));
        page.labelled("", self.sha256);
    }
}

impl Report for VerifyReport<'_> {
    fn answer(&self) -> Option<tidegate_report::Answer> {
        use tidegate_report::Answer;
        Some(match &self.refusal {
            Some(refusal) => Answer::bad(format!("REFUSED: {refusal}.")),
            None => Answer::good(format!(
                "ACCEPTED: the bounds of all tasks ({}) hold, and are within the deadlines.",
                self.tasks
            )),
        })
    }

    fn write(&self, page: &mut Page) {
        writeln!(page);
        self.workload.write("Workload", page);
        match &self.drive {
            Some(drive) => drive.write("Drive", page),
            None => page.labelled("Drive", "in the workload file"),
        }
    }
}

/// Compares the files and their numbers with the certificate, then checks the certificate.
fn checked(
    certificate: &Certificate,
    workload: Option<&(FileOrigin, Option<Input>)>,
    drive: Option<&FileOrigin>,
) -> Result<Accepted, Refusal> {
    if let Some((file, on_drive)) = workload {
        compare(file, &certificate.workload)?;
        on_drive.as_ref().map_or(Ok(()), |input| numbers::compare(certificate, input))?;
    }
    if let Some(file) = drive {
        compare(file, certificate.drive.as_ref().ok_or(Refusal::NoDriveFile)?)?;
    }
    tidegate_verify::verify(certificate)
}

fn compare(file: &FileOrigin, stated: &FileHash) -> Result<(), Refusal> {
    if file.sha256 == stated.sha256 {
        return Ok(());
    }
    let (name, found) = (file.name.clone(), file.sha256.clone());
    Err(Refusal::OtherFile { name, found, stated: stated.sha256.clone() })
}

/// Makes the fault, with its position, of a text that should contain one JSON object.
fn json_fault(text: &str, error: &serde_json::Error, wanted: &str, help: &str) -> FileError {
    let start: usize = text.split_inclusive('\n').take(error.line().max(1) - 1).map(str::len).sum();
    let at = (start + error.column().max(1) - 1).min(text.len());
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = said.strip_suffix(&place).unwrap_or(&said);
    let said = if error.is_eof() { "the file ends too early" } else { said };
    FileError::new(at..at + 1, format!("this is not a {wanted}: {said}"), help)
}

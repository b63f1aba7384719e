// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate verify`: checks the certificate of a verdict, without the code that made the verdict.

mod numbers;

use tidegate_report::FileOrigin;
use tidegate_verify::{Accepted, Certificate, FileHash, Refusal};

use crate::answer::Answer;
use crate::arguments::VerifyArguments;
use crate::failure::Failure;
use crate::input::Input;
use crate::show::labelled;
use crate::{input, origin, text_input};

/// Runs the command. Without files to compare, it says which files the certificate is about.
pub(crate) fn verify(arguments: &VerifyArguments) -> Result<Answer, Failure> {
    let path = &arguments.certificate;
    let text = text_input::read_named(path, "certificate")?;
    let certificate: Certificate = serde_json::from_str(&text).map_err(|error| {
        Failure::input(
            format!("{} is not a certificate: {error}", path.display()),
            "name a file that `tidegate check --certificate FILE` wrote",
        )
    })?;
    let workload = arguments.workload.as_ref().map(|path| {
        let text = text_input::read_named(path, "workload file")?;
        let file = origin::of_file(path, &text);
        let is_it = file.sha256 == certificate.workload.sha256;
        let on_drive = is_it.then(|| numbers::read(path, arguments.drive.clone(), &certificate));
        Ok::<_, Failure>((file, on_drive.transpose()?))
    });
    let drive = arguments.drive.as_ref().map(|name| input::drive_origin(name));
    let drive = drive.or_else(|| numbers::drive_of(workload.as_ref()?.as_ref().ok()?).map(Ok));
    let (workload, drive) = (workload.transpose()?, drive.transpose()?);
    let found = checked(&certificate, workload.as_ref(), drive.as_ref());
    let answer = Answer::of(found.is_ok());
    match found {
        Ok(Accepted { tasks, .. }) => labelled(
            "Accepted",
            &format!("the bounds of all {tasks} tasks hold, and are within the deadlines"),
        ),
        Err(refusal) => labelled("Refused", &refusal.to_string()),
    }
    labelled("Workload", &about(Some(&certificate.workload), workload.is_some()));
    labelled("Drive", &about(certificate.drive.as_ref(), drive.is_some()));
    Ok(answer)
}

/// Compares the files and their numbers, then checks the certificate.
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

/// Says which file the certificate is about, and whether it was compared.
fn about(file: Option<&FileHash>, is_compared: bool) -> String {
    let Some(FileHash { name, sha256 }) = file else {
        return "in the workload file".to_owned();
    };
    let how = if is_compared { "compared with your file" } else { "not compared" };
    format!("{name}, SHA-256 {sha256} ({how})")
}

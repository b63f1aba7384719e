// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive detach`: lists attached drives and detaches them.

use std::fs;
use std::path::Path;

use tidegate_attach::record::ROOT;
use tidegate_attach::{AttachmentFolder, Record};
use tidegate_report::drive::{AttachedDrive, AttachedReport};

use super::arguments::DetachArguments;
use super::attach::detach_failure;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::show::{self, out};

/// Runs the command.
pub(crate) fn detach(arguments: &DetachArguments) -> Result<Answer, Failure> {
    let places =
        AttachmentFolder::all(Path::new(ROOT)).map_err(|error| Failure::environment(&error))?;
    if arguments.all {
        // A drive that cannot be detached does not prevent detaching the others.
        let results: Vec<_> = places.iter().map(|place| take(place, arguments.force)).collect();
        return results.into_iter().collect::<Result<Vec<()>, _>>().map(|_| Answer::Yes);
    }
    let Some(target) = &arguments.target else {
        let attached = places.iter().map(attached).collect();
        show::report(&AttachedReport { attached }, arguments.json);
        return Ok(Answer::Yes);
    };
    let place = places.iter().find(|place| is_meant(place, target)).ok_or_else(|| {
        Failure::input(
            format!("no attached drive has the name or the device `{target}`"),
            "`tidegate drive detach` lists the attached drives",
        )
    })?;
    take(place, arguments.force)?;
    Ok(Answer::Yes)
}

fn is_meant(place: &AttachmentFolder, target: &str) -> bool {
    let path = Path::new(target);
    let is_its_device = |record: Record| record.device.as_deref() == Some(path);
    place.name() == target
        || tidegate_attach::devices(place).iter().any(|device| device == path)
        || place.record().is_some_and(is_its_device)
}

fn take(place: &AttachmentFolder, is_forced: bool) -> Result<(), Failure> {
    let record = place.record();
    let held = tidegate_attach::detach(place, is_forced).map_err(|error| detach_failure(&error))?;
    show::labelled("Detached", &place.name());
    for device in held {
        let device = device.display();
        show::labelled(
            "Stays",
            &format!("{device} fails requests until every process has closed it"),
        );
    }
    if let Some(log) = record.and_then(|record| record.log) {
        print_end(&fs::read_to_string(&log).unwrap_or_default());
        // No process uses the log any more.
        let _ = fs::remove_file(&log);
    }
    Ok(())
}

/// Prints the final statistics of the drive's process: the text after the empty line.
fn print_end(text: &str) {
    if let Some((_, end)) = text.split_once("\n\n") {
        out!("{end}");
    }
}

fn attached(place: &AttachmentFolder) -> AttachedDrive {
    let record = place.record();
    let holders = tidegate_attach::holders(place);
    AttachedDrive {
        name: place.name(),
        device: device(place),
        drive: record.as_ref().map(|record| record.drive.clone()),
        size_bytes: record.as_ref().map(|record| record.size_bytes),
        pid: record.as_ref().map(|record| record.pid),
        is_served: record.as_ref().is_some_and(Record::is_served),
        is_in_use: !holders.is_empty(),
        holders: holders.to_string(),
    }
}

fn device(place: &AttachmentFolder) -> Option<String> {
    tidegate_attach::devices(place).first().map(|device| device.display().to_string())
}

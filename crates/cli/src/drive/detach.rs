// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive detach`: lists attached drives and detaches them.

use std::fs;
use std::path::Path;

use tidegate_attach::record::ROOT;
use tidegate_attach::{AttachmentFolder, Record};
use tidegate_report::drive::{AttachedDrive, AttachedReport, DetachReport, DetachedDrive};

use super::arguments::DetachArguments;
use super::attach::{detach_failure, logged};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::show;

/// Runs the command.
pub(crate) fn detach(arguments: &DetachArguments) -> Result<Answer, Failure> {
    let places =
        AttachmentFolder::all(Path::new(ROOT)).map_err(|error| Failure::environment(&error))?;
    if arguments.all {
        // A drive that cannot be detached does not prevent detaching the others.
        let (mut detached, mut failures) = (Vec::new(), Vec::new());
        for place in &places {
            match take(place, arguments.force) {
                Ok(drive) => detached.push(drive),
                Err(failure) => failures.push(failure),
            }
        }
        if failures.is_empty() || !detached.is_empty() {
            show::report_in(&DetachReport { detached }, arguments.form);
        }
        return failures.into_iter().next().map_or(Ok(Answer::Yes), Err);
    }
    let Some(target) = &arguments.target else {
        let attached = places.iter().map(attached).collect();
        show::report_in(&AttachedReport { attached }, arguments.form);
        return Ok(Answer::Yes);
    };
    let place = places.iter().find(|place| is_meant(place, target)).ok_or_else(|| {
        Failure::input(
            format!("no attached drive has the name or the device `{target}`"),
            "`tidegate drive detach` lists the attached drives",
        )
    })?;
    let detached = vec![take(place, arguments.force)?];
    show::report_in(&DetachReport { detached }, arguments.form);
    Ok(Answer::Yes)
}

fn is_meant(place: &AttachmentFolder, target: &str) -> bool {
    let path = Path::new(target);
    let is_its_device = |record: Record| record.device.as_deref() == Some(path);
    place.name() == target
        || tidegate_attach::devices(place).iter().any(|device| device == path)
        || place.record().is_some_and(is_its_device)
}

fn take(place: &AttachmentFolder, is_forced: bool) -> Result<DetachedDrive, Failure> {
    let record = place.record();
    let held = tidegate_attach::detach(place, is_forced).map_err(|error| detach_failure(&error))?;
    let log = record.and_then(|record| record.log);
    let statistics = log.and_then(|log| {
        let text = fs::read_to_string(&log).unwrap_or_default();
        // No process uses the log any more.
        let _ = fs::remove_file(&log);
        logged(&text)
    });
    let held = held.iter().map(|device| device.display().to_string()).collect();
    Ok(DetachedDrive { name: place.name(), held, statistics })
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

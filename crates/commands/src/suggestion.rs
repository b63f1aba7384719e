// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Completes commands that a message suggests, so that they work when they are pasted.

use std::path::Path;

use tidegate_model::{DriveFile, FileError};

/// Quotes a word if a shell would interpret it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The placeholder for the device to measure in commands that libraries suggest.
const TARGET: &str = "profile TARGET";

/// Completes a suggested measurement. `TARGET` becomes the drive itself if it is simulated, or else
/// the device that the file names; `FILE` becomes the drive file. A built-in drive's new tables go
/// into a new file, because nothing can be added to a built-in drive.
pub fn completed(command: &str, drive: &DriveFile, known: Option<&str>) -> String {
    let is_built_in = known.is_some_and(tidegate_drive::builtin::is_name);
    let place = drive.identity.place.as_deref().filter(|place| !place.contains([' ', '/']));
    let command = match known.map(quoted) {
        Some(name) if is_built_in => {
            let output = format!("-o {name}.drive.toml");
            command.replace(TARGET, &format!("profile {name}")).replace("--add -o FILE", &output)
        }
        Some(path) if drive.parts().is_some() && path.ends_with(".drive.toml") => {
            let target = format!("profile {path}");
            command.replace(TARGET, &target).replace("-o FILE", &format!("-o {path}"))
        }
        Some(path) => command.replace("-o FILE", &format!("-o {path}")),
        // Nothing can be added to a drive that is in a workload file.
        None => command.replace("--add -o FILE", "-o NEW.drive.toml"),
    };
    let device = place.map_or_else(|| "DEVICE".to_owned(), |place| format!("/dev/{place}"));
    command.replace(TARGET, &format!("profile {device}"))
}

/// Completes the commands in the advice of a fault.
pub fn completed_fault(mut fault: FileError, drive: &DriveFile, known: &str) -> FileError {
    fault.help = fault.help.map(|help| completed(&help, drive, Some(known)));
    fault
}

/// Returns the path of a file in the folder of `path`, in a form that the user can type; a built-in
/// drive's name is returned unchanged.
pub fn beside(path: &Path, name: &str) -> String {
    if tidegate_drive::builtin::is_name(name) {
        return name.to_owned();
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    folder.join(name).display().to_string()
}

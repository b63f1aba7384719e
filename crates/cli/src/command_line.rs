// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Commands that a message suggests: complete, so that they work when they are pasted.

use std::path::Path;

use tidegate_model::{DriveFile, FileError};

use crate::arguments::WorkloadArguments;

/// Returns this command with changes: without the named options and their values, and with others
/// at its end.
pub(crate) fn changed(without: &[&str], with: &[&str]) -> String {
    let words = std::env::args().skip(1);
    changed_words(words, without, with)
}

/// The options of `profile`, `check` and `serve` that have no value.
const SWITCHES: [&str; 11] = [
    "--print",
    "--force",
    "--explain",
    "--plan",
    "--add",
    "--resume",
    "--keep-samples",
    "--quick",
    "--allow-writes",
    "--json",
    "--quiet",
];

fn changed_words(words: impl Iterator<Item = String>, without: &[&str], with: &[&str]) -> String {
    let mut kept = vec!["tidegate".to_owned()];
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or(&word);
        if !without.contains(&name) && !with.contains(&name) {
            kept.push(quoted(&word));
        } else if name == word && !SWITCHES.contains(&name) {
            // Its value follows.
            words.next();
        }
    }
    kept.extend(with.iter().map(|&word| word.to_owned()));
    kept.join(" ")
}

/// Quotes a word if a shell would change it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The device to measure, in a command of a library.
const TARGET: &str = "profile TARGET";

/// Completes a suggested measurement: `TARGET` is the drive itself if it is simulated, or the
/// device that the file names; `FILE` is the drive file. A built-in drive's new tables go into a new
/// file, because nothing can be added to it.
pub(crate) fn completed(command: &str, drive: &DriveFile, known: Option<&str>) -> String {
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
        // Nothing can be added to a drive in a workload file.
        None => command.replace("--add -o FILE", "-o NEW.drive.toml"),
    };
    let device = place.map_or_else(|| "DEVICE".to_owned(), |place| format!("/dev/{place}"));
    command.replace(TARGET, &format!("profile {device}"))
}

/// Returns the command that prints the doubts and notes about a workload in full.
pub(crate) fn explaining(arguments: &WorkloadArguments) -> String {
    let WorkloadArguments { workload, drive, batch, order, margin } = arguments;
    let mut words = vec!["tidegate check".to_owned(), quoted(&workload.to_string_lossy())];
    words.extend(drive.as_ref().map(|drive| format!("--drive {}", quoted(drive))));
    words.extend(batch.map(|batch| format!("--batch {batch}")));
    words.extend(order.map(|order| format!("--order {}", order.name())));
    words.extend(margin.map(|margin| format!("--margin {margin}")));
    words.push("--explain".to_owned());
    words.join(" ")
}

/// Completes the advice of a fault.
pub(crate) fn completed_fault(mut fault: FileError, drive: &DriveFile, known: &str) -> FileError {
    fault.help = fault.help.map(|help| completed(&help, drive, Some(known)));
    fault
}

/// Returns the path of a file beside another one, as the user can name it.
pub(crate) fn beside(path: &Path, name: &str) -> String {
    if tidegate_drive::builtin::is_name(name) {
        return name.to_owned();
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    folder.join(name).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(command: &str, without: &[&str], with: &[&str]) -> String {
        changed_words(command.split(' ').map(str::to_owned), without, with)
    }

    #[test]
    fn a_changed_command_keeps_everything_else() {
        let command = "profile a.img --create 1GiB --time-limit=2min --quick -o a.toml";
        assert_eq!(
            changed(command, &["--create", "--time-limit"], &["--resume"]),
            "tidegate profile a.img --quick -o a.toml --resume"
        );
        let again = changed("profile d --resume -o a.toml", &[], &["--resume"]);
        assert_eq!(again, "tidegate profile d -o a.toml --resume");
        assert_eq!(quoted("a b'c"), r"'a b'\''c'");
    }
}

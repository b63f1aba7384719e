// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Commands for messages, complete so that they work when they are pasted.

use crate::arguments::WorkloadArguments;
use tidegate_commands::quoted;

/// Returns this process's command line without the options in `without` and their values, and with
/// `with` at its end.
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
            // Skips the option's value.
            words.next();
        }
    }
    kept.extend(with.iter().map(|&word| word.to_owned()));
    kept.join(" ")
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

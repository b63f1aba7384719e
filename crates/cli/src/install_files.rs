// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate install-files`: writes the manual pages and the completions of shells. Both are
//! generated from the definition of the command line, so they cannot contradict it.

use std::path::Path;
use std::{fs, io};

use clap::{Command, CommandFactory as _};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::answer::Answer;
use crate::arguments::{Arguments, InstallFilesArguments};
use crate::failure::Failure;

/// The shells, and the path below a prefix where each looks for completions.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions/tidegate"),
    (Shell::Zsh, "share/zsh/site-functions/_tidegate"),
    (Shell::Fish, "share/fish/vendor_completions.d/tidegate.fish"),
];

/// The path below a prefix where `man` looks for the manual pages of commands.
const MANUAL: &str = "share/man/man1";

/// Runs the command.
pub(crate) fn install_files(arguments: &InstallFilesArguments) -> Result<Answer, Failure> {
    let prefix = &arguments.prefix;
    let unwritten = |error: io::Error| {
        let name = prefix.display();
        Failure::input(format!("{name}: {error}"), "name a folder in which files can be made")
    };
    write_all(prefix).map_err(unwritten)?;
    Ok(Answer::Yes)
}

fn write_all(prefix: &Path) -> io::Result<()> {
    let manual = prefix.join(MANUAL);
    fs::create_dir_all(&manual)?;
    let mut tool = Arguments::command().disable_help_subcommand(true);
    tool.build();
    write_manual(&tool, &manual)?;
    for (shell, path) in COMPLETIONS {
        let path = prefix.join(path);
        fs::create_dir_all(path.parent().expect("a file in a folder"))?;
        let mut text = Vec::new();
        generate(shell, &mut Arguments::command(), "tidegate", &mut text);
        fs::write(path, text)?;
    }
    Ok(())
}

/// Writes the manual page of a command, and those of the sub-commands that its help lists.
fn write_manual(command: &Command, folder: &Path) -> io::Result<()> {
    let page = Man::new(command.clone())
        .date(tidegate_commands::DATE)
        .source(format!("tidegate {}", tidegate_commands::version()));
    page.generate_to(folder)?;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_manual(below, folder)?;
    }
    Ok(())
}

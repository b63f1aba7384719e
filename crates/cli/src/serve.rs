// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate serve`: proves the contracts of a serve file, then lets nbdkit serve with Tidegate's
//! plugin.
//!
//! This process supervises nbdkit: it passes signals on and returns nbdkit's exit code, except 1.
//! Under socket activation it becomes nbdkit instead, because the sockets are given to this process
//! alone; the service manager supervises then.

mod command;
mod ready;
mod supervisor;

use std::os::unix::process::CommandExt as _;

use tidegate_engine::serve::{Prepared, ServeError};
use tidegate_model::ServeFile;
use tidegate_report::CheckReport;

use crate::answer::Answer;
use crate::arguments::ServeArguments;
use crate::command_line::{self, completed_fault};
use crate::failure::Failure;
use crate::input;
use crate::show::{self, outln};

use command::{ExecError, ServerCommand};

/// Runs the command.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<Answer, Failure> {
    let prepared = Prepared::read_with(&arguments.file, arguments.margin).map_err(failure)?;
    prepared.check_layout().map_err(failure)?;
    if let Some((workload, _)) = prepared.proof().filter(|_| prepared.file().has_contracts()) {
        let report = CheckReport::of(workload, workload.policy);
        show::report(&report.with_changes(prepared.what_would_fit()), false);
    }
    if !prepared.is_proven() {
        if !arguments.force {
            let command = format!("tidegate serve {} --force", arguments.file.display());
            show::page(|page| {
                writeln!(page);
                page.paragraph(
                    "Nothing is served. To serve all as best effort, without any promise:",
                );
                page.command("To do", &command);
            });
            return Ok(Answer::No);
        }
        outln!();
        eprintln!(
            "warning: not every contract can be kept: all exports are served as best effort, and \
             nothing is promised"
        );
    }
    let command = ServerCommand::of(&prepared, arguments)?;
    if arguments.print {
        // What would refuse to serve refuses to print, too.
        command.check()?;
        outln!("{command}");
        return Ok(Answer::Yes);
    }
    // The printed text must be visible before the server prints.
    std::io::Write::flush(&mut std::io::stdout()).map_err(|error| Failure::environment(&error))?;
    if command::is_activated() {
        return Err(Failure::environment(&ExecError::of(&command.to_command().exec())));
    }
    command.prepare()?;
    ready::announce(prepared.file(), command.socket().map(ToOwned::to_owned));
    // Exits directly, because no cleanup is left.
    std::process::exit(supervisor::run(&command)?)
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Faulty { path, text, error } => match ServeFile::parse(&text) {
            Err(first) if first == error => {
                Failure::of_reading(&path, &text, first, ServeFile::parse)
            }
            // A fault beside the drive or the store.
            Ok(file) => {
                let named = file.drive_reference();
                let known = named.map(|named| command_line::beside(&path, named.get_ref()));
                let drive = known.as_deref().map(|name| (name, input::drive_named(name)));
                let error = match drive {
                    Some((name, Ok(drive))) => completed_fault(error, &drive, name),
                    _ => error,
                };
                Failure::in_file(&path, text, &error)
            }
            // A fault in the drive file.
            Err(_) => Failure::in_file(&path, text, &error),
        },
        other => Failure::unusable(&other),
    }
}

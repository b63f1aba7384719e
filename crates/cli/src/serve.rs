// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate serve`: proves the contracts of a serve file, then lets nbdkit serve with Tidegate's
//! plugin.
//!
//! This process supervises nbdkit: it passes signals on and returns nbdkit's exit code, except 1.
//! Under socket activation it becomes nbdkit instead, because the sockets are given to this process
//! alone; the service manager supervises then.

mod command;
mod supervisor;

use std::os::unix::process::CommandExt as _;

use tidegate_engine::serve::{Prepared, ServeError};
use tidegate_report::CheckReport;

use crate::answer::Answer;
use crate::arguments::ServeArguments;
use crate::failure::Failure;
use crate::show::{self, outln};

use command::{ExecError, ServerCommand};

/// Runs the command.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<Answer, Failure> {
    let prepared = Prepared::read_with(&arguments.file, arguments.margin).map_err(failure)?;
    prepared.check_layout().map_err(failure)?;
    if let Some((workload, _)) = prepared.proof().filter(|_| prepared.file().has_contracts()) {
        show::report(&CheckReport::of(workload, workload.policy), false);
    }
    if !prepared.is_proven() {
        for what in prepared.what_would_fit() {
            show::labelled("Would fit", &what);
        }
        if !arguments.force {
            outln!();
            outln!(
                "Nothing is served. `--force` serves all of it as best effort, without any promise."
            );
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
        outln!("{command}");
        return Ok(Answer::Yes);
    }
    // The printed text must be visible before the server prints.
    std::io::Write::flush(&mut std::io::stdout()).map_err(|error| Failure::environment(&error))?;
    if command::is_activated() {
        return Err(Failure::environment(&ExecError::of(&command.to_command().exec())));
    }
    // Exits directly, because no cleanup is left.
    std::process::exit(supervisor::run(&command)?)
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Faulty { path, text, error } => Failure::in_file(&path, text, &error),
        other => Failure::unusable(&other),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate serve`: prove the contracts of a serve file, then hand over to nbdkit with our
//! plugin, which is this process from there on: its signals, its exit code, its sockets.

mod command;

use std::os::unix::process::CommandExt as _;

use analysis::{Answer as Proof, assess};
use engine::serve::{Prepared, ServeError};
use model::Workload;

use crate::Answer;
use crate::arguments::ServeArguments;
use crate::check;
use crate::failure::Failure;
use crate::show::{self, outln};

use command::ServerCommand;

/// Contracts beyond which it is not tried what would fit.
const CONTRACTS_TRIED_MAX: usize = 64;

/// Runs the command.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<Answer, Failure> {
    let prepared = Prepared::read(&arguments.file).map_err(failure)?;
    prepared.check_layout().map_err(failure)?;
    if let Some((workload, _)) = prepared.proof().filter(|_| prepared.file().has_contracts()) {
        check::print(workload);
    }
    if !prepared.is_proven() {
        let (workload, _) = prepared.proof().expect("what is not proven was tried");
        for what in what_would_fit(workload) {
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
    let command = ServerCommand::of(&prepared, &arguments.file, arguments.force)?;
    if arguments.print {
        outln!("{command}");
        return Ok(Answer::Yes);
    }
    command.prepare_socket()?;
    // What was printed is to be seen before the server speaks.
    std::io::Write::flush(&mut std::io::stdout()).map_err(|error| Failure::environment(&error))?;
    let error = command.to_command().exec();
    Err(Failure::environment(&ExecError { error }))
}

/// nbdkit did not begin.
#[derive(Debug, thiserror::Error)]
#[error("cannot run nbdkit ({error}): install it (Debian: `apt-get install nbdkit`)")]
struct ExecError {
    error: std::io::Error,
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Faulty { path, text, error } => Failure::in_file(&path, text, &error),
        other => Failure::unusable(&other),
    }
}

/// Contracts without which all others are proved, and deadlines with which each would be.
fn what_would_fit(workload: &Workload) -> Vec<String> {
    let tasks = &workload.tasks;
    let assessment = assess(workload, workload.policy);
    let mut found = Vec::new();
    for (task, assessed) in tasks.iter().zip(&assessment.tasks) {
        if let Some((response, _)) = assessed.response_max.filter(|_| !assessed.is_deadline_met) {
            found.push(format!(
                "`{}` with a deadline of {} or more",
                task.name,
                show::ms_ceil(response)
            ));
        }
    }
    if tasks.len() > 1 && tasks.len() <= CONTRACTS_TRIED_MAX {
        for index in 0..tasks.len() {
            let mut fewer = workload.clone();
            let left_out = fewer.tasks.remove(index);
            if assess(&fewer, fewer.policy).answer == Proof::Proven {
                found.push(format!("all but `{}`", left_out.name));
            }
        }
    }
    if found.is_empty() {
        found.push(
            "nothing that was tried: fewer requests, longer periods, smaller sizes".to_owned(),
        );
    }
    found
}

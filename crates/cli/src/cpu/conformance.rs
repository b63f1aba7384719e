// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu conformance`: tests whether an implementation is a sporadic server.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use tidegate_cpu_conformance::external::ExternalError;
use tidegate_cpu_conformance::{Program, Report, Supports, external};
use tidegate_cpu_model::{ServerKind, ServerParams};
use tidegate_cpu_servers::{self, Server};
use tidegate_report::cpu::{ConformanceReport, FaultReport};

use super::arguments::ConformanceArguments;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::show;

/// Runs the command.
pub(super) fn conformance(arguments: &ConformanceArguments) -> Result<Answer, Failure> {
    if let Some(kind) = arguments.answer {
        let answered = external::answer(kind, io::stdin().lock(), io::stdout().lock());
        return answered.map(|()| Answer::Yes).map_err(|error| Failure::unusable(&error));
    }
    let kinds = match arguments.server {
        Some(kind) => vec![kind],
        None => ServerKind::ALL.into_iter().filter(|kind| kind.has_budget()).collect(),
    };
    let reports: Vec<(String, Report)> = if arguments.command.is_empty() {
        kinds.into_iter().map(|kind| (kind.to_string(), of_ours(kind, arguments))).collect()
    } else {
        let name = arguments.command[0].to_string_lossy().into_owned();
        match of_program(arguments)? {
            Ok(report) => vec![(name, report)],
            Err(fault) => {
                let report = FaultReport::of(&name, &fault, arguments.seed);
                show::report_in(&report, arguments.form);
                return Ok(Answer::No);
            }
        }
    };
    show::report_in(&ConformanceReport::of(&reports, arguments.seed), arguments.form);
    let conforms = reports.iter().all(|(_, report)| report.conforms());
    // A test of all built-in servers is an overview: some are known not to conform.
    let is_overview = reports.len() > 1;
    Ok(Answer::of(conforms || is_overview))
}

fn of_ours(kind: ServerKind, arguments: &ConformanceArguments) -> Report {
    let mut ours = |params: &ServerParams| -> Box<dyn Server> {
        tidegate_cpu_servers::build(&ServerParams { kind, ..*params })
    };
    tidegate_cpu_conformance::test(
        &mut ours,
        &Supports::ALL,
        arguments.seed,
        u64::from(arguments.runs),
    )
}

/// Returns the suite's report on a program, or the error that ended the suite immediately; a
/// program with such an error does not conform either.
fn of_program(arguments: &ConformanceArguments) -> Result<Result<Report, ExternalError>, Failure> {
    let name = arguments.command[0].to_string_lossy();
    let (program, external) =
        Program::start(&arguments.command, arguments.time_limit).map_err(|error| {
            Failure::input(
                format!("cannot start `{name}`: {error}"),
                "write the path of a program that speaks the protocol of \
                 docs/reference/conformance.md",
            )
        })?;
    if let Some(path) = &arguments.log {
        external.log_to(BufWriter::new(create_log(path)?));
    }
    let supports = external.supports();
    let mut theirs = |params: &ServerParams| external.server(params);
    let runs = u64::from(arguments.runs);
    let report = tidegate_cpu_conformance::test(&mut theirs, &supports, arguments.seed, runs);
    let error = external.take_error();
    if program.end() {
        return Err(Failure::input(
            format!("`{name}` did not finish within {}", arguments.time_limit),
            "raise --time-limit, or lower --runs",
        ));
    }
    match error {
        Some(fault @ ExternalError::Alarm { .. }) => Ok(Err(fault)),
        Some(error) => Err(Failure::unusable(&error)),
        None => Ok(Ok(report)),
    }
}

fn create_log(path: &Path) -> Result<File, Failure> {
    File::create_new(path).map_err(|error| {
        Failure::input(
            format!("cannot create the log {}: {error}", path.display()),
            "write the path of a new file",
        )
    })
}

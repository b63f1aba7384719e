// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate`: measures a disk, proves its deadlines, keeps them, and shows the evidence.
//!
//! There is one file per command; the shared code for reading files and printing is in `input`,
//! `failure` and `show`. Exit codes: 0 yes, 1 no, 2 wrong input, 3 the environment failed.

mod answer;
mod arguments;
mod attach;
mod check;
mod command_line;
mod cpu;
mod ctl;
mod distinct_files;
#[cfg(test)]
mod documented_commands;
mod drive;
mod failure;
mod install_files;
mod interrupt;
mod live;
mod made_target;
mod measurement;
mod nbd;
mod profile;
mod profile_output;
mod profile_simulated;
mod progress;
mod python;
mod report;
mod reproduce;
mod request_log;
mod result;
mod run;
mod run_progress;
mod serve;
mod show;
mod sim;
mod top;
mod tune;
mod values;
mod verify;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

use arguments::{Arguments, Command};

/// An allocator without a lock between threads: a service's thread must not wait for an ordinary
/// thread that was preempted during an allocation.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The form is determined before the arguments are parsed, so that faults in the arguments are
    // reported in this form.
    let is_json = std::env::args_os().any(|argument| argument == "--json");
    let columns = show::look().columns;
    let parsed = Arguments::command().term_width(columns).try_get_matches();
    let arguments = match parsed.and_then(|it| Arguments::from_arg_matches(&it)) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            return failure::report_usage(&error.render().to_string(), is_json);
        }
        Err(help) => {
            show::page(|page| page.lines(&help.render().to_string()));
            return ExitCode::SUCCESS;
        }
    };
    let outcome = match &arguments.command {
        Command::Check(arguments) => check::check(arguments),
        Command::Verify(arguments) => verify::verify(arguments),
        Command::Sim(arguments) => sim::sim(arguments),
        Command::Profile(arguments) => profile::profile(arguments),
        Command::Tune(arguments) => tune::tune(arguments),
        Command::Attach(arguments) => attach::attach(arguments),
        Command::Detach(arguments) => attach::detach(arguments),
        Command::Status(arguments) => attach::status(arguments),
        Command::Watch(arguments) => watch::watch(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Report(arguments) => report::report(arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(arguments),
        Command::Serve(arguments) => serve::serve(arguments),
        Command::Ctl(arguments) => ctl::ctl(arguments),
        Command::Top(arguments) => top::top(arguments),
        Command::Nbd(arguments) => nbd::nbd(arguments),
        Command::Drive(arguments) => drive::drive(arguments),
        Command::Cpu(arguments) => cpu::cpu(arguments),
        Command::Sweep(arguments) => python::sweep(arguments),
        Command::Place(arguments) => python::place(arguments),
        Command::InstallFiles(arguments) => install_files::install_files(arguments),
    };
    match outcome {
        Ok(answer) => answer.exit_code(),
        Err(failure) => failure.report(is_json),
    }
}

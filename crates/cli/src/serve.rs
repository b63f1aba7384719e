// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate serve`: proves the contracts of a serve file, then serves its exports over NBD until it
//! is stopped.

mod listen;
mod notify;
mod ready;
mod unit;

use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use tidegate_engine::log;
use tidegate_engine::serve::{Prepared, ServeError, Server};
use tidegate_model::ServeFile;
use tidegate_report::CheckReport;

use crate::answer::Answer;
use crate::arguments::ServeArguments;
use crate::command_line::{self, completed_fault};
use crate::failure::Failure;
use crate::input;
use crate::show::{self, outln};

use notify::Manager;

/// The service has ended by itself: the supervisor must restart the process.
#[derive(Debug, thiserror::Error)]
#[error("the service ended by itself: its log above says why")]
struct Ended;

/// Runs the command.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<Answer, Failure> {
    let prepared = Prepared::read_with(&arguments.file, arguments.margin).map_err(failure)?;
    prepared.check_layout().map_err(failure)?;
    if arguments.unit {
        outln!("{}", unit::drop_in(&prepared.footprint().map_err(failure)?));
        return Ok(Answer::Yes);
    }
    if let Some((workload, _)) = prepared.proof().filter(|_| prepared.file().has_contracts()) {
        let report = CheckReport::of(workload, workload.policy);
        let changes = if prepared.is_proven() { Vec::new() } else { prepared.what_would_fit() };
        show::report(&report.with_changes(changes), false);
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
    listen::check_control(&prepared, &arguments.file)?;
    if arguments.print {
        // Printing refuses the same faults as serving.
        prepared.check_keys().map_err(failure)?;
        listen::check(&prepared, &arguments.file)?;
        outln!("Clients connect at {}.", listen::place(&prepared, &arguments.file)?);
        outln!("The server takes {}.", prepared.footprint().map_err(failure)?);
        return Ok(Answer::Yes);
    }
    // The printed text must be visible before the log.
    std::io::Write::flush(&mut std::io::stdout()).map_err(|error| Failure::environment(&error))?;
    // Registered before anything is served, so that no signal is missed.
    let signals = Signals::new([SIGTERM, SIGINT, SIGQUIT, SIGHUP]);
    let signals = signals.map_err(|error| Failure::environment(&error))?;
    let listener = listen::open(&prepared, &arguments.file)?;
    let say = Arc::new(|line: &str| log::say(line));
    let server = prepared.serve(arguments.force, listener, say).map_err(failure)?;
    log::say(format!("the server takes {}", server.footprint()));
    ready::show(&prepared, &arguments.file)?;
    run(server, signals)
}

/// Serves until a signal, a request of the control socket, or the end of the service.
fn run(server: Server, mut signals: Signals) -> Result<Answer, Failure> {
    let failed = |error: std::io::Error| Failure::environment(&error);
    let stop = server.stopper();
    let handle = signals.handle();
    let of_signals = std::thread::Builder::new()
        .name("tidegate-signal".to_owned())
        .spawn(move || signals.forever().next().map_or((), |_| stop()));
    let of_signals = of_signals.map_err(failed)?;
    let manager = Manager::of_environment();
    manager.say("READY=1\nSTATUS=serving");
    while server.events().recv_timeout(manager.interval()).is_err() {
        // A service that does not answer is not alive.
        if server.view().look().is_some() {
            manager.say(&format!("WATCHDOG=1\nSTATUS={}", notify::status(&server)));
        }
    }
    manager.say("STOPPING=1\nSTATUS=finishing outstanding requests");
    let summary = server.stop();
    handle.close();
    let _ = of_signals.join();
    match summary {
        Some(summary) => {
            log::say(&summary);
            Ok(Answer::Yes)
        }
        None => Err(Failure::environment(&Ended)),
    }
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Faulty { path, text, error } => match ServeFile::parse(&text) {
            Err(first) if first == error => {
                Failure::of_reading(&path, &text, first, ServeFile::parse)
            }
            // A fault that concerns the drive or the store.
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
        ServeError::Keys { .. } | ServeError::Processor { .. } => Failure::unusable(&error),
        // The machine refused: once it is repaired, the same command works.
        ServeError::Served { .. }
        | ServeError::Service(_)
        | ServeError::ControlPlane { .. }
        | ServeError::Descriptors { .. }
        | ServeError::Memory { .. }
        | ServeError::Open(_)
        | ServeError::UnknownDevice(_)
        | ServeError::Drive(_) => Failure::environment(&error),
        other => Failure::unusable(&other),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate serve`: proves the contracts of a serve file, then serves its exports over NBD until it
//! is stopped.

mod listen;
mod notify;
mod unit;

use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use tidegate_engine::log;
use tidegate_engine::serve::{Prepared, ServeError, Server};
use tidegate_report::CheckReport;

use crate::answer::Answer;
use crate::arguments::ServeArguments;
use crate::failure::Failure;
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
    listen::check_control(&prepared, &arguments.file)?;
    if arguments.print {
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
        ServeError::Faulty { path, text, error } => Failure::in_file(&path, text, &error),
        ServeError::Keys { .. } | ServeError::Processor { .. } => Failure::unusable(&error),
        // A machine that refuses is repaired, and the same command works.
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

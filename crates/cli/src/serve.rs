// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate serve`: proves the contracts of a serve file, then serves its exports over NBD until it
//! is stopped.

mod listen;
mod log;
mod notify;
mod printed;
pub(crate) mod proof;
mod ready;
mod unit;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use tidegate_commands::{Faults, beside, completed_fault, missing_file_help, quoted};
use tidegate_engine::log::Format;
use tidegate_engine::serve::{ServeError, Server, ServerEvent};
use tidegate_model::{FileKind, ServeFile};
use tidegate_report::CheckReport;

use crate::answer::Answer;
use crate::arguments::{LogFormat, ServeArguments};
use crate::command_line;
use crate::failure::Failure;
use crate::show::{self, Form, outln};

use log::ServedLog;
use notify::Manager;
use printed::{Place, Printed};

/// The error if the service has ended by itself: the supervisor must restart the process.
#[derive(Debug, thiserror::Error)]
#[error("the service ended by itself: its log above says why")]
struct Ended;

/// Runs the command.
pub(crate) fn serve(arguments: &ServeArguments) -> Result<Answer, Failure> {
    let format = match arguments.log_format {
        LogFormat::Text => Format::Text,
        LogFormat::Json => Format::Json,
    };
    let prepared = proof::read(&arguments.file, arguments.margin)?;
    prepared.check_layout().map_err(failure)?;
    let log = ServedLog::prepare(&arguments.log, format);
    let prepared = log.reported_by(prepared);
    if arguments.unit {
        outln!("{}", unit::drop_in(&prepared.footprint().map_err(failure)?));
        return Ok(Answer::Yes);
    }
    let proof = proof::report(&prepared, &arguments.file, String::new());
    let proof = proof.map(CheckReport::with_all_premises);
    let is_refused = !prepared.is_proven() && !arguments.force;
    let to_do = is_refused.then(|| command_line::changed(&["--print"], &["--force"]));
    if !is_refused {
        // These faults are refused before the proof is printed; `--print` refuses the same faults
        // as serving.
        listen::check_control(&prepared, &arguments.file)?;
        prepared.check_keys().map_err(failure)?;
        listen::check(&prepared, &arguments.file)?;
        if arguments.print {
            prepared.check_start().map_err(failure)?;
        }
    }
    let place = if arguments.print && !is_refused {
        let clients = listen::place(&prepared, &arguments.file)?;
        Some(Place::new(clients, prepared.footprint().map_err(failure)?))
    } else {
        None
    };
    // For a service without promises, nothing is printed before it is ready.
    let is_shown = arguments.print || proof.is_some() || is_refused;
    if is_shown {
        let form = Form { is_json: arguments.json, is_quiet: arguments.quiet };
        let soft = prepared.file().soft_exports().collect();
        show::report_in(&Printed { proof, soft, to_do, place }, form);
    }
    if is_refused {
        return Ok(Answer::No);
    }
    if !prepared.is_proven() {
        let warning = "not every contract can be kept: all exports are served as best effort, and \
                       nothing is promised";
        match format {
            Format::Text => show::say("Warning", warning),
            Format::Json => format.say(format!("warning: {warning}")),
        }
    }
    if arguments.print {
        return Ok(Answer::Yes);
    }
    // The printed text must be visible before the log.
    std::io::Write::flush(&mut std::io::stdout()).map_err(|error| Failure::environment(&error))?;
    // The handler is registered before anything is served, so that no signal is missed.
    let signals = Signals::new([SIGTERM, SIGINT, SIGQUIT, SIGHUP]);
    let signals = signals.map_err(|error| Failure::environment(&error))?;
    let listener = listen::open(&prepared, &arguments.file)?;
    let say = Arc::new(move |line: &str| format.say(line));
    let server = prepared.serve(arguments.force, listener, say).map_err(failure)?;
    format.say(format!("the server takes {}", server.footprint()));
    ready::show(&prepared, &arguments.file)?;
    let log = log.begin(&server, format);
    let answer = run(server, signals, format);
    // The log is finished even if the service ended by itself.
    log.finish(format);
    answer
}

/// Serves until a signal arrives, a peer of the control socket asks to stop, or the service ends.
fn run(mut server: Server, mut signals: Signals, format: Format) -> Result<Answer, Failure> {
    let failed = |error: std::io::Error| Failure::environment(&error);
    let events = server.sender();
    let handle = signals.handle();
    // A closed terminal sends the same signal as an administrator who asks for a reload.
    let hangup =
        if std::io::stdin().is_terminal() { ServerEvent::Stop } else { ServerEvent::Reload };
    let pass_on = move || {
        for signal in signals.forever() {
            // This fails only if the server is gone, and then there is nothing left to stop.
            let _ = events.send(if signal == SIGHUP { hangup } else { ServerEvent::Stop });
        }
    };
    let of_signals = std::thread::Builder::new().name("tidegate-signal".to_owned()).spawn(pass_on);
    let of_signals = of_signals.map_err(failed)?;
    let manager = Manager::of_environment();
    manager.say("READY=1\nSTATUS=serving");
    loop {
        match server.events().recv_timeout(manager.interval()) {
            Ok(ServerEvent::Stop) | Err(RecvTimeoutError::Disconnected) => break,
            Ok(ServerEvent::Reload) => reload(&mut server, &manager, format),
            Err(RecvTimeoutError::Timeout) => {}
        }
        // If the service's thread does not answer, the watchdog gets no message.
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
            format.say(&summary);
            Ok(Answer::Yes)
        }
        None => Err(Failure::environment(&Ended)),
    }
}

/// Reads the serve file again. A file that cannot be used changes nothing.
fn reload(server: &mut Server, manager: &Manager, format: Format) {
    manager.say(&notify::reloading());
    let said = match server.reload(|| manager.say("WATCHDOG=1")) {
        Ok(reloaded) => {
            for refused in &reloaded.refused {
                format.say(format!("warning: reload: {refused}"));
            }
            format!("reload: {reloaded}")
        }
        Err(error) => format!("error: reload: nothing has changed: {}", failure(error).message()),
    };
    format.say(&said);
    manager.say(&format!("READY=1\nSTATUS={said}"));
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Faulty { path, text, error } => match ServeFile::parse(&text) {
            Err(first) if first == error => {
                let store = ServeFile::backing_of(&text);
                let store = store.map(|name| quoted(&beside(&path, &name)));
                Faults::of_reading(&path, &text, FileKind::Serve, first, ServeFile::parse)
                    .completed(|text| text.replace("TARGET", store.as_deref().unwrap_or("DEVICE")))
                    .into()
            }
            // The fault concerns the drive or the store.
            Ok(file) => {
                let error = match proof::known_drive(&file, &path) {
                    Some((name, drive)) => completed_fault(error, &drive.file, &name),
                    None => error,
                };
                Failure::in_file(&path, &text, &error)
            }
            // The fault is in the drive file.
            Err(_) => Failure::in_file(&path, &text, &error),
        },
        ServeError::Unreadable { ref path, .. } => {
            Failure::input(error.to_string(), missing_file_help(path))
        }
        ServeError::Keys { .. } | ServeError::Processor { .. } => Failure::unusable(&error),
        // The environment failed: once it is repaired, the same command works.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Ends the service while clients are still connected.
//!
//! After a stop signal, nbdkit accepts no new clients, completes the requests that it has read and
//! refuses the rest, but then waits until each client sends a message or disconnects. A mounted
//! file system or a virtual machine may never do so. This module's thread therefore ends the
//! service once no request is outstanding, even if clients are still connected.
//! ```text
//!   serving --SIGTERM, ctl stop--> answering --nothing outstanding--> LAST_WORDS --> ended
//!      (nbdkit may end by itself earlier, when all clients have left)
//! ```

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level::pipe;
use tidegate_engine::service::Service;

use crate::state::{service, with_state};

/// The time that the server gets to send the last replies and to end by itself.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The interval between two checks for outstanding requests.
const LOOK: Duration = Duration::from_millis(100);

/// Starts the thread that waits for a signal (the server receives the signal too) or for a call of
/// the returned function, and then ends the service.
///
/// # Errors
/// If no thread or socket can be created.
pub(crate) fn watch() -> io::Result<impl Fn() + Send + Sync + 'static> {
    let (mut told, tell) = UnixStream::pair()?;
    // A single byte is the whole message; the writer must not block if no thread reads it.
    tell.set_nonblocking(true)?;
    for signal in [SIGTERM, SIGINT, SIGQUIT, SIGHUP] {
        pipe::register(signal, tell.try_clone()?)?;
    }
    std::thread::Builder::new()
        .name("tidegate-end".to_owned())
        .stack_size(256 << 10)
        .spawn(move || {
            // Any result of the read, even end of file, means stop.
            while told.read(&mut [0]).is_err_and(|error| error.kind() == io::ErrorKind::Interrupted)
            {
            }
            if let Some(service) = service() {
                service.wind_down();
            }
            while service().is_some_and(|service| is_busy(&service)) {
                std::thread::sleep(LOOK);
            }
            std::thread::sleep(LAST_WORDS);
            if end() {
                std::process::exit(0);
            }
        })
        .map(drop)?;
    Ok(move || {
        // The server accepts no new clients after this call.
        nbdkit::shutdown();
        let _ = (&tell).write(&[0]);
    })
}

fn is_busy(service: &Service) -> bool {
    // `is_quiet` also covers callers that wait for room, which the statistics do not count.
    if !service.is_quiet() {
        return true;
    }
    let seen = service.statistics();
    seen.is_some_and(|seen| seen.exports.iter().any(|export| export.outstanding > 0))
}

/// Ends the service after all requests are complete; returns whether this call ended it, rather
/// than another thread.
pub(crate) fn end() -> bool {
    let (service, control_plane) =
        with_state(|state| (state.service.take(), state.control_plane.take()));
    let Some(service) = service else { return !with_state(|state| state.is_begun) };
    // No thread uses the control socket or the metrics any more.
    drop(control_plane);
    let summary = service.summary();
    if let Some(summary) = &summary {
        tidegate_engine::log::say(summary);
    }
    let is_ended = summary.is_none();
    drop(summary);
    // Dropping the last reference ends the service.
    drop(service);
    if is_ended {
        // The service ended by itself and has logged why; the supervisor must restart the process.
        std::process::exit(1);
    }
    true
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The end, although clients stay.
//!
//! Told to end, nbdkit lets nobody in, answers what it has read and refuses the rest, but waits for
//! each client to say or ask something first. A mounted file system or a machine may never. So
//! this thread ends the service when nothing is outstanding any more, whoever is still there.
//!
//! ```text
//!   serving --SIGTERM, ctl stop--> answering --nothing outstanding--> LAST_WORDS --> ended
//!      (nbdkit's own end, when all clients left, may come first)
//! ```

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level::pipe;
use tidegate_engine::service::Service;

use crate::extended::end;
use crate::service;

/// For the server to send the last answers, and to end by itself.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often it is looked what is outstanding.
const LOOK: Duration = Duration::from_millis(100);

/// Begins to watch, for signals (which the server hears too) and for what is given back, by which
/// the end can be asked for.
///
/// # Errors
/// When no thread or socket is to be had.
pub(crate) fn watch() -> io::Result<impl Fn() + Send + Sync + 'static> {
    let (mut told, tell) = UnixStream::pair()?;
    // A byte says it all: nobody is to wait for who does not read.
    tell.set_nonblocking(true)?;
    for signal in [SIGTERM, SIGINT, SIGQUIT, SIGHUP] {
        pipe::register(signal, tell.try_clone()?)?;
    }
    std::thread::Builder::new()
        .name("tidegate-end".to_owned())
        .stack_size(256 << 10)
        .spawn(move || {
            // Whatever comes, even an end of file, is the end.
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
        // The server takes no new clients from there on.
        nbdkit::shutdown();
        let _ = (&tell).write(&[0]);
    })
}

fn is_busy(service: &Service) -> bool {
    // Also who waits for room, of whom the service knows nothing.
    if !service.is_quiet() {
        return true;
    }
    let seen = service.statistics();
    seen.is_some_and(|seen| seen.exports.iter().any(|export| export.outstanding > 0))
}

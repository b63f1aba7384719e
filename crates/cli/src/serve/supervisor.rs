// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Supervises nbdkit, and restarts it if one of its own assertions fails.
//!
//! ```text
//!   serving --SIGABRT--> reported and restarted (at most 5 times in a minute, then given up)
//!      |----SIGTERM, SIGINT, SIGHUP, SIGQUIT--> passed on; nbdkit's end is this process's end
//!      |----any other end --> nbdkit's exit code, but 3 for 1: the environment failed
//! ```
//! nbdkit 1.32 aborts if a client leaves while its requests are outstanding
//! (`raw_send_socket: Assertion 'sock >= 0' failed`), and all clients lose their connection. A
//! plugin cannot prevent that; a quick restart limits the damage.

use std::collections::VecDeque;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGABRT, SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::command::{ExecError, ServerCommand};
use crate::failure::Failure;

/// The most restarts within [`WITHIN`]; after that, nbdkit is not restarted.
const STARTS_MAX: usize = 5;

/// The time in which [`STARTS_MAX`] restarts are allowed.
const WITHIN: Duration = Duration::from_mins(1);

/// The signals that end a server.
const ENDS: [i32; 4] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT];

/// The reason why serving ended.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error(
        "nbdkit failed an assertion of its own (SIGABRT) more than {STARTS_MAX} times in \
         a minute and is not restarted: its messages are above; a newer version may help"
    )]
    TooOften,
    #[error("nbdkit was killed by signal {0}, which this process did not send")]
    Killed(i32),
}

/// nbdkit's exit code if it could not start; Tidegate's own 1 means a failed proof.
const NBDKIT_FAILED: i32 = 1;

/// The exit code that replaces [`NBDKIT_FAILED`].
const ENVIRONMENT_FAILED: i32 = 3;

/// Serves until a stop signal or until nbdkit ends. Returns nbdkit's exit code, or 3 if it is 1.
pub(super) fn run(command: &ServerCommand) -> Result<i32, Failure> {
    let failed = |error: io::Error| Failure::environment(&error);
    // Registered before nbdkit starts, so that no signal is missed.
    let mut signals = Signals::new(ENDS.into_iter().chain([SIGCHLD])).map_err(failed)?;
    let mut aborts = Aborts::default();
    let mut told = None;
    loop {
        command.prepare()?;
        let mut server = command.to_supervised().spawn();
        let server =
            server.as_mut().map_err(|error| Failure::environment(&ExecError::of(error)))?;
        let status = wait(server, &mut signals, &mut told).map_err(failed)?;
        match (status.code(), status.signal(), told) {
            (Some(NBDKIT_FAILED), _, _) => return Ok(ENVIRONMENT_FAILED),
            (Some(code), _, _) => {
                command.remove_socket();
                return Ok(code);
            }
            // nbdkit was not handling signals yet, or a signal killed it while it was stopping.
            (None, _, Some(signal)) => {
                // Fails only for signals that do not end a process; these signals do.
                let _ = emulate_default_handler(signal);
                return Ok(0);
            }
            (None, Some(SIGABRT), None) => {
                let count = aborts.count(Instant::now());
                if count > STARTS_MAX {
                    return Err(Failure::environment(&Ended::TooOften));
                }
                eprintln!(
                    "tidegate: nbdkit failed an assertion of its own (SIGABRT), and all \
                     connections are lost; restarting it ({count} of {STARTS_MAX} times in \
                     a minute)"
                );
            }
            (None, signal, None) => {
                return Err(Failure::environment(&Ended::Killed(signal.unwrap_or_default())));
            }
        }
    }
}

/// Waits for nbdkit's end, and passes signals on meanwhile.
fn wait(
    server: &mut Child,
    signals: &mut Signals,
    told: &mut Option<i32>,
) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = server.try_wait()? {
            // A stop signal that arrived between nbdkit's end and now prevents a restart.
            *told = signals.pending().filter(|signal| ENDS.contains(signal)).last().or(*told);
            return Ok(status);
        }
        for signal in signals.wait().filter(|signal| ENDS.contains(signal)) {
            *told = Some(signal);
            pass_on(server, signal);
        }
    }
}

fn pass_on(server: &Child, signal: i32) {
    let pid = i32::try_from(server.id()).ok().and_then(Pid::from_raw);
    let known = [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];
    let signal = known.into_iter().find(|known| known.as_raw() == signal);
    if let (Some(pid), Some(signal)) = (pid, signal) {
        // nbdkit is not reaped yet, so its process ID is still valid.
        let _ = kill_process(pid, signal);
    }
}

/// The times of recent aborts.
#[derive(Debug, Default)]
struct Aborts(VecDeque<Instant>);

impl Aborts {
    /// Adds an abort, and returns the number of recent ones.
    fn count(&mut self, now: Instant) -> usize {
        self.0.push_back(now);
        while self.0.front().is_some_and(|&then| now.duration_since(then) >= WITHIN) {
            self.0.pop_front();
        }
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_lately_counts() {
        let (mut aborts, begun) = (Aborts::default(), Instant::now());
        let mut after = |seconds| aborts.count(begun + Duration::from_secs(seconds));
        assert_eq!([after(0), after(10), after(59)], [1, 2, 3]);
        assert_eq!([after(60), after(69), after(70)], [3, 4, 4]);
        assert_eq!(after(1_000), 1);
    }
}

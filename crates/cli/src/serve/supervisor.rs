// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Watches over nbdkit, and starts it again where it ended by an assertion of its own.
//!
//! ```text
//!   serving --SIGABRT--> said, and started again (not more than 5 times in a minute: given up)
//!      |----SIGTERM, SIGINT, SIGHUP, SIGQUIT--> passed on, and its end is ours
//!      |----it ends otherwise --> its exit code is ours, and 1 is 3: the environment failed
//! ```
//! nbdkit 1.32 aborts when a client leaves while requests of it are outstanding
//! (`raw_send_socket: Assertion 'sock >= 0' failed`), and all clients lose their connection. A
//! plugin cannot mend that; being back at once is what is left.

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

/// It is started again so often within [`WITHIN`], and then given up.
const STARTS_MAX: usize = 5;

/// See [`STARTS_MAX`].
const WITHIN: Duration = Duration::from_mins(1);

/// The signals that end a server.
const ENDS: [i32; 4] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT];

/// Why it is not served any more.
#[derive(Debug, thiserror::Error)]
enum Ended {
    #[error(
        "nbdkit ended by an assertion of its own (SIGABRT) more than {STARTS_MAX} times in \
         a minute, and is not started again: what it said is above; a newer version may help"
    )]
    TooOften,
    #[error("nbdkit was ended by signal {0}, which nobody sent through this process")]
    Killed(i32),
}

/// What nbdkit ends with that could not begin: our own 1 says that a proof failed.
const NBDKIT_FAILED: i32 = 1;

/// See [`NBDKIT_FAILED`].
const ENVIRONMENT_FAILED: i32 = 3;

/// Serves until somebody says stop or nbdkit ends; gives its exit code, or 3 where it is 1.
pub(super) fn run(command: &ServerCommand) -> Result<i32, Failure> {
    let failed = |error: io::Error| Failure::environment(&error);
    // Before it begins: nothing is missed.
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
            // It had not begun to listen to signals, or ended by one while it was to end anyway.
            (None, _, Some(signal)) => {
                // Fails for signals that cannot be ended by, which these are not.
                let _ = emulate_default_handler(signal);
                return Ok(0);
            }
            (None, Some(SIGABRT), None) => {
                let count = aborts.count(Instant::now());
                if count > STARTS_MAX {
                    return Err(Failure::environment(&Ended::TooOften));
                }
                eprintln!(
                    "tidegate: nbdkit ended by an assertion of its own (SIGABRT), and all \
                     connections with it; starting it again ({count} of {STARTS_MAX} times in \
                     a minute)"
                );
            }
            (None, signal, None) => {
                return Err(Failure::environment(&Ended::Killed(signal.unwrap_or_default())));
            }
        }
    }
}

/// Waits for its end, and passes on what this process is told meanwhile.
fn wait(
    server: &mut Child,
    signals: &mut Signals,
    told: &mut Option<i32>,
) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = server.try_wait()? {
            // Told between its end and now: it is not to begin again.
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
        // It is not waited for yet, so the number is still its own.
        let _ = kill_process(pid, signal);
    }
}

/// When it aborted, as far as that counts.
#[derive(Debug, Default)]
struct Aborts(VecDeque<Instant>);

impl Aborts {
    /// One more; how many there were lately.
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

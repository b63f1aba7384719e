// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Handles Ctrl-C: the first one stops a run, which keeps partial results; a second one kills the
//! process.
//!
//! ```text
//!   running --> stopping, saving .............. another within a second: ignored
//!                   |                           (`timeout` sends its signal twice)
//!                   v another, later
//!                 ends as the signal's default does; prints where partial results are
//! ```

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGTSTP,
    SIGTTIN, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tidegate_platform::terminal;

use crate::failure::Failure;
use crate::show;

/// The shortest interval between two stop requests that count separately.
const ONE_REQUEST: Duration = Duration::from_secs(1);

/// The stack size of the thread that waits for signals. It is small, because the thread prints one
/// line and memory may be locked.
const STACK_BYTES: usize = 128 << 10;

/// Returns a flag that the first SIGINT or SIGTERM sets. A later signal prints `kept` and kills the
/// process as usual.
pub(crate) fn flag(kept: Option<String>) -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let (flag, mut requests) = (Arc::clone(&interrupted), Requests::default());
    let failed = |error: io::Error| Failure::environment(&error);
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
    let wait = move || {
        for signal in signals.forever() {
            match requests.answer(Instant::now()) {
                Reaction::End => {
                    flag.store(true, Ordering::Relaxed);
                    say(
                        "Stopping",
                        "partial results follow; Ctrl-C again, after a second, quits immediately",
                    );
                }
                Reaction::Nothing => (),
                Reaction::Quit => {
                    say("Quit", kept.as_deref().unwrap_or("immediately"));
                    // This call fails only for signals that do not end a process; these signals do.
                    let _ = emulate_default_handler(signal);
                }
            }
        }
    };
    let builder = thread::Builder::new().name("signals".to_owned()).stack_size(STACK_BYTES);
    builder.spawn(wait).map_err(failed)?;
    Ok(interrupted)
}

/// Signals that end or stop a process and can be caught: those that users send, and those that
/// resource limits send. Ctrl-Z is included, because a stopped manager enforces no budget.
/// `abort()` still ends the process.
const ENDING: [i32; 17] = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
    SIGPROF, SIGXCPU, SIGXFSZ, SIGIO, SIGABRT, SIGSYS, SIGTRAP,
];

/// Handles signals to a program that must restore state before it ends.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Set by each of these signals, none of which ends the process; the program must poll it
    /// often.
    pub(crate) is_asked: Arc<AtomicBool>,
    /// The program sets this once the state is restored; the signals then have their default
    /// effect.
    pub(crate) is_over: Arc<AtomicBool>,
}

impl Patience {
    /// Starts to handle the signals. Writing to the terminal from the background does not stop the
    /// program either.
    pub(crate) fn begin() -> Result<Self, Failure> {
        let patience = Self { is_asked: Arc::default(), is_over: Arc::default() };
        terminal::write_from_background();
        for signal in ENDING {
            flag::register_conditional_default(signal, Arc::clone(&patience.is_over))
                .and_then(|_| flag::register(signal, Arc::clone(&patience.is_asked)))
                .map_err(|error| Failure::environment(&error))?;
        }
        Ok(patience)
    }
}

/// Prints on a new line, even if a progress bar is on the screen.
fn say(label: &str, text: &str) {
    if io::stderr().is_terminal() {
        eprintln!();
    }
    show::say(label, text);
}

/// The reaction to a stop request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    /// Let the run end.
    End,
    /// Do nothing, because the run is already ending.
    Nothing,
    /// End the process immediately.
    Quit,
}

/// The stop requests so far.
#[derive(Debug, Default)]
struct Requests {
    first: Option<Instant>,
}

impl Requests {
    fn answer(&mut self, now: Instant) -> Reaction {
        let Some(first) = self.first else {
            self.first = Some(now);
            return Reaction::End;
        };
        if now.duration_since(first) < ONE_REQUEST { Reaction::Nothing } else { Reaction::Quit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_request_twice_ends_once_and_a_later_one_quits() {
        let (mut requests, begun) = (Requests::default(), Instant::now());
        let mut after = |ms| requests.answer(begun + Duration::from_millis(ms));
        assert_eq!(after(0), Reaction::End);
        assert_eq!([after(0), after(999)], [Reaction::Nothing; 2]);
        assert_eq!([after(1000), after(60_000)], [Reaction::Quit; 2]);
    }
}

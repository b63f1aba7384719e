// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Ctrl-C: the first one asks a run to end with what it has, a later one ends the process.
//!
//! ```text
//!   running --> asked to end, saving .......... another within a second: nothing more
//!                   |                           (`timeout` sends its signal twice)
//!                   v another, later
//!                 ends as the signal wants; what was kept until then is named
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

/// Requests to stop that are so close together are one.
const ONE_REQUEST: Duration = Duration::from_secs(1);

/// What waits for signals prints a line and needs little; the stack may be locked into memory.
const STACK_BYTES: usize = 128 << 10;

/// A flag that the first SIGINT or SIGTERM sets; a later one kills as usual, and says what is `kept`.
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
                    say("Stopping", "with what there is; once more, in a second, quits at once");
                }
                Reaction::Nothing => (),
                Reaction::Quit => {
                    say("Quit", kept.as_deref().unwrap_or("at once"));
                    // Fails for signals that cannot be ended by, which these are not.
                    let _ = emulate_default_handler(signal);
                }
            }
        }
    };
    let builder = thread::Builder::new().name("signals".to_owned()).stack_size(STACK_BYTES);
    builder.spawn(wait).map_err(failed)?;
    Ok(interrupted)
}

/// What would end a process or stop it, and can be caught: what people send, and what limits do. Ctrl-Z
/// is one of them: a manager that is stopped watches over nothing. `abort()` ends the process all the same.
const ENDING: [i32; 17] = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
    SIGPROF, SIGXCPU, SIGXFSZ, SIGIO, SIGABRT, SIGSYS, SIGTRAP,
];

/// Signals to a program that must put something back before it ends.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Set by each of these signals, and none of them ends the process: to be looked at often.
    pub(crate) is_asked: Arc<AtomicBool>,
    /// To be set when everything is put back: from then on they do what they always do.
    pub(crate) is_over: Arc<AtomicBool>,
}

impl Patience {
    /// Begins now. The terminal does not stop the program for writing from the background either.
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

/// On a line of its own, also where a bar is drawn.
fn say(label: &str, text: &str) {
    let line = if io::stderr().is_terminal() { "\n" } else { "" };
    eprintln!("{line}{label:<12} {text}");
}

/// What to do about a request to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    /// Let the run end.
    End,
    /// It ends already.
    Nothing,
    /// End the process.
    Quit,
}

/// The requests to stop so far.
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

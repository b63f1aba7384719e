// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Logs each incident immediately, but overruns at most once per second.
//!
//! A drive that exceeds its table often does so hundreds of times per second, and hundreds of lines
//! help no reader. Suppressed overruns are counted in the next line. The service's thread only
//! sends each event to a channel, so a slow reader of the log does not delay it.

use std::sync::mpsc::RecvTimeoutError;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use crate::peers::LogSink;
use crate::service::{Incident, Incidents, Overrun, Stall};

/// The shortest time between two lines about overruns.
const QUIET: Duration = Duration::from_secs(1);

/// The thread's stack size: the thread needs little, and its stack may be locked into memory.
const STACK_BYTES: usize = 128 << 10;

/// Starts a thread that logs incidents until the service ends. Calls `end` if the service ended by
/// itself.
///
/// # Errors
/// If no thread can be started.
pub(super) fn start(
    incidents: Incidents,
    say: LogSink,
    end: impl Fn() + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    let listen = move || {
        let mut lines = Lines::default();
        loop {
            let now = Instant::now();
            let heard = match lines.due(now) {
                None => incidents.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(time) => incidents.recv_timeout(time),
            };
            let line = match heard {
                Ok(Incident::Overrun(overrun)) => lines.overran(Instant::now(), overrun),
                Ok(incident) => {
                    say(&sentence(&incident));
                    if matches!(incident, Incident::Ended { .. }) {
                        end();
                    }
                    None
                }
                Err(RecvTimeoutError::Timeout) => lines.rest(Instant::now()),
                Err(RecvTimeoutError::Disconnected) => {
                    if let Some(line) = lines.rest(now + QUIET) {
                        say(&line);
                    }
                    return;
                }
            };
            if let Some(line) = line {
                say(&line);
            }
        }
    };
    std::thread::Builder::new()
        .name("tidegate-log".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(listen)
}

/// Formats a rare incident, which is logged immediately.
fn sentence(incident: &Incident) -> String {
    match incident {
        Incident::Stall(Stall { at: instant, waited, in_flight }) => format!(
            "warning: {}: the drive completed none of {in_flight} requests in flight for {}; the \
             service keeps waiting, and responses may exceed their bounds until it has caught up",
            at(*instant),
            tidegate_model::Duration::from_ms(waited.ns() / 1_000_000),
        ),
        Incident::FlushFailed { at: instant, error } => format!(
            "error: {}: a flush failed: {error}; data written since the last successful flush may be \
             lost, and every flush and every write with FUA is refused until the next start: check \
             the drive, then restart",
            at(*instant),
        ),
        Incident::Ended { reason } => {
            format!("error: the service ended: {reason}; every request is refused")
        }
        Incident::Overrun(_) => unreachable!("overruns have lines of their own"),
    }
}

/// Decides which overruns are logged. The caller provides the current time.
#[derive(Debug, Default)]
struct Lines {
    /// No line is written before this instant.
    next: Option<Instant>,
    /// The number of the last overrun that was logged, in its own line or as part of a count.
    told: u64,
    /// The worst and the last suppressed overrun.
    kept_back: Option<(Overrun, Overrun)>,
}

impl Lines {
    /// Returns the time until the next line, if overruns are suppressed.
    fn due(&self, now: Instant) -> Option<Duration> {
        let next = self.kept_back.and(self.next)?;
        Some(next.saturating_duration_since(now))
    }

    fn overran(&mut self, now: Instant, overrun: Overrun) -> Option<String> {
        if self.next.is_some_and(|next| now < next) {
            let worst = self.kept_back.map_or(overrun, |(worst, _)| {
                if overrun.excess > worst.excess { overrun } else { worst }
            });
            self.kept_back = Some((worst, overrun));
            return None;
        }
        if self.kept_back.is_some() {
            // The line about the suppressed overruns is due first; this overrun is part of the next
            // line.
            let line = self.rest(now);
            self.kept_back = Some((overrun, overrun));
            return line;
        }
        self.next = Some(now + QUIET);
        // Overruns whose numbers are missing were lost in the channel; they are counted too.
        let lost = overrun.number - self.told - 1;
        self.told = overrun.number;
        let more = if lost > 0 { format!(", and {lost} more before it") } else { String::new() };
        let effect = if overrun.is_tolerated {
            "the proof tolerates that"
        } else {
            "responses may exceed their bounds until the service has caught up"
        };
        Some(format!(
            "warning: {}: a batch took {}, {} longer than the drive's table says (overrun {}{more}); \
             {effect}",
            at(overrun.at),
            overrun.time,
            overrun.excess,
            overrun.number,
        ))
    }

    /// Returns one line about the suppressed overruns, if it is due.
    fn rest(&mut self, now: Instant) -> Option<String> {
        if self.next.is_some_and(|next| now < next) {
            return None;
        }
        let (worst, last) = self.kept_back.take()?;
        self.next = Some(now + QUIET);
        let count = last.number - self.told;
        self.told = last.number;
        Some(format!(
            "warning: {}: {count} more batches took too long, the worst by {} ({} overruns in total)",
            at(last.at),
            worst.excess,
            last.number,
        ))
    }
}

/// Formats the time of day, to compare with other logs, and the time since the start.
fn at(since_start: tidegate_model::Time) -> String {
    let ms = since_start.ns() / 1_000_000;
    let now = humantime::format_rfc3339_millis(SystemTime::now());
    format!("{now}, {}.{:03} s after the start", ms / 1_000, ms % 1_000)
}

#[cfg(test)]
mod tests {
    use tidegate_model::{Duration as Time, Time as Instant_};

    use super::*;

    fn overrun(number: u64, excess_ms: u64) -> Overrun {
        let time = Time::from_ms(10 + excess_ms);
        let excess = Time::from_ms(excess_ms);
        Overrun { number, at: Instant_::from_ns(1), time, excess, is_tolerated: false }
    }

    #[test]
    fn the_first_is_said_at_once_and_others_are_counted() {
        let (mut lines, begun) = (Lines::default(), Instant::now());
        let after = |ms| begun + Duration::from_millis(ms);
        let line = lines.overran(after(0), overrun(1, 3)).expect("the first");
        assert!(line.contains("took 13ms, 3ms longer") && line.contains("(overrun 1)"), "{line}");
        assert_eq!(lines.due(after(1)), None);
        assert_eq!(lines.overran(after(10), overrun(2, 9)), None);
        assert_eq!(lines.overran(after(20), overrun(5, 4)), None);
        assert_eq!(lines.due(after(20)), Some(Duration::from_millis(980)));
        let line = lines.rest(after(1000)).expect("it is time");
        assert!(line.contains("4 more batches") && line.contains("the worst by 9ms"), "{line}");
        assert_eq!((lines.rest(after(3000)), lines.due(after(3000))), (None, None));
        let line = lines.overran(after(3000), overrun(9, 1)).expect("long after");
        assert!(line.contains("(overrun 9, and 3 more before it)"), "{line}");
    }

    #[test]
    fn a_thousand_in_a_second_are_two_lines() {
        let (mut lines, begun) = (Lines::default(), Instant::now());
        let said = (1..=1000).filter(|&number| {
            let now = begun + Duration::from_millis(number);
            lines.overran(now, overrun(number, 1)).is_some()
        });
        assert_eq!(said.count(), 1);
        assert!(lines.rest(begun + Duration::from_millis(1001)).unwrap().contains("999 more"));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Log lines that clients cause: limited in rate, per source and in total, and without the client's
//! control characters.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::peers::LogSink;

/// The length of the window in which lines are counted.
const WINDOW: Duration = Duration::from_secs(10);

/// The largest number of lines in a window for each source.
const LINES_OF_SOURCE: u32 = 5;
/// The largest number of lines in a window in total.
const LINES: u32 = 50;

/// Decides which lines are written. The caller provides the current time.
#[derive(Debug, Default)]
struct Limits {
    begun: Option<Instant>,
    of_source: BTreeMap<String, u32>,
    written: u32,
    suppressed: u64,
}

impl Limits {
    /// Counts a line; returns whether it is written, and the number of lines that were suppressed
    /// in the last window if this line is the first of a new one.
    fn count(&mut self, now: Instant, source: &str) -> (bool, u64) {
        let mut before = 0;
        if self.begun.is_none_or(|begun| now.duration_since(begun) >= WINDOW) {
            before = self.suppressed;
            *self = Self { begun: Some(now), ..Self::default() };
        }
        if self.written >= LINES {
            self.suppressed += 1;
            return (false, before);
        }
        let of_source = self.of_source.entry(source.to_owned()).or_default();
        if *of_source >= LINES_OF_SOURCE {
            self.suppressed += 1;
            return (false, before);
        }
        *of_source += 1;
        self.written += 1;
        (true, before)
    }
}

/// The log of events that clients cause.
pub(super) struct Notices {
    say: LogSink,
    limits: Limits,
}

impl Notices {
    pub(super) fn new(say: LogSink) -> Self {
        Self { say, limits: Limits::default() }
    }

    /// Writes a line about a source, unless a limit is reached.
    pub(super) fn say(&mut self, source: &str, line: &str) {
        let (is_written, suppressed) = self.limits.count(Instant::now(), source);
        if suppressed > 0 {
            (self.say)(&format!("{suppressed} more lines about clients were suppressed"));
        }
        if is_written {
            (self.say)(line);
        }
    }
}

/// Quotes a client's text for the log: without control characters, and not too long.
pub(super) fn quoted(text: &str) -> String {
    const CHARACTERS_MAX: usize = 64;
    let cut: String = text.chars().take(CHARACTERS_MAX).collect();
    let more = if cut.len() < text.len() { ".." } else { "" };
    format!("`{}{more}`", cut.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_source_does_not_silence_the_others_and_all_together_are_few() {
        let (mut limits, begun) = (Limits::default(), Instant::now());
        let written = (0..1_000).filter(|_| limits.count(begun, "loud").0).count();
        assert_eq!(written, LINES_OF_SOURCE as usize);
        assert!(limits.count(begun, "quiet").0);
        let all = (0..1_000).filter(|number| limits.count(begun, &number.to_string()).0).count();
        assert_eq!(all, (LINES - LINES_OF_SOURCE - 1) as usize);
        let later = begun + WINDOW;
        assert_eq!(limits.count(later, "loud"), (true, 995 + 1_000 - all as u64));
        assert_eq!(limits.count(later, "loud"), (true, 0));
    }

    #[test]
    fn a_name_from_the_wire_writes_no_line_of_its_own() {
        assert_eq!(quoted("a\u{1b}[2J\nerror: b"), "`a\\u{1b}[2J\\nerror: b`");
        assert_eq!(quoted(&"x".repeat(100)).len(), 64 + 2 + 2);
    }
}

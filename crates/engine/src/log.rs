// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes a service's log lines to standard error, which may have no reader.
//!
//! If the disk is full, or the pipe's reader has left or does not read, only the line is lost. In
//! the first two cases `eprintln!` would end the thread, and in the third it would block it.

use std::fmt::Display;
use std::os::fd::AsFd;
use std::time::SystemTime;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::write;

/// The number of bytes that a pipe accepts atomically.
const PIECE_BYTES: usize = 4096;

/// The form of the log's lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Lines of the form `tidegate: LINE`.
    Text,
    /// One JSON object on each line: `time` (RFC 3339), `level` and `message`.
    Json,
}

impl Format {
    /// Writes each line of `text` to standard error, as far as that is possible without blocking.
    pub fn say(self, text: impl Display) {
        for line in text.to_string().lines() {
            // A line that cannot be written is lost.
            let _ = write_line(std::io::stderr(), &self.line(SystemTime::now(), line));
        }
    }

    fn line(self, now: SystemTime, line: &str) -> String {
        match self {
            Self::Text => format!("tidegate: {line}\n"),
            Self::Json => {
                let of = |level: &'static str| Some((level, line.strip_prefix(level)?));
                let found = of("warning").or_else(|| of("error"));
                let found = found.and_then(|(level, rest)| Some((level, rest.strip_prefix(": ")?)));
                let (level, message) = found.unwrap_or(("info", line));
                let time = humantime::format_rfc3339_millis(now).to_string();
                let object = Line { time: &time, level, message };
                serde_json::to_string(&object).expect("an object of texts") + "\n"
            }
        }
    }
}

/// A line in JSON, for programs.
#[derive(serde::Serialize)]
struct Line<'a> {
    time: &'a str,
    level: &'a str,
    message: &'a str,
}

/// Writes a line if that does not block; returns whether it was written.
fn write_line(to: impl AsFd, line: &str) -> bool {
    line.as_bytes().chunks(PIECE_BYTES).all(|mut piece| {
        while !piece.is_empty() {
            match is_open(&to).then(|| write(&to, piece)) {
                Some(Ok(count @ 1..)) => piece = &piece[count..],
                Some(Err(rustix::io::Errno::INTR)) => {}
                _ => return false,
            }
        }
        true
    })
}

/// Returns whether a write would succeed now.
fn is_open(to: &impl AsFd) -> bool {
    let mut polled = [PollFd::new(to, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)) == Ok(1) && polled[0].revents().contains(PollFlags::OUT)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;

    use super::*;

    #[test]
    fn lines_for_programs_have_a_time_a_level_and_no_control_characters() {
        let said = |line| Format::Json.line(SystemTime::UNIX_EPOCH, line);
        let time = "\"time\":\"1970-01-01T00:00:00.000Z\"";
        for (line, level, message) in [
            ("serving", "info", "serving"),
            ("warning: late \u{1b}\"", "warning", "late \\u001b\\\""),
            ("error: broken", "error", "broken"),
            ("errors: 3", "info", "errors: 3"),
        ] {
            let object = format!("{{{time},\"level\":\"{level}\",\"message\":\"{message}\"}}\n");
            assert_eq!(said(line), object);
        }
    }

    #[test]
    fn a_line_is_written_where_somebody_reads() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let text = |line: &str| Format::Text.line(SystemTime::now(), line);
        assert!(write_line(&writer, &text("one")));
        assert!(write_line(&writer, &text(&"x".repeat(10_000))));
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text.len(), "tidegate: one\n".len() + "tidegate: \n".len() + 10_000);
        assert!(text.starts_with("tidegate: one\ntidegate: xxx"));
    }

    /// Goal: a reader that does not read, a reader that has left, and a full disk neither block nor
    /// end the writer. Method: a full pipe, a closed one, and `/dev/full`.
    #[test]
    fn nobody_who_reads_badly_stops_us() {
        let (reader, writer) = std::io::pipe().unwrap();
        let written = (0..10_000).take_while(|_| write_line(&writer, &"x".repeat(100))).count();
        assert!((1..10_000).contains(&written), "{written} lines fit into a pipe");
        drop(reader);
        assert!(!write_line(&writer, "nobody"));
        let full = File::options().write(true).open("/dev/full").unwrap();
        assert!(!write_line(&full, "no room"));
    }
}

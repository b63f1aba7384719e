// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes a service's log lines to standard error, which may have no reader.
//!
//! If the disk is full, or the pipe's reader has left or does not read, only the line is lost.
//! `eprintln!` would end the thread in the first two cases and block it in the third.

use std::fmt::Display;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::write;

/// The number of bytes that a pipe accepts atomically.
const PIECE_BYTES: usize = 4096;

/// Writes each line of `text` to standard error, as far as that is possible without blocking.
pub fn say(text: impl Display) {
    for line in text.to_string().lines() {
        // A line that nothing reads is lost.
        let _ = write_line(std::io::stderr(), line);
    }
}

/// Writes `tidegate: LINE` if that does not block; returns whether it was written.
fn write_line(to: impl AsFd, line: &str) -> bool {
    let line = format!("tidegate: {line}\n");
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
    fn a_line_is_written_where_somebody_reads() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        assert!(write_line(&writer, "one"));
        assert!(write_line(&writer, &"x".repeat(10_000)));
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text.len(), "tidegate: one\n".len() + "tidegate: \n".len() + 10_000);
        assert!(text.starts_with("tidegate: one\ntidegate: xxx"));
    }

    /// Goal: a reader that does not read, one that has left, and a full disk neither block nor end
    /// the writer. Method: a full pipe, a closed one, and `/dev/full`.
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

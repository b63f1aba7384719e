// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A peer that sends arbitrary bytes in pieces of any size and reads at any pace.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use super::peer::{Fate, PACE, Peer};
use super::protocol::Protocol;

/// Both directions of a stream.
pub(super) struct Wire {
    /// The input that has not been read yet.
    pub(super) input: VecDeque<u8>,
    /// Whether no more input will come.
    pub(super) is_ended: bool,
    /// The number of bytes that can still be read (`readable`) or written (`writable`).
    pub(super) readable: usize,
    pub(super) writable: usize,
    pub(super) output: Vec<u8>,
}

impl Wire {
    pub(super) fn new(input: &[u8]) -> Self {
        let input = input.iter().copied().collect();
        Self { input, is_ended: false, readable: 0, writable: 0, output: Vec::new() }
    }
}

impl Read for Wire {
    fn read(&mut self, data: &mut [u8]) -> io::Result<usize> {
        if self.input.is_empty() && self.is_ended {
            return Ok(0);
        }
        let count = data.len().min(self.input.len()).min(self.readable);
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.readable -= count;
        self.input.read(&mut data[..count])
    }
}

impl Write for Wire {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let count = data.len().min(self.writable);
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.writable -= count;
        self.output.extend_from_slice(&data[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the replies to a peer that sends `input` in pieces of `piece` bytes, then closes its
/// half of the connection.
pub(crate) fn answers<P: Protocol>(protocol: &mut P, input: &[u8], piece: usize) -> Vec<u8> {
    let mut now = Instant::now();
    let wire = Wire { is_ended: true, ..Wire::new(input) };
    let mut peer = Peer::new(wire, now);
    loop {
        let written = peer.stream.output.len();
        (peer.stream.readable, peer.stream.writable) = (piece, 64 * piece);
        let mut fate = peer.turn(now, protocol);
        if let Some(job) = peer.take_job() {
            fate = peer.answered(now, job());
        }
        if fate == Fate::Goes {
            return peer.stream.output;
        }
        // Replies are paced, so time advances by `PACE` after a reply; sending takes no time.
        let is_answered = peer.stream.output.len() > written;
        now += if is_answered { PACE } else { Duration::from_micros(1) };
    }
}

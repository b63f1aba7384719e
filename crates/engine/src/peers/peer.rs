// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One peer: what it sent and was not answered, what it was answered and did not read.

use std::io::{ErrorKind, Read, Write};
use std::time::Instant;

use rustix::event::PollFlags;

use super::{Answer, PACE, PATIENCE, Protocol, Refusal};

/// What is read at once.
const PIECE_BYTES: usize = 8 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Stays,
    Goes,
}

/// See the module's text.
///
/// # Invariants
/// - No request is taken while an answer is unwritten.
/// - `input` holds at most one request and a piece.
#[derive(Debug)]
pub(super) struct Peer<S> {
    pub(super) stream: S,
    input: Vec<u8>,
    /// No request ends before this place of the input.
    scanned: usize,
    /// Where the first request ends, if it is complete.
    end: Option<usize>,
    output: Vec<u8>,
    written: usize,
    /// It is let go after the output.
    is_leaving: bool,
    /// It sends nothing more.
    is_silent: bool,
    /// Since when it owes us something.
    since: Instant,
    /// Before this it is not answered again.
    next: Instant,
}

impl<S: Read + Write> Peer<S> {
    pub(super) fn new(stream: S, now: Instant) -> Self {
        Self {
            stream,
            input: Vec::new(),
            scanned: 0,
            end: None,
            output: Vec::new(),
            written: 0,
            is_leaving: false,
            is_silent: false,
            since: now,
            next: now,
        }
    }

    /// When it is to be looked at, whatever it does.
    pub(super) fn deadline(&self) -> Instant {
        let is_due = self.end.is_some() && self.output.is_empty();
        if is_due { self.next } else { self.since + PATIENCE }
    }

    /// What is to be waited for, if anything: not looked at, it cannot keep us awake.
    pub(super) fn awaits(&self, now: Instant) -> Option<PollFlags> {
        if !self.output.is_empty() {
            return Some(PollFlags::OUT);
        }
        let is_paced = self.end.is_some() && self.next > now;
        (!is_paced).then_some(PollFlags::IN)
    }

    /// Everything that can be done now.
    pub(super) fn turn<P: Protocol>(&mut self, now: Instant, protocol: &mut P) -> Fate {
        let fate = self.advance(now, protocol);
        if fate == Fate::Goes || now.duration_since(self.since) < PATIENCE {
            return fate;
        }
        // Whoever does not read will not be told either.
        if self.output.is_empty() && !self.is_leaving {
            self.refuse(protocol, Refusal::Slow);
            self.part();
        }
        Fate::Goes
    }

    fn advance<P: Protocol>(&mut self, now: Instant, protocol: &mut P) -> Fate {
        if self.write() == Fate::Goes {
            return Fate::Goes;
        }
        if !self.output.is_empty() {
            return Fate::Stays;
        }
        if self.is_leaving || self.read::<P>() == Fate::Goes {
            return Fate::Goes;
        }
        match self.end {
            Some(_) if self.next > now => return Fate::Stays,
            Some(end) => self.answer(now, end, protocol),
            None if self.input.len() > P::REQUEST_MAX => self.refuse(protocol, Refusal::Long),
            // The last request may lack its end.
            None if self.is_silent && !self.input.is_empty() => {
                self.answer(now, self.input.len(), protocol);
            }
            None if self.is_silent => return Fate::Goes,
            None => return Fate::Stays,
        }
        let fate = self.write();
        if self.is_leaving && self.output.is_empty() { Fate::Goes } else { fate }
    }

    fn answer<P: Protocol>(&mut self, now: Instant, end: usize, protocol: &mut P) {
        let is_too_long = end > P::REQUEST_MAX;
        if is_too_long {
            return self.refuse(protocol, Refusal::Long);
        }
        let Answer { bytes, is_last } = protocol.answer(&self.input[..end]);
        self.input.drain(..end);
        (self.scanned, self.end) = (0, None);
        self.scan::<P>();
        (self.output, self.is_leaving) = (bytes, is_last);
        // A peer that is still served slowly is not slow itself; one that left has no time left.
        if !self.is_silent {
            self.since = now;
        }
        self.next = now + PACE;
    }

    /// It is told why it is let go.
    pub(super) fn refuse<P: Protocol>(&mut self, protocol: &P, why: Refusal) {
        self.output.extend(protocol.refusal(why));
        self.is_leaving = true;
    }

    /// Writes as much as the peer takes at once: the last of it.
    pub(super) fn part(&mut self) {
        let _ = self.write();
    }

    fn scan<P: Protocol>(&mut self) {
        self.end = P::end(&self.input, self.scanned);
        self.scanned = self.input.len();
    }

    /// Reads what there is, up to a request.
    fn read<P: Protocol>(&mut self) -> Fate {
        let mut piece = [0; PIECE_BYTES];
        while self.end.is_none() && !self.is_silent && self.input.len() <= P::REQUEST_MAX {
            match self.stream.read(&mut piece) {
                Ok(0) => self.is_silent = true,
                Ok(count) => {
                    self.input.extend_from_slice(&piece[..count]);
                    self.scan::<P>();
                }
                Err(error) if is_for_later(&error) => break,
                Err(_) => return Fate::Goes,
            }
        }
        Fate::Stays
    }

    fn write(&mut self) -> Fate {
        while self.written < self.output.len() {
            match self.stream.write(&self.output[self.written..]) {
                Ok(0) => return Fate::Goes,
                Ok(count) => self.written += count,
                Err(error) if is_for_later(&error) => return Fate::Stays,
                Err(_) => return Fate::Goes,
            }
        }
        // Its memory too: a large answer is not kept.
        (self.output, self.written) = (Vec::new(), 0);
        Fate::Stays
    }
}

fn is_for_later(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

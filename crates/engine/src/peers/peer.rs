// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One peer: its unanswered requests, and the replies that it has not read.

use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use oneshot::{Receiver, TryRecvError};
use rustix::event::PollFlags;

use super::protocol::{Answer, Job, Protocol, Refusal, Reply};

/// The time limit for a peer to send a request or to read a reply.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The shortest time between two replies to the same peer.
pub(super) const PACE: Duration = Duration::from_millis(2);

/// The number of bytes per read.
const PIECE_BYTES: usize = 8 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Stays,
    Goes,
}

/// A reply that takes a long time.
enum Later {
    /// The operation has not started; the caller of `take_job` runs it.
    Asked(Job),
    Awaited(Receiver<Answer>),
}

/// The connection to one peer, with its requests and replies.
///
/// # Invariants
/// - No request is handled while a reply is being computed or written.
/// - `input` holds at most one request and one further read of [`PIECE_BYTES`].
pub(super) struct Peer<S> {
    pub(super) stream: S,
    input: Vec<u8>,
    /// The number of bytes of the input that were searched for the end of a request.
    scanned: usize,
    /// The position at which the first request ends; `None` if the request is incomplete.
    end: Option<usize>,
    output: Vec<u8>,
    written: usize,
    later: Option<Later>,
    /// Whether the connection is closed after the output is written.
    is_leaving: bool,
    /// Whether the peer has stopped sending.
    is_silent: bool,
    /// The start of the peer's time limit for sending or reading.
    since: Instant,
    /// The peer gets no reply before this time.
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
            later: None,
            is_leaving: false,
            is_silent: false,
            since: now,
            next: now,
        }
    }

    /// Returns the instant at which the peer must be handled even without an event; `None` while it
    /// waits for a long operation.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let is_due = self.end.is_some() && self.output.is_empty();
        let deadline = if is_due { self.next } else { self.since + PATIENCE };
        self.later.is_none().then_some(deadline)
    }

    /// Takes the peer's long-running request, which the caller must carry out now.
    pub(super) fn take_job(&mut self) -> Option<Job> {
        match self.later.take() {
            Some(Later::Asked(job)) => Some(job),
            other => {
                self.later = other;
                None
            }
        }
    }

    /// Sets the channel that delivers the request's reply.
    pub(super) fn awaits_answer(&mut self, answered: Receiver<Answer>) {
        self.later = Some(Later::Awaited(answered));
    }

    /// Returns the event to wait for, if any; other events must not wake the thread.
    pub(super) fn awaits(&self, now: Instant) -> Option<PollFlags> {
        if !self.output.is_empty() {
            return Some(PollFlags::OUT);
        }
        let is_paced = self.end.is_some() && self.next > now;
        (!is_paced && self.later.is_none()).then_some(PollFlags::IN)
    }

    /// Reads requests, executes them and writes replies as far as possible without blocking.
    pub(super) fn turn<P: Protocol>(&mut self, now: Instant, protocol: &mut P) -> Fate {
        let fate = self.advance(now, protocol);
        let is_in_time = self.later.is_some() || now.duration_since(self.since) < PATIENCE;
        if fate == Fate::Goes || is_in_time {
            return fate;
        }
        // A peer that does not read its replies gets no refusal either.
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
        if let Some(later) = &self.later {
            let Later::Awaited(answered) = later else { return Fate::Stays };
            return match answered.try_recv() {
                Ok(answer) => self.answered(now, answer),
                Err(TryRecvError::Empty) => Fate::Stays,
                Err(TryRecvError::Disconnected) => Fate::Goes,
            };
        }
        if self.is_leaving || self.read::<P>() == Fate::Goes {
            return Fate::Goes;
        }
        match self.end {
            Some(_) if self.next > now => return Fate::Stays,
            Some(end) => self.answer(now, end, protocol),
            None if self.input.len() > P::REQUEST_MAX => self.refuse(protocol, Refusal::Long),
            // The last request may lack its terminator.
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
        let reply = protocol.answer(&self.input[..end]);
        self.input.drain(..end);
        (self.scanned, self.end) = (0, None);
        self.scan::<P>();
        match reply {
            Reply::Now(Answer { bytes, is_last }) => {
                (self.output, self.is_leaving) = (bytes, is_last);
            }
            Reply::Later(job) => self.later = Some(Later::Asked(job)),
        }
        // A peer that is still being served is not slow. A peer that has closed its half gets no
        // more time.
        if !self.is_silent {
            self.since = now;
        }
        self.next = now + PACE;
    }

    /// Sends the reply of a finished long-running request; its duration does not count against the
    /// peer.
    pub(super) fn answered(&mut self, now: Instant, answer: Answer) -> Fate {
        self.later = None;
        (self.output, self.is_leaving) = (answer.bytes, answer.is_last);
        (self.since, self.next) = (now, now + PACE);
        let fate = self.write();
        if self.is_leaving && self.output.is_empty() { Fate::Goes } else { fate }
    }

    /// Queues the refusal, after which the connection is closed.
    pub(super) fn refuse<P: Protocol>(&mut self, protocol: &P, why: Refusal) {
        self.output.extend(protocol.refusal(why));
        self.is_leaving = true;
    }

    /// Writes as much as the peer accepts without blocking, before the connection is closed.
    pub(super) fn part(&mut self) {
        let _ = self.write();
    }

    fn scan<P: Protocol>(&mut self) {
        self.end = P::end(&self.input, self.scanned);
        self.scanned = self.input.len();
    }

    /// Reads the available input, up to one request.
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
        // Frees the memory too: a large reply's buffer is not kept.
        (self.output, self.written) = (Vec::new(), 0);
        Fate::Stays
    }
}

fn is_for_later(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

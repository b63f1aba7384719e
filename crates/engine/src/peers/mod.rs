// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Peers that ask, on a thread of its own: whatever they do, it costs no more than this.
//!
//! ```text
//!   connect --> reading --a request is complete--> answering --written--> reading ..
//!                  |                                   |
//!                  +-- too long, too slow, too many ---+--> told why, as far as it reads --> gone
//! ```
//! # Bound
//! One thread; [`PEERS_MAX`] peers; of each one request of at most `REQUEST_MAX` bytes and one
//! answer. A peer that did not send a whole request, or read its answer, for [`PATIENCE`] is let
//! go. It is answered [`PACE`] apart, so that it can take neither this thread nor the service's.
//! What takes long ([`Reply::Later`]) is done on a thread of its own, and nobody else waits for it.

#[cfg(any(test, feature = "harness"))]
pub(crate) mod harness;
mod listener;
mod peer;
#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use oneshot::channel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tidegate_device::Waker;

pub(crate) use self::listener::{Listener, PathListener, PortListener};
use self::peer::{Fate, Peer};

/// Peers at once.
pub(crate) const PEERS_MAX: usize = 32;

/// How long a peer may take for a request, and for reading an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Between two answers to the same peer, at least.
const PACE: Duration = Duration::from_millis(2);

/// How often the listener is checked.
const TICK: Duration = Duration::from_secs(1);

/// How long no peer is accepted after the process had no descriptor for one.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// The thread needs little, and its stack may be locked into memory.
const STACK_BYTES: usize = 256 << 10;

/// Takes lines of the log; called from several threads.
pub type LogSink = Arc<dyn Fn(&str) + Send + Sync>;

/// What is to be sent back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) bytes: Vec<u8>,
    /// Nothing follows.
    pub(crate) is_last: bool,
}

/// What takes long.
pub(crate) type Job = Box<dyn FnOnce() -> Answer + Send>;

/// What comes of a request.
pub(crate) enum Reply {
    Now(Answer),
    /// Its peer waits for it, and nobody else does.
    Later(Job),
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Now(answer)
    }
}

/// Why a peer is let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Its request is.
    Long,
    /// Its request does not come.
    Slow,
    /// There are too many.
    Crowded,
}

/// What peers and we talk.
pub(crate) trait Protocol: Send + 'static {
    /// The longest request.
    const REQUEST_MAX: usize;

    /// Where the first request in `input` ends; nothing before `scanned` ends one.
    fn end(input: &[u8], scanned: usize) -> Option<usize>;

    /// Does what is asked.
    fn answer(&mut self, request: &[u8]) -> Reply;

    /// Says why.
    fn refusal(&self, why: Refusal) -> Vec<u8>;
}

/// Peers being answered; dropping it ends that.
#[derive(Debug)]
pub(crate) struct Peers {
    waker: Waker,
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peers {
    /// Answers whoever comes through `listener`.
    pub(crate) fn start<D: Listener, P: Protocol>(
        name: &str,
        listener: D,
        protocol: P,
        say: LogSink,
    ) -> io::Result<Self> {
        let waker = Waker::new()?;
        let is_ending = Arc::new(AtomicBool::new(false));
        let room = Room {
            listener,
            protocol,
            say,
            peers: Vec::new(),
            muted_until: None,
            next_look: Instant::now(),
        };
        let (of_thread, ends) = (waker.clone(), is_ending.clone());
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || room.serve(&of_thread, &ends))?;
        Ok(Self { waker, is_ending, thread: Some(thread) })
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Release);
        self.waker.wake();
        // Dropped by what a request asked for, it cannot wait for itself.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

/// The thread's own.
struct Room<D: Listener, P> {
    listener: D,
    protocol: P,
    say: LogSink,
    peers: Vec<Peer<D::Stream>>,
    /// Nobody is let in until then.
    muted_until: Option<Instant>,
    next_look: Instant,
}

impl<D: Listener, P: Protocol> Room<D, P> {
    fn serve(mut self, waker: &Waker, is_ending: &AtomicBool) {
        while !is_ending.load(Ordering::Acquire) {
            self.wait(waker);
            let now = Instant::now();
            // Those who left make room first.
            let protocol = &mut self.protocol;
            self.peers.retain_mut(|peer| {
                let fate = peer.turn(now, protocol);
                if let Some(job) = peer.take_job() {
                    peer.awaits_answer(carry_out(job, waker.clone()));
                }
                fate == Fate::Stays
            });
            self.let_in(now);
            // Those who wait before the listener are in: it may be another one from here on.
            if now >= self.next_look {
                self.listener.look(&*self.say);
                self.next_look = now + TICK;
            }
        }
        // What was answered last, for example that it ends, is sent as far as it can be.
        self.peers.iter_mut().for_each(Peer::part);
    }

    /// Blocks until somebody wants something, or it is time for something.
    fn wait(&self, waker: &Waker) {
        let now = Instant::now();
        let is_open = self.muted_until.is_none_or(|until| until <= now);
        let mut polled = vec![PollFd::new(waker, PollFlags::IN)];
        if is_open {
            polled.push(PollFd::from_borrowed_fd(self.listener.as_fd(), PollFlags::IN));
        }
        let mut until = self.next_look;
        until = self.muted_until.filter(|_| !is_open).map_or(until, |muted| until.min(muted));
        for peer in &self.peers {
            until = peer.deadline().map_or(until, |deadline| until.min(deadline));
            if let Some(flags) = peer.awaits(now) {
                polled.push(PollFd::from_borrowed_fd(peer.stream.as_fd(), flags));
            }
        }
        // A nanosecond more: what is due then is due when it wakes.
        let mut time = until.saturating_duration_since(now) + Duration::from_nanos(1);
        if !waker.prepare_to_sleep() {
            time = Duration::ZERO;
        }
        let timeout = Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(1),
            tv_nsec: i64::from(time.subsec_nanos()),
        };
        // Whatever ends it, everything is looked at.
        if poll(&mut polled, Some(&timeout)).is_ok() && !polled[0].revents().is_empty() {
            waker.clear_event();
        }
        waker.acknowledge();
    }

    fn let_in(&mut self, now: Instant) {
        if self.muted_until.is_some_and(|until| until > now) {
            return;
        }
        self.muted_until = None;
        // No more in one turn than there may be: those who are here wait for it.
        for _ in 0..PEERS_MAX {
            match self.listener.accept() {
                Ok(stream) if self.peers.len() < PEERS_MAX => {
                    self.peers.push(Peer::new(stream, now));
                }
                Ok(stream) => {
                    let mut peer = Peer::new(stream, now);
                    peer.refuse(&self.protocol, Refusal::Crowded);
                    peer.part();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    self.muted_until = Some(now + RETRY_DELAY);
                    return;
                }
            }
        }
    }
}

/// Does it on a thread of its own, and wakes who sends the answer. Without a thread none comes.
fn carry_out(job: Job, waker: Waker) -> oneshot::Receiver<Answer> {
    let (answer, answered) = channel();
    let work = move || {
        // Its peer may have gone.
        let _ = answer.send(job());
        waker.wake();
    };
    let named = std::thread::Builder::new().name("tidegate-job".to_owned());
    let _ = named.stack_size(STACK_BYTES).spawn(work);
    answered
}

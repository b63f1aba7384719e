// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Serves peers on a separate thread, at a bounded cost regardless of what the peers do.
//!
//! ```text
//!   connect --> reading --a request is complete--> replying --written--> reading ..
//!                  |                                   |
//!                  +-- too long, too slow, too many ---+--> refusal, if it reads --> closed
//! ```
//! # Bound
//! There is one thread for up to [`PEERS_MAX`] peers. Each peer has one request of at most
//! `REQUEST_MAX` bytes and one reply at a time. A peer that does not complete a request, or read
//! its reply, within [`peer::PATIENCE`] is disconnected. Replies to one peer are at least
//! [`peer::PACE`] apart, so that it cannot use up this thread or the service's. A long operation
//! ([`Reply::Later`]) runs on its own thread and delays no other peer.

#[cfg(any(test, feature = "harness"))]
pub(crate) mod harness;
mod listener;
mod peer;
mod protocol;
#[cfg(test)]
pub(crate) mod tests;

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use oneshot::channel;
use rustix::event::PollFlags;
use tidegate_device::Waker;

pub(crate) use self::listener::{Listener, PathListener, PortListener};
use self::peer::{Fate, Peer};
pub(crate) use self::protocol::{Answer, Job, Protocol, Refusal, Reply};
use crate::wait::wait_for;

/// The largest number of peers of one server at the same time.
pub(crate) const PEERS_MAX: usize = 32;

/// The interval between two checks of the listener.
const TICK: Duration = Duration::from_secs(1);

/// The time for which no peers are accepted after the process ran out of file descriptors.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// The thread's stack size: the thread needs little, and its stack may be locked into memory.
const STACK_BYTES: usize = 256 << 10;

/// Receives log lines; called from several threads.
pub type LogSink = Arc<dyn Fn(&str) + Send + Sync>;

/// The thread that serves the peers; dropping this value ends the thread.
#[derive(Debug)]
pub(crate) struct Peers {
    waker: Waker,
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peers {
    /// Starts to serve the peers that connect to `listener`.
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
        // The thread itself can drop this value, and cannot join itself.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct Room<D: Listener, P> {
    listener: D,
    protocol: P,
    say: LogSink,
    peers: Vec<Peer<D::Stream>>,
    /// No peer is accepted before this instant.
    muted_until: Option<Instant>,
    next_look: Instant,
}

impl<D: Listener, P: Protocol> Room<D, P> {
    fn serve(mut self, waker: &Waker, is_ending: &AtomicBool) {
        while !is_ending.load(Ordering::Acquire) {
            self.wait(waker);
            let now = Instant::now();
            // Disconnected peers are removed first, to make room for new ones.
            let protocol = &mut self.protocol;
            self.peers.retain_mut(|peer| {
                let fate = peer.turn(now, protocol);
                if let Some(job) = peer.take_job() {
                    peer.awaits_answer(carry_out(job, waker.clone()));
                }
                fate == Fate::Stays
            });
            self.let_in(now);
            // Waiting peers are accepted before the check, which may replace the listener.
            if now >= self.next_look {
                self.listener.look(&*self.say);
                self.next_look = now + TICK;
            }
        }
        // Sends the last replies, for example to `stop`, as far as possible.
        self.peers.iter_mut().for_each(Peer::part);
    }

    /// Blocks until an event or the next deadline.
    fn wait<'a>(&'a self, waker: &'a Waker) {
        let now = Instant::now();
        let is_open = self.muted_until.is_none_or(|until| until <= now);
        let accepts = is_open.then(|| (self.listener.as_fd(), PollFlags::IN));
        let muted = self.muted_until.filter(|_| !is_open);
        let deadlines = self.peers.iter().filter_map(Peer::deadline).chain(muted);
        let until = deadlines.fold(self.next_look, Instant::min);
        let awaited = |peer: &'a Peer<D::Stream>| Some((peer.stream.as_fd(), peer.awaits(now)?));
        let peers = self.peers.iter().filter_map(awaited);
        wait_for(waker, accepts.into_iter().chain(peers), until);
    }

    fn let_in(&mut self, now: Instant) {
        if self.muted_until.is_some_and(|until| until > now) {
            return;
        }
        self.muted_until = None;
        // At most [`PEERS_MAX`] peers are accepted per iteration, because connected peers wait
        // meanwhile.
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

/// Carries out a long-running request on its own thread, which wakes the peers' thread when it is
/// done. If no thread can be started, the peer is disconnected without a reply.
fn carry_out(job: Job, waker: Waker) -> oneshot::Receiver<Answer> {
    let (answer, answered) = channel();
    let work = move || {
        // The peer may have disconnected; then the reply is dropped.
        let _ = answer.send(job());
        waker.wake();
    };
    let named = std::thread::Builder::new().name("tidegate-job".to_owned());
    let _ = named.stack_size(STACK_BYTES).spawn(work);
    answered
}

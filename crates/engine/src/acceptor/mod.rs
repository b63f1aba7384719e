// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Accepts connections and performs their handshakes, on a separate thread at ordinary priority. A
//! guest is a client whose handshake is not complete.
//!
//! ```text
//!   accept --> guest: handshake --> service's thread: requests --> departure: closed here
//!                |  too slow, too many, wrong: closed
//! ```
//! # Bound
//! There are at most [`ServerLimits::handshakes`] guests, each with one option and the replies to
//! it in memory. If there are more, the oldest guest from the source with the most guests is
//! closed, so clients that never finish the handshake cannot keep others out.

mod bound;
mod catalogue;
mod guest;
mod listeners;
mod notices;
mod places;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use tidegate_device::Waker;
use tidegate_model::serve_file::ServerLimits;
use tidegate_nbd::Tls;

use self::catalogue::Exports;
use self::guest::{Fate, Guest};
use self::notices::Notices;
use self::places::Places;
use crate::peers::LogSink;
use crate::service::View;
use crate::service::connections::{Departure, Departures, Ended, Failed, Newcomer};
use crate::wait::wait_for;

pub use self::bound::Footprint;
pub(crate) use self::bound::raise_descriptors;
pub use self::listeners::{ListenError, Listener};
pub(crate) use self::tls::Encryption;

/// The largest number of connections accepted in one iteration.
const ACCEPTED_MAX: usize = 64;

/// The time for which no guest is accepted after the process has run out of descriptors.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// The longest wait if no event occurs.
const TICK: Duration = Duration::from_secs(1);

/// The thread's stack size: the thread needs little, and its stack may be locked into memory.
const STACK_BYTES: usize = 256 << 10;

/// The thread that accepts clients; dropping this value ends the thread, and no new client is
/// accepted.
#[derive(Debug)]
pub(crate) struct Acceptor {
    waker: Waker,
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Acceptor {
    /// Starts to accept clients, with at most `connections` connections at the same time.
    pub(crate) fn open(
        listener: Listener,
        view: View,
        limits: ServerLimits,
        connections: usize,
        encryption: Option<Encryption>,
        say: LogSink,
    ) -> io::Result<Self> {
        let waker = Waker::new()?;
        let is_ending = Arc::new(AtomicBool::new(false));
        let thread = Thread {
            listener,
            view,
            places: Places::new(connections, limits.connections),
            limits,
            encryption,
            notices: Notices::new(say),
            departures: Arc::new(Departures::new(waker.clone())),
            guests: Vec::new(),
            muted_until: None,
            events: Vec::new(),
        };
        let (of_thread, ends) = (waker.clone(), is_ending.clone());
        let thread = std::thread::Builder::new()
            .name("tidegate-accept".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || thread.run(&of_thread, &ends))?;
        Ok(Self { waker, is_ending, thread: Some(thread) })
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Release);
        self.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct Thread {
    listener: Listener,
    view: View,
    places: Places,
    limits: ServerLimits,
    encryption: Option<Encryption>,
    notices: Notices,
    departures: Arc<Departures>,
    guests: Vec<Guest>,
    /// No client is accepted before this instant.
    muted_until: Option<Instant>,
    events: Vec<Departure>,
}

impl Thread {
    fn run(mut self, waker: &Waker, is_ending: &AtomicBool) {
        while !is_ending.load(Ordering::Acquire) {
            self.wait(waker);
            let now = Instant::now();
            self.close_departed();
            self.lead(now);
            self.let_in(now);
        }
        self.close_departed();
    }

    /// Blocks until an event or the next deadline.
    fn wait(&mut self, waker: &Waker) {
        let now = Instant::now();
        let time_limit = to_std(self.limits.handshake_time);
        let deadlines = self.guests.iter().map(|guest| guest.begun + time_limit);
        let muted = self.muted_until.filter(|&until| until > now);
        let until = deadlines.chain(muted).fold(now + TICK, Instant::min);
        let awaited: Vec<PollFlags> = self.guests.iter_mut().map(Guest::awaits).collect();
        let accepts = muted.is_none().then(|| (self.listener.as_fd(), PollFlags::IN));
        let guests = self.guests.iter().map(Guest::as_fd).zip(awaited);
        wait_for(waker, accepts.into_iter().chain(guests), until);
    }

    /// Closes the connections that have ended, and logs the events that concern an operator.
    fn close_departed(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        self.departures.take(&mut events);
        for event in events.drain(..) {
            match event {
                Departure::Gone { socket, slot_guard, ended } => {
                    let why = match ended {
                        Ended::Left | Ended::Removed | Ended::Ending => None,
                        Ended::Breach(breach) => Some(breach.to_string()),
                        Ended::Slow => Some(
                            "it did not complete a request, or take its replies, in time".into(),
                        ),
                        Ended::ReadCutShort => {
                            Some("a read failed after its reply had begun".into())
                        }
                    };
                    if let Some(why) = why {
                        self.notices.say("clients", &format!("a client was disconnected: {why}"));
                    }
                    drop((socket, slot_guard));
                }
                Departure::Failed { export, failed } => {
                    let name = self.view.name_of(export).unwrap_or_default();
                    let Failed { what, offset, length, error, unreported } = failed;
                    let more = match unreported {
                        0 => String::new(),
                        count => format!(" ({count} more failed since the last report)"),
                    };
                    let line = format!(
                        "export `{name}`: {what} of {length} bytes at {offset}: {error}{more}"
                    );
                    self.notices.say(&name, &line);
                }
            }
        }
        self.events = events;
    }

    /// Continues each guest's handshake as far as possible without waiting.
    fn lead(&mut self, now: Instant) {
        let time_limit = to_std(self.limits.handshake_time);
        let mut guests = std::mem::take(&mut self.guests);
        guests.retain_mut(|guest| {
            let time_left = (guest.begun + time_limit).saturating_duration_since(now);
            let (view, places) = (&self.view, &self.places);
            let mut exports = Exports { view, places, entered: None, refused: None };
            let fate = guest.turn(&mut exports, self.encryption.as_ref(), time_left);
            if let Some(refused) = exports.refused {
                self.notices.say(&guest.source, &format!("{}: {refused}", guest.source));
            }
            match fate {
                Fate::Stays if time_left.is_zero() => {
                    let line = format!("{}: its handshake took too long", guest.source);
                    self.notices.say(&guest.source, &line);
                    false
                }
                Fate::Stays => true,
                Fate::Goes(why) => {
                    if let Some(why) = why {
                        self.notices.say(&guest.source, &format!("{}: {why}", guest.source));
                    }
                    false
                }
                Fate::Enters(entered) => {
                    let (entered, export, place) = *entered;
                    self.view.connect(Newcomer {
                        socket: guest.socket.clone(),
                        entered,
                        export: export.id(),
                        spec: Arc::new(export.spec().clone()),
                        part_max: export.part_max(),
                        slot_guard: Box::new(place),
                        departures: self.departures.clone(),
                        patience: self.limits.patience,
                    });
                    false
                }
            }
        });
        self.guests = guests;
    }

    fn let_in(&mut self, now: Instant) {
        if self.muted_until.is_some_and(|until| until > now) {
            return;
        }
        self.muted_until = None;
        let tls = if self.encryption.is_some() { Tls::Required } else { Tls::Off };
        for _ in 0..ACCEPTED_MAX {
            match self.listener.accept() {
                Ok((socket, source)) => {
                    if self.guests.len() >= self.limits.handshakes {
                        self.close_one();
                    }
                    self.guests.push(Guest::new(Arc::new(socket), source, tls, now));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    self.notices.say("accept", &format!("cannot accept a connection: {error}"));
                    self.muted_until = Some(now + RETRY_DELAY);
                    break;
                }
            }
        }
        // Newly accepted guests get their greeting immediately.
        self.lead(now);
    }

    /// Closes the oldest guest from the source with the most guests.
    fn close_one(&mut self) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for guest in &self.guests {
            *counts.entry(&guest.source).or_default() += 1;
        }
        let most = counts.values().max().copied();
        // Guests are in the order of their arrival.
        let oldest =
            self.guests.iter().position(|guest| counts.get(guest.source.as_str()).copied() == most);
        if let Some(oldest) = oldest {
            let guest = self.guests.remove(oldest);
            let line = format!("{}: too many connections without an export", guest.source);
            self.notices.say(&guest.source, &line);
        }
    }
}

fn to_std(time: tidegate_model::Duration) -> Duration {
    Duration::from_nanos(time.ns())
}

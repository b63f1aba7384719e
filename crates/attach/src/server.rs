// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive's thread: accepts arriving requests and completes finished ones, in real time.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, JoinHandle};

use tidegate_device::Waker;
use tidegate_model::Duration;
use tidegate_platform::Clock;
use tidegate_platform::realtime::{self, RealTime};

use crate::disk::{Disk, Reply};
use crate::inbox::{Arrival, Inbox};
use crate::statistics::Statistics;

/// The longest single sleep of the thread while no request is in flight.
const SLEEP_MAX: Duration = Duration::from_ms(60_000);

/// The running drive thread.
#[derive(Debug)]
pub(crate) struct Server {
    thread: JoinHandle<Statistics>,
    /// The real-time settings that the host granted to the thread.
    pub(crate) granted: RealTime,
}

/// Closes the inbox when the thread ends for any reason, so that no request waits for the thread.
struct Closing<'a, R>(&'a Inbox<R>);

impl<R> Drop for Closing<'_, R> {
    fn drop(&mut self) {
        self.0.close();
        // Dropping a reply sends an error to its requester.
        self.0.take(&mut Vec::new());
    }
}

impl Server {
    /// Starts to serve the requests in `inbox`, until it is closed and all requests are complete.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(crate) fn start<R: Reply + Send + 'static>(
        mut disk: Disk<R>,
        inbox: Arc<Inbox<R>>,
        clock: Clock,
        waker: Waker,
    ) -> io::Result<Self> {
        let (ready, granted) = sync_channel(1);
        let serve = move || {
            let _closing = Closing(&inbox);
            // `start` waits for this message.
            let _ = ready.send(realtime::request(realtime::PRIORITY));
            serve(&mut disk, &inbox, clock, &waker);
            disk.statistics().clone()
        };
        let thread = Builder::new().name("drive".to_owned()).spawn(serve)?;
        let granted = granted.recv().map_err(io::Error::other)?;
        Ok(Self { thread, granted })
    }

    /// Returns whether the thread has ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the thread's end and returns its statistics; `None` if it failed.
    pub(crate) fn join(self) -> Option<Statistics> {
        self.thread.join().ok()
    }
}

fn serve<R: Reply>(disk: &mut Disk<R>, inbox: &Inbox<R>, clock: Clock, waker: &Waker) {
    let mut taken: Vec<Arrival<R>> = Vec::new();
    loop {
        let (now, is_open) = inbox.take(&mut taken);
        for (at, ask, reply) in taken.drain(..) {
            disk.accept(at, ask, reply);
        }
        disk.advance(now, || clock.now());
        let next = disk.next_event();
        if next.is_none() && !is_open {
            return;
        }
        let now = clock.now();
        let time = next.map_or(SLEEP_MAX, |next| next.since(now).min(SLEEP_MAX));
        if !time.is_zero() {
            waker.sleep(time);
        }
    }
}

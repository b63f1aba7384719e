// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Watches a disk of this machine: reads the kernel's trace buffers and follows the events.

use tidegate_model::{DriveLimits, Duration, Time};

use crate::declared::Declared;
use crate::process::ProcessTable;
use crate::served::Served;
use crate::streams::Streams;
use crate::tracefs::{Instance, TracefsError, now};
use crate::watcher::{Seen, Watcher};
use crate::yielding::Pacer;

/// The time after which an event has appeared in its processor's buffer; its writer can be
/// interrupted.
const LAG: Duration = Duration::from_ms(20);

/// A watch of a disk.
#[derive(Debug)]
pub struct Session {
    instance: Instance,
    streams: Streams,
    watcher: Watcher<ProcessTable>,
    began: Time,
    /// The time up to which every event was read.
    horizon: Time,
    pacer: Pacer,
}

impl Session {
    /// Starts to watch the devices with these kernel numbers, like [`Instance::begin`]. With
    /// `declared`, it compares requests with a workload; with `limits`, it compares the device with
    /// its tables.
    ///
    /// # Errors
    /// The same as [`Instance::find_tracefs`] and [`Instance::begin`].
    pub fn begin(
        devices: &[u32],
        declared: Option<Declared>,
        limits: Option<&DriveLimits>,
        is_learning: bool,
    ) -> Result<Self, TracefsError> {
        let instance = Instance::begin(&Instance::find_tracefs()?, devices)?;
        let began = now();
        let watcher = Watcher::new(began, ProcessTable::new("/proc"), declared, limits);
        let watcher = if is_learning { watcher.learning() } else { watcher };
        Ok(Self {
            instance,
            streams: Streams::default(),
            watcher,
            began,
            horizon: began,
            pacer: Pacer::begin(),
        })
    }

    /// Processes the events until shortly before now. Call it ten times a second.
    ///
    /// # Errors
    /// If the kernel's buffer cannot be read.
    pub fn poll(&mut self) -> Result<(), TracefsError> {
        let horizon = Time::from_ns(now().ns().saturating_sub(LAG.ns())); // the clock starts at boot
        let (lost, is_rest) = self.instance.read(&mut self.streams, &mut self.pacer)?;
        // Events that remain in a buffer can be older than those that were read.
        let horizon = if is_rest { self.horizon } else { horizon };
        self.horizon = horizon;
        self.watcher.take(&mut self.streams, lost, horizon, &mut self.pacer);
        Ok(())
    }

    /// Stops tracing and processes the remaining events, without yielding.
    ///
    /// # Errors
    /// If the kernel's buffer cannot be read.
    pub fn finish(&mut self) -> Result<(), TracefsError> {
        let end = now();
        self.instance.stop()?;
        self.pacer = Pacer::off();
        let mut lost = 0;
        loop {
            let (more, is_rest) = self.instance.read(&mut self.streams, &mut self.pacer)?;
            lost += more;
            if !is_rest {
                break;
            }
        }
        self.watcher.take(&mut self.streams, lost, Time::MAX, &mut self.pacer);
        self.watcher.wait_until(end);
        Ok(())
    }

    /// Returns the time at which the watch began, on the kernel's monotonic clock.
    pub const fn began(&self) -> Time {
        self.began
    }

    /// Also keeps each request that completes, for [`Watcher::take_served`].
    #[must_use]
    pub fn keeping_served(self) -> Self {
        Self { watcher: self.watcher.keeping_served(), ..self }
    }

    /// Returns the requests that completed since the last call, in order of completion. Call it
    /// after each [`Self::poll`], because the requests are kept until then.
    pub fn take_served(&mut self) -> Vec<Served> {
        self.watcher.take_served()
    }

    /// Returns the time since the watch began.
    pub fn elapsed(&self) -> Duration {
        now().since(self.began)
    }

    /// Returns whether the kernel reports the class of each request; if not, the thread's class is
    /// used.
    pub const fn tells_class(&self) -> bool {
        self.instance.tells_class()
    }

    /// Returns the observations until now.
    pub fn seen(&self) -> Seen<'_> {
        self.watcher.seen(now())
    }

    /// Returns the watcher.
    pub const fn watcher(&self) -> &Watcher<ProcessTable> {
        &self.watcher
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The device or simulated drive that is measured. It accepts requests and reports their
//! completions.
//!
//! It is either a real target with a ring and the real clock, or a simulated drive in virtual time.

use crate::held_up::HeldUpMeter;
use crate::load::{Load, LoadMeter};
use tidegate_device::load::Completed;
use tidegate_device::{DeviceFacts, Io, IoError, Ring, RingError, Wake};
use tidegate_drive::{Completion, Drive};
use tidegate_model::{Bytes, Class, Duration, Lba, Op, Request, RequestId, Tag, TaskIndex, Time};
use tidegate_platform::Clock;

/// The longest time without a completion; after it the device counts as dead.
const SILENCE_MAX: Duration = Duration::from_ms(120_000);

/// The id and place of a flush. Nothing else is outstanding during a flush.
const FLUSH: u64 = u64::MAX;

/// The reason why a trial failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubjectError {
    /// A request failed.
    #[error("the device failed at sector {}: {source}", start.get())]
    Io {
        /// The request's first sector.
        start: Lba,
        /// The device's error.
        source: IoError,
    },
    /// A flush failed.
    #[error("the device failed to flush: {source}")]
    Flush {
        /// The device's error.
        source: IoError,
    },
    /// The ring failed.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The device stopped completing requests.
    #[error("the device has completed no request for {SILENCE_MAX}: look at the kernel log")]
    Silent,
}

/// The result of a trial; an error if the target failed.
pub(crate) type TrialResult<T = ()> = Result<T, SubjectError>;

/// One request of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Probe {
    /// Read or write.
    pub(crate) op: Op,
    /// The first sector.
    pub(crate) start: Lba,
    /// The size.
    pub(crate) size: Bytes,
}

/// A target that can be measured. No two outstanding requests start at the same position, so a
/// position identifies its request.
pub(crate) trait Subject {
    /// Sends all these requests to the device together, and returns the time at which the
    /// submission began.
    fn send(&mut self, probes: &[Probe], tag: Tag) -> TrialResult<Time>;

    /// Waits until at least one request completes, and appends the positions of all completed ones.
    fn wait(&mut self, returned: &mut Vec<Lba>) -> TrialResult;

    /// Waits until all requests complete, and returns the time of the last completion.
    fn drain(&mut self) -> TrialResult<Time>;

    /// Flushes the idle device, and returns how long the flush took.
    fn flush(&mut self) -> TrialResult<Duration>;

    /// Returns the current time of the clock that is used for measuring.
    fn now(&self) -> Time;

    /// Returns for how long the host has kept the measurement from running since it began.
    fn held_up(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns whether that time includes stolen time. The kernel counts stolen time in steps that
    /// are longer than many measured times.
    fn has_steal(&self) -> bool {
        false
    }

    /// Returns the load of other programs on the device and the host so far, if known. No request
    /// may be outstanding.
    fn load(&self) -> Option<Load> {
        None
    }

    /// Sends a batch to the idle device, and returns the time until its last request completes.
    fn serve(&mut self, probes: &[Probe]) -> TrialResult<Duration> {
        let begun = self.send(probes, Tag::Simple)?;
        Ok(self.drain()?.since(begun))
    }
}

/// A block device or file.
///
/// A measured time runs from just before a submission until the completion is taken from the ring,
/// so it includes the host's own work and lateness. Tags do not reach the device.
pub(crate) struct RealSubject<'a> {
    /// The ring; it has room for the largest batch.
    pub(crate) ring: Ring,
    /// The clock of the measurement.
    pub(crate) clock: Clock,
    /// The facts about the device.
    pub(crate) facts: &'a DeviceFacts,
    /// The requests sent to the device so far, counted as the kernel splits them.
    pub(crate) sent: Completed,
    /// Measures for how long the host held up the measuring thread.
    pub(crate) meter: HeldUpMeter,
    /// Measures the load of other programs since the measurement began.
    pub(crate) load: LoadMeter,
}

impl Subject for RealSubject<'_> {
    fn send(&mut self, probes: &[Probe], _tag: Tag) -> TrialResult<Time> {
        for &Probe { op, start, size } in probes {
            self.ring.push(Io { token: start.get(), op, start, size, fua: false });
            self.count(op, size);
        }
        let begun = self.clock.now();
        self.ring.submit()?;
        Ok(begun)
    }

    fn wait(&mut self, returned: &mut Vec<Lba>) -> TrialResult {
        let before = returned.len();
        while returned.len() == before {
            self.reap(1, returned)?;
        }
        Ok(())
    }

    fn drain(&mut self) -> TrialResult<Time> {
        let mut returned = Vec::new();
        while self.ring.in_flight_count() > 0 {
            self.reap(self.ring.in_flight_count(), &mut returned)?;
        }
        Ok(self.clock.now())
    }

    fn flush(&mut self) -> TrialResult<Duration> {
        self.ring.push_flush(FLUSH);
        let begun = self.clock.now();
        self.ring.submit()?;
        let done = self.drain().map_err(|error| match error {
            SubjectError::Io { source, .. } => SubjectError::Flush { source },
            other => other,
        })?;
        Ok(done.since(begun))
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn held_up(&self) -> Duration {
        self.meter.read()
    }

    fn has_steal(&self) -> bool {
        HeldUpMeter::is_stolen_from()
    }

    fn load(&self) -> Option<Load> {
        Some(self.load.read(self.facts, self.sent))
    }
}

impl<'a> RealSubject<'a> {
    /// Creates the subject, with no requests sent so far.
    pub(crate) fn new(ring: Ring, clock: Clock, facts: &'a DeviceFacts) -> Self {
        let (meter, load) = (HeldUpMeter::of_this_thread(), LoadMeter::start(facts));
        Self { ring, clock, facts, sent: Completed { reads: 0, writes: 0 }, meter, load }
    }

    fn count(&mut self, op: Op, size: Bytes) {
        let pieces = self.facts.splits(size).map_or(1, |splitting| splitting.pieces);
        match op {
            Op::Read => self.sent.reads += pieces,
            Op::Write => self.sent.writes += pieces,
        }
    }

    /// Waits for `count` completions and takes all that are available; there can be fewer after a
    /// signal.
    fn reap(&mut self, count: u32, returned: &mut Vec<Lba>) -> TrialResult {
        let wake = self.ring.wait_for(count, Some(SILENCE_MAX))?;
        let mut failure = None;
        let reaped = self.ring.reap(|completion, _| {
            let start = Lba::new(completion.token);
            failure = failure.or(completion.result.err().map(|source| (start, source)));
            returned.push(start);
        });
        if wake == Wake::Timeout && reaped == 0 {
            return Err(SubjectError::Silent);
        }
        failure.map_or(Ok(()), |(start, source)| Err(SubjectError::Io { start, source }))
    }
}

/// A simulated drive, measured in virtual time.
pub(crate) struct SimulatedSubject<'a> {
    drive: &'a mut dyn Drive,
    now: Time,
    request_count: u64,
    outstanding: Vec<(RequestId, Lba)>,
    completions: Vec<Completion>,
}

impl<'a> SimulatedSubject<'a> {
    /// Creates a subject from an idle drive.
    pub(crate) fn new(drive: &'a mut dyn Drive) -> Self {
        let (outstanding, completions) = (Vec::new(), Vec::new());
        Self { drive, now: Time::ZERO, request_count: 0, outstanding, completions }
    }

    /// Advances the time while no request is outstanding.
    #[cfg(test)]
    pub(crate) fn idle_until(&mut self, now: Time) {
        assert!(self.outstanding.is_empty(), "an idle drive");
        self.now = self.now.max(now);
    }

    fn request(&mut self, probe: Probe, tag: Tag) -> Request {
        let Probe { op, start, size } = probe;
        self.request_count += 1;
        Request {
            id: RequestId(self.request_count),
            task: TaskIndex(0),
            class: Class::BestEffort,
            released: self.now,
            eligible: self.now,
            due: None,
            op,
            start,
            size,
            fua: false,
            optional: false,
            tag,
        }
    }
}

impl Subject for SimulatedSubject<'_> {
    fn send(&mut self, probes: &[Probe], tag: Tag) -> TrialResult<Time> {
        let batch: Vec<_> = probes.iter().map(|&probe| self.request(probe, tag)).collect();
        self.outstanding.extend(batch.iter().map(|request| (request.id, request.start)));
        self.drive.submit(self.now, &batch);
        Ok(self.now)
    }

    fn wait(&mut self, returned: &mut Vec<Lba>) -> TrialResult {
        let before = returned.len();
        while returned.len() == before {
            self.now = self.drive.next_event().ok_or(SubjectError::Silent)?;
            self.drive.advance(self.now, &mut self.completions);
            for completion in self.completions.drain(..) {
                let is_it = |(id, _): &(RequestId, Lba)| *id == completion.id;
                let index = self.outstanding.iter().position(is_it).expect("it was sent");
                returned.push(self.outstanding.swap_remove(index).1);
            }
        }
        Ok(())
    }

    fn drain(&mut self) -> TrialResult<Time> {
        let mut returned = Vec::new();
        while !self.outstanding.is_empty() {
            self.wait(&mut returned)?;
        }
        Ok(self.now)
    }

    fn flush(&mut self) -> TrialResult<Duration> {
        let begun = self.now;
        self.request_count += 1;
        let id = RequestId(self.request_count);
        self.outstanding.push((id, Lba::new(FLUSH)));
        self.drive.flush(begun, id);
        Ok(self.drain()?.since(begun))
    }

    fn now(&self) -> Time {
        self.now
    }
}

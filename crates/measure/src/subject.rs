// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What is measured: takes a batch and says how long it took.
//!
//! A real target through its ring on the real clock, or a simulated drive in virtual time.

use device::{Clock, Io, IoError, Ring, RingError, Wake};
use drive::Drive;
use model::{Bytes, Class, Duration, Lba, Op, Request, RequestId, Tag, TaskIndex, Time};

/// A device that does not answer for so long is taken for dead.
const SILENCE_MAX: Duration = Duration::from_ms(120_000);

/// Why a batch has no time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubjectError {
    /// A request failed.
    #[error("the device failed to {} at sector {}: {source}", op.name(), start.get())]
    Io {
        /// Read or write.
        op: Op,
        /// Where.
        start: Lba,
        /// How.
        source: IoError,
    },
    /// Execution failed.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// No answer.
    #[error("the device has not answered for {SILENCE_MAX}: look at the kernel log")]
    Silent,
}

/// What is measured.
pub(crate) trait Subject {
    /// Gives the device requests at these places, all at once, and says how long it took
    /// until the last was complete.
    fn serve(&mut self, places: &[Lba]) -> Result<Duration, SubjectError>;

    /// The clock by which it is measured.
    fn now(&self) -> Time;
}

/// A block device or file.
///
/// The time of a batch runs from just before its submission to the moment its last
/// completion was taken: the host's own work and lateness are in it.
pub(crate) struct RealSubject {
    /// Holds at least as many requests as the largest batch.
    pub(crate) ring: Ring,
    /// The clock of the measurement.
    pub(crate) clock: Clock,
    /// Read or write.
    pub(crate) op: Op,
    /// Size of every request.
    pub(crate) size: Bytes,
}

impl Subject for RealSubject {
    fn serve(&mut self, places: &[Lba]) -> Result<Duration, SubjectError> {
        let (op, size) = (self.op, self.size);
        for &start in places {
            self.ring.push(Io { token: start.get(), op, start, size, fua: false });
        }
        let begun = self.clock.now();
        self.ring.submit()?;
        self.finish(begun)
    }

    fn now(&self) -> Time {
        self.clock.now()
    }
}

impl RealSubject {
    /// Waits for all that is in flight, takes it, and says when the last was taken.
    fn finish(&mut self, begun: Time) -> Result<Duration, SubjectError> {
        let mut failure = None;
        while self.ring.in_flight_count() > 0 {
            let left = self.ring.in_flight_count();
            let wake = self.ring.wait_for(left, Some(SILENCE_MAX))?;
            let reaped = self.ring.reap(|completion, _| {
                let start = Lba::new(completion.token);
                failure = failure.or(completion.result.err().map(|source| (start, source)));
            });
            if wake == Wake::Timeout && reaped == 0 {
                return Err(SubjectError::Silent);
            }
        }
        let took = self.clock.now().since(begun);
        let failed = |(start, source)| Err(SubjectError::Io { op: self.op, start, source });
        failure.map_or(Ok(took), failed)
    }
}

/// A simulated drive, measured in virtual time.
pub(crate) struct SimulatedSubject<'a> {
    drive: &'a mut dyn Drive,
    op: Op,
    size: Bytes,
    now: Time,
    request_count: u64,
}

impl<'a> SimulatedSubject<'a> {
    /// An idle drive.
    pub(crate) fn new(drive: &'a mut dyn Drive, op: Op, size: Bytes) -> Self {
        Self { drive, op, size, now: Time::ZERO, request_count: 0 }
    }

    fn request(&mut self, start: Lba) -> Request {
        self.request_count += 1;
        Request {
            id: RequestId(self.request_count),
            task: TaskIndex(0),
            class: Class::BestEffort,
            released: self.now,
            eligible: self.now,
            due: None,
            op: self.op,
            start,
            size: self.size,
            fua: false,
            optional: false,
            tag: Tag::Simple,
        }
    }
}

impl Subject for SimulatedSubject<'_> {
    fn serve(&mut self, places: &[Lba]) -> Result<Duration, SubjectError> {
        let begun = self.now;
        let batch: Vec<_> = places.iter().map(|&start| self.request(start)).collect();
        self.drive.submit(begun, &batch);
        let mut completions = Vec::with_capacity(batch.len());
        while completions.len() < batch.len() {
            self.now = self.drive.next_event().ok_or(SubjectError::Silent)?;
            self.drive.advance(self.now, &mut completions);
        }
        Ok(self.now.since(begun))
    }

    fn now(&self) -> Time {
        self.now
    }
}

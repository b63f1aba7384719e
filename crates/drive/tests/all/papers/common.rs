// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A host for one drive, as in the papers' experiments: requests one at a time, batches given at
//! once, and a constant number of requests outstanding.

use std::ops::RangeInclusive;

use tidegate_drive::mechanical::{Layout, SeekCurve};
use tidegate_drive::{Completion, Drive, builtin};
use tidegate_model::mechanics::{self, Mechanics, Zones};
use tidegate_model::{
    Bytes, Class, DriveFile, DriveKind, Duration, Lba, Op, Outcome, Random, Request, RequestId,
    Time,
};

/// Returns the built-in drive with this name.
pub(crate) fn load(name: &str) -> DriveFile {
    builtin::load(name).expect("a built-in drive")
}

/// Returns the drive's mechanics.
pub(crate) fn mechanics(file: &DriveFile) -> &Mechanics {
    file.mechanics.as_ref().expect("a hard disk")
}

/// Returns the drive's mechanics, to be changed.
pub(crate) fn mechanics_mut(file: &mut DriveFile) -> &mut Mechanics {
    file.mechanics.as_mut().expect("a hard disk")
}

/// Returns the drive's zones.
pub(crate) fn zones(file: &DriveFile) -> &Zones {
    match &mechanics(file).layout {
        mechanics::Layout::Zones(zones) => zones,
        mechanics::Layout::Index(_) => panic!("built-in layouts are by rule"),
    }
}

/// Returns the drive's layout.
pub(crate) fn layout(file: &DriveFile) -> Layout {
    Layout::new(mechanics(file)).expect("a sound layout")
}

/// Returns the drive's seek curve.
pub(crate) fn seek_curve(file: &DriveFile) -> SeekCurve {
    let mechanics = mechanics(file);
    SeekCurve::new(&mechanics.seek, mechanics.cylinders).expect("a sound curve")
}

/// Returns the time of one turn.
pub(crate) fn turn(file: &DriveFile) -> Duration {
    tidegate_drive::mechanical::Rotation::new(mechanics(file).rpm).turn()
}

/// Returns the drive's capacity in tenths of a gigabyte.
pub(crate) fn gigabytes_tenths(file: &DriveFile) -> u64 {
    file.capacity().expect("a hard disk").get() / 100_000_000
}

/// The name of a figure, its simulated value, and the range of the published value.
pub(crate) type Figure<'a> = (&'a str, &'a dyn Fn() -> u64, RangeInclusive<u64>);

/// Checks that every figure lies in its range.
pub(crate) fn check_figures(figures: &[Figure<'_>]) {
    for (what, figure, range) in figures {
        let is = figure();
        assert!(range.contains(&is), "{what}: {is}, not in {range:?}");
    }
}

/// A drive with a host that does one thing at a time.
pub(crate) struct Host {
    drive: Box<dyn Drive + Send>,
    pub(crate) now: Time,
    ids: u64,
    completions: Vec<Completion>,
}

impl Host {
    /// Creates a host of the drive that the file describes.
    pub(crate) fn of(file: &DriveFile) -> Self {
        let drive = tidegate_drive::from_parts(DriveKind::Mechanical, file, 1);
        Self {
            drive: drive.unwrap_or_else(|error| panic!("{}: {error}", file.name)),
            now: Time::ZERO,
            ids: 0,
            completions: Vec::new(),
        }
    }

    /// Sends a batch; returns the id of its first request, which the others follow.
    pub(crate) fn send(&mut self, op: Op, starts: &[u64], size: Bytes) -> RequestId {
        let first = self.ids;
        let requests = (first..).zip(starts);
        let batch: Vec<Request> =
            requests.map(|(id, &start)| request(id, op, start, size)).collect();
        self.ids += u64::try_from(batch.len()).expect("a batch");
        self.drive.submit(self.now, &batch);
        RequestId(first)
    }

    /// Waits for the next completions.
    pub(crate) fn wait(&mut self) -> Vec<Completion> {
        loop {
            let done = self.wait_until(Time::MAX);
            if !done.is_empty() {
                return done;
            }
        }
    }

    /// Waits for the drive's next event, but not beyond `limit`; returns the completions.
    pub(crate) fn wait_until(&mut self, limit: Time) -> Vec<Completion> {
        self.now = self.drive.next_event().map_or(limit, |next| next.min(limit));
        assert!(self.now < Time::MAX, "nothing is outstanding");
        self.completions.clear();
        self.drive.advance(self.now, &mut self.completions);
        assert!(self.completions.iter().all(|done| done.outcome == Outcome::Done));
        self.completions.clone()
    }

    /// Lets the idle drive rest.
    pub(crate) fn rest(&mut self, time: Duration) {
        self.now += time;
    }

    /// Waits until `outstanding` requests have completed.
    pub(crate) fn finish(&mut self, outstanding: usize) {
        let mut left = outstanding;
        while left > 0 {
            left -= self.wait().len();
        }
    }

    /// Returns the time until the last of these requests, given together to the idle drive,
    /// completes.
    pub(crate) fn batch(&mut self, op: Op, starts: &[u64], size: Bytes) -> Duration {
        let begin = self.now;
        self.send(op, starts, size);
        self.finish(starts.len());
        self.now - begin
    }

    /// Keeps `outstanding` reads at the drive until `count` have completed.
    pub(crate) fn keep(
        &mut self,
        outstanding: usize,
        count: usize,
        size: Bytes,
        mut place: impl FnMut() -> u64,
    ) -> Rate {
        let begin = self.now;
        let starts: Vec<u64> = (0..outstanding).map(|_| place()).collect();
        self.send(Op::Read, &starts, size);
        let mut done = 0;
        while done < count {
            let starts: Vec<u64> = self.wait().iter().map(|_| place()).collect();
            done += starts.len();
            self.send(Op::Read, &starts, size);
        }
        let rate = Rate::of(done, size, self.now - begin);
        self.finish(outstanding);
        rate
    }
}

/// Bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rate(u64);

impl Rate {
    /// Returns the rate of `requests` requests of this size in this time.
    pub(crate) fn of(requests: usize, size: Bytes, time: Duration) -> Self {
        let bytes = u128::from(u64::try_from(requests).expect("a count")) * u128::from(size.get());
        let rate = bytes * 1_000_000_000 / u128::from(time.ns());
        Self(u64::try_from(rate).expect("a rate"))
    }

    /// Returns the rate in thousands of bytes per second.
    pub(crate) fn kb(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns the rate in requests of this size per second.
    pub(crate) fn per_second(self, size: Bytes) -> u64 {
        self.0 / size.get()
    }
}

/// Random, unaligned positions at which a request of a given size fits.
pub(crate) struct Places {
    random: Random,
    first: u64,
    count: u64,
}

impl Places {
    /// Returns positions anywhere on the disk.
    pub(crate) fn on(file: &DriveFile, size: Bytes, seed: u64) -> Self {
        Self::within(file, size, (0, 100), seed)
    }

    /// Returns positions between two percentages of the disk's sectors.
    pub(crate) fn within(file: &DriveFile, size: Bytes, percent: (u64, u64), seed: u64) -> Self {
        let sectors = mechanics(file).sectors;
        let (first, end) = (sectors * percent.0 / 100, sectors * percent.1 / 100);
        Self { random: Random::new(seed, 1), first, count: end - first - size.sectors_ceil() + 1 }
    }

    /// Returns the next position.
    pub(crate) fn draw(&mut self) -> u64 {
        self.first + self.random.below(self.count)
    }

    /// Returns the next `count` positions.
    pub(crate) fn take(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.draw()).collect()
    }
}

/// Times in ascending order.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// Returns the times of `trials` batches of `count` reads at random positions, each given at
    /// once.
    pub(crate) fn of_batches(file: &DriveFile, size: Bytes, count: usize, trials: usize) -> Self {
        let (mut host, mut places) = (Host::of(file), Places::on(file, size, 1));
        let mut batch = || host.batch(Op::Read, &places.take(count), size);
        Self::sorted((0..trials).map(|_| batch()).collect())
    }

    /// Sorts these times.
    pub(crate) fn sorted(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// Returns the longest time.
    pub(crate) fn longest(&self) -> Duration {
        self.0[self.0.len() - 1]
    }

    /// Returns the longest time after dropping the longest thousandth.
    pub(crate) fn longest_of_999(&self) -> Duration {
        self.0[self.0.len() - 1 - self.0.len() / 1_000]
    }

    /// Returns the number of times that are longer than `limit`.
    pub(crate) fn count_above(&self, limit: Duration) -> usize {
        self.0.len() - self.0.partition_point(|&time| time <= limit)
    }

    /// Returns the mean, rounded down.
    pub(crate) fn mean(&self) -> Duration {
        let sum: u64 = self.0.iter().map(|time| time.ns()).sum();
        Duration::from_ns(sum / u64::try_from(self.0.len()).expect("a count"))
    }
}

/// Returns the rate of sequential reads, one at a time, from a percentage of the disk's sectors
/// on.
pub(crate) fn sequential(file: &DriveFile, size: Bytes, percent: u64) -> Rate {
    let first = mechanics(file).sectors / 100 * percent;
    let starts = (first..).step_by(usize::try_from(size.sectors_ceil()).expect("a size"));
    let mut next = starts.into_iter();
    Host::of(file).keep(1, 400, size, || next.next().expect("without end"))
}

/// Returns the rate of random reads with `outstanding` requests; the drive accepts that many.
pub(crate) fn random(file: &DriveFile, size: Bytes, outstanding: u32, count: usize) -> Rate {
    let file = DriveFile { depth: file.depth.max(outstanding), ..file.clone() };
    let mut places = Places::on(&file, size, 1);
    let outstanding = usize::try_from(outstanding).expect("a depth");
    Host::of(&file).keep(outstanding, count, size, || places.draw())
}

/// Returns the time of a request far away from all others, which are kept at the drive until it is
/// served. This is the experiment of RTAS 2008, section 3.1.
pub(crate) fn starved(file: &DriveFile, size: Bytes, seed: u64) -> Duration {
    let others = usize::try_from(file.depth).expect("a depth") - 1;
    let mut near = Places::within(file, size, (0, 20), seed);
    let mut far = Places::within(file, size, (80, 100), seed + 1_000);
    let mut host = Host::of(file);
    host.send(Op::Read, &near.take(others), size);
    let begin = host.now;
    let victim = host.send(Op::Read, &[far.draw()], size);
    loop {
        let done = host.wait();
        if done.iter().any(|done| done.id == victim) {
            return host.now - begin;
        }
        host.send(Op::Read, &near.take(done.len()), size);
    }
}

fn request(id: u64, op: Op, start: u64, size: Bytes) -> Request {
    Request { op, start: Lba::new(start), ..Request::plain(RequestId(id), Class::Hard, size) }
}

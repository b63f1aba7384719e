// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An adversary against the tables of simulated disks: hill climbing over the places of a batch,
//! their order, the starting position of the heads and the angle of the platters.
//!
//! The adversary shares nothing with the search that makes the tables: each of its trials has a new
//! disk with an empty cache.

use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use tidegate_drive::{Completion, Drive};
use tidegate_model::{
    Bytes, Class, DriveFile, DriveKind, Duration, Lba, Op, Request, RequestId, Time,
};

/// The longest time for which the disk idles before a trial: more than a turn of any disk.
const IDLE_MAX: Duration = Duration::from_ms(20);

/// Every second climb begins at the two ends of the disk: in the first and the last 1/END of its
/// places.
const END: u64 = 200;

/// A disk, and the batches to try on it.
#[derive(Debug, Clone, Copy)]
pub struct Batches<'a> {
    /// The disk.
    pub file: &'a DriveFile,
    /// Read or write.
    pub op: Op,
    /// The size of each request.
    pub size: Bytes,
    /// The number of requests in a batch.
    pub count: usize,
}

/// The adversary's choices for one trial. A place is a position on the disk, counted in requests of
/// this size from the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The time for which the disk idles first.
    pub idle: Duration,
    /// Where the heads are before the batch.
    pub start: u64,
    /// The places of the batch, in its order.
    pub places: Vec<u64>,
}

impl Batches<'_> {
    /// Returns the number of places of the disk.
    fn places(&self) -> u64 {
        self.file.capacity().expect("the mechanics give it").get() / self.size.get()
    }

    /// Returns the time of the batch; zero if two of its places are the same.
    ///
    /// # Panics
    /// If the disk has no mechanics.
    #[must_use]
    pub fn time(&self, choice: &Choice) -> Duration {
        let mut sorted = choice.places.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() < self.count {
            return Duration::ZERO;
        }
        let drive = tidegate_drive::from_parts(DriveKind::Mechanical, self.file, 1);
        let mut drive = drive.expect("mechanics");
        let begun = self.serve(&mut *drive, Time::ZERO + choice.idle, &[choice.start], 0);
        self.serve(&mut *drive, begun, &choice.places, 1).since(begun)
    }

    /// Serves a batch and returns when it is complete.
    fn serve(&self, drive: &mut dyn Drive, now: Time, places: &[u64], first: u64) -> Time {
        let request = |(id, place): (u64, &u64)| Request {
            op: self.op,
            start: Lba::new(place * self.size.sectors_ceil()),
            ..Request::plain(RequestId(id), Class::Hard, self.size)
        };
        let batch: Vec<Request> = (first..).zip(places).map(request).collect();
        drive.submit(now, &batch);
        let mut completions: Vec<Completion> = Vec::new();
        let mut now = now;
        while let Some(next) = drive.next_event() {
            now = next;
            drive.advance(now, &mut completions);
        }
        assert_eq!(completions.len(), batch.len(), "every request completes");
        completions.last().map_or(now, |completion| completion.at)
    }

    /// Returns the longest batch that `steps` steps find, in climbs of `steps_each`.
    ///
    /// # Panics
    ///
    /// Panics if `steps` is 0.
    #[must_use]
    pub fn climb(&self, steps: u32, steps_each: u32, seed: u64) -> (Duration, Choice) {
        let random = &mut Pcg64::seed_from_u64(seed);
        let climbs = 0..steps.div_ceil(steps_each);
        let tops = climbs.map(|climb| self.climb_once(climb % 2 == 0, steps_each, random));
        tops.max_by_key(|(longest, _)| *longest).expect("at least one climb")
    }

    fn climb_once(&self, at_ends: bool, steps: u32, random: &mut Pcg64) -> (Duration, Choice) {
        let mut top = self.begin(at_ends, random);
        let mut longest = self.time(&top);
        for _ in 1..steps {
            let next = self.changed(&top, random);
            let took = self.time(&next);
            if took >= longest {
                (longest, top) = (took, next);
            }
        }
        (longest, top)
    }

    /// Returns places at the two ends alternately, or random ones.
    pub fn begin(&self, at_ends: bool, random: &mut Pcg64) -> Choice {
        let (all, end) = (self.places(), (self.places() / END).max(1));
        let place = |index: usize, random: &mut Pcg64| match (at_ends, index.is_multiple_of(2)) {
            (false, _) => random.random_range(0..all),
            (true, true) => random.random_range(0..end),
            (true, false) => all - 1 - random.random_range(0..end),
        };
        let start = place(0, random);
        let places = (1..=self.count).map(|index| place(index, random)).collect();
        Choice { idle: idle(random), start, places }
    }

    fn changed(&self, choice: &Choice, random: &mut Pcg64) -> Choice {
        let mut next = choice.clone();
        let all = self.places();
        match random.random_range(0..6) {
            0 => next.idle = idle(random),
            1 => next.start = near(next.start, all, random),
            2 if self.count > 1 => {
                let [a, b] = [(), ()].map(|()| random.random_range(0..self.count));
                next.places.swap(a, b);
            }
            3 => next.places[random.random_range(0..self.count)] = random.random_range(0..all),
            _ => {
                let place = &mut next.places[random.random_range(0..self.count)];
                *place = near(*place, all, random);
            }
        }
        next
    }
}

fn idle(random: &mut Pcg64) -> Duration {
    Duration::from_ns(random.random_range(0..IDLE_MAX.ns()))
}

/// Returns a place near another, at a distance of random magnitude.
fn near(place: u64, all: u64, random: &mut Pcg64) -> u64 {
    let bits = random.random_range(0..=all.ilog2());
    let step = random.random_range(1..=1_u64 << bits) % all;
    if random.random() { (place + step) % all } else { (place + all - step) % all }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts a run's throughput, misses and notices over time, in equal slices.
//!
//! A run's length need not be known: when the slices are used up, every two are joined into one
//! that is twice as long. So memory does not grow, and a short run has short slices.
//!
//! ```text
//!   | a | b | c | d |  --full-->  | a + b | c + d |   |   |
//! ```

use tidegate_model::parameters::TokenRate;
use tidegate_model::{BestEffort, Bytes, Duration, TaskIndex, Time, Workload};

/// The counts in each slice of one entry of the workload file: of all its tasks, or of all its
/// loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryOverTime {
    /// The first source of the entry.
    pub first: TaskIndex,
    /// The number of sources of the entry.
    pub count: u32,
    /// The bytes of requests that completed.
    pub bytes: Vec<u64>,
    /// The jobs that completed after their deadline; empty for best effort.
    pub misses: Vec<u64>,
    /// The misses that were reported to the policy; empty for best effort.
    pub notices: Vec<u64>,
}

/// The counts of a run over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverTime {
    slice: Duration,
    /// The number of slices that the run has reached.
    used: usize,
    entries: Vec<EntryOverTime>,
    /// The index of each source's entry.
    entry_of: Vec<u32>,
    /// The rate, in tokens per second, at which best effort got tokens at the end of each slice;
    /// `None` without a limit.
    token_rate: Vec<Option<TokenRate>>,
}

impl OverTime {
    /// The largest number of slices; an even number.
    const SLICES_MAX: usize = 256;
    /// The length of the first slices, which are the shortest.
    const SLICE_MIN: Duration = Duration::from_ms(10);

    pub(crate) fn new(workload: &Workload) -> Self {
        let tasks = workload.tasks.chunk_by(|a, b| a.entry == b.entry).map(<[_]>::len);
        let loads = BestEffort::entries(&workload.best_effort).map(<[_]>::len);
        let task_entries = tasks.clone().count();
        let (mut entries, mut entry_of) = (Vec::new(), Vec::new());
        for (index, sources) in (0..).zip(tasks.chain(loads)) {
            let counts = |is_needed: bool| vec![0; if is_needed { Self::SLICES_MAX } else { 0 }];
            let of_task = counts((index as usize) < task_entries);
            entries.push(EntryOverTime {
                first: TaskIndex(u32::try_from(entry_of.len()).expect("fewer sources than 2^32")),
                count: u32::try_from(sources).expect("fewer sources than 2^32"),
                bytes: counts(true),
                misses: of_task.clone(),
                notices: of_task,
            });
            entry_of.extend(std::iter::repeat_n(index, sources));
        }
        let token_rate = vec![None; Self::SLICES_MAX];
        Self { slice: Self::SLICE_MIN, used: 0, entries, entry_of, token_rate }
    }

    /// Returns the length of a slice.
    pub const fn slice(&self) -> Duration {
        self.slice
    }

    /// Returns the number of slices of the run; the last one can be shorter.
    pub const fn slices(&self) -> usize {
        self.used
    }

    /// Returns each entry's counts, tasks first.
    ///
    /// # Shape
    /// The first [`Self::slices`] counts of each list are in use; the others are zero.
    pub fn entries(&self) -> &[EntryOverTime] {
        &self.entries
    }

    /// Returns the rate, in tokens per second, at which best effort got tokens at the end of each
    /// slice; `None` if nothing limited it.
    pub fn token_rate(&self) -> &[Option<TokenRate>] {
        &self.token_rate[..self.used]
    }

    pub(crate) fn complete(&mut self, at: Time, source: TaskIndex, size: Bytes) {
        let slice = self.slice_of(at);
        self.entry(source).bytes[slice] += size.get();
    }

    pub(crate) fn miss(&mut self, at: Time, task: TaskIndex) {
        let slice = self.slice_of(at);
        self.entry(task).misses[slice] += 1;
    }

    pub(crate) fn notify(&mut self, at: Time, task: TaskIndex) {
        let slice = self.slice_of(at);
        self.entry(task).notices[slice] += 1;
    }

    /// Records the rate at which best effort gets tokens.
    pub(crate) fn limit(&mut self, at: Time, tokens_per_s: Option<TokenRate>) {
        let slice = self.slice_of(at);
        self.token_rate[slice] = tokens_per_s;
    }

    fn entry(&mut self, source: TaskIndex) -> &mut EntryOverTime {
        &mut self.entries[self.entry_of[source.index()] as usize]
    }

    /// Returns the slice of an instant; joins slices until one covers the instant.
    fn slice_of(&mut self, at: Time) -> usize {
        loop {
            let slice = usize::try_from(at.ns() / self.slice.ns()).unwrap_or(usize::MAX);
            if slice < Self::SLICES_MAX {
                self.reach(slice);
                return slice;
            }
            self.join();
        }
    }

    /// Extends the run to this slice; slices without an event keep the rate before them.
    fn reach(&mut self, slice: usize) {
        if slice >= self.used {
            let before = self.used.checked_sub(1).and_then(|last| self.token_rate[last]);
            self.token_rate[self.used..=slice].fill(before);
            self.used = slice + 1;
        }
    }

    /// Joins every two slices into one.
    fn join(&mut self) {
        let pairs = |counts: &mut Vec<u64>| {
            for index in 0..counts.len() / 2 {
                counts[index] = counts[2 * index] + counts[2 * index + 1];
            }
            let half = counts.len() / 2;
            counts[half..].fill(0);
        };
        for entry in &mut self.entries {
            for counts in [&mut entry.bytes, &mut entry.misses, &mut entry.notices] {
                pairs(counts);
            }
        }
        for index in 0..Self::SLICES_MAX / 2 {
            // The rate of the later slice, if the run has reached that slice.
            let later = (2 * index + 1).min(self.used.max(1) - 1).max(2 * index);
            self.token_rate[index] = self.token_rate[later];
        }
        self.used = self.used.div_ceil(2);
        self.slice = self.slice * 2;
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::parameters::TokenUnit;
    use tidegate_model::{BatchTable, Intensity, Task};

    use super::*;

    fn over_time() -> OverTime {
        let ms = Duration::from_ms;
        let task = |entry| Task { entry, ..Task::periodic("t", ms(100), Bytes::from_kib(4)) };
        let load = |number| BestEffort {
            group: Some(0),
            ..BestEffort::reads(
                format!("l-{number}"),
                Intensity::Outstanding(1),
                Bytes::from_kib(4),
            )
        };
        let table = BatchTable::new(&[ms(10)]).unwrap();
        OverTime::new(&Workload {
            tasks: vec![task(0), task(0), task(1)],
            best_effort: vec![load(1), load(2)],
            ..Workload::new("d", 1, table)
        })
    }

    fn rate(per_s: u64) -> TokenRate {
        TokenRate { unit: TokenUnit::Request, per_s }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn the_sources_of_an_entry_count_together() {
        let mut over_time = over_time();
        for (source, at_ms) in [(0, 0), (1, 9), (2, 10), (3, 25), (4, 29)] {
            over_time.complete(at(at_ms), TaskIndex(source), Bytes::new(512));
        }
        over_time.miss(at(11), TaskIndex(1));
        let bytes: Vec<&[u64]> = over_time.entries().iter().map(|it| &it.bytes[..3]).collect();
        assert_eq!(bytes, [[1024, 0, 0], [0, 512, 0], [0, 0, 1024]]);
        assert_eq!(over_time.entries()[0].misses[..3], [0, 1, 0]);
        let sources: Vec<_> = over_time.entries().iter().map(|it| (it.first.0, it.count)).collect();
        assert_eq!(sources, [(0, 2), (2, 1), (3, 2)]);
        assert_eq!((over_time.slices(), over_time.slice()), (3, Duration::from_ms(10)));
    }

    /// Goal: no count is lost however long the run is. Method: one request per slice, then one
    /// after many slices.
    #[test]
    fn slices_are_joined_when_they_are_used_up() {
        let mut over_time = over_time();
        for slice in 0..256 {
            over_time.complete(at(10 * slice), TaskIndex(0), Bytes::new(512));
            over_time.limit(at(10 * slice), Some(rate(slice)));
        }
        over_time.complete(at(2_560), TaskIndex(0), Bytes::new(512));
        assert_eq!((over_time.slices(), over_time.slice()), (129, Duration::from_ms(20)));
        assert_eq!(over_time.entries()[0].bytes[..2], [1024, 1024]);
        assert_eq!(over_time.token_rate()[..2], [Some(rate(1)), Some(rate(3))]);
        assert_eq!(over_time.token_rate()[127..], [Some(rate(255)), Some(rate(255))]);
        over_time.complete(at(1_000_000_000), TaskIndex(0), Bytes::new(512));
        assert_eq!(over_time.entries()[0].bytes.iter().sum::<u64>(), 258 * 512);
        assert!(over_time.slices() <= 256 && over_time.slices() > 128, "{}", over_time.slices());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Learns from requests what a workload file says of their program: a period or none, the requests
//! of a job, sizes and places.
//!
//! ```text
//!   requests     |||        |||        |||          gaps within a job and between jobs differ by a
//!                job                                factor of 4 or more
//!                |<-period->|<-period->|            median of the gaps between the begins of jobs
//! ```
//!
//! Periodic is a source with at least 16 jobs, nine tenths of whose gaps are within an eighth of the
//! median. Half of its jobs or more must not begin within a sixteenth of the period after a completion
//! of its own: otherwise completions drive it, as in a closed loop. The last two rules are those by
//! which `token-bucket` and `mdn` detect streams (`crates/policy/src/regulators/periodic.rs`).

mod rhythm;

use std::collections::{BTreeMap, VecDeque};

use tidegate_model::{Bytes, Duration, Op, Time};

use crate::bios::Served;
use crate::event::{Extent, IoClass};
use crate::process::Process;

use rhythm::Arrival;
pub use rhythm::Rhythm;

/// The most requests of a source whose instants are kept; later ones count only in the totals.
const ARRIVALS_MAX: usize = 100_000;
/// The most instants of all sources together: 24 MB.
const ALL_ARRIVALS_MAX: usize = 1_000_000;
/// The most sources.
const STREAMS_MAX: usize = 1_024;
/// The requests after which a source may go on to be sequential: programs read several files at once.
const ENDS_MAX: usize = 16;
/// A source is sequential if at least this share of its requests follows another one.
const SEQUENTIAL_PERCENT: u64 = 80;
/// A source that spans at most this share of the device has a range of places.
const RANGE_PERCENT_MAX: u64 = 50;

/// The requests of one operation from the processes of one name in one unit.
type Key = (Option<String>, String, Op);

/// Where the requests of a source are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LearntPlace {
    /// All over the device.
    Random,
    /// Most begin where another one ended.
    Sequential,
    /// In this part of the device, in whole per cent.
    Range {
        /// Its begin, rounded down.
        from_percent: u64,
        /// Its end, rounded up.
        to_percent: u64,
    },
}

/// What was learnt of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learnt {
    /// The systemd service.
    pub unit: Option<String>,
    /// The processes' name.
    pub name: String,
    /// The operation of its requests.
    pub op: Op,
    /// The number of requests.
    pub requests: u64,
    /// Whether most requests had the real-time class.
    pub is_real_time: bool,
    /// The size that half of the requests do not exceed.
    pub size_median: Bytes,
    /// The largest size.
    pub size_max: Bytes,
    /// Where they are.
    pub place: LearntPlace,
    /// Its period; `None` if it has none.
    pub rhythm: Option<Rhythm>,
    /// The most requests at once.
    pub outstanding_max: u32,
    /// The longest response; `None` if nothing completed.
    pub response_max: Option<Duration>,
}

#[derive(Debug, Default)]
struct Stream {
    requests: u64,
    real_time: u64,
    arrivals: Vec<Arrival>,
    /// Sizes in sectors, with the number of requests.
    sizes: BTreeMap<u64, u64>,
    /// The first sector and the one behind the last.
    span: Option<(u64, u64)>,
    ends: VecDeque<u64>,
    following: u64,
    outstanding: u32,
    outstanding_max: u32,
    completed: Option<Time>,
    response_max: Option<Duration>,
}

/// Learns the sources of requests.
#[derive(Debug, Default)]
pub struct Learner {
    streams: BTreeMap<Key, Stream>,
    /// The instants that are kept.
    arrivals: usize,
    /// Requests of sources beyond the most that are followed.
    left_out: u64,
}

impl Learner {
    /// Takes a request that comes.
    pub(crate) fn come(&mut self, at: Time, extent: Extent, by: &Process) {
        let Some(key) = key(extent, by) else { return };
        if self.streams.len() >= STREAMS_MAX && !self.streams.contains_key(&key) {
            self.left_out += 1;
            return;
        }
        let is_room = self.arrivals < ALL_ARRIVALS_MAX;
        let is_kept = self.streams.entry(key).or_default().come(at, extent, is_room);
        self.arrivals += usize::from(is_kept);
    }

    /// Takes a request that is complete.
    pub(crate) fn serve(&mut self, served: &Served) {
        let Some(stream) = self.of(served) else { return };
        stream.outstanding = stream.outstanding.saturating_sub(1); // as of `Declared::serve`
        stream.completed = Some(served.completed);
        stream.real_time += u64::from(served.class == IoClass::RealTime);
        stream.response_max = stream.response_max.max(Some(served.response()));
    }

    /// Takes back a request that ended without being sent.
    pub(crate) fn withdraw(&mut self, bio: &Served) {
        if let Some(stream) = self.of(bio) {
            stream.withdraw(bio);
        }
    }

    /// Forgets a request whose end will not be seen.
    pub(crate) fn give_up(&mut self, bio: &Served) {
        if let Some(stream) = self.of(bio) {
            stream.outstanding = stream.outstanding.saturating_sub(1); // as of `Declared::serve`
        }
    }

    /// Forgets all outstanding requests and the last completions: events were lost.
    pub(crate) fn lose(&mut self) {
        for stream in self.streams.values_mut() {
            (stream.outstanding, stream.completed) = (0, None);
        }
    }

    fn of(&mut self, bio: &Served) -> Option<&mut Stream> {
        self.streams.get_mut(&key(bio.extent, &bio.by)?)
    }

    /// Returns the requests of sources that were not followed.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns what was learnt of each source, periodic ones first, then those with most requests.
    /// `sectors` is the size of the device.
    pub fn learnt(&self, sectors: u64) -> Vec<Learnt> {
        let learnt = |(key, stream): (&Key, &Stream)| stream.learnt(key, sectors);
        let mut all: Vec<Learnt> = self.streams.iter().map(learnt).collect();
        all.sort_by_key(|it| (it.rhythm.is_none(), std::cmp::Reverse(it.requests)));
        all
    }
}

impl Stream {
    /// Counts a request; returns whether its instant is kept.
    fn come(&mut self, at: Time, extent: Extent, is_room: bool) -> bool {
        self.requests += 1;
        self.outstanding += 1;
        self.outstanding_max = self.outstanding_max.max(self.outstanding);
        *self.sizes.entry(extent.sectors).or_default() += 1;
        let (start, end) = (extent.start.get(), extent.end());
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
        self.following += u64::from(self.ends.contains(&start));
        if self.ends.len() == ENDS_MAX {
            self.ends.pop_front();
        }
        self.ends.push_back(end);
        let is_kept = is_room && self.arrivals.len() < ARRIVALS_MAX;
        if is_kept {
            let since_completion = self.completed.map(|completed| at.since(completed));
            self.arrivals.push(Arrival { at, since_completion });
        }
        is_kept
    }

    fn withdraw(&mut self, bio: &Served) {
        self.requests = self.requests.saturating_sub(1); // its source can have had no room
        self.outstanding = self.outstanding.saturating_sub(1);
        if let Some(count) = self.sizes.get_mut(&bio.extent.sectors) {
            *count -= 1;
        }
        self.sizes.retain(|_, count| *count > 0);
        self.arrivals.pop_if(|arrival| arrival.at == bio.queued);
    }

    fn learnt(&self, (unit, name, op): &Key, sectors: u64) -> Learnt {
        Learnt {
            unit: unit.clone(),
            name: name.clone(),
            op: *op,
            requests: self.requests,
            is_real_time: self.real_time * 2 > self.requests,
            size_median: size(self.median_size()),
            size_max: size(self.sizes.last_key_value().map_or(0, |(size, _)| *size)),
            place: self.place(sectors),
            rhythm: Rhythm::of(&self.arrivals),
            outstanding_max: self.outstanding_max,
            response_max: self.response_max,
        }
    }

    fn median_size(&self) -> u64 {
        let mut below = 0;
        let reaches = |(_, count): &(&u64, &u64)| {
            below += *count;
            below * 2 >= self.requests
        };
        self.sizes.iter().find(reaches).map_or(0, |(size, _)| *size)
    }

    fn place(&self, sectors: u64) -> LearntPlace {
        let followers = self.requests.saturating_sub(1); // all but the first
        if followers > 0 && self.following * 100 >= followers * SEQUENTIAL_PERCENT {
            return LearntPlace::Sequential;
        }
        let (Some((first, last)), true) = (self.span, sectors > 0) else {
            return LearntPlace::Random;
        };
        let percent = |sector: u64| u128::from(sector) * 100;
        let from = percent(first) / u128::from(sectors);
        let to = percent(last).div_ceil(u128::from(sectors)).min(100);
        match (u64::try_from(from), u64::try_from(to)) {
            (Ok(from_percent), Ok(to_percent))
                if from_percent < to_percent && to_percent - from_percent <= RANGE_PERCENT_MAX =>
            {
                LearntPlace::Range { from_percent, to_percent }
            }
            _ => LearntPlace::Random,
        }
    }
}

fn key(extent: Extent, by: &Process) -> Option<Key> {
    Some((by.unit.clone(), by.name.clone(), extent.op.moves_data()?))
}

fn size(sectors: u64) -> Bytes {
    Bytes::new(sectors.saturating_mul(tidegate_model::Lba::SECTOR_BYTES)) // 32 bits of sectors
}

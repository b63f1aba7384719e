// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Learns a program's entry of a workload file from its requests: its period, if it has one, the
//! requests of a job, sizes and places.
//!
//! ```text
//!   requests     |||        |||        |||          gaps within a job and between jobs differ by a
//!                job                                factor of 4 or more
//!                |<-period->|<-period->|            median of the gaps between the starts of jobs
//! ```
//!
//! A source is all processes of one name in one unit; or each of these processes if each is
//! periodic and they are not periodic together.
//!
//! A source is periodic if it has at least 16 jobs, and at least nine tenths of the gaps between
//! them differ from the median by at most one eighth of it. In addition, at most half of the jobs
//! may start within one sixteenth of the median after a completion of the source; otherwise
//! completions trigger its jobs, as in a closed loop. `token-bucket` and `mdn` detect streams by
//! the same eighth and sixteenth (`crates/policy/src/regulators/periodic.rs`).

mod rhythm;
mod stream;

use std::collections::BTreeMap;

use tidegate_model::{Bytes, Duration, Op, Time};

use crate::event::{Extent, IoClass};
use crate::process::Process;
use crate::served::Served;

pub use rhythm::Rhythm;
use stream::Stream;

/// The maximum number of arrival times of all sources together (24 MB).
const ALL_ARRIVALS_MAX: usize = 1_000_000;
/// The number of arrival times that each source keeps even if [`ALL_ARRIVALS_MAX`] is reached. A
/// source keeps this number once for all its processes together, and once more for its individual
/// processes, which share it. So the first processes of such a source can use up the room of later
/// ones. This adds at most 48 MB for all sources.
const ARRIVALS_MIN: usize = 1_000;
/// The maximum number of arrival times of a source, and of its individual processes together. Later
/// requests count only in the totals.
const ARRIVALS_MAX: usize = 100_000;
/// The maximum number of sources.
const STREAMS_MAX: usize = 1_024;
/// The maximum number of processes of a source that are followed individually.
const PROCESSES_MAX: usize = 64;

/// A source: the unit, the processes' name, and the operation of the requests.
type Key = (Option<String>, String, Op);

/// The places of a source's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LearntPlace {
    /// All over the device.
    Random,
    /// Most requests begin where another one ended.
    Sequential,
    /// All requests are in this part of the device, in whole per cent.
    Range {
        /// The start of the part, rounded down.
        from_percent: u64,
        /// The end of the part, rounded up.
        to_percent: u64,
    },
}

/// The learnt figures of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learnt {
    /// The systemd service; `None` outside of services.
    pub unit: Option<String>,
    /// The processes' name.
    pub name: String,
    /// The operation of its requests.
    pub op: Op,
    /// The number of requests.
    pub requests: u64,
    /// Whether most requests had the real-time class.
    pub is_real_time: bool,
    /// The median size: half of the requests do not exceed it.
    pub size_median: Bytes,
    /// The size of the largest request.
    pub size_max: Bytes,
    /// The places of its requests.
    pub place: LearntPlace,
    /// The source's period and jobs; `None` if the source is not periodic.
    pub rhythm: Option<Rhythm>,
    /// The maximum number of requests outstanding at the same time.
    pub outstanding_max: u32,
    /// The longest response; `None` if nothing completed.
    pub response_max: Option<Duration>,
    /// The number of requests whose arrival times were not kept. They are the last ones, and the
    /// period does not depend on them.
    pub untimed: u64,
}

/// The requests of a source: of all its processes together, and of each process.
#[derive(Debug, Default)]
struct Streams {
    all: Stream,
    by_process: BTreeMap<u32, Stream>,
    /// The number of arrival times that the individual processes keep.
    arrivals_of_processes: usize,
}

/// Learns the sources of requests and their figures.
#[derive(Debug, Default)]
pub struct Learner {
    streams: BTreeMap<Key, Streams>,
    /// The number of arrival times that are kept.
    arrivals: usize,
    /// The number of requests of sources that are not followed.
    left_out: u64,
}

impl Learner {
    /// Records a request that arrives.
    pub(crate) fn come(&mut self, at: Time, extent: Extent, by: &Process) {
        let Some(key) = key(extent, by) else { return };
        if self.streams.len() >= STREAMS_MAX && !self.streams.contains_key(&key) {
            self.left_out += 1;
            return;
        }
        let is_room = self.arrivals < ALL_ARRIVALS_MAX;
        self.arrivals += self.streams.entry(key).or_default().come(at, extent, by.pid, is_room);
    }

    /// Records a request that has completed.
    pub(crate) fn serve(&mut self, served: &Served) {
        for stream in self.of(served) {
            stream.outstanding = stream.outstanding.saturating_sub(1); // as in `Declared::serve`
            stream.completed = Some(served.completed);
            stream.real_time += u64::from(served.class == IoClass::RealTime);
            stream.response_max = stream.response_max.max(Some(served.response()));
        }
    }

    /// Removes from the counts a request that ended without being sent.
    pub(crate) fn withdraw(&mut self, bio: &Served) {
        for stream in self.of(bio) {
            stream.withdraw(bio);
        }
    }

    /// Forgets a request whose completion will not be observed.
    pub(crate) fn give_up(&mut self, bio: &Served) {
        for stream in self.of(bio) {
            stream.outstanding = stream.outstanding.saturating_sub(1); // as in `Declared::serve`
        }
    }

    /// Forgets all outstanding requests and the last completions, because events were lost.
    pub(crate) fn lose(&mut self) {
        for stream in self.streams.values_mut().flat_map(Streams::each) {
            (stream.outstanding, stream.completed) = (0, None);
        }
    }

    fn of(&mut self, bio: &Served) -> impl Iterator<Item = &mut Stream> {
        let streams = key(bio.extent, &bio.by).and_then(|key| self.streams.get_mut(&key));
        streams.into_iter().flat_map(|streams| streams.of(bio.by.pid))
    }

    /// Returns the number of requests of sources that are not followed.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the learnt figures of each source: periodic sources first, then those with most
    /// requests. `sectors` is the size of the device.
    pub fn learnt(&self, sectors: u64) -> Vec<Learnt> {
        let learnt = |(key, streams): (&Key, &Streams)| streams.learnt(key, sectors);
        let mut all: Vec<Learnt> = self.streams.iter().flat_map(learnt).collect();
        all.sort_by_key(|it| (it.rhythm.is_none(), std::cmp::Reverse(it.requests)));
        all
    }
}

impl Streams {
    /// Records a request that arrives. Returns how many arrival times it added. `is_room` says
    /// whether all sources together may keep more.
    fn come(&mut self, at: Time, extent: Extent, pid: u32, is_room: bool) -> usize {
        let most = if is_room { ARRIVALS_MAX } else { ARRIVALS_MIN };
        if self.by_process.len() < PROCESSES_MAX {
            self.by_process.entry(pid).or_default();
        }
        let is_kept = self.all.come(at, extent, most);
        let room = most.saturating_sub(self.arrivals_of_processes);
        let process = self.by_process.get_mut(&pid);
        let is_kept_twice =
            process.is_some_and(|it| it.come(at, extent, if room > 0 { most } else { 0 }));
        self.arrivals_of_processes += usize::from(is_kept_twice);
        usize::from(is_kept) + usize::from(is_kept_twice)
    }

    fn each(&mut self) -> impl Iterator<Item = &mut Stream> {
        [&mut self.all].into_iter().chain(self.by_process.values_mut())
    }

    fn of(&mut self, pid: u32) -> impl Iterator<Item = &mut Stream> {
        [&mut self.all].into_iter().chain(self.by_process.get_mut(&pid))
    }

    fn learnt(&self, key: &Key, sectors: u64) -> Vec<Learnt> {
        let together = self.all.learnt(key, sectors);
        let each = self.by_process.values().map(|stream| stream.learnt(key, sectors));
        let each: Vec<_> = each.filter(|it| it.requests > 0).collect();
        let is_whole = each.iter().map(|it| it.requests).sum::<u64>() == together.requests;
        let are_periodic = is_whole && each.iter().all(|it| it.rhythm.is_some());
        if together.rhythm.is_none() && are_periodic { each } else { vec![together] }
    }
}

fn key(extent: Extent, by: &Process) -> Option<Key> {
    Some((by.unit.clone(), by.name.clone(), extent.op.moves_data()?))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The requests of one operation from a source, or from one of its processes.

use std::collections::{BTreeMap, VecDeque};

use tidegate_model::{Bytes, Duration, Time};

use super::rhythm::{Arrival, Rhythm};
use super::{Key, Learnt, LearntPlace};
use crate::event::Extent;
use crate::served::Served;

/// The maximum number of preceding requests whose ends are kept. A request is sequential if it
/// starts at one of these ends, because programs read several files at the same time.
const ENDS_MAX: usize = 16;
/// A source is sequential if at least this percentage of its requests are sequential.
const SEQUENTIAL_PERCENT: u64 = 80;
/// The maximum percentage of the device that a source's range of places can span.
const RANGE_PERCENT_MAX: u64 = 50;

/// The counted requests, with arrival times, sizes and places.
#[derive(Debug, Default)]
pub(super) struct Stream {
    requests: u64,
    pub(super) real_time: u64,
    arrivals: Vec<Arrival>,
    /// The number of requests of each size; sizes are in sectors.
    sizes: BTreeMap<u64, u64>,
    /// The first sector, and the sector after the last one.
    span: Option<(u64, u64)>,
    ends: VecDeque<u64>,
    following: u64,
    pub(super) outstanding: u32,
    outstanding_max: u32,
    pub(super) completed: Option<Time>,
    pub(super) response_max: Option<Duration>,
}

impl Stream {
    /// Counts a request. Returns whether its arrival time was kept; at most `arrivals_max` are
    /// kept.
    pub(super) fn come(&mut self, at: Time, extent: Extent, arrivals_max: usize) -> bool {
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
        let is_kept = self.arrivals.len() < arrivals_max;
        if is_kept {
            let since_completion = self.completed.map(|completed| at.since(completed));
            self.arrivals.push(Arrival { at, since_completion });
        }
        is_kept
    }

    pub(super) fn withdraw(&mut self, bio: &Served) {
        self.requests = self.requests.saturating_sub(1); // there may have been no room for its source
        self.outstanding = self.outstanding.saturating_sub(1);
        if let Some(count) = self.sizes.get_mut(&bio.extent.sectors) {
            *count -= 1;
        }
        self.sizes.retain(|_, count| *count > 0);
        self.arrivals.pop_if(|arrival| arrival.at == bio.queued);
    }

    pub(super) fn learnt(&self, (unit, name, op): &Key, sectors: u64) -> Learnt {
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
            untimed: self.requests.saturating_sub(self.arrivals.len() as u64),
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

fn size(sectors: u64) -> Bytes {
    Bytes::new(sectors.saturating_mul(tidegate_model::Lba::SECTOR_BYTES)) // sectors have 32 bits
}

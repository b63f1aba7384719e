// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sectors that are stored elsewhere than their neighbours.
//!
//! Drives come with few or none of them, so that a look-up first asks whether there are any.

use std::fmt;

use super::Position;
use super::angles::TrackAngles;
use super::home::Home;
use super::steps::Steps;

/// Sectors in a row that are stored elsewhere, in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remap {
    /// The first of them.
    pub(super) start: u64,
    /// How many.
    pub(super) count: u32,
    /// Where the first one is.
    pub(super) position: Position,
    /// Those of the track where they are.
    pub(super) angles: TrackAngles,
}

impl Remap {
    fn end(&self) -> u64 {
        self.start + u64::from(self.count)
    }

    fn home(&self, sector: u64) -> Home {
        let into = u32::try_from(sector - self.start).expect("one of the run");
        let position = Position { sector: self.position.sector + into, ..self.position };
        Home { position, angles: self.angles, begin: self.start, end: self.end(), is_whole: true }
    }
}

/// All sectors that are stored elsewhere.
#[derive(Debug, Clone)]
pub(super) struct Remaps {
    starts: Steps,
    /// In order of their sectors.
    runs: Vec<Remap>,
    /// In order of their places.
    by_place: Vec<Remap>,
}

/// Two runs that cannot both be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Clash {
    /// They have this sector in common.
    Sector(u64),
    /// They have this place in common.
    Place(Position),
}

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sector(sector) => write!(f, "sector {sector} is stored at two places"),
            Self::Place(at) => write!(
                f,
                "two sectors are stored at cylinder {}, head {}, sector {}",
                at.cylinder, at.head, at.sector
            ),
        }
    }
}

impl Remaps {
    /// Runs in any order.
    ///
    /// # Errors
    /// Where two of them overlap, by their sectors or by their places.
    pub(super) fn new(mut runs: Vec<Remap>) -> Result<Self, Clash> {
        runs.sort_unstable_by_key(|run| run.start);
        for pair in runs.windows(2) {
            if pair[1].start < pair[0].end() {
                return Err(Clash::Sector(pair[1].start));
            }
        }
        let mut by_place = runs.clone();
        by_place.sort_unstable_by_key(|run| run.position);
        for pair in by_place.windows(2) {
            if is_within(&pair[0], pair[1].position) {
                return Err(Clash::Place(pair[1].position));
            }
        }
        let starts = Steps::new(runs.iter().map(|run| run.start).collect());
        Ok(Self { starts, runs, by_place })
    }

    /// Where a sector is, if it is stored elsewhere.
    pub(super) fn place(&self, sector: u64) -> Option<Home> {
        if self.runs.is_empty() {
            return None;
        }
        let run = &self.runs[self.starts.count_up_to(sector).checked_sub(1)?];
        (sector < run.end()).then(|| run.home(sector))
    }

    /// The sectors around one at home: all from the first up to the second are at home too.
    pub(super) fn between(&self, sector: u64) -> (u64, u64) {
        if self.runs.is_empty() {
            return (0, u64::MAX);
        }
        let next = self.starts.count_up_to(sector);
        let begin = next.checked_sub(1).map_or(0, |before| self.runs[before].end());
        (begin, self.runs.get(next).map_or(u64::MAX, |run| run.start))
    }

    /// The sector that is stored at this place instead of at home.
    pub(super) fn sector_at(&self, position: Position) -> Option<u64> {
        let next = self.by_place.partition_point(|run| run.position <= position);
        let run = &self.by_place[next.checked_sub(1)?];
        is_within(run, position)
            .then(|| run.start + u64::from(position.sector - run.position.sector))
    }
}

fn is_within(run: &Remap, position: Position) -> bool {
    let first = run.position;
    (first.cylinder, first.head) == (position.cylinder, position.head)
        && (first.sector..first.sector + run.count).contains(&position.sector)
}

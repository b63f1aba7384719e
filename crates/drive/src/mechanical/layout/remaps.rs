// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Remapped sectors: sectors that are not stored next to their neighbours.
//!
//! Drives have few or none of them, so a look-up first checks whether there are any.

use std::fmt;

use super::angles::TrackAngles;
use super::home::Home;
use super::position::Position;
use super::steps::Steps;

/// A run of consecutive sectors remapped to consecutive sectors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remap {
    /// The first sector.
    pub(super) start: u64,
    /// The number of sectors.
    pub(super) count: u32,
    /// The position of the first sector.
    pub(super) position: Position,
    /// The angles of the track on which the remapped sectors are stored.
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

/// All remapped sectors.
#[derive(Debug, Clone)]
pub(super) struct Remaps {
    starts: Steps,
    /// The runs, sorted by sector.
    runs: Vec<Remap>,
    /// The runs, sorted by position.
    by_place: Vec<Remap>,
}

/// A conflict of two runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum RemapConflict {
    /// Both runs contain this sector.
    Sector(u64),
    /// Both runs contain this position.
    Place(Position),
}

impl fmt::Display for RemapConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sector(sector) => write!(f, "sector {sector} is stored twice"),
            Self::Place(at) => write!(
                f,
                "two sectors are stored at cylinder {}, head {}, sector {}",
                at.cylinder, at.head, at.sector
            ),
        }
    }
}

impl Remaps {
    /// Creates the remaps from runs in any order.
    ///
    /// # Errors
    /// A conflict of two runs, by their sectors or by their positions.
    pub(super) fn new(mut runs: Vec<Remap>) -> Result<Self, RemapConflict> {
        runs.sort_unstable_by_key(|run| run.start);
        for pair in runs.windows(2) {
            if pair[1].start < pair[0].end() {
                return Err(RemapConflict::Sector(pair[1].start));
            }
        }
        let mut by_place = runs.clone();
        by_place.sort_unstable_by_key(|run| run.position);
        for pair in by_place.windows(2) {
            if is_within(&pair[0], pair[1].position) {
                return Err(RemapConflict::Place(pair[1].position));
            }
        }
        let starts = Steps::new(runs.iter().map(|run| run.start).collect());
        Ok(Self { starts, runs, by_place })
    }

    /// Returns the place of a remapped sector; `None` if the sector is not remapped.
    pub(super) fn place(&self, sector: u64) -> Option<Home> {
        if self.runs.is_empty() {
            return None;
        }
        let run = &self.runs[self.starts.count_up_to(sector).checked_sub(1)?];
        (sector < run.end()).then(|| run.home(sector))
    }

    /// Returns the largest range around an unremapped sector that contains no remapped sector.
    pub(super) fn between(&self, sector: u64) -> (u64, u64) {
        if self.runs.is_empty() {
            return (0, u64::MAX);
        }
        let next = self.starts.count_up_to(sector);
        let begin = next.checked_sub(1).map_or(0, |before| self.runs[before].end());
        (begin, self.runs.get(next).map_or(u64::MAX, |run| run.start))
    }

    /// Returns the sector that is remapped to this position.
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

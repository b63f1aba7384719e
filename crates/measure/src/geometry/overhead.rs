// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The experiment `overhead`: the fixed cost of a read, without seek and rotational delay.
//!
//! Two reads on one track are timed so that only the platter moves, and so that the requested block
//! arrives just when the drive has processed the command: this is the shortest time between them.
//! Reads of two sizes from the drive's memory show how long processing and the bus take.
//!
//! # Source
//! Reuther and Pohlack, Using SATF Scheduling in Real-Time Systems, section 2, use a single figure
//! from automated benchmarks for the overhead of a command. It corresponds to the shortest time
//! here.

use serde::{Deserialize, Serialize};

use super::lost::{self, Lost, NotSeen};
use super::number::{float, median, whole};
use super::probing::{Bounds, Probing};
use super::rotation::Rotation;
use super::tracks::{Survey, Track};
use crate::subject::TrialResult;

/// The number of requests of the experiment.
pub(super) const REQUESTS: Bounds = Bounds { usual: 900, most: 4_000 };

/// The number of places at which the overhead is measured.
const PLACES: u64 = 5;
/// The number of bisections for each place.
const REPEATS: usize = 3;
/// The number of reads from the drive's memory for each place and each of two sizes.
const HITS: usize = 5;
/// The size of the larger reads, in sectors.
const LARGE: u64 = 128;

/// The fixed cost of a read, without seek and rotational delay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverheadSeen {
    /// The shortest time of a read of one block from the medium: processing, the block itself, the
    /// bus and the reply.
    pub least_ns: u64,
    /// The median deviation of the measurements from `least_ns`.
    pub unsure_ns: u64,
    /// The time in which that block passes the heads; it is part of `least_ns` and of every
    /// measured seek.
    pub block_ns: u64,
    /// The time of a read of one block from the drive's memory; `None` if memory answers no read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit_ns: Option<u64>,
    /// The time of each further sector from the drive's memory, in picoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus_sector_ps: Option<u64>,
    /// Whether the drive reads ahead: the blocks behind one that was read are soon in its memory.
    pub reads_ahead: bool,
    /// The number of reads that the measurement took.
    pub requests: u64,
}

/// Measures the fixed cost of a read on a rotating disk.
///
/// # Errors
/// If the target fails.
pub(crate) fn overhead(
    probing: &mut Probing<'_>,
    rotation: &Rotation,
) -> TrialResult<Result<OverheadSeen, NotSeen>> {
    probing.begin(REQUESTS);
    let found = seen(probing, rotation);
    lost::reported(found, probing.spent())
}

/// The times of reads from the drive's memory at all places, in nanoseconds.
#[derive(Default)]
struct Hits {
    small: Vec<f64>,
    large: Vec<f64>,
    ahead: Vec<f64>,
}

fn seen(probing: &mut Probing<'_>, rotation: &Rotation) -> Result<OverheadSeen, Lost> {
    let mut survey = Survey::new(probing, rotation);
    let (mut tracks, mut found) = (Vec::new(), Hits::default());
    for place in 0..PLACES {
        let near = survey.probing.sectors() / PLACES * place + survey.probing.sectors() / 10;
        let track = survey.track_near(near)?.ok_or(Lost::Near(near))?;
        hits(&mut survey, &track, &mut found)?;
        tracks.push(track);
    }
    let (turn, block) = (survey.platter.turn, survey.probing.block());
    let is_hit = |time: &f64| *time < turn / 4.0;
    let hit = median(found.small).filter(is_hit);
    survey.soonest = hit.unwrap_or(0.0);
    let times = least(&mut survey, &tracks)?;
    let least = median(times.clone()).ok_or(Lost::Near(0))?;
    let unsure = median(times.iter().map(|each| (each - least).abs()).collect());
    let large = median(found.large).filter(is_hit);
    let further = float(survey.probing.at_least(LARGE) - block);
    let bus = hit.zip(large).map(|(hit, large)| (large - hit) / further * 1e3);
    let reads_ahead = hit.is_some() && median(found.ahead).is_some_and(|time| is_hit(&time));
    let per_sector = median(tracks.iter().map(|track| track.per_sector(turn)).collect());
    Ok(OverheadSeen {
        least_ns: whole(least),
        unsure_ns: whole(unsure.unwrap_or(0.0)),
        block_ns: whole(per_sector.unwrap_or(0.0) * float(block)),
        hit_ns: hit.map(whole),
        bus_sector_ps: bus.filter(|&ps| ps > 0.0).map(whole),
        reads_ahead,
        requests: probing.spent(),
    })
}

/// Finds the shortest times on tracks that follow these.
fn least(survey: &mut Survey<'_, '_>, tracks: &[Track]) -> Result<Vec<f64>, Lost> {
    let mut times = Vec::new();
    for near in tracks {
        let mut next = 0;
        for _ in 0..REPEATS {
            let mut pairs = |survey: &mut Survey<'_, '_>| {
                next += 1;
                let track = survey.track_at(near.begin + next * near.sectors, near.sectors)?;
                Ok(track.map(|track| (track.clone(), track)))
            };
            times.extend(survey.least(&mut pairs)?);
        }
    }
    Ok(times)
}

/// Times reads of blocks that were just read, and of blocks behind them.
fn hits(survey: &mut Survey<'_, '_>, track: &Track, found: &mut Hits) -> Result<(), Lost> {
    let (block, large) = (survey.probing.block(), survey.probing.at_least(LARGE));
    for _ in 0..HITS {
        let end = (track.begin + track.sectors).max(track.begin + 2 * large + 1);
        let start = survey.fresh_within(track.begin, end - 2 * large);
        for (size, times) in [(large, &mut found.large), (block, &mut found.small)] {
            survey.probing.read_sectors(start, size)?;
            times.push(survey.probing.read_sectors(start, size)?.service());
        }
        // The second of these reads gave the drive time to read ahead.
        let behind = start + large;
        found.ahead.push(survey.probing.read_sectors(behind, block)?.service());
    }
    Ok(())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds out whether a drive begins a read in its middle if the head arrives there.
//!
//! A read is sent so that the head arrives in its middle. A drive that begins there needs one turn
//! until the first half has passed, apart from the bus. A drive that waits for the first sector
//! also needs the time of half the read.

use super::number::{float, floor};
use super::probing::Seen;
use super::tracks::{Survey, Track};

/// The largest number of sectors of a read: hosts do not split a read of this size.
const SECTORS_MAX: u64 = 512;
/// The time of a sector on an unknown bus, as a fraction of the time in which it passes the head.
const BUS: f64 = 0.5;
/// The maximum number of attempts, each at another angle, until the read fits on the track.
const TRIES: u32 = 6;

/// Returns the time of a read minus the mean of the times that the two kinds of drive would need.
/// The read is on the second of two tracks, and `least` is the shortest time between them. `None`
/// if the read did not fit on the track.
pub(super) fn beyond_half_way(
    survey: &mut Survey<'_, '_>,
    (from, to): (&Track, &Track),
    least: f64,
    bus_sector_ps: Option<u64>,
) -> Seen<Option<f64>> {
    let turn = survey.platter.turn;
    let per_sector = to.per_sector(turn);
    let half = survey.probing.aligned((to.sectors / 4).min(SECTORS_MAX / 2));
    let half = half.max(survey.probing.block());
    let span = float(half) * per_sector;
    let bus = bus_sector_ps.map_or(BUS * span, |ps| float(ps) / 1e3 * float(half));
    let limit = least + turn + f64::midpoint(bus.min(span), span);
    for _ in 0..TRIES {
        if !survey.start_on(from)? {
            continue;
        }
        let arrives = survey.platter.angle(survey.probing.now()) + least;
        let into = survey.platter.after(arrives - span, to.angle) / per_sector;
        let start = survey.probing.aligned(to.begin + floor(into));
        if start >= to.begin && start + 2 * half <= to.begin + to.sectors {
            let reading = survey.probing.read_sectors(start, 2 * half)?;
            return Ok(Some(reading.service() - limit));
        }
    }
    Ok(None)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Walks from track to track and records where each begins.
//!
//! A track ends where the next block misses its line. Most tracks are equally long, so checking two
//! blocks is enough: the expected last block is on the line, and the block after it is not. If the
//! expected last block misses the line too, the track is shorter, and the search goes down from
//! there in growing steps.

use super::lost::Lost;
use super::number::{float, median};
use super::tracks::{Survey, Track};

/// The number of places on a track at which the time of a sector is measured.
const PLACES: u64 = 5;

/// A track of a walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Walked {
    /// The track's first sector.
    pub(super) begin: u64,
    /// The number of sectors by which the track is shorter than others.
    pub(super) short: u64,
    /// The angle that sector 0 would have on the track's line.
    line: f64,
}

/// A walk over tracks of one zone.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    pub(super) tracks: Vec<Walked>,
    /// The number of sectors of a track that is not short.
    pub(super) sectors: u64,
    /// The time in which a sector passes, in nanoseconds.
    pub(super) per_sector: f64,
    /// The number of sectors by which the most recent short track was shorter.
    short: u64,
}

impl Walk {
    /// Begins a walk at a track.
    pub(super) fn from(survey: &mut Survey<'_, '_>, track: &Track) -> Result<Self, Lost> {
        let per_sector = per_sector(survey, track.begin, track.sectors)?;
        Self::at(survey, track.begin, (track.sectors, per_sector))
    }

    /// Begins a walk at a track that may be short. Other tracks have `sectors` sectors, each of
    /// which takes `per_sector` to pass.
    pub(super) fn at(
        survey: &mut Survey<'_, '_>,
        begin: u64,
        (sectors, per_sector): (u64, f64),
    ) -> Result<Self, Lost> {
        let mut walk = Self { tracks: Vec::new(), sectors, per_sector, short: 0 };
        let line = walk.line(survey, begin)?;
        walk.tracks.push(Walked { begin, short: 0, line });
        Ok(walk)
    }

    /// Returns the angle of a block on the line of the last track.
    fn expected(&self, start: u64) -> f64 {
        let line = self.tracks.last().map_or(0.0, |track| track.line);
        line + float(start) * self.per_sector
    }

    /// Measures the line of the track that begins at `begin`. It reads downwards, because blocks
    /// behind one that was read may be in memory.
    fn line(&self, survey: &mut Survey<'_, '_>, begin: u64) -> Result<f64, Lost> {
        let block = survey.probing.block();
        let first = begin.next_multiple_of(block);
        let mut lines = Vec::new();
        for index in [2, 1, 0] {
            let start = first + index * block;
            lines.push(survey.angle(start)? - float(start) * self.per_sector);
        }
        Ok(survey.platter.middle(&lines).expect("some blocks"))
    }

    /// Returns whether a block is on the line of the last track.
    fn is_on(&self, survey: &mut Survey<'_, '_>, start: u64) -> Result<bool, Lost> {
        let angle = survey.angle(start)?;
        let off = survey.platter.beyond(angle, self.expected(start));
        Ok(off.abs() < survey.off_max)
    }

    /// Goes to the next track. Returns whether there is a whole track before `end`.
    pub(super) fn step(&mut self, survey: &mut Survey<'_, '_>, end: u64) -> Result<bool, Lost> {
        let block = survey.probing.block();
        let begin = self.tracks.last().map_or(0, |track| track.begin);
        let next = begin + self.sectors;
        if next + self.sectors > end {
            return Ok(false);
        }
        let last = survey.probing.aligned(next - block);
        // On a noisy host, single reads do not show where a track ends, so full length is assumed.
        let line = self.line(survey, next)?;
        if survey.is_noisy || self.is_on(survey, last)? {
            self.enter(next, line);
            return Ok(true);
        }
        // The blocks of this line are on the next track, even if that track begins before `next`.
        let next = match self.like_before(survey, next)? {
            Some(next) => next,
            None => self.last_on(survey, (begin, last))? + block,
        };
        let short = self.sectors - (next - begin).min(self.sectors);
        if let Some(track) = self.tracks.last_mut() {
            track.short = short;
        }
        self.short = short;
        self.enter(next, line);
        Ok(true)
    }

    /// Returns the first sector of the next track if the last track is as short as the most recent
    /// short track; `None` otherwise.
    fn like_before(&self, survey: &mut Survey<'_, '_>, next: u64) -> Result<Option<u64>, Lost> {
        let block = survey.probing.block();
        let next = next - self.short;
        let is_so = self.short > block
            && !self.is_on(survey, survey.probing.aligned(next + block))?
            && self.is_on(survey, survey.probing.aligned(next - block))?;
        Ok(is_so.then_some(next))
    }

    fn enter(&mut self, begin: u64, line: f64) {
        self.tracks.push(Walked { begin, short: 0, line });
    }

    /// Returns the last block on the line, given that the block `off` is beyond it.
    fn last_on(&self, survey: &mut Survey<'_, '_>, (begin, off): (u64, u64)) -> Result<u64, Lost> {
        let block = survey.probing.block();
        let first = begin.next_multiple_of(block);
        let (mut off, mut reach) = (off, block);
        let mut on = loop {
            let at = off.saturating_sub(reach).max(first);
            if at == first || self.is_on(survey, at)? {
                break at;
            }
            (off, reach) = (at, 2 * reach);
        };
        while off - on > block {
            // The next read may be higher than the last one, where the drive may have read ahead.
            survey.forget()?;
            let middle = survey.probing.aligned(u64::midpoint(on, off));
            if self.is_on(survey, middle)? {
                on = middle;
            } else {
                off = middle;
            }
        }
        Ok(on)
    }
}

/// Measures the time in which a sector of a track passes.
fn per_sector(survey: &mut Survey<'_, '_>, begin: u64, sectors: u64) -> Result<f64, Lost> {
    let turn = survey.platter.turn;
    let mut slopes = Vec::new();
    // Reads go downwards, because blocks behind one that was read may be in memory.
    for place in (0..PLACES).rev() {
        let low = survey.probing.aligned(begin + sectors / 8 + place * sectors / 32);
        let high = survey.probing.aligned(low + sectors / 2);
        let (high_angle, low_angle) = (survey.angle(high)?, survey.angle(low)?);
        slopes.push(survey.platter.after(high_angle, low_angle) / float(high - low));
    }
    let slope = median(slopes).expect("some places");
    if survey.is_noisy {
        return Ok(turn / float(sectors));
    }
    // A whole number of sectors passes in a turn.
    let whole = (turn / slope).round();
    Ok(turn / whole)
}

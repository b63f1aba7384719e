// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds a track: where it begins, how many sectors it has, and the angles of its sectors.
//!
//! ```text
//! angle          /  <- a track: a turn for its sectors
//!               /|
//!     skew ->  | '
//!          /   '
//!         /    <- where the track begins: the angle jumps by the skew
//!        /
//!       --------------> sector
//! ```
//!
//! The search always goes backwards: blocks behind one that was read may be in the drive's memory,
//! but blocks before it are not. One read is enough for a block on the line of its neighbours. If a
//! block misses the line, a block next to it is read as well, because some completions are late.

use super::line::BlockLine;
use super::number::{float, floor, median, whole};
use super::platter::Platter;
use super::probing::{Probing, Seen};
use super::rotation::Rotation;
use super::track_starts::{Edge, TrackStarts};

/// The distance in sectors between the first two blocks of a line.
const FIRST: u64 = 16;
/// The largest accepted distance of a block from its line, as a part of a turn. If
/// `TOLERANCE_OF_LATE` times the largest lateness of a completion is less, that is the limit. On a
/// quiet host, this limit is less than any skew.
const TOLERANCE: f64 = 0.05;
/// The largest accepted distance of a block from its line, as a multiple of the largest lateness of
/// a completion.
const TOLERANCE_OF_LATE: f64 = 4.0;
/// The assumed largest lateness of a completion, as a multiple of the noise; few completions are
/// later.
const NOISE: f64 = 8.0;
/// The range, in turns, to which the assumed largest lateness is limited.
const LATE: std::ops::Range<f64> = 0.004..0.1;
/// The part of a turn that the noise must exceed for the host to count as noisy.
const NOISY: f64 = 0.0003;
/// The part of a turn that a line must cover to be long enough.
const REACH: f64 = 0.45;
/// The search goes down to a track's beginning in steps of this part (1/8) of a track.
const PARTS: u64 = 8;
/// The first line determines the number of sectors of a track to within this part.
const UNSURE: f64 = 0.04;
/// The number of steps in which the possible range of a track's beginning is searched.
const STEPS: u64 = 16;
/// The maximum number of tracks that are searched one after the other.
const RUNGS: u64 = 40;
/// The number of reads elsewhere that displace the contents of a small memory.
const FORGOTTEN: u32 = 20;
/// A track can be shorter than others by this part (1/64) of its length.
const SHORTER: u64 = 64;
/// The number of places that are tried in a search.
const TRIES: u32 = 12;
/// The maximum number of sectors of a track.
const SECTORS_MAX: u64 = 1 << 16;

/// A track.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Track {
    /// The track's first sector.
    pub(super) begin: u64,
    /// The number of the track's sectors.
    pub(super) sectors: u64,
    /// The angle at which the first block ends.
    pub(super) angle: f64,
}

impl Track {
    /// Returns the angle at which the block that begins at `start` ends.
    pub(super) fn angle(&self, start: u64, turn: f64) -> f64 {
        (self.angle + (float(start) - float(self.begin)) * self.per_sector(turn)).rem_euclid(turn)
    }

    /// Returns the time in which a sector passes.
    pub(super) fn per_sector(&self, turn: f64) -> f64 {
        turn / float(self.sectors)
    }
}

/// Measures the angles of blocks and finds tracks.
pub(super) struct Survey<'b, 'a> {
    pub(super) probing: &'b mut Probing<'a>,
    pub(super) platter: Platter,
    /// The largest lateness, in nanoseconds, of a completion that belongs to the expected block.
    pub(super) late_max: f64,
    /// A block that misses its line by more than this, in nanoseconds, is on another track.
    pub(super) off_max: f64,
    /// A read that takes less time than this, in nanoseconds, was answered by the drive's memory.
    pub(super) soonest: f64,
    /// Whether completions are so late that more reads are needed.
    pub(super) is_noisy: bool,
}

impl<'b, 'a> Survey<'b, 'a> {
    /// Returns a survey of a disk with this rotation.
    pub(super) fn new(probing: &'b mut Probing<'a>, rotation: &Rotation) -> Self {
        let turn = rotation.turn();
        let noise = float(rotation.noise_ns);
        let late_max = (NOISE * noise).clamp(LATE.start * turn, LATE.end * turn);
        let is_noisy = noise > NOISY * turn;
        let platter = Platter::new(turn);
        let off_max = (TOLERANCE_OF_LATE * late_max).min(TOLERANCE * turn);
        Self { probing, platter, late_max, off_max, soonest: 0.0, is_noisy }
    }

    /// Measures the angle at which a block ends.
    pub(super) fn angle(&mut self, start: u64) -> Seen<f64> {
        let done = self.probing.read(start)?.done;
        Ok(self.platter.angle(done))
    }

    /// Reads elsewhere, so that a small memory of the drive holds nothing from here any more.
    pub(super) fn forget(&mut self) -> Seen<()> {
        for _ in 0..FORGOTTEN {
            let start = self.probing.anywhere();
            self.probing.read(start)?;
        }
        Ok(())
    }

    /// Finds a track below `near`, or above it if there is no room below; `None` if the angles are
    /// not plausible.
    pub(super) fn track_near(&mut self, near: u64) -> Seen<Option<Track>> {
        self.track_like(near, &[])
    }

    /// Finds a track like [`Self::track_near`]. A number of sectors that is in `known` is accepted
    /// sooner; the beginning of the track is then not exact.
    pub(super) fn track_like(&mut self, near: u64, known: &[u64]) -> Seen<Option<Track>> {
        let mut from = near;
        for _ in 0..TRIES {
            if let Some(line) = self.line(from)?
                && let Some(track) = self.track_of(line, known)?
            {
                return Ok(Some(track));
            }
            let room = SECTORS_MAX.min(self.probing.sectors() / 64);
            // The search goes down, so near the outer edge it must begin further inwards.
            let low = near.saturating_sub(room).max(near.min(room));
            let high = (near + room).min(self.probing.sectors());
            from = self.probing.block_within(low, high);
        }
        Ok(None)
    }

    /// Returns a line from `at` backwards over about half a turn.
    fn line(&mut self, mut at: u64) -> Seen<Option<BlockLine>> {
        let block = self.probing.block();
        let first = self.probing.at_least(FIRST);
        for _ in 0..TRIES {
            at = self.probing.aligned(at).min(self.probing.sectors() - block);
            let Some(low) = at.checked_sub(first) else { return Ok(None) };
            let (angle, low_angle) = (self.angle(at)?, self.angle(low)?);
            let per_sector = self.platter.beyond(angle, low_angle) / float(first);
            let read = vec![(at, angle), (low, low_angle)];
            let mut line = BlockLine { from: at, angle, per_sector, low, read };
            match self.lengthened(&mut line)? {
                Grown::Whole => return Ok(Some(line)),
                // Continue on the track below the break, which has room for a whole line. Blocks
                // above were read before, so memory could answer them.
                Grown::Broken(below) => at = below.saturating_sub(4 * block),
                Grown::NoRoom => return Ok(None),
            }
        }
        Ok(None)
    }

    fn lengthened(&mut self, line: &mut BlockLine) -> Seen<Grown> {
        let turn = self.platter.turn;
        loop {
            let reach = line.from - line.low;
            if line.per_sector * float(reach) >= REACH * turn {
                return Ok(Grown::Whole);
            }
            let Some(next) = line.from.checked_sub(2 * reach).filter(|_| reach < SECTORS_MAX)
            else {
                return Ok(Grown::NoRoom);
            };
            if !self.is_on(line, next)? {
                return Ok(Grown::Broken(next));
            }
        }
    }

    /// Returns whether a block is on a line, and adds the block to the line if it is.
    fn is_on(&mut self, line: &mut BlockLine, start: u64) -> Seen<bool> {
        let block = self.probing.block();
        let mut off = 0;
        for beside in [0, block, 2 * block] {
            let Some(start) = start.checked_sub(beside) else { break };
            let angle = self.angle(start)?;
            let beyond = self.platter.beyond(angle, line.angle(start));
            if beyond.abs() < self.off_max {
                line.take(start, angle, beyond);
                return Ok(true);
            }
            off += 1;
            // If two neighbouring blocks miss the line, lateness is not the reason.
            if off == 2 {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Goes down from `top` in steps until a block is off the line; `None` if no block within
    /// `most` steps is off the line, or `top` is already off.
    fn edge(&mut self, line: &mut BlockLine, top: u64, step: u64, most: u64) -> Seen<Option<Edge>> {
        if top < line.from && top < line.low && !self.is_on(line, top)? {
            return Ok(None);
        }
        let mut on = top;
        for _ in 0..most {
            let Some(next) = on.checked_sub(step) else { return Ok(None) };
            if !self.is_on(line, next)? {
                return Ok(Some(Edge { off: next, on }));
            }
            on = next;
        }
        Ok(None)
    }

    /// Finds a track below the line's track. The search looks for the beginning of one track after
    /// the other in ever smaller steps, so that it never returns to blocks that were read.
    ///
    /// Accepts a number of sectors in `known` as soon as it is the only one of them that is still
    /// possible.
    fn track_of(&mut self, mut line: BlockLine, known: &[u64]) -> Seen<Option<Track>> {
        let block = self.probing.block();
        let part =
            self.probing.at_least((floor(self.platter.turn / line.per_sector) / PARTS).max(1));
        let low = line.low;
        let Some(mut edge) = self.edge(&mut line, low, part, PARTS + 2)? else { return Ok(None) };
        line.fit(&self.platter);
        let sectors = self.platter.turn / line.per_sector;
        let unsure = (whole(sectors * (1.0 - UNSURE)), whole(sectors * (1.0 + UNSURE)));
        let mut starts = TrackStarts::new(unsure, block);
        starts.add(edge);
        let mut exact = Vec::new();
        for _ in 0..RUNGS {
            let Some(mut below) = self.line_below(&line, edge.off)? else { return Ok(None) };
            let Some(next) = self.next_below(&mut below, &mut starts)? else { return Ok(None) };
            starts.add(next);
            (edge, line) = (next, below);
            let Some(begin) = starts.begin() else { return Ok(None) };
            if let Some(sectors) = starts.known(known) {
                return Ok(Some(self.track(&line, begin, sectors)));
            }
            // A length counts only if a second track confirms it.
            if let Some(sectors) = starts.exact(edge) {
                if exact.contains(&sectors) {
                    return Ok(Some(self.track(&line, begin, sectors)));
                }
                exact.push(sectors);
            }
        }
        Ok(None)
    }

    /// Returns the beginning of the line's track, searched in steps from the expected place
    /// downwards. If the track is slightly shorter than expected, like the last one of a cylinder
    /// with spares, the search starts again further up.
    fn next_below(&mut self, line: &mut BlockLine, starts: &mut TrackStarts) -> Seen<Option<Edge>> {
        let Some((top, bottom)) = starts.below() else { return Ok(None) };
        let step = self.probing.at_least(((top - bottom) / STEPS).max(1));
        let most = (top - bottom) / step + 3;
        if let Some(edge) = self.edge(line, top, step, most)? {
            return Ok(Some(edge));
        }
        let margin = self.probing.at_least(starts.anew().div_ceil(SHORTER));
        let step = self.probing.at_least((margin / STEPS).max(1));
        self.edge(line, top + margin, step, margin / step + 1)
    }

    /// Returns a line on the track below `off`, the last block that was read on the track above.
    fn line_below(&mut self, line: &BlockLine, off: u64) -> Seen<Option<BlockLine>> {
        let block = self.probing.block();
        for step in 1..5 {
            let Some(at) = off.checked_sub(6 * step * block) else { return Ok(None) };
            let angle = self.angle(at)?;
            let (from, per_sector, read) = (at, line.per_sector, vec![(at, angle)]);
            let mut below = BlockLine { from: at, angle, per_sector, low: at, read };
            let Some(next) = at.checked_sub(2 * block) else { return Ok(None) };
            let second = self.angle(next)?;
            let beyond = self.platter.beyond(second, below.angle(next));
            if beyond.abs() < self.off_max.min(TOLERANCE / 4.0 * self.platter.turn) {
                below.read.push((next, second));
                below.angle += beyond / 2.0;
                (below.from, below.low) = (from, next);
                return Ok(Some(below));
            }
        }
        Ok(None)
    }

    /// Returns the line's track, given its first sector and its number of sectors.
    fn track(&self, line: &BlockLine, begin: u64, sectors: u64) -> Track {
        let per_sector = self.platter.turn / float(sectors);
        let to_begin =
            |&(start, angle): &(u64, f64)| angle - (float(start) - float(begin)) * per_sector;
        let angles: Vec<f64> = line.read.iter().map(to_begin).collect();
        let angle = self.platter.middle(&angles).expect("a line has two blocks");
        Track { begin, sectors, angle }
    }

    /// Returns the track at a known place, with its measured angles; `None` if these are not
    /// plausible.
    pub(super) fn track_at(&mut self, begin: u64, sectors: u64) -> Seen<Option<Track>> {
        let turn = self.platter.turn;
        if begin + sectors > self.probing.sectors() {
            return Ok(None);
        }
        let mut angles = Vec::new();
        let mut start = self.fresh_within(begin + sectors / 2, begin + sectors);
        for _ in 0..5 {
            let track = Track { begin, sectors, angle: self.angle(start)? };
            angles.push(track.angle - (float(start) - float(begin)) * track.per_sector(turn));
            start -= self.probing.block();
        }
        let middle = self.platter.middle(&angles).expect("some blocks");
        let agree = angles.iter().map(|&angle| self.platter.beyond(angle, middle).abs());
        let agree = median(agree.collect()).expect("some blocks") < TOLERANCE / 4.0 * turn;
        Ok(agree.then_some(Track { begin, sectors, angle: middle }))
    }

    /// Returns a random block in a range, if possible one that was not read recently.
    pub(super) fn fresh_within(&mut self, from: u64, to: u64) -> u64 {
        let mut start = self.probing.block_within(from, to);
        for _ in 0..16 {
            if self.probing.is_fresh(start) {
                break;
            }
            start = self.probing.block_within(from, to);
        }
        start
    }
}

/// The result of extending a line.
enum Grown {
    /// The line is long enough.
    Whole,
    /// The block at this address does not belong to the line.
    Broken(u64),
    /// The target ends before the line is long enough.
    NoRoom,
}

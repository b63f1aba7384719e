// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The heads passing through consecutive sectors: first those that a read requests, then those
//! after it, until another command needs the heads.
//!
//! Read-ahead is computed lazily: a run costs nothing until the drive needs its state.

use std::ops::Range;

use tidegate_model::mechanics::{Cache, ReadAhead};
use tidegate_model::{Duration, Lba, Op, Time};

use super::layout::{Extent, Layout};
use super::mechanism::{Arm, Mechanism, Piece};
use super::rotation::Rotation;
use super::round_trip::RoundTrip;
use super::stream::Stream;

/// A run of the heads through consecutive sectors.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    /// The segment that receives the sectors.
    pub(crate) segment: Option<usize>,
    /// The first sector that has not passed the head.
    pub(crate) next: u64,
    /// The first sector that no host requested.
    ahead_from: u64,
    /// Where the heads are when they are free for the next piece.
    arm: Arm,
    /// The instant at which the heads are free.
    free_at: Time,
    /// The piece that is passing, if it has not passed entirely.
    piece: Option<Piece>,
    /// The sector at which read-ahead stops, as last computed.
    limit: u64,
    /// The end of a read that `limit` does not cover yet, with the start of its segment.
    behind: Option<(u64, u64)>,
    /// The first piece that was read for the host.
    first: Option<Piece>,
    /// Whether the run has ended; the heads then stay where they are.
    stands: bool,
}

impl Reader {
    /// Creates a run from `start` on, with the heads at `arm` and free at `free_at`.
    pub(crate) fn new(segment: Option<usize>, start: u64, arm: Arm, free_at: Time) -> Self {
        Self {
            segment,
            next: start,
            ahead_from: start,
            arm,
            free_at,
            piece: None,
            limit: 0,
            behind: None,
            first: None,
            stands: false,
        }
    }

    /// Reads up to the sector `end` for the host. `known` is the extent at the beginning of the
    /// read, if it was already looked up.
    pub(crate) fn read(
        &mut self,
        mechanism: &Mechanism,
        (end, known): (u64, Option<Extent>),
        stream: &mut Stream,
    ) {
        self.ahead_from = end;
        self.stands = false;
        let next = self.next;
        let known = known.filter(|known| known.start.get() == next);
        let look_up = || mechanism.layout.extent(Lba::new(next), end - next);
        let mut first = (self.piece.is_none() && next < end).then(|| known.unwrap_or_else(look_up));
        let round_trip =
            first.and_then(|it| RoundTrip::of(mechanism, (self.arm, self.free_at), it, end));
        if let Some(round_trip) = round_trip {
            round_trip.pass(stream);
            (self.arm, self.free_at) = (round_trip.arm(), round_trip.end_at());
            self.next = end;
        }
        while self.next < end {
            let piece = self.piece.take().unwrap_or_else(|| {
                let look_up = || mechanism.layout.extent(Lba::new(self.next), end - self.next);
                let extent = first.take().unwrap_or_else(look_up);
                mechanism.piece(self.arm, self.free_at, extent, Op::Read)
            });
            self.first.get_or_insert(piece);
            self.pass(piece, end, stream);
        }
    }

    /// Returns whether this sector was read ahead or is next, so that a read that begins there does
    /// not wait for the platter.
    pub(crate) fn is_ahead(&self, sector: Lba) -> bool {
        self.ahead().contains(&sector.get())
    }

    /// Returns the range of sectors for which [`Self::is_ahead`] is true.
    pub(crate) fn ahead(&self) -> Range<u64> {
        if self.segment.is_none() {
            return self.next..self.next;
        }
        self.ahead_from.min(self.next)..self.next + u64::from(!self.stands)
    }

    /// Returns whether the heads are moving at `now`, the instant up to which the run is
    /// computed.
    pub(crate) fn is_running(&self, now: Time) -> bool {
        !self.stands && (self.piece.is_some() || self.free_at >= now)
    }

    /// Returns whether the run has ended.
    pub(crate) fn stands(&self) -> bool {
        self.stands
    }

    /// Returns whether the run takes, or could take, any of these sectors into memory.
    pub(crate) fn may_take(&self, sectors: &Range<u64>) -> bool {
        let end = if self.behind.is_some() { u64::MAX } else { self.limit.max(self.next) };
        self.segment.is_some() && sectors.end > self.ahead_from && sectors.start < end
    }

    /// Sends the sectors of `piece` below `end` to the host.
    fn pass(&mut self, piece: Piece, end: u64, stream: &mut Stream) {
        let start = piece.extent.start.get();
        let end = end.min(piece.end());
        let before = passed(self.next - start);
        let after = passed(end - start);
        if piece.late_sectors > 0 {
            let late = u64::from(piece.late_sectors);
            stream.add_passing(late, piece.late_begin_at, piece.end_at);
            stream.add(end - start - late, piece.end_at, piece.end_at);
        } else {
            stream.add(end - self.next, piece.passed_at(before + 1), piece.passed_at(after));
        }
        self.next = end;
        if end == piece.end() {
            self.arm = piece.arm();
            self.free_at = piece.end_at;
        } else {
            self.piece = Some(piece);
        }
    }

    /// Returns the number of sectors immediately before the first requested sector, on the same
    /// track, that passed the head while it waited for that sector.
    pub(crate) fn passed_before(&self, rotation: Rotation) -> u64 {
        let Some(Piece { extent, on_track_at, begin_at, late_sectors, .. }) = self.first else {
            return 0;
        };
        let before = extent.start.get() - extent.track_begin.get();
        if late_sectors > 0 {
            // The head began in the middle of the extent and later passed all sectors before it.
            return before;
        }
        let waited = u128::from((begin_at - on_track_at).ns());
        let turn = u128::from(rotation.turn().ns());
        let sectors = waited * u128::from(extent.sectors_per_track) / turn;
        before.min(u64::try_from(sectors).expect("not more than a track has"))
    }

    /// Delays the run at `now`: the heads must recalibrate or retry.
    pub(crate) fn delay(&mut self, now: Time, by: Duration) {
        let (arm, free_at) = self.stop(now);
        (self.arm, self.free_at) = (arm, free_at + by);
        self.piece = None;
    }

    /// Starts read-ahead after a read that ended at `end`, whose segment starts at
    /// `segment_start`.
    pub(crate) fn follow(&mut self, mechanism: &Mechanism, cache: &Cache, read: (u64, u64)) {
        self.work_out_limit(mechanism, cache);
        self.behind = Some(read);
        self.stands = false;
    }

    fn work_out_limit(&mut self, mechanism: &Mechanism, cache: &Cache) {
        if let Some((end, segment_start)) = self.behind.take() {
            self.limit = self.limit.max(limit(&mechanism.layout, cache, end, segment_start));
        }
    }

    /// Reads ahead up to `now` or as far as the drive's read-ahead rule allows.
    pub(crate) fn read_ahead(&mut self, mechanism: &Mechanism, cache: &Cache, now: Time) {
        if self.free_at >= now || self.stands {
            return;
        }
        self.work_out_limit(mechanism, cache);
        while self.piece.is_some() || self.free_at < now {
            let ahead = || self.piece_ahead(mechanism, cache.read_ahead);
            let Some(piece) = self.piece.or_else(ahead) else {
                // If the run ever continues, it must not continue from a past instant.
                self.stands = true;
                self.free_at = now;
                return;
            };
            self.piece = None;
            let passed = piece.passed(now);
            self.next = self.next.max(piece.extent.start.get() + u64::from(passed));
            if passed < piece.extent.sectors {
                self.piece = Some(piece);
                return;
            }
            self.arm = piece.arm();
            self.free_at = piece.end_at;
        }
    }

    /// Returns the next piece to read ahead; `None` at the limit, or if the rule forbids the
    /// piece's track.
    fn piece_ahead(&self, mechanism: &Mechanism, kind: ReadAhead) -> Option<Piece> {
        if self.next >= self.limit {
            return None;
        }
        let extent = mechanism.layout.extent(Lba::new(self.next), self.limit - self.next);
        let same_cylinder = extent.cylinder == self.arm.cylinder;
        let goes_on = match kind {
            ReadAhead::Off => false,
            ReadAhead::Track => same_cylinder && extent.head == self.arm.head,
            ReadAhead::Cylinder => same_cylinder,
            ReadAhead::Segment | ReadAhead::Adaptive => true,
        };
        goes_on.then(|| mechanism.piece_in_order(self.arm, self.free_at, extent, Op::Read))
    }

    /// Returns the arm's position and the instant at which the heads are free, if the run ends at
    /// `now`. A seek that has begun is completed first.
    pub(crate) fn stop(&self, now: Time) -> (Arm, Time) {
        match &self.piece {
            None => (self.arm, self.free_at.max(now)),
            Some(piece) => (piece.arm(), piece.on_track_at.max(now)),
        }
    }
}

/// Returns the sector at which a drive stops reading ahead after a read that ends at `end`.
fn limit(layout: &Layout, cache: &Cache, end: u64, segment_start: u64) -> u64 {
    let sectors_max = u64::from(cache.read_ahead_sectors_max.unwrap_or(cache.segment_sectors));
    let limit = match cache.read_ahead {
        ReadAhead::Off => end,
        _ if end >= layout.sectors() => end,
        ReadAhead::Adaptive => adaptive_limit(&layout.extent(Lba::new(end), 1), segment_start),
        ReadAhead::Track | ReadAhead::Cylinder | ReadAhead::Segment => end + sectors_max,
    };
    limit.min(layout.sectors())
}

/// Returns the end of the track, or of the next one if the segment begins on an earlier track,
/// because the host then reads sequentially.
fn adaptive_limit(track: &Extent, segment_start: u64) -> u64 {
    let came_along = segment_start < track.track_begin.get();
    let further = if came_along { u64::from(track.sectors_per_track) } else { 0 };
    track.track_end.get() + further
}

fn passed(sectors: u64) -> u32 {
    u32::try_from(sectors).expect("a piece lies on one track")
}

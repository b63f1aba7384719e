// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Arm, heads and platters: the time to reach a track and to pass along it.
//!
//! Everything here is a pure function of the instant and the arm's position; the drive decides
//! what to access and when.

use tidegate_model::mechanics::{Mechanics, MechanicsError};
use tidegate_model::{Duration, Op, Time};

use super::layout::{Extent, Layout};
use super::rotation::{Angle, Rotation};
use super::seek::{Floors, SeekCurve};

/// The position of the arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Arm {
    /// The cylinder.
    pub(crate) cylinder: u32,
    /// The head in use.
    pub(crate) head: u32,
}

/// Sectors of one track being transferred between platter and memory.
///
/// # Invariants
/// - `on_track_at <= begin_at <= end_at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The sectors.
    pub(crate) extent: Extent,
    /// The instant at which the head has settled on the track.
    pub(crate) on_track_at: Time,
    /// The instant at which the first transferred sector begins.
    pub(crate) begin_at: Time,
    /// The instant at which the last transferred sector ends.
    pub(crate) end_at: Time,
    /// The number of sectors at the extent's front that are transferred after the others, because
    /// the head arrived within the extent and the drive began there; otherwise 0.
    pub(crate) late_sectors: u32,
    /// The instant at which the first late sector begins; without late sectors, `begin_at`.
    pub(crate) late_begin_at: Time,
}

impl Piece {
    /// Returns the arm's position after the piece.
    pub(crate) fn arm(&self) -> Arm {
        Arm { cylinder: self.extent.cylinder, head: self.extent.head }
    }

    /// Returns the number of the sector after the piece's last.
    pub(crate) fn end(&self) -> u64 {
        self.extent.start.get() + u64::from(self.extent.sectors)
    }

    /// Returns the instant at which the first `sectors` of the extent have passed the head, in
    /// order.
    ///
    /// Treats sectors without data as spread evenly among the others.
    pub(crate) fn passed_at(&self, sectors: u32) -> Time {
        if self.late_sectors > 0 || sectors >= self.extent.sectors {
            return self.end_at;
        }
        let time = u128::from((self.end_at - self.begin_at).ns());
        let part = (time * u128::from(sectors)).div_ceil(u128::from(self.extent.sectors));
        self.begin_at + Duration::from_ns(u64::try_from(part).expect("less than the whole"))
    }

    /// Returns the number of sectors of the extent that have passed the head by `now`, in order.
    pub(crate) fn passed(&self, now: Time) -> u32 {
        if now >= self.end_at {
            return self.extent.sectors;
        }
        if self.late_sectors > 0 || now <= self.begin_at {
            return 0;
        }
        let time = (self.end_at - self.begin_at).ns();
        let part = u128::from((now - self.begin_at).ns()) * u128::from(self.extent.sectors);
        u32::try_from(part / u128::from(time)).expect("not more than all")
    }
}

/// The moving parts of a hard disk.
#[derive(Debug, Clone)]
pub(crate) struct Mechanism {
    pub(crate) layout: Layout,
    pub(crate) rotation: Rotation,
    seek: SeekCurve,
    /// Lower bounds on any seek to another cylinder, for reads and for writes.
    floors: Floors,
    head_switch: Duration,
    write_settle_ns: i64,
    pub(crate) is_zero_latency: bool,
}

impl Mechanism {
    /// Builds the moving parts that a drive file describes.
    ///
    /// # Errors
    /// [`MechanicsError`] if the description is wrong.
    pub(crate) fn new(mechanics: &Mechanics) -> Result<Self, MechanicsError> {
        let layout = Layout::new(mechanics)?;
        let seek = SeekCurve::new(&mechanics.seek, mechanics.cylinders)?;
        Ok(Self {
            layout,
            rotation: Rotation::new(mechanics.rpm),
            floors: seek.floors(mechanics.write_settle_ns.min(0)),
            seek,
            head_switch: Duration::from_ns(mechanics.head_switch_ns),
            write_settle_ns: mechanics.write_settle_ns,
            is_zero_latency: mechanics.zero_latency,
        })
    }

    /// Returns the time from one track to another: the longer of seek and head switch, which run
    /// in parallel, plus the settling time of writes if the heads move at all.
    pub(crate) fn reposition(&self, arm: Arm, cylinder: u32, head: u32, op: Op) -> Duration {
        let switch = if head == arm.head { Duration::ZERO } else { self.head_switch };
        let moving = self.seek.time(arm.cylinder.abs_diff(cylinder)).max(switch);
        if moving.is_zero() || op == Op::Read {
            return moving;
        }
        Duration::from_ns(moving.ns().saturating_add_signed(self.write_settle_ns))
    }

    /// Returns the longest time from one track to another.
    pub(crate) fn movement_max(&self, op: Op) -> Duration {
        self.movement_within(u32::MAX, op)
    }

    /// Returns the longest time from one track to another that is at most `cylinders` away.
    pub(crate) fn movement_within(&self, cylinders: u32, op: Op) -> Duration {
        let moving = self.seek.time_max_within(cylinders).max(self.head_switch);
        match op {
            Op::Read => moving,
            Op::Write => Duration::from_ns(moving.ns().saturating_add_signed(self.write_settle_ns)),
        }
    }

    /// Returns whether a direct movement can take longer than a detour through a cylinder whose
    /// distance from the destination is one of `steps`.
    pub(crate) fn has_shortcut(&self, steps: impl IntoIterator<Item = u32>) -> bool {
        self.seek.has_shortcut(steps)
    }

    /// Returns the time from `now` until the first sector of `extent` is under the head. If the
    /// drive begins in the middle of the extent, returns the movement plus a turn less the extent's
    /// transfer time, if that is less.
    pub(crate) fn access(&self, arm: Arm, now: Time, extent: &Extent, op: Op) -> Duration {
        let moving = self.reposition(arm, extent.cylinder, extent.head, op);
        let on_track_at = now + moving;
        let left = extent.begin.after(self.rotation.phase(on_track_at));
        let wait = self.rotation.wait_for(left);
        let from_middle = self.is_zero_latency && op == Op::Read && !wait.is_zero();
        let into = Angle::from_units(Angle::TURN.units() - left.units());
        if from_middle && into < extent.span {
            let rest = Angle::from_units(Angle::TURN.units() - extent.span.units());
            return moving + self.rotation.sweep(rest).min(wait);
        }
        moving + wait
    }

    /// Returns a lower bound on the access time of any extent on that cylinder, regardless of
    /// head and angle: the arm's movement.
    pub(crate) fn access_min(&self, arm: Arm, cylinder: u32) -> Duration {
        self.floors.floor(arm.cylinder.abs_diff(cylinder))
    }

    /// Returns the number of sectors at the front of `extent` that have passed, at least in part,
    /// when the head arrives within it; `None` if the head arrives elsewhere, at its beginning, or
    /// in its last sector.
    pub(crate) fn missed(&self, arm: Arm, free_at: Time, extent: &Extent) -> Option<u32> {
        let moving = self.reposition(arm, extent.cylinder, extent.head, Op::Read);
        self.missed_at(free_at + moving, extent)
    }

    fn missed_at(&self, on_track_at: Time, extent: &Extent) -> Option<u32> {
        let into = self.rotation.phase(on_track_at).after(extent.begin);
        if into == Angle::ZERO || into >= extent.span {
            return None;
        }
        // A sector that has partly passed is missed too.
        let share = u128::from(into.units()) * u128::from(extent.sectors);
        let missed = u32::try_from(share.div_ceil(u128::from(extent.span.units()))).ok()?;
        (missed < extent.sectors).then_some(missed)
    }

    /// Returns the piece for `extent` with the heads at `arm` and free at `free_at`, in the order
    /// that ends first.
    pub(crate) fn piece(&self, arm: Arm, free_at: Time, extent: Extent, op: Op) -> Piece {
        let on_track_at = free_at + self.reposition(arm, extent.cylinder, extent.head, op);
        let in_order = self.in_order(extent, on_track_at);
        if !self.is_zero_latency || in_order.begin_at == on_track_at {
            return in_order;
        }
        let out_of_order = self.piece_from_the_middle(extent, on_track_at);
        out_of_order.filter(|piece| piece.end_at < in_order.end_at).unwrap_or(in_order)
    }

    /// Returns the piece for `extent`, from its first sector to its last.
    pub(crate) fn piece_in_order(&self, arm: Arm, free_at: Time, extent: Extent, op: Op) -> Piece {
        let on_track_at = free_at + self.reposition(arm, extent.cylinder, extent.head, op);
        self.in_order(extent, on_track_at)
    }

    /// Returns the piece for writing `extent` when its first sector is in memory from `ready.0`
    /// on and its last from `ready.1` on. The piece begins late enough for every sector to be
    /// ready.
    pub(crate) fn piece_written(
        &self,
        arm: Arm,
        free_at: Time,
        extent: Extent,
        ready: (Time, Time),
    ) -> Piece {
        let moving = self.reposition(arm, extent.cylinder, extent.head, Op::Write);
        let before_last = self.rotation.sweep(extent.span).ns() / u64::from(extent.sectors)
            * u64::from(extent.sectors - 1);
        let last = Time::from_ns(ready.1.ns().saturating_sub(before_last));
        self.in_order(extent, (free_at + moving).max(ready.0).max(last))
    }

    fn in_order(&self, extent: Extent, on_track_at: Time) -> Piece {
        let begin_at = on_track_at + self.rotation.wait(extent.begin, on_track_at);
        Piece {
            extent,
            on_track_at,
            begin_at,
            end_at: self.swept_at(&extent, on_track_at, begin_at),
            late_sectors: 0,
            late_begin_at: begin_at,
        }
    }

    /// Returns the instant at which the last sector of an extent has passed a head that arrives at
    /// `on_track_at` and begins at `begin_at`.
    ///
    /// Rounds wait and transfer together: with two roundings the head would miss the beginning of
    /// the next sectors by a nanosecond, which costs a turn.
    fn swept_at(&self, extent: &Extent, on_track_at: Time, begin_at: Time) -> Time {
        let left = extent.begin.after(self.rotation.phase(on_track_at)).units();
        let span = extent.span.units();
        let units = if begin_at > on_track_at || left == 0 {
            left + span
        } else {
            // The first sector began less than a nanosecond ago.
            span.saturating_sub(Angle::TURN.units() - left)
        };
        on_track_at + self.rotation.sweep(Angle::from_units(units))
    }

    /// Returns the piece with the sectors that the head reaches first, then those that it missed;
    /// `None` if the head arrives outside the extent.
    fn piece_from_the_middle(&self, extent: Extent, on_track_at: Time) -> Option<Piece> {
        let late = self.missed_at(on_track_at, &extent)?;
        let of_late = u128::from(extent.span.units()) * u128::from(late);
        let late_span = of_late.div_ceil(u128::from(extent.sectors));
        let late_span = Angle::from_units(u64::try_from(late_span).ok()?);
        let begin_at = on_track_at + self.rotation.wait(extent.begin.plus(late_span), on_track_at);
        // Turn to the front, then pass along the late sectors.
        let front_at = begin_at + self.rotation.wait(extent.begin, begin_at);
        let end_at = front_at + self.rotation.sweep(late_span);
        Some(Piece {
            extent,
            on_track_at,
            begin_at,
            end_at,
            late_sectors: late,
            late_begin_at: front_at,
        })
    }
}

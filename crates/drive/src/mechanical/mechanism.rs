// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Arm, heads and platters: how long it takes to get to a track and along it.
//!
//! Everything here is a pure function of the instant and the arm's place; the drive decides
//! what is accessed when.

use tidegate_model::mechanics::{Mechanics, MechanicsError};
use tidegate_model::{Duration, Op, Time};

use super::layout::{Extent, Layout};
use super::rotation::{Angle, Rotation};
use super::seek::{Floors, SeekCurve};

/// Where the heads are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Arm {
    /// On which cylinder.
    pub(crate) cylinder: u32,
    /// Which head is in use.
    pub(crate) head: u32,
}

/// Sectors of one track on their way between platter and memory.
///
/// # Invariants
/// - `on_track_at <= begin_at <= end_at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Which sectors.
    pub(crate) extent: Extent,
    /// The head has settled on the track.
    pub(crate) on_track_at: Time,
    /// The first sector that is transferred begins.
    pub(crate) begin_at: Time,
    /// The last one ends.
    pub(crate) end_at: Time,
    /// How many sectors at the front are transferred only after the others: the head arrived
    /// within the extent, and the drive began there. Otherwise 0.
    pub(crate) late_sectors: u32,
    /// When the first of the late ones begins; without late ones, `begin_at`.
    pub(crate) late_begin_at: Time,
}

impl Piece {
    /// Where the heads are afterwards.
    pub(crate) fn arm(&self) -> Arm {
        Arm { cylinder: self.extent.cylinder, head: self.extent.head }
    }

    /// The sector after the last.
    pub(crate) fn end(&self) -> u64 {
        self.extent.start.get() + u64::from(self.extent.sectors)
    }

    /// When the first `sectors` of the extent have passed the head, in order.
    ///
    /// Sectors without data in between are spread over the others.
    pub(crate) fn passed_at(&self, sectors: u32) -> Time {
        if self.late_sectors > 0 || sectors >= self.extent.sectors {
            return self.end_at;
        }
        let time = u128::from((self.end_at - self.begin_at).ns());
        let part = (time * u128::from(sectors)).div_ceil(u128::from(self.extent.sectors));
        self.begin_at + Duration::from_ns(u64::try_from(part).expect("less than the whole"))
    }

    /// How many sectors of the extent have passed the head at `now`, in order.
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

/// What moves in a hard disk.
#[derive(Debug, Clone)]
pub(crate) struct Mechanism {
    pub(crate) layout: Layout,
    pub(crate) rotation: Rotation,
    seek: SeekCurve,
    /// Below any way to another cylinder, for reads and for writes.
    floors: Floors,
    head_switch: Duration,
    write_settle_ns: i64,
    pub(crate) is_zero_latency: bool,
}

impl Mechanism {
    /// The moving parts that a drive file describes.
    ///
    /// # Errors
    /// What is wrong with the description.
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

    /// The time from one track to another: the longer of seek and head switch, which go on
    /// at once, and for writes the settling, where the heads move at all.
    pub(crate) fn reposition(&self, arm: Arm, cylinder: u32, head: u32, op: Op) -> Duration {
        let switch = if head == arm.head { Duration::ZERO } else { self.head_switch };
        let moving = self.seek.time(arm.cylinder.abs_diff(cylinder)).max(switch);
        if moving.is_zero() || op == Op::Read {
            return moving;
        }
        Duration::from_ns(moving.ns().saturating_add_signed(self.write_settle_ns))
    }

    /// The time from `now` until `extent` could be transferred in one go to be over when the
    /// drive is done with it: until its first sector is under the head; or, if the drive
    /// begins in the middle, a turn from there, less the transfer.
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

    /// At most the access of an extent on that cylinder, whatever its head and angle: the arm
    /// has to get there.
    pub(crate) fn access_min(&self, arm: Arm, cylinder: u32) -> Duration {
        self.floors.floor(arm.cylinder.abs_diff(cylinder))
    }

    /// How many sectors at the front of `extent` have passed, at least in part, when the head
    /// arrives within it; none if it arrives elsewhere, at its begin, or in its last sector.
    pub(crate) fn missed(&self, arm: Arm, free_at: Time, extent: &Extent) -> Option<u32> {
        let moving = self.reposition(arm, extent.cylinder, extent.head, Op::Read);
        self.missed_at(free_at + moving, extent)
    }

    fn missed_at(&self, on_track_at: Time, extent: &Extent) -> Option<u32> {
        let into = self.rotation.phase(on_track_at).after(extent.begin);
        if into == Angle::ZERO || into >= extent.span {
            return None;
        }
        // A sector that is cut is missed too.
        let share = u128::from(into.units()) * u128::from(extent.sectors);
        let missed = u32::try_from(share.div_ceil(u128::from(extent.span.units()))).ok()?;
        (missed < extent.sectors).then_some(missed)
    }

    /// The piece that `extent` is with the heads at `arm` and free at `free_at`: in the order
    /// that is done first.
    pub(crate) fn piece(&self, arm: Arm, free_at: Time, extent: Extent, op: Op) -> Piece {
        let on_track_at = free_at + self.reposition(arm, extent.cylinder, extent.head, op);
        let in_order = self.in_order(extent, on_track_at);
        if !self.is_zero_latency || in_order.begin_at == on_track_at {
            return in_order;
        }
        let out_of_order = self.piece_from_the_middle(extent, on_track_at);
        out_of_order.filter(|piece| piece.end_at < in_order.end_at).unwrap_or(in_order)
    }

    /// The piece that `extent` is, from its first sector to its last.
    pub(crate) fn piece_in_order(&self, arm: Arm, free_at: Time, extent: Extent, op: Op) -> Piece {
        let on_track_at = free_at + self.reposition(arm, extent.cylinder, extent.head, op);
        self.in_order(extent, on_track_at)
    }

    /// The piece that `extent` is, written, when its first sector is in memory from
    /// `ready.0` on and its last from `ready.1` on: begun so that no sector is late.
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

    /// When the last of an extent has passed a head that is there from `on_track_at` on and
    /// begins at `begin_at`.
    ///
    /// Wait and transfer are rounded as one: of two roundings the begin of the sectors behind
    /// would be missed by a nanosecond, and with it a turn lost.
    fn swept_at(&self, extent: &Extent, on_track_at: Time, begin_at: Time) -> Time {
        let left = extent.begin.after(self.rotation.phase(on_track_at)).units();
        let span = extent.span.units();
        let units = if begin_at > on_track_at || left == 0 {
            left + span
        } else {
            // It began less than a nanosecond ago.
            span.saturating_sub(Angle::TURN.units() - left)
        };
        on_track_at + self.rotation.sweep(Angle::from_units(units))
    }

    /// The piece with the sectors that the head finds first, then those that it missed; none
    /// where it arrives outside of the extent.
    fn piece_from_the_middle(&self, extent: Extent, on_track_at: Time) -> Option<Piece> {
        let late = self.missed_at(on_track_at, &extent)?;
        let of_late = u128::from(extent.span.units()) * u128::from(late);
        let late_span = of_late.div_ceil(u128::from(extent.sectors));
        let late_span = Angle::from_units(u64::try_from(late_span).ok()?);
        let begin_at = on_track_at + self.rotation.wait(extent.begin.plus(late_span), on_track_at);
        // Round to the front, and along the late ones.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Zero-latency access for a read that crosses from one track to the next.
//!
//! ```text
//!   track 1   [ front | tail ]            the head arrives between front and tail:
//!   track 2                    [ other ]  tail, other, and round to the front
//! ```
//! The same works if the head arrives within the second track: first the tail there, then the
//! first track, then the second track's front. On one track a [`Piece`] does this. A drive with
//! zero-latency access only within one track gains nothing at track crossings: it reaches the
//! first track's front no sooner than if it had waited for the front and read in order.

use tidegate_model::{Lba, Op, Time};

use super::layout::Extent;
use super::mechanism::{Arm, Mechanism, Piece};
use super::rotation::Angle;
use super::stream::Stream;

/// A read on two tracks, in an order that does not begin with its first sector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundTrip {
    tail: Piece,
    other: Piece,
    front: Option<Piece>,
    /// Whether the tail is on the second track.
    begins_on_second: bool,
}

impl RoundTrip {
    /// Returns the fastest such order through `first` and the following sectors up to `end`; `None`
    /// if they do not lie on two tracks, or if the sequential order ends no later.
    pub(crate) fn of(
        mechanism: &Mechanism,
        (arm, free_at): (Arm, Time),
        first: Extent,
        end: u64,
    ) -> Option<Self> {
        if !mechanism.is_zero_latency {
            return None;
        }
        let second = second_of_two(mechanism, &first, end)?;
        let begin = mechanism.piece(arm, free_at, first, Op::Read);
        let in_order = mechanism.piece(begin.arm(), begin.end_at, second, Op::Read);
        let ways =
            [(first, second, false), (second, first, true)].map(|(begin, other, swapped)| {
                Self::from_the_middle(mechanism, (arm, free_at), [begin, other], swapped)
            });
        let soonest = ways.into_iter().min_by_key(Self::end_at)?;
        (soonest.end_at() < in_order.end_at).then_some(soonest)
    }

    fn from_the_middle(
        mechanism: &Mechanism,
        (arm, free_at): (Arm, Time),
        [begin, other]: [Extent; 2],
        begins_on_second: bool,
    ) -> Self {
        let (front, tail) = mechanism.missed(arm, free_at, &begin).map_or((None, begin), |late| {
            let (front, tail) = split(&begin, late);
            (Some(front), tail)
        });
        let next = |arm, free_at, extent| mechanism.piece_in_order(arm, free_at, extent, Op::Read);
        let tail = next(arm, free_at, tail);
        let other = next(tail.arm(), tail.end_at, other);
        let front = front.map(|front| next(other.arm(), other.end_at, front));
        Self { tail, other, front, begins_on_second }
    }

    fn last(&self) -> &Piece {
        self.front.as_ref().unwrap_or(&self.other)
    }

    /// Returns the instant at which the last sector has passed the head.
    pub(crate) fn end_at(&self) -> Time {
        self.last().end_at
    }

    /// Returns the arm's position after the read.
    pub(crate) fn arm(&self) -> Arm {
        self.last().arm()
    }

    /// Sends all sectors to the host in order.
    pub(crate) fn pass(&self, stream: &mut Stream) {
        let mut add = |piece: &Piece| {
            stream.add_passing(piece.extent.sectors.into(), piece.begin_at, piece.end_at);
        };
        if self.begins_on_second {
            add(&self.other);
        }
        self.front.iter().for_each(&mut add);
        // The sectors added below passed the head earlier, so their times no longer delay the
        // stream.
        add(&self.tail);
        if !self.begins_on_second {
            add(&self.other);
        }
    }
}

/// Returns the sectors after `first` up to `end`, if all of them lie on one track.
fn second_of_two(mechanism: &Mechanism, first: &Extent, end: u64) -> Option<Extent> {
    let middle = first.start.get() + u64::from(first.sectors);
    if middle == end {
        return None;
    }
    let second = mechanism.layout.extent(Lba::new(middle), end - middle);
    (middle + u64::from(second.sectors) == end).then_some(second)
}

/// Splits an extent into its first `late` sectors and the others.
fn split(extent: &Extent, late: u32) -> (Extent, Extent) {
    let of_late = u128::from(extent.span.units()) * u128::from(late);
    let front = of_late.div_ceil(u128::from(extent.sectors));
    let front = Angle::from_units(u64::try_from(front).expect("a part of a turn"));
    let rest = Angle::from_units(extent.span.units() - front.units());
    let tail = Extent {
        start: Lba::new(extent.start.get() + u64::from(late)),
        sectors: extent.sectors - late,
        begin: extent.begin.plus(front),
        span: rest,
        ..*extent
    };
    (Extent { sectors: late, span: front, ..*extent }, tail)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Schedulers that look at cylinders only: SSTF, SCAN, C-LOOK and the hybrid of SCAN and
//! SSTF. They know nothing of rotation; on one cylinder the order is that of arrival.
//!
//! A request that arrives while the arm sweeps joins the sweep if it lies ahead, the arm's
//! own cylinder included; otherwise it waits until the arm comes back. So what an idle
//! drive is given at once is served with at most one turn, whatever comes later, as long as
//! nothing is served out of turn (rules 1 to 4 of the queue; each class of priority has its
//! own sweeps).
//!
//! A sweep is where the last request lay, even if the transfer or reading on took the arm
//! further: a second request on that cylinder would else have to wait for a third sweep.

use super::eligible::Eligible;

/// Where the arm goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// To higher cylinders.
    Inwards,
    /// To lower ones.
    Outwards,
}

impl Direction {
    fn turned(self) -> Self {
        match self {
            Self::Inwards => Self::Outwards,
            Self::Outwards => Self::Inwards,
        }
    }

    /// The direction from one cylinder to another; none for one and the same.
    fn between(from: u32, to: u32) -> Option<Self> {
        match to {
            _ if to > from => Some(Self::Inwards),
            _ if to < from => Some(Self::Outwards),
            _ => None,
        }
    }

    /// How many cylinders `to` is ahead of `from`; none if it is behind.
    fn ahead(self, from: u32, to: u32) -> Option<u32> {
        match self {
            Self::Inwards => to.checked_sub(from),
            Self::Outwards => from.checked_sub(to),
        }
    }
}

/// SSTF: the one with the fewest cylinders to cross.
pub(super) fn nearest(eligible: &Eligible<'_>, from: u32) -> usize {
    eligible.least(|pending| pending.target.cylinder.abs_diff(from))
}

/// C-LOOK: the next one inwards; where none is left, the outermost.
pub(super) fn next_inwards(eligible: &Eligible<'_>, from: u32) -> usize {
    eligible.least(|pending| (pending.target.cylinder < from, pending.target.cylinder))
}

/// SCAN: the next one in `direction`, or in the other one where none is left; and the
/// direction from now on.
pub(super) fn next_in_sweep(
    eligible: &Eligible<'_>,
    from: u32,
    direction: Direction,
) -> (usize, Direction) {
    let next = |direction: Direction| {
        eligible.least_of(|pending| direction.ahead(from, pending.target.cylinder))
    };
    match next(direction) {
        Some(index) => (index, direction),
        None => (next(direction.turned()).expect("ahead or behind"), direction.turned()),
    }
}

/// The hybrid: while there is no direction yet, the nearest, whose direction is then kept as
/// by SCAN.
pub(super) fn nearest_then_sweep(
    eligible: &Eligible<'_>,
    from: u32,
    direction: Option<Direction>,
) -> (usize, Option<Direction>) {
    if let Some(direction) = direction {
        let (index, direction) = next_in_sweep(eligible, from, direction);
        return (index, Some(direction));
    }
    let index = nearest(eligible, from);
    (index, Direction::between(from, eligible.cylinder(index)))
}

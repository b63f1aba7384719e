// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Schedulers that consider only cylinders: SSTF, SCAN, C-LOOK and the hybrid of SCAN and SSTF.
//! They ignore rotation; on one cylinder they serve in order of arrival.
//!
//! A request that arrives during a sweep joins it if it lies ahead, the arm's own cylinder
//! included; otherwise it waits until the arm comes back. So a batch that an idle drive gets as a
//! whole is served with at most one change of direction, regardless of later arrivals, unless rules
//! 1 to 4 of the queue choose a request (each priority class has its own sweeps).
//!
//! A sweep's position is the last request's position, even if the transfer or read-ahead took the
//! arm further: otherwise a second request on that cylinder would wait for a third sweep.

use super::eligible::Eligible;

/// The direction of the arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// To higher cylinders.
    Inwards,
    /// To lower cylinders.
    Outwards,
}

impl Direction {
    fn turned(self) -> Self {
        match self {
            Self::Inwards => Self::Outwards,
            Self::Outwards => Self::Inwards,
        }
    }

    /// Returns the direction from one cylinder to another; `None` if they are the same.
    fn between(from: u32, to: u32) -> Option<Self> {
        match to {
            _ if to > from => Some(Self::Inwards),
            _ if to < from => Some(Self::Outwards),
            _ => None,
        }
    }

    /// Returns the number of cylinders by which `to` is ahead of `from`; `None` if `to` is behind.
    fn ahead(self, from: u32, to: u32) -> Option<u32> {
        match self {
            Self::Inwards => to.checked_sub(from),
            Self::Outwards => from.checked_sub(to),
        }
    }
}

/// SSTF: chooses the request with the fewest cylinders to cross.
pub(super) fn nearest(eligible: &Eligible<'_>, from: u32) -> usize {
    eligible.least(|pending| pending.target.cylinder.abs_diff(from))
}

/// C-LOOK: chooses the next request inwards; if there is none, the outermost.
pub(super) fn next_inwards(eligible: &Eligible<'_>, from: u32) -> usize {
    eligible.least(|pending| (pending.target.cylinder < from, pending.target.cylinder))
}

/// SCAN: chooses the next request in `direction`, or in the other direction if there is none. Also
/// returns the direction of this choice, in which the next choice begins.
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

/// The hybrid: while there is no direction, chooses the nearest request, whose direction is then
/// kept as in SCAN.
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

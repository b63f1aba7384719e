// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the shortest time from one track to another, by bisection over angles.
//!
//! A read that is sent when another completes ends when its block has passed the heads. If the
//! block comes by before the drive is ready, the read takes one more turn. So a service time S
//! shows that the shortest time is above S minus one turn, and at most S; the next read is of the
//! block in the middle of that range. The angles of blocks are known, so a late completion does no
//! harm: only the number of whole turns counts.

use super::number::{float, floor};
use super::probing::Seen;
use super::tracks::{Survey, Track};

/// The maximum number of pairs of tracks in one bisection.
const PAIRS: u32 = 10;
/// The number of attempts to find a starting block whose angle is as expected.
const STARTS: u32 = 3;
/// The starting block is in the first 5/8 of its track. After a block further back, a drive that
/// reads ahead could be on the next track before it has processed the next command.
const STARTS_PART: (u64, u64) = (5, 8);
/// The largest range, as a part of a turn, that a successful bisection can leave.
const UNSURE: f64 = 0.01;

/// The range of a shortest time, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Between {
    low: f64,
    high: f64,
}

/// Returns pairs of tracks one by one, all at the same distance; `None` when there are no more.
///
/// While the host is slow, the drive can read a whole track into its memory. So a bisection
/// continues with another pair when completions do not match the passing blocks.
pub(super) type Pairs<'p, 'b, 'a> =
    dyn FnMut(&mut Survey<'b, 'a>) -> Seen<Option<(Track, Track)>> + 'p;

impl<'b, 'a> Survey<'b, 'a> {
    /// Finds the shortest time from the first track of a pair to the second: from the completion of
    /// a read on the first to the completion of a read of one block on the second. `None` if it
    /// cannot be determined.
    pub(super) fn least(&mut self, pairs: &mut Pairs<'_, 'b, 'a>) -> Seen<Option<f64>> {
        let mut between: Option<Between> = None;
        let soonest = self.soonest;
        let (mut told_nothing, mut exact) = (0, 0.0);
        for _ in 0..PAIRS {
            let Some((from, to)) = pairs(self)? else { break };
            while let Some(time) = self.time(&from, &to, between)? {
                let before = between.replace(narrowed(between, time, (self.platter.turn, soonest)));
                exact = 1.5 * to.per_sector(self.platter.turn) * float(self.probing.block());
                let is_same = before.is_some_and(|before| Some(before) == between);
                told_nothing = if is_same { told_nothing + 1 } else { 0 };
                if told_nothing > 3 || between.is_some_and(|it| it.high - it.low <= exact) {
                    return Ok(self.middle(between, exact));
                }
            }
        }
        Ok(self.middle(between, exact))
    }

    fn middle(&self, between: Option<Between>, exact: f64) -> Option<f64> {
        let most = exact.max(UNSURE * self.platter.turn);
        let found = between.filter(|it| it.high - it.low <= most);
        found.map(|it| f64::midpoint(it.low, it.high))
    }

    /// Measures a time between two tracks, to narrow the range; `None` if two attempts gave no
    /// plausible time.
    fn time(&mut self, from: &Track, to: &Track, between: Option<Between>) -> Seen<Option<f64>> {
        let half = self.platter.turn / 2.0;
        for _ in 0..2 {
            if !self.start_on(from)? {
                return Ok(None);
            }
            let wanted = between.map_or(half, |it| f64::midpoint(it.low, it.high).max(0.0));
            if let Some(time) = self.timed(to, wanted)? {
                return Ok(Some(time));
            }
        }
        Ok(None)
    }

    /// Moves the heads onto a track by a read there. Returns whether the read completed at the
    /// expected angle.
    pub(super) fn start_on(&mut self, track: &Track) -> Seen<bool> {
        let turn = self.platter.turn;
        for _ in 0..STARTS {
            let end = track.begin + track.sectors * STARTS_PART.0 / STARTS_PART.1;
            let start = self.fresh_within(track.begin, end);
            let angle = self.angle(start)?;
            let late = self.platter.beyond(angle, track.angle(start, turn));
            if late.abs() < self.late_max {
                self.platter.follow(late);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the block that passes about `wanted` nanoseconds from now, give or take whole turns.
    /// Returns the time from sending the read until the block passed; `None` if that time is not
    /// plausible.
    pub(super) fn timed(&mut self, to: &Track, wanted: f64) -> Seen<Option<f64>> {
        let turn = self.platter.turn;
        let angle = self.platter.angle(self.probing.now()) + wanted;
        let into = self.platter.after(angle, to.angle) / to.per_sector(turn);
        let start = self.probing.aligned(to.begin + floor(into));
        let block = self.probing.block();
        let start = if start < to.begin { start + block } else { start };
        let start = start.min(self.probing.aligned(to.begin + to.sectors - block));
        let reading = self.probing.read(start)?;
        let sent = self.platter.angle(reading.sent);
        let passes = self.platter.after(to.angle(start, turn), sent);
        let turns = ((reading.service() - passes) / turn).round();
        let late = reading.service() - passes - turns * turn;
        let time = passes + turns * turn;
        let is_so = late.abs() < self.late_max && turns >= 0.0 && time >= self.soonest;
        Ok(is_so.then_some(time))
    }
}

/// Returns the range that remains after a read took `time`; the range is unchanged if the time
/// contradicts it.
fn narrowed(before: Option<Between>, time: f64, (turn, soonest): (f64, f64)) -> Between {
    let Some(Between { low, high }) = before else {
        return Between { low: (time - turn).max(soonest.min(time)), high: time };
    };
    if time > low && time <= high {
        Between { low, high: time }
    } else if time - turn > low && time - turn < high {
        Between { low: time - turn, high }
    } else {
        Between { low, high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_in_time_lowers_the_bound_and_one_too_late_raises_it() {
        let between = narrowed(None, 130.0, (100.0, 0.0));
        assert_eq!((between.low, between.high), (30.0, 130.0));
        let between = narrowed(Some(between), 80.0, (100.0, 0.0));
        assert_eq!((between.low, between.high), (30.0, 80.0));
        let between = narrowed(Some(between), 155.0, (100.0, 0.0));
        assert_eq!((between.low, between.high), (55.0, 80.0));
        let between = narrowed(Some(between), 300.0, (100.0, 0.0));
        assert_eq!((between.low, between.high), (55.0, 80.0), "no such time");
    }
}

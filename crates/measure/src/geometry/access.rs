// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The least time from one track to another, by bisection over angles.
//!
//! A read that is sent when another is back takes until its block has passed the heads. A
//! block that comes by too early costs a turn more. So a read of service time S tells that the
//! least time is above S less a turn, and not above S; the next block is the one in the middle
//! of what is left. Angles of blocks are known, so a completion that is taken late does no
//! harm: it is only asked how many turns there were.

use super::number::{float, floor};
use super::probing::Seen;
use super::tracks::{Survey, Track};

/// Reads in one bisection, at most.
const STEPS: u32 = 40;
/// How often a block to start from is tried until its angle is the expected one.
const STARTS: u32 = 6;

/// A least time, in nanoseconds, between the two.
#[derive(Debug, Clone, Copy)]
struct Between {
    low: f64,
    high: f64,
}

impl Survey<'_, '_> {
    /// The least time from one track to another: from the completion of a read there until that of
    /// a read of one block here. None if it cannot be made out.
    pub(super) fn least(&mut self, from: &Track, to: &Track) -> Seen<Option<f64>> {
        let turn = self.platter.turn;
        let exact = to.per_sector(turn) * float(self.probing.block());
        let mut between: Option<Between> = None;
        let mut idle = 0;
        for _ in 0..STEPS {
            if !self.start_on(from)? {
                return Ok(None);
            }
            let wanted = between.map_or(turn / 2.0, |it| f64::midpoint(it.low, it.high).max(0.0));
            let Some(time) = self.timed(to, wanted)? else { continue };
            let before = between;
            between = Some(narrowed(before, time, turn));
            let width = between.map_or(turn, |it| it.high - it.low);
            idle = if before.is_some_and(|it| it.high - it.low <= width) { idle + 1 } else { 0 };
            if width <= 1.5 * exact || idle > 3 {
                break;
            }
        }
        let found = between.filter(|it| it.high - it.low < turn / 8.0);
        Ok(found.map(|it| f64::midpoint(it.low, it.high)))
    }

    /// Brings the heads onto a track; whether they seem to be there.
    pub(super) fn start_on(&mut self, track: &Track) -> Seen<bool> {
        let turn = self.platter.turn;
        for _ in 0..STARTS {
            let start = self.fresh_within(track.begin, track.begin + track.sectors);
            let angle = self.angle(start)?;
            let late = self.platter.beyond(angle, track.angle(start, turn));
            if late.abs() < self.late_max {
                self.platter.follow(late);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the block that is over about `wanted` nanoseconds after now, give or take turns,
    /// and says how long it took from its sending until it passed; none if it made no sense.
    fn timed(&mut self, to: &Track, wanted: f64) -> Seen<Option<f64>> {
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
        Ok((late.abs() < self.late_max && turns >= 0.0).then_some(passes + turns * turn))
    }
}

/// What a read of that time leaves; all as before where it contradicts what is known.
fn narrowed(before: Option<Between>, time: f64, turn: f64) -> Between {
    let Some(Between { low, high }) = before else {
        return Between { low: time - turn, high: time };
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
        let between = narrowed(None, 130.0, 100.0);
        assert_eq!((between.low, between.high), (30.0, 130.0));
        let between = narrowed(Some(between), 80.0, 100.0);
        assert_eq!((between.low, between.high), (30.0, 80.0));
        let between = narrowed(Some(between), 155.0, 100.0);
        assert_eq!((between.low, between.high), (55.0, 80.0));
        let between = narrowed(Some(between), 300.0, 100.0);
        assert_eq!((between.low, between.high), (55.0, 80.0), "no such time");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A model of a turning platter as a host observes it: gives the angle at an instant.
//!
//! Angles are in nanoseconds of a turn, from an arbitrary index mark at the clock's zero. A spindle
//! drifts against the clock, so each block that passes near its expected time corrects the mark.

use tidegate_model::Time;

use super::number::{float, median};

/// The part of each deviation by which the mark is corrected. It is small because some completions
/// are late.
const BELIEF: f64 = 0.05;

/// A turning platter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Platter {
    /// The time of a turn, in nanoseconds.
    pub(super) turn: f64,
    /// The lateness of the mark relative to the clock, in nanoseconds.
    late: f64,
}

impl Platter {
    /// Returns a platter that takes `turn` nanoseconds for a turn.
    pub(super) fn new(turn: f64) -> Self {
        Self { turn, late: 0.0 }
    }

    /// Returns the angle under the heads at an instant.
    pub(super) fn angle(&self, at: Time) -> f64 {
        (float(at.ns()) - self.late).rem_euclid(self.turn)
    }

    /// Returns the angle by which the platter turns from `from` to `angle`: less than one turn.
    pub(super) fn after(&self, angle: f64, from: f64) -> f64 {
        (angle - from).rem_euclid(self.turn)
    }

    /// Returns the angle by which `angle` is ahead of `from`, the shorter way round: at most half a
    /// turn, and negative if `angle` is behind.
    pub(super) fn beyond(&self, angle: f64, from: f64) -> f64 {
        let after = self.after(angle, from);
        if after > self.turn / 2.0 { after - self.turn } else { after }
    }

    /// Returns the median of angles that are close together; `None` without angles.
    pub(super) fn middle(&self, angles: &[f64]) -> Option<f64> {
        let first = *angles.first()?;
        let beyond = angles.iter().map(|&angle| self.beyond(angle, first)).collect();
        Some((first + median(beyond)?).rem_euclid(self.turn))
    }

    /// Notes that a block passed `late` nanoseconds later than expected.
    pub(super) fn follow(&mut self, late: f64) {
        self.late += BELIEF * late;
    }
}

/// Returns how closely angles agree, as the length of their mean vector: 0 for uniform angles, 1
/// for equal ones.
///
/// # Source
/// Rayleigh's test: for n uniform angles, n times the square of this length is exponentially
/// distributed with mean 1.
pub(super) fn concentration(angles: &[f64], turn: f64) -> f64 {
    let directions = angles.iter().map(|angle| (angle / turn * std::f64::consts::TAU).sin_cos());
    let (sin, cos) = directions.fold((0.0, 0.0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    sin.hypot(cos) / super::number::count(angles).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_way_round_is_taken() {
        let platter = Platter::new(100.0);
        let is_about = |angle: f64, expected: f64| (angle - expected).abs() < 1e-9;
        assert!(is_about(platter.after(5.0, 95.0), 10.0));
        assert!(is_about(platter.beyond(5.0, 95.0), 10.0));
        assert!(is_about(platter.beyond(95.0, 5.0), -10.0));
        assert!(platter.middle(&[98.0, 2.0, 1.0]).is_some_and(|middle| is_about(middle, 1.0)));
    }

    #[test]
    fn angles_all_round_agree_in_nothing() {
        assert!(concentration(&[0.0, 25.0, 50.0, 75.0], 100.0) < 1e-9);
        assert!(concentration(&[10.0; 7], 100.0) > 0.999);
    }
}

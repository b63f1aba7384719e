// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fits a line to the angles of the blocks of one track.

use super::number::{count, float};
use super::platter::Platter;

/// Blocks of one track, whose angles are on a line.
#[derive(Debug, Clone)]
pub(super) struct BlockLine {
    /// The block from which the others are counted; its angle is `angle`.
    pub(super) from: u64,
    pub(super) angle: f64,
    pub(super) per_sector: f64,
    /// The lowest block that is known to be on the line.
    pub(super) low: u64,
    /// All blocks that were read, each with its angle.
    pub(super) read: Vec<(u64, f64)>,
}

impl BlockLine {
    /// Returns the angle of a block on the line.
    pub(super) fn angle(&self, start: u64) -> f64 {
        self.angle + (float(start) - float(self.from)) * self.per_sector
    }

    /// Fits the line to the blocks that were read.
    ///
    /// # Equation
    /// Least squares of the angles' distances from the line, with places relative to their mean.
    pub(super) fn fit(&mut self, platter: &Platter) {
        let place = |start: u64| float(start) - float(self.from);
        let beyond =
            |&(start, angle): &(u64, f64)| (place(start), platter.beyond(angle, self.angle(start)));
        let points: Vec<(f64, f64)> = self.read.iter().map(beyond).collect();
        let sum = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count(&points);
        let (mean, late) = (sum(|it| it.0), sum(|it| it.1));
        let (square, product) = (sum(|it| it.0 * it.0), sum(|it| it.0 * it.1));
        let spread = square - mean * mean;
        if spread > 0.0 {
            let slope = (product - mean * late) / spread;
            self.per_sector += slope;
            self.angle += late - slope * mean;
        }
    }

    /// Adds a block whose angle exceeds the line's by `beyond`. If it is below all others, the
    /// slope of the line is corrected by it.
    pub(super) fn take(&mut self, start: u64, angle: f64, beyond: f64) {
        self.read.push((start, angle));
        if start < self.low {
            self.low = start;
            self.per_sector -= beyond / float(self.from - start);
        }
    }
}

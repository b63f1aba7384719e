// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The time of a seek as a function of its distance.
//!
//! Times are rounded up to a nanosecond. Between measured points the curve is linear, as in
//! DiskSim. The curve can fall in places, because measurements have dents.

mod floors;
mod formula;

use tidegate_model::Duration;
use tidegate_model::mechanics::{MechanicsError, Seek};

pub(super) use self::floors::Floors;
use self::formula::Formula;
use super::layout::steps::Steps;
use super::wrong::wrong;

/// The time of a seek for every distance on a disk.
///
/// # Shape
/// Pieces sorted by distance, found by a table and bisection; or a formula.
///
/// # Example
/// ```
/// use tidegate_drive::mechanical::SeekCurve;
/// use tidegate_model::Duration;
/// use tidegate_model::mechanics::Seek;
///
/// let points = Seek::Points(vec![(1, 500_000), (11, 1_000_000)]);
/// let curve = SeekCurve::new(&points, 10_000).unwrap();
/// assert_eq!(curve.time(0), Duration::ZERO);
/// assert_eq!(curve.time(2), Duration::from_us(550));
/// ```
#[derive(Debug, Clone)]
pub struct SeekCurve {
    shape: Shape,
    /// The longest distance on the disk.
    stroke: u32,
}

#[derive(Debug, Clone)]
enum Shape {
    /// The distances at which the pieces begin, and the pieces.
    Pieces(Steps, Vec<Piece>),
    Formula(Formula),
}

/// A linear piece of the curve.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from: u32,
    ns: u32,
    /// The time changes by `change_ns` within `span` cylinders.
    span: u32,
    change_ns: u32,
    falls: bool,
}

impl SeekCurve {
    /// Builds the curve that a drive file describes, for distances up to `cylinders - 1`.
    ///
    /// # Errors
    /// Points out of order, no points, or a formula that decreases; a figure above four seconds;
    /// a last slope that falls below zero on the disk.
    pub fn new(seek: &Seek, cylinders: u32) -> Result<Self, MechanicsError> {
        let (shape, stroke) = (shape(seek)?, cylinders.saturating_sub(1));
        shape.check(stroke)?;
        Ok(Self { shape, stroke })
    }

    /// Returns the time of a seek over `distance` cylinders; 0 for distance 0.
    pub fn time(&self, distance: u32) -> Duration {
        if distance == 0 {
            return Duration::ZERO;
        }
        Duration::from_ns(self.shape.time_ns(distance))
    }

    /// Returns the longest time of all seeks over at most `distance` cylinders; a distance beyond
    /// the full stroke counts as the full stroke.
    pub(super) fn time_max_within(&self, distance: u32) -> Duration {
        match distance.min(self.stroke) {
            0 => Duration::ZERO,
            distance => Duration::from_ns(self.shape.longest_ns(distance)),
        }
    }

    /// Returns whether some seek takes longer than a detour of two seeks to the same cylinder, the
    /// second of which crosses as many cylinders as one of `steps`.
    ///
    /// # Complexity
    /// Linear in the number of cylinders, for each step.
    pub(super) fn has_shortcut(&self, steps: impl IntoIterator<Item = u32>) -> bool {
        let times: Vec<Duration> = (0..=self.stroke).map(|distance| self.time(distance)).collect();
        let is_shorter = |step: u32| {
            let second = self.time(step);
            (0_u32..).zip(&times).any(|(first, &time)| {
                let ends = [first.abs_diff(step), first.saturating_add(step)];
                let longest = ends.into_iter().filter_map(|distance| times.get(distance as usize));
                longest.max().is_some_and(|&direct| direct > time + second)
            })
        };
        steps.into_iter().any(is_shorter)
    }

    /// Returns a table of lower bounds of the curve, with `change_ns` added to each of its times.
    pub(super) fn floors(&self, change_ns: i64) -> Floors {
        Floors::new(self.stroke, |first, last| {
            self.shape.least_ns(first, last).saturating_add_signed(change_ns)
        })
    }

    /// Returns the linear upper bound of the curve: its values at distance 0 and at full stroke.
    ///
    /// The line does not decrease, and is at or above the curve at every distance from 1 to full
    /// stroke. Among such lines it has the smallest value at full stroke; among those, the smallest
    /// at 0. One nanosecond is added to both values because times are rounded up. If the curve
    /// rises, the line meets it at full stroke and touches it at one more point. A batch bound
    /// counts one or two full strokes, but the value at 0 for each request. So among lines with the
    /// same value at full stroke, this one gives the smallest bound for every batch.
    ///
    /// # Equation
    /// `m * d + min`, with `m = (max - min) / full stroke`.
    ///
    /// # Source
    /// Dissertation, equation 7.4.1.1 and figure 7.5. The choice of the line is our own.
    ///
    /// # Complexity
    /// Linear in the number of cylinders.
    pub fn linear_upper_bound(&self) -> (Duration, Duration) {
        let times = || (1..=self.stroke).map(|distance| (distance, self.time_ps(distance)));
        let max = times().map(|(_, ps)| ps).max().unwrap_or(0);
        // The value at distance 0 of the line from (stroke, max) through a point of the curve.
        let at_zero = |(distance, ps)| {
            let falls = (max - ps) * u128::from(self.stroke) / u128::from(self.stroke - distance);
            max.saturating_sub(falls)
        };
        let before_last = times().filter(|&(distance, _)| distance < self.stroke);
        let min = before_last.map(at_zero).max().unwrap_or(0);
        (rounded(min), rounded(max))
    }

    /// Returns the time in picoseconds, rounded up. Nanoseconds would be too coarse: a line through
    /// two points magnifies their rounding errors when it is extrapolated.
    fn time_ps(&self, distance: u32) -> u128 {
        match &self.shape {
            Shape::Pieces(starts, pieces) => piece(starts, pieces, distance).time_ps(distance),
            Shape::Formula(formula) => formula.time_ps(distance),
        }
    }
}

impl Shape {
    fn time_ns(&self, distance: u32) -> u64 {
        match self {
            Self::Pieces(starts, pieces) => piece(starts, pieces, distance).time_ns(distance),
            Self::Formula(formula) => formula.time_ns(distance),
        }
    }

    /// Returns the shortest time of the distances from `first` to `last`, neither of which is 0:
    /// the time at either end or at a point between them.
    fn least_ns(&self, first: u32, last: u32) -> u64 {
        let ends = self.time_ns(first).min(self.time_ns(last));
        let Self::Pieces(starts, pieces) = self else { return ends };
        let within = starts.count_up_to(first.into())..starts.count_up_to(last.into());
        pieces[within].iter().map(|piece| u64::from(piece.ns)).fold(ends, u64::min)
    }

    /// Returns the longest time of the distances from 1 to `stroke`: the time at the stroke or at a
    /// point before it. A formula does not fall.
    fn longest_ns(&self, stroke: u32) -> u64 {
        if stroke == 0 {
            return 0;
        }
        let end = self.time_ns(stroke);
        let Self::Pieces(_, pieces) = self else { return end };
        // The curve is constant before the first point, which may lie beyond the stroke.
        let within = pieces.iter().filter(|piece| piece.from <= stroke);
        within.map(|piece| u64::from(piece.ns)).fold(end, u64::max)
    }

    fn check(&self, stroke: u32) -> Result<(), MechanicsError> {
        match self {
            Self::Pieces(_, pieces) => pieces.last().map_or(Ok(()), |last| last.check(stroke)),
            Self::Formula(formula) => formula.check(stroke),
        }
    }
}

/// Returns a bound in nanoseconds, plus one for the rounding of times.
fn rounded(ps: u128) -> Duration {
    let ns = u64::try_from(ps.div_ceil(1_000)).unwrap_or(u64::MAX);
    Duration::from_ns(ns.saturating_add(1))
}

fn piece(starts: &Steps, pieces: &[Piece], distance: u32) -> Piece {
    pieces[starts.count_up_to(distance.into()).saturating_sub(1)]
}

impl Piece {
    fn time_ns(self, distance: u32) -> u64 {
        // The curve is constant before the first point.
        let into = u64::from(distance.saturating_sub(self.from));
        let change = into * u64::from(self.change_ns);
        let (ns, span) = (u64::from(self.ns), u64::from(self.span));
        if self.falls {
            ns.saturating_sub(change / span)
        } else {
            ns.saturating_add(change.div_ceil(span))
        }
    }

    fn time_ps(self, distance: u32) -> u128 {
        let into = distance.saturating_sub(self.from);
        let change = u128::from(into) * u128::from(self.change_ns) * 1_000;
        let (ps, span) = (u128::from(self.ns) * 1_000, u128::from(self.span));
        if self.falls { ps.saturating_sub(change / span) } else { ps + change.div_ceil(span) }
    }

    fn check(self, stroke: u32) -> Result<(), MechanicsError> {
        if self.falls && stroke > self.from && self.time_ns(stroke) == 0 {
            return Err(wrong(
                "seek: points",
                format!("the last slope reaches 0 before the full stroke of {stroke} cylinders"),
                "add a point at full stroke",
            ));
        }
        Ok(())
    }
}

fn shape(seek: &Seek) -> Result<Shape, MechanicsError> {
    match *seek {
        Seek::Points(ref points) => pieces(points),
        Seek::Formula { short_ns, per_root_ns, long_ns, per_cylinder_ps, long_from } => {
            Ok(Shape::Formula(Formula {
                short_ns: limited("seek: short_ns", short_ns)?,
                per_root_ns: limited("seek: per_root_ns", per_root_ns)?,
                long_ns: limited("seek: long_ns", long_ns)?,
                per_cylinder_ps: limited("seek: per_cylinder_ps", per_cylinder_ps)?,
                long_from,
            }))
        }
    }
}

fn pieces(points: &[(u32, u64)]) -> Result<Shape, MechanicsError> {
    let mut pieces = Vec::with_capacity(points.len());
    for (index, &(from, ns)) in points.iter().enumerate() {
        let ns = limited("seek: points", ns)?;
        // The last slope continues: the piece before the last point has no end.
        let slope =
            points.get(index + 1).map_or(Ok((1, 0, false)), |&next| slope(from, ns, next))?;
        let (span, change_ns, falls) = slope;
        pieces.push(Piece { from, ns, span, change_ns, falls });
    }
    if pieces.is_empty() {
        return Err(wrong("seek: points", "no points are given", "write at least [distance, ns]"));
    }
    if let [.., before, last] = pieces.as_mut_slice() {
        *last = Piece { from: last.from, ns: last.ns, ..*before };
    }
    let starts = Steps::new(pieces.iter().map(|piece| piece.from.into()).collect());
    Ok(Shape::Pieces(starts, pieces))
}

/// Returns the distance between two points, the difference of their times, and whether the time
/// falls.
fn slope(
    from: u32,
    ns: u32,
    (next_from, next_ns): (u32, u64),
) -> Result<(u32, u32, bool), MechanicsError> {
    let span = next_from.checked_sub(from).filter(|&span| span > 0).ok_or_else(|| {
        wrong(
            "seek: points",
            format!("distance {next_from} comes after distance {from}"),
            "write points in order of distance, each distance once",
        )
    })?;
    let next_ns = limited("seek: points", next_ns)?;
    Ok((span, ns.abs_diff(next_ns), next_ns < ns))
}

/// Refuses a figure whose product with a distance could overflow.
fn limited(place: &str, value: u64) -> Result<u32, MechanicsError> {
    let max = u32::MAX;
    u32::try_from(value)
        .map_err(|_| wrong(place, format!("{value} is too large"), format!("write at most {max}")))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Decides which change of a quantile can be due to chance, given the number of samples.
//!
//! The true quantile of level p lies between the samples of ranks `n (p - d)` and `n (p + d)`,
//! where `n d` is a number of standard errors of a binomial rank, with both ends corrected for its
//! skewness (Cornish-Fisher). For two files
//!
//! ```text
//!   d_i = z_i sqrt(p (1 - p) / n_i) -+ (z_i^2 - 1) (1 - 2 p) / (6 n_i)
//!   z_i = z sqrt((1 / n_i) / (1 / n_1 + 1 / n_2))
//! ```
//!
//! together give z standard errors of the difference. Two figures differ if their intervals do not
//! overlap. Around a median, values between the recorded quantiles are interpolated linearly; below
//! the 99 % quantile, along the curve of an exponential tail. Above it, where samples are sparse,
//! the next recorded quantile is the limit. If an interval reaches beyond all samples, chance
//! explains every difference.
//!
//! All comparisons of two files share the probability `FALSE_ALARM` equally (Bonferroni), and each
//! divides its share equally between the two tails. If q is the probability of one tail, z solves q
//! = phi(z) / z. The right side is at least Q(z), the tail probability of the normal distribution.
//!
//! For rates, only the median and the slowest of a few stretches are known. The rates' standard
//! deviation is the distance between the two, divided by the distance at which the slowest of n
//! normal values is expected; the larger value of the two files is used. The median's error is
//! sqrt(pi / 2 n) standard deviations, the slowest's is one.
//!
//! For a median without further data, a standard deviation of `SPREAD` is assumed.
//!
//! # Assumptions
//! Samples are independent, and near a median the times are at least as dense as on average between
//! the neighbouring recorded quantiles.

use std::f64::consts::FRAC_PI_2;

use tidegate_model::drive_file::MeasuredTable;
use tidegate_stats::float::of as float;

/// The accepted probability that two profiles of an unchanged device are reported as different.
const FALSE_ALARM: f64 = 0.01;

/// The smallest number of stretches with which the median and the slowest determine the spread.
const STRETCHES_MIN: u64 = 10;

/// The assumed standard deviation, as a fraction of the median, if only a median is known. Reads of
/// a solid-state drive spread less than this unless its chips conflict.
const SPREAD: f64 = 0.25;

/// The number of iterations of `normal_limit`; each step is at most half as long as the one before.
const STEPS: u32 = 40;

/// The number of levels in [`Sampling::Times`]: those of a table, and the maximum.
const LEVELS: usize = MeasuredTable::LEVELS_PPM.len() + 1;

/// A statistic of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    Median,
    /// The 99 % quantile; for rates the slowest.
    Tail,
}

/// The known facts about the samples behind a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sampling {
    /// The quantiles and the maximum of a time, and the number of samples.
    Times([u64; LEVELS], u64),
    /// The median rate and the slowest one, and the number of stretches.
    Rates([u64; 2], u64),
    /// The median and the number of samples behind it; the spread is unknown.
    Median(u64, u64),
    /// Longest times, or values fitted to them; their sampling error is unknown.
    Longest,
}

/// The largest difference, in standard errors, that still counts as chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ErrorLimit {
    errors: f64,
}

impl ErrorLimit {
    /// Returns the limit for comparing two files by this number of comparisons.
    pub(super) fn among(comparisons: usize) -> Self {
        let comparisons = u64::try_from(comparisons.max(1)).expect("a length fits");
        Self { errors: normal_limit(FALSE_ALARM / (2.0 * float(comparisons))) }
    }

    /// Returns whether sampling explains the difference between two figures; `false` for figures of
    /// different kinds, which cannot be compared.
    pub(super) fn explains(self, figure: Figure, first: Sampling, second: Sampling) -> bool {
        match (first, second) {
            (Sampling::Times(a, n), Sampling::Times(b, m)) => {
                self.explains_times(figure, (&a, n), (&b, m))
            }
            (Sampling::Rates(a, n), Sampling::Rates(b, m)) => {
                self.explains_rates(figure, (a, n), (b, m))
            }
            (Sampling::Median(a, n), Sampling::Median(b, m)) => {
                let variance = FRAC_PI_2 * (1.0 / float(n.max(1)) + 1.0 / float(m.max(1)));
                let error = SPREAD * float(a.max(b)) * variance.sqrt();
                float(a.abs_diff(b)) <= self.errors * error
            }
            (Sampling::Longest, _) | (_, Sampling::Longest) => true,
            _ => false,
        }
    }

    /// Returns whether the intervals of both quantiles overlap.
    fn explains_times(
        self,
        figure: Figure,
        (first, n): (&[u64; LEVELS], u64),
        (second, m): (&[u64; LEVELS], u64),
    ) -> bool {
        let parts = [n, m].map(|samples| 1.0 / float(samples.max(1)));
        // Divides the standard errors of the difference between the two files, in standard errors
        // of each file's own ranks.
        let errors = parts.map(|part| self.errors * (part / (parts[0] + parts[1])).sqrt());
        let intervals =
            (interval((first, n), figure, errors[0]), interval((second, m), figure, errors[1]));
        let (Some(a), Some(b)) = intervals else { return true };
        a[0] <= b[1] && b[0] <= a[1]
    }

    /// Returns whether the two rates differ by less than their combined errors.
    fn explains_rates(
        self,
        figure: Figure,
        (first, n): ([u64; 2], u64),
        (second, m): ([u64; 2], u64),
    ) -> bool {
        let deviations = (deviation(first, n), deviation(second, m));
        let (Some(a), Some(b)) = deviations else { return true };
        let variance = |samples: u64| match figure {
            Figure::Median => FRAC_PI_2 / float(samples),
            Figure::Tail => 1.0,
        };
        let error = a.max(b) * (variance(n) + variance(m)).sqrt();
        let place = usize::from(figure == Figure::Tail);
        float(first[place].abs_diff(second[place])) <= self.errors * error
    }
}

impl Figure {
    fn level(self) -> f64 {
        match self {
            Self::Median => 0.5,
            Self::Tail => 0.99,
        }
    }
}

/// Returns the interval that contains a quantile if its rank is within this many standard errors;
/// `None` if the interval reaches beyond all samples.
fn interval(
    (times, samples): (&[u64; LEVELS], u64),
    figure: Figure,
    errors: f64,
) -> Option<[f64; 2]> {
    let (level, samples) = (figure.level(), float(samples.max(1)));
    let width = errors * (level * (1.0 - level) / samples).sqrt();
    let skew = (errors * errors - 1.0) * (1.0 - 2.0 * level) / (6.0 * samples);
    let (low, high) = (level - width + skew, level + width + skew);
    if low < 0.0 || high > 1.0 {
        return None;
    }
    Some(match figure {
        Figure::Median => [at(times, low, |level| level), at(times, high, |level| level)],
        Figure::Tail => [at(times, low, |level| -(1.0 - level).ln()), above(times, high)],
    })
}

/// Returns the level of each recorded quantile.
fn levels() -> impl Iterator<Item = f64> {
    let whole_ppm = 1_000_000;
    let levels_ppm = MeasuredTable::LEVELS_PPM.into_iter().chain([whole_ppm]);
    levels_ppm.map(move |ppm| f64::from(ppm) / f64::from(whole_ppm))
}

/// Returns the recorded quantile at this level, or at the next recorded level above it.
fn above(times: &[u64; LEVELS], level: f64) -> f64 {
    let mut known = levels().zip(times).filter(|&(known, _)| known >= level);
    float(known.next().map_or(times[LEVELS - 1], |(_, &time)| time))
}

/// Returns the quantile at a level, interpolated between the recorded neighbours. `scaled` converts
/// levels to the scale on which the interpolation is linear.
fn at(times: &[u64; LEVELS], level: f64, scaled: fn(f64) -> f64) -> f64 {
    let known: Vec<(f64, f64)> = levels().zip(times.iter().map(|&time| float(time))).collect();
    let mut around = known.windows(2).filter(|pair| level <= pair[1].0);
    around.next().map_or(float(times[LEVELS - 1]), |pair| {
        let ((low, from), (high, to)) = (pair[0], pair[1]);
        let along = (scaled(level) - scaled(low)) / (scaled(high) - scaled(low));
        from + (to - from) * along
    })
}

/// Returns the standard deviation of rates, from their median and the slowest; `None` if there are
/// fewer than [`STRETCHES_MIN`] stretches.
fn deviation([median, slowest]: [u64; 2], samples: u64) -> Option<f64> {
    // Blom's rank of the extreme of n normal values.
    let beyond = 0.625 / (float(samples) + 0.25);
    (samples >= STRETCHES_MIN).then(|| float(median.saturating_sub(slowest)) / normal_limit(beyond))
}

/// Returns a value that a normal variable exceeds with a probability of at most `beyond`, which
/// must be below a half. It solves `beyond = phi(z) / z`; for `beyond` = 0.01 it is 2 % above the
/// exact value.
fn normal_limit(beyond: f64) -> f64 {
    // z falls after each guess that is too high, and rises after each that is too low.
    let next = |z: f64| (-2.0 * (beyond * z * std::f64::consts::TAU.sqrt()).ln()).max(0.25).sqrt();
    (0..STEPS).fold(3.0, |z, _| z.midpoint(next(z)))
}

#[cfg(test)]
mod tests;

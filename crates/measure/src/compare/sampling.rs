// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How much of a change may be chance: so many samples tell a quantile only so well.
//!
//! The true quantile of level p lies between the samples of ranks n (p - d) and n (p + d), where
//! n d is some standard errors of a binomial rank, both ends moved by its skewness
//! (Cornish-Fisher). Of two files
//!
//! ```text
//!   d_i = z_i sqrt(p (1 - p) / n_i) -+ (z_i^2 - 1) (1 - 2 p) / (6 n_i)
//!   z_i = z sqrt((1 / n_i) / (1 / n_1 + 1 / n_2))
//! ```
//!
//! makes both together z standard errors of the difference. Two figures are apart when their
//! intervals are. Beside a median the recorded quantiles are joined by lines; below the 99 %
//! quantile by what an exponential tail has between them; above it the limit is the next one
//! recorded, for there times lie thin. Where an interval reaches beyond all samples, chance
//! explains everything.
//!
//! z is for `FALSE_ALARM` shared by all comparisons (Bonferroni): with q of it on either side
//! of each, from the tail of the normal distribution, Q(z) <= phi(z) / z.
//!
//! Of rates only the median and the slowest of a few stretches are known. Their standard
//! deviation is taken as the distance of both over that at which the slowest of n normal
//! values is expected, the larger of the two files; the median is unsure by sqrt(pi / 2 n)
//! of it, and the slowest by the whole of it.
//!
//! Of a median of which nothing else is known a deviation of `SPREAD` is assumed.
//!
//! # Assumptions
//! Samples are independent, and near a median times do not lie thinner than on average between
//! the recorded quantiles beside it.

use std::f64::consts::FRAC_PI_2;

use tidegate_model::drive_file::MeasuredTable;

/// How often two profiles of a device that has not changed may be told apart by chance.
const FALSE_ALARM: f64 = 0.01;

/// Of fewer stretches median and slowest do not tell how far others spread.
const STRETCHES_MIN: u64 = 10;

/// Where only a median is known: the standard deviation that is assumed, as a part of it. Reads of
/// a solid-state drive spread less unless its chips get in each other's way.
const SPREAD: f64 = 0.25;

/// Steps in which `normal_limit` approaches its answer, each half as far or less.
const STEPS: u32 = 40;

/// Levels of what [`Sampling::Times`] holds: those of a table, and the maximum.
const LEVELS: usize = MeasuredTable::LEVELS_PPM.len() + 1;

/// Which figure of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    Median,
    /// The 99 % quantile; of rates the slowest.
    Tail,
}

/// What is known of the distribution that a figure was drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sampling {
    /// Quantiles, the maximum last, of so many samples.
    Times([u64; LEVELS], u64),
    /// Median and slowest of so many stretches.
    Rates([u64; 2], u64),
    /// A median of so many samples, and nothing of how far they spread.
    Median(u64, u64),
    /// The longest times: they tell little of each other, and a fit to them no more.
    Longest,
}

/// So many standard errors are taken for chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Chance {
    errors: f64,
}

impl Chance {
    /// Where so many figures are compared.
    pub(super) fn among(comparisons: usize) -> Self {
        let comparisons = u64::try_from(comparisons.max(1)).expect("a length fits");
        Self { errors: normal_limit(FALSE_ALARM / (2.0 * float(comparisons))) }
    }

    /// Whether two figures differ by no more than sampling explains; what is of two kinds
    /// cannot be compared, and is not explained.
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

    /// Whether the intervals of both quantiles meet.
    fn explains_times(
        self,
        figure: Figure,
        (first, n): (&[u64; LEVELS], u64),
        (second, m): (&[u64; LEVELS], u64),
    ) -> bool {
        let parts = [n, m].map(|samples| 1.0 / float(samples.max(1)));
        // So many standard errors of its own ranks has each file of those of the difference.
        let errors = parts.map(|part| self.errors * (part / (parts[0] + parts[1])).sqrt());
        let intervals =
            (interval((first, n), figure, errors[0]), interval((second, m), figure, errors[1]));
        let (Some(a), Some(b)) = intervals else { return true };
        a[0] <= b[1] && b[0] <= a[1]
    }

    /// Whether both rates are nearer to each other than their errors together.
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

/// The times between which a quantile lies, within so many standard errors of its rank; none
/// where that is beyond all samples.
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

/// The level of each recorded quantile.
fn levels() -> impl Iterator<Item = f64> {
    let whole_ppm = 1_000_000;
    let levels_ppm = MeasuredTable::LEVELS_PPM.into_iter().chain([whole_ppm]);
    levels_ppm.map(move |ppm| f64::from(ppm) / f64::from(whole_ppm))
}

/// The recorded quantile of that level or the next one.
fn above(times: &[u64; LEVELS], level: f64) -> f64 {
    let mut known = levels().zip(times).filter(|&(known, _)| known >= level);
    float(known.next().map_or(times[LEVELS - 1], |(_, &time)| time))
}

/// The quantile of a level, on the line between those beside it where levels are `scaled`.
fn at(times: &[u64; LEVELS], level: f64, scaled: fn(f64) -> f64) -> f64 {
    let known: Vec<(f64, f64)> = levels().zip(times.iter().map(|&time| float(time))).collect();
    let mut around = known.windows(2).filter(|pair| level <= pair[1].0);
    around.next().map_or(float(times[LEVELS - 1]), |pair| {
        let ((low, from), (high, to)) = (pair[0], pair[1]);
        let along = (scaled(level) - scaled(low)) / (scaled(high) - scaled(low));
        from + (to - from) * along
    })
}

/// The standard deviation of rates of which the median and the slowest are known; none of a few.
fn deviation([median, slowest]: [u64; 2], samples: u64) -> Option<f64> {
    // Blom's rank of the extreme of n normal values.
    let beyond = 0.625 / (float(samples) + 0.25);
    (samples >= STRETCHES_MIN).then(|| float(median.saturating_sub(slowest)) / normal_limit(beyond))
}

/// What a normal value exceeds with a probability of at most `beyond`, below a half: the z with
/// `beyond = phi(z) / z`, and 2 % above the true one where `beyond` is 0.01.
fn normal_limit(beyond: f64) -> f64 {
    // z falls with each guess that is too high, and rises with each that is too low.
    let next = |z: f64| (-2.0 * (beyond * z * std::f64::consts::TAU.sqrt()).ln()).max(0.25).sqrt();
    (0..STEPS).fold(3.0, |z, _| z.midpoint(next(z)))
}

#[expect(clippy::cast_precision_loss, reason = "statistics do not turn on one part in 10^16")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests whether a sample predicts the next one: whether long times follow long times more often
//! than by chance.
//!
//! If they do, statements about "n independent samples" are too confident, because n dependent
//! samples carry less information. The test compares the ranks of each sample of an entry and of
//! the next one, so it assumes no distribution. Holm's procedure keeps the probability of any
//! finding in independent samples at or below [`crate::drift::FALSE_ALARM`]. The test does not
//! detect patterns that repeat after more than one sample, or that occur only among the longest
//! samples.

use std::fmt;

use tidegate_model::Duration;

use crate::cell::Cell;
use crate::drift::{SAMPLES_MIN, holm};
use crate::float;

/// An entry whose samples depend on the samples before them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// The cell whose samples are dependent.
    pub cell: Cell,
    /// The rank correlation of a sample and the next one: 1 if they rise and fall together, 0 if
    /// they are independent.
    pub correlation: f64,
    /// The number of samples.
    pub samples: u64,
    /// The probability of this correlation, or a stronger one, in independent samples.
    pub p: f64,
}

/// The result for all entries.
///
/// # Invariants
/// - `dependent` is sorted by `p`, then by the strongest correlation.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Independence {
    /// The number of cells with enough samples.
    pub compared: usize,
    /// The number of cells with too few samples.
    pub too_short: usize,
    /// The cells whose samples are not independent.
    pub dependent: Vec<Dependence>,
}

impl Dependence {
    /// Returns approximately how many independent samples carry as much information as these,
    /// rounded down.
    ///
    /// # Equation
    /// `n (1 - r) / (1 + r)`, at least one; n itself for r < 0.
    ///
    /// # Source
    /// G. Bayley and J. Hammersley, "The 'effective' number of independent observations in an
    /// autocorrelated time series", 1946, for samples that each depend only on the previous one
    /// (autoregressive of order 1). The equation is derived for a mean; for a maximum it is only an
    /// indication.
    pub fn effective(&self) -> u64 {
        let ratio = (1.0 - self.correlation) / (1.0 + self.correlation);
        let effective = float::of(self.samples) * ratio;
        if self.correlation <= 0.0 { self.samples } else { float::ceil(effective.floor()).max(1) }
    }
}

impl Independence {
    /// Returns the entry whose samples carry the least information for their number.
    pub fn worst(&self) -> Option<&Dependence> {
        self.dependent.iter().max_by(|a, b| a.correlation.total_cmp(&b.correlation))
    }

    /// Returns whether any entry's samples carry the information of less than half their number. A
    /// disk's inherent dependence is weaker: its arm stays at the last request, so single requests
    /// at random positions have a correlation of 0.03 to 0.12 on the simulated disks.
    pub fn is_grave(&self) -> bool {
        self.worst().is_some_and(|worst| worst.effective() < worst.samples / 2)
    }
}

/// Compares each sample with the next one.
///
/// # Equation
/// With the distances d of the ranks from their mean, where ties share their mean rank,
/// `r = sum d_i d_(i+1) / S2`, `S2 = sum d^2`, `S4 = sum d^4`. Over all orders of the same
/// samples r has mean `-1 / n` and variance `(1 - q) / n + (1 - 2 q) / (n (n - 1)) - 1 / n^2`,
/// `q = S4 / S2^2`; own derivation, tested against all orders of a few samples. Two-sided by the
/// normal distribution.
///
/// # Source
/// A. Wald and J. Wolfowitz, "An exact test for randomness in the non-parametric case based on
/// serial correlation", 1943, where the first sample follows the last; here it does not. S. Holm,
/// see [`crate::drift`].
///
/// # Assumptions
/// Samples come from one distribution: this test also flags a device that drifts.
///
/// # Shape
/// `times[c]` holds the samples of cell c in the order in which they were taken; the cells of an
/// entry measured in several `ways` are adjacent.
///
/// # Complexity
/// O(n log n) for n samples.
///
/// # Example
/// ```
/// use tidegate_model::Duration;
///
/// let slow_waves: Vec<_> = (0..300_u64).map(|at| Duration::from_us(at / 10 % 7)).collect();
/// let found = tidegate_stats::independence::compare(&[slow_waves], 1);
/// assert!(found.to_string().starts_with("samples are not independent"), "{found}");
/// ```
pub fn compare(times: &[Vec<Duration>], ways: usize) -> Independence {
    let long_enough = times.iter().enumerate().filter(|(_, times)| times.len() >= SAMPLES_MIN);
    let mut all: Vec<Dependence> =
        long_enough.map(|(index, times)| dependence(Cell::of(index, ways), times)).collect();
    let compared = all.len();
    all.sort_by(|a, b| b.correlation.abs().total_cmp(&a.correlation.abs()));
    let dependent = holm(all, |it| it.p);
    Independence { compared, too_short: times.len() - compared, dependent }
}

fn dependence(cell: Cell, times: &[Duration]) -> Dependence {
    let (correlation, p) = correlation(&distances(times));
    let samples = u64::try_from(times.len()).expect("a length fits");
    Dependence { cell, correlation, samples, p }
}

/// Returns the distance of each sample's rank from the mean rank, in half ranks.
fn distances(times: &[Duration]) -> Vec<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let distance = |time: &Duration| {
        let below = sorted.partition_point(|other| other < time);
        let above = sorted.len() - sorted.partition_point(|other| other <= time);
        float::of_length(below) - float::of_length(above)
    };
    times.iter().map(distance).collect()
}

/// Returns the correlation of each distance with the next, and the probability of a correlation at
/// least this strong.
fn correlation(distances: &[f64]) -> (f64, f64) {
    let count = float::of_length(distances.len());
    let sum = |power: i32| distances.iter().map(|distance| distance.powi(power)).sum::<f64>();
    let squares = sum(2);
    if squares <= 0.0 {
        // All samples are equal, so no sample predicts the next one.
        return (0.0, 1.0);
    }
    let products: f64 = distances.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let correlation = products / squares;
    let distance = (correlation + 1.0 / count).abs();
    let deviation = variance(count, sum(4) / (squares * squares)).sqrt();
    (correlation, libm::erfc(distance / (deviation * std::f64::consts::SQRT_2)))
}

/// Returns the variance of r over all orders. `fourth` is the sum of fourth powers divided by the
/// square of the sum of squares.
fn variance(count: f64, fourth: f64) -> f64 {
    (1.0 - fourth) / count + (1.0 - 2.0 * fourth) / (count * (count - 1.0)) - 1.0 / (count * count)
}

/// Writes one sentence. A result without findings is not reported as proof of independence.
impl fmt::Display for Independence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compared, too_short, dependent } = self;
        if *compared == 0 {
            return write!(f, "dependence was not tested: it takes {SAMPLES_MIN} samples");
        }
        match self.worst() {
            Some(worst) => {
                write!(f, "samples are not independent: {worst}")?;
                if dependent.len() > 1 {
                    write!(f, ", and {} more", dependent.len() - 1)?;
                }
                f.write_str("; confidences that assume independent samples are too high")?;
            }
            None => write!(
                f,
                "samples predict the next no better than chance explains ({compared} compared); this does not prove them independent"
            )?,
        }
        if *too_short > 0 {
            write!(f, "; {too_short} had too few samples")?;
        }
        Ok(())
    }
}

impl fmt::Display for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cell, correlation, samples, p } = self;
        let (what, worth) = if *correlation > 0.0 {
            let worth = format!(
                ", its {samples} samples carry the information of about {}",
                self.effective()
            );
            ("resemble", worth)
        } else {
            ("are unlike", String::new())
        };
        write!(
            f,
            "samples of {cell} {what} the ones before (rank correlation {correlation:.2}, p = {p:.1e}){worth}"
        )
    }
}

#[cfg(test)]
mod tests;

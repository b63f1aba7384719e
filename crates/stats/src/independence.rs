// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether a sample tells something of the next: does a long time follow a long one more often
//! than chance would have it?
//!
//! All that tables say of "n independent samples" is too bold where it does: n of them are
//! worth fewer. Looked at are the ranks of each sample of an entry and of the one after it, so
//! no distribution is assumed; Holm's procedure keeps the probability that anything is said of
//! independent samples below
//! [`crate::drift::FALSE_ALARM`]. What repeats after more than one sample, or in the
//! longest only, is not seen.

use std::fmt;

use tidegate_model::Duration;

use crate::cell::Cell;
use crate::drift::{SAMPLES_MIN, holm};
use crate::float;

/// An entry whose samples depend on those before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// Which.
    pub cell: Cell,
    /// The correlation of the ranks of a sample and of the next: 1 where they rise and fall
    /// together, 0 where they are independent.
    pub correlation: f64,
    /// How many samples there are.
    pub samples: u64,
    /// The probability of such a correlation, or a stronger one, in independent samples.
    pub p: f64,
}

/// What was found of all entries.
///
/// # Invariants
/// - `dependent` is in the order of `p`, and of the strongest correlation for equal `p`.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Independence {
    /// How many cells have samples enough.
    pub compared: usize,
    /// How many have not.
    pub too_short: usize,
    /// Those whose samples are not independent.
    pub dependent: Vec<Dependence>,
}

impl Dependence {
    /// How many independent samples these are worth, roughly, rounded down.
    ///
    /// # Equation
    /// `n (1 - r) / (1 + r)`, n itself for r < 0, and one at least.
    ///
    /// # Source
    /// G. Bayley and J. Hammersley, "The 'effective' number of independent observations in an
    /// autocorrelated time series", 1946, for samples each of which depends on the one before
    /// alone (autoregressive of order 1). It holds for a mean; for a maximum it is a hint.
    pub fn effective(&self) -> u64 {
        let ratio = (1.0 - self.correlation) / (1.0 + self.correlation);
        let effective = float::of(self.samples) * ratio;
        if self.correlation <= 0.0 { self.samples } else { float::ceil(effective.floor()).max(1) }
    }
}

impl Independence {
    /// The entry whose samples are worth the least part of their number.
    pub fn worst(&self) -> Option<&Dependence> {
        self.dependent.iter().max_by(|a, b| a.correlation.total_cmp(&b.correlation))
    }

    /// Whether samples of some entry are worth less than half of their number: more than what
    /// has to be on a disk. Its arm stays where the last request was, so single requests at
    /// random places have a correlation of 0.03 to 0.12 on the simulated ones.
    pub fn is_grave(&self) -> bool {
        self.worst().is_some_and(|worst| worst.effective() < worst.samples / 2)
    }
}

/// Compares each sample with the next.
///
/// # Equation
/// With the ranks' distances d from their mean, ties sharing the mean of theirs, `r = sum d_i
/// d_(i+1) / S2`, `S2 = sum d^2`, `S4 = sum d^4`. Of all orders of the same samples it has mean
/// `-1 / n` and variance `(1 - q) / n + (1 - 2 q) / (n (n - 1)) - 1 / n^2`, `q = S4 / S2^2`;
/// own derivation, tested against all orders of a few samples. Two-sided by the normal
/// distribution.
///
/// # Source
/// A. Wald and J. Wolfowitz, "An exact test for randomness in the non-parametric case based on
/// serial correlation", 1943, where the last sample is followed by the first: here it is not.
/// S. Holm, see [`crate::drift`].
///
/// # Assumptions
/// Samples are of one distribution: a device that drifts is found here as well.
///
/// # Shape
/// `times[c]` are the samples of cell c in the order in which they were taken; those of an entry
/// that is measured in several `ways` lie side by side.
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

/// How far the rank of each sample is from the mean of all ranks, in halves.
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

/// The correlation of each with the next, and how probable so strong a one is.
fn correlation(distances: &[f64]) -> (f64, f64) {
    let count = float::of_length(distances.len());
    let sum = |power: i32| distances.iter().map(|distance| distance.powi(power)).sum::<f64>();
    let squares = sum(2);
    if squares <= 0.0 {
        // All alike: there is nothing that one could tell of the next.
        return (0.0, 1.0);
    }
    let products: f64 = distances.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let correlation = products / squares;
    let distance = (correlation + 1.0 / count).abs();
    let deviation = variance(count, sum(4) / (squares * squares)).sqrt();
    (correlation, libm::erfc(distance / (deviation * std::f64::consts::SQRT_2)))
}

/// The variance over all orders; `fourth` is the fourth power sum by the square of the second.
fn variance(count: f64, fourth: f64) -> f64 {
    (1.0 - fourth) / count + (1.0 - 2.0 * fourth) / (count * (count - 1.0)) - 1.0 / (count * count)
}

/// One sentence. That nothing was found is not said to mean that there is nothing.
impl fmt::Display for Independence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compared, too_short, dependent } = self;
        if *compared == 0 {
            return write!(f, "dependence was not looked for: it takes {SAMPLES_MIN} samples");
        }
        match self.worst() {
            Some(worst) => {
                write!(f, "samples are not independent: {worst}")?;
                if dependent.len() > 1 {
                    write!(f, ", and {} more", dependent.len() - 1)?;
                }
                f.write_str("; what is said of independent samples is too bold")?;
            }
            None => write!(
                f,
                "no sample tells more of the next than chance explains ({compared} compared), which does not prove them independent"
            )?,
        }
        if *too_short > 0 {
            write!(f, "; {too_short} had too few samples to tell")?;
        }
        Ok(())
    }
}

impl fmt::Display for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cell, correlation, samples, p } = self;
        let (what, worth) = if *correlation > 0.0 {
            let worth = format!(", its {samples} are worth about {}", self.effective());
            ("resemble", worth)
        } else {
            ("are unlike", String::new())
        };
        write!(
            f,
            "those of {cell} {what} the ones before (rank correlation {correlation:.2}, p = {p:.1e}){worth}"
        )
    }
}

#[cfg(test)]
mod tests;

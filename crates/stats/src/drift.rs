// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests whether a device became slower or faster during its measurement, by comparing the first
//! third of an entry's samples with the last third.
//!
//! Each entry gets two comparisons, neither of which assumes a distribution: one compares the ranks
//! of all samples, the other counts how many of the longest samples each part has. A device that
//! warms up shows in the first comparison. A cache that fills, or garbage collection that begins,
//! often shows only in the second. With two comparisons for each of many entries, some differ by
//! chance; Holm's procedure keeps the probability of any finding on a steady device at or below
//! [`FALSE_ALARM`].

use std::fmt;

use tidegate_model::Duration;

use crate::cell::Cell;
use crate::float;
use crate::order_statistics::quantile;

/// The maximum probability of a finding on a steady device.
pub const FALSE_ALARM: f64 = 0.01;

/// The smallest number of samples with which an entry is compared. With 20 samples in each part,
/// the normal approximation is good.
pub const SAMPLES_MIN: usize = 60;

/// The number of parts; the first and the last are compared. Three parts are the most sensitive
/// choice for a steady change.
const PARTS: usize = 3;

/// The quantile of both parts together above which the second comparison counts samples, in parts
/// per million.
const LONGEST_PPM: u32 = 950_000;

const MEDIAN_PPM: u32 = 500_000;

/// The kind of change in an entry's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A change of all samples, shown by the median.
    Samples,
    /// A change of the longest twentieth of the samples, shown by the 95 % quantile.
    Longest,
}

/// A difference between the first and the last third that chance does not explain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The cell that changed.
    pub cell: Cell,
    /// The kind of change.
    pub change: Change,
    /// The median or the 95 % quantile of the first third.
    pub first: Duration,
    /// The same quantile of the last third.
    pub last: Duration,
    /// The difference `last - first` in per cent of `first`, never below -100.
    pub percent: f64,
    /// The probability of this difference, or a larger one, on a steady device.
    pub p: f64,
}

/// The result of comparing all entries.
///
/// # Invariants
/// - `shifts` is sorted by `p`.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Drift {
    /// The number of cells with enough samples.
    pub compared: usize,
    /// The number of cells with too few samples.
    pub too_short: usize,
    /// The differences found.
    pub shifts: Vec<Shift>,
}

/// Compares the first third of each entry's samples with the last.
///
/// # Source
/// H. Mann and D. Whitney, "On a test of whether one of two random variables is stochastically
/// larger than the other", 1947; S. Holm, "A simple sequentially rejective multiple test
/// procedure", 1979, which is valid for any dependence between the entries.
///
/// # Assumptions
/// Samples of an entry are independent; [`crate::independence`] tests this. Dependent samples
/// raise more false alarms; drift is itself one kind of dependence.
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
/// let slower: Vec<_> = (1000..1300).map(Duration::from_us).collect();
/// let drift = tidegate_stats::drift::compare(&[slower], 1);
/// assert_eq!(drift.shifts.len(), 2);
/// assert!(drift.to_string().contains("entry 1 +19"), "{drift}");
/// ```
pub fn compare(times: &[Vec<Duration>], ways: usize) -> Drift {
    let long_enough = times.iter().enumerate().filter(|(_, times)| times.len() >= SAMPLES_MIN);
    let shifts_of = |(index, times): (usize, &Vec<_>)| shifts_of(Cell::of(index, ways), times);
    let all: Vec<Shift> = long_enough.flat_map(shifts_of).collect();
    let compared = all.len() / 2;
    let too_short = times.len() - compared;
    Drift { compared, too_short, shifts: holm(all, |shift| shift.p) }
}

/// Applies Holm's procedure: of m differences sorted by p, the i-th (from 0) is kept if its p is at
/// most `level / (m - i)` and all differences before it are kept.
pub(crate) fn holm<T>(mut found: Vec<T>, p: impl Fn(&T) -> f64) -> Vec<T> {
    found.sort_by(|a, b| p(a).total_cmp(&p(b)));
    let count = found.len();
    let stands =
        |&(index, it): &(usize, &T)| p(it) <= FALSE_ALARM / float::of_length(count - index);
    let standing = found.iter().enumerate().take_while(stands).count();
    found.truncate(standing);
    found
}

/// Makes both comparisons for an entry.
fn shifts_of(cell: Cell, times: &[Duration]) -> [Shift; 2] {
    let third = times.len() / PARTS;
    let sorted = |part: &[Duration]| {
        let mut part = part.to_vec();
        part.sort_unstable();
        part
    };
    let (first, last) = (sorted(&times[..third]), sorted(&times[times.len() - third..]));
    let shift = |change, level_ppm, p| {
        let (first, last) = (quantile(&first, level_ppm), quantile(&last, level_ppm));
        let before = float::of(first.ns()).max(1.0);
        let percent = 100.0 * (float::of(last.ns()) - before) / before;
        Shift { cell, change, first, last, percent, p }
    };
    [
        shift(Change::Samples, MEDIAN_PPM, rank_p(&first, &last)),
        shift(Change::Longest, LONGEST_PPM, longest_p(&first, &last)),
    ]
}

/// Returns the probability that the ranks of a steady device's samples differ at least this much
/// (Mann and Whitney's test).
///
/// # Equation
/// `U = #{(a, b): a < b} + #{a = b} / 2` has mean `n m / 2` and variance
/// `n m / 12 ((n + m + 1) - sum (t^3 - t) / ((n + m) (n + m - 1)))` for ties of t samples;
/// `z = (|U - mean| - 1/2) / deviation`, two-sided.
///
/// # Shape
/// Both slices are ascending and not empty.
fn rank_p(first: &[Duration], last: &[Duration]) -> f64 {
    let (mut below, mut equal, mut ties) = (0.0, 0.0, 0.0);
    let mut merged: Vec<Duration> = [first, last].concat();
    merged.sort_unstable();
    for tie in merged.chunk_by(|a, b| a == b) {
        let size = float::of_length(tie.len());
        ties += size * (size * size - 1.0);
        let first_below = first.partition_point(|time| time < &tie[0]);
        let in_first = first.partition_point(|time| time <= &tie[0]) - first_below;
        let in_last = float::of_length(tie.len() - in_first);
        below += float::of_length(first_below) * in_last;
        equal += float::of_length(in_first) * in_last;
    }
    let (n, m) = (float::of_length(first.len()), float::of_length(last.len()));
    let all = n + m;
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    let distance = (below + equal / 2.0 - n * m / 2.0).abs() - 0.5;
    if variance <= 0.0 || distance <= 0.0 {
        return 1.0;
    }
    libm::erfc(distance / (2.0 * variance).sqrt())
}

/// Returns the probability that the longest samples are divided at least this unequally between the
/// two parts.
///
/// # Equation
/// k of N samples are above the quantile of both parts. On a steady device, every choice of which
/// samples are in the last part is equally likely. So the number x of the k that are there is
/// hypergeometric: `P(x) = C(k, x) C(N - k, m - x) / C(N, m)`. The result is twice the smaller of
/// `P(<= x)` and `P(>= x)`. It is exact, ties included.
///
/// # Shape
/// Both slices are ascending and not empty.
fn longest_p(first: &[Duration], last: &[Duration]) -> f64 {
    let mut merged: Vec<Duration> = [first, last].concat();
    merged.sort_unstable();
    let threshold = quantile(&merged, LONGEST_PPM);
    let above =
        |sorted: &[Duration]| sorted.len() - sorted.partition_point(|&time| time <= threshold);
    let (longest, in_last) = (above(&merged), above(last));
    let probability = |x: usize| {
        let ways = ln_choose(longest, x) + ln_choose(merged.len() - longest, last.len() - x);
        (ways - ln_choose(merged.len(), last.len())).exp()
    };
    let (low, high) = (longest.saturating_sub(first.len()), longest.min(last.len()));
    let at_most: f64 = (low..=in_last).map(probability).sum();
    let at_least: f64 = (in_last..=high).map(probability).sum();
    (2.0 * at_most.min(at_least)).min(1.0)
}

/// Returns `ln C(n, k)`.
fn ln_choose(n: usize, k: usize) -> f64 {
    let ln_factorial = |n: usize| libm::lgamma(float::of_length(n) + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// Writes one sentence. A result without findings is not reported as proof of a steady device.
impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compared, too_short, shifts } = self;
        if *compared == 0 {
            return write!(f, "drift was not tested: it takes {SAMPLES_MIN} samples");
        }
        if let [strongest, rest @ ..] = &shifts[..] {
            write!(f, "the device was not steady: {strongest}")?;
            if !rest.is_empty() {
                write!(f, ", and {} more", rest.len())?;
            }
            f.write_str("; conclusions that assume one distribution do not hold")?;
        } else {
            write!(
                f,
                "the first and last third of the samples differ by no more than chance explains ({compared} compared); this does not prove the device steady"
            )?;
        }
        if *too_short > 0 {
            write!(f, "; {too_short} had too few samples")?;
        }
        Ok(())
    }
}

impl Shift {
    /// Returns the factor by which the time grew or shrank; doubling and halving both give 2.
    pub fn factor(&self) -> f64 {
        let [first, last] = [self.first, self.last].map(|time| float::of(time.ns()).max(1.0));
        (last / first).max(first / last)
    }

    /// Returns a short form: `median 139us to 132us, -5.3 %`.
    pub fn in_short(&self) -> String {
        let Self { first, last, percent, .. } = self;
        format!("{} {first} to {last}, {percent:+.1} %", self.change.name())
    }
}

impl Change {
    const fn name(self) -> &'static str {
        match self {
            Self::Samples => "median",
            Self::Longest => "95 % quantile",
        }
    }
}

impl fmt::Display for Shift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.change.name();
        write!(
            f,
            "{} {:+.1} % in its {what} from the first third of the samples to the last ({} to {}, p = {:.1e})",
            self.cell, self.percent, self.first, self.last, self.p
        )
    }
}

#[cfg(test)]
mod tests;

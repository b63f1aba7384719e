// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether a device became slower or faster while it was measured: does the first third of the
//! samples of an entry differ from the last?
//!
//! Two comparisons of each entry, neither of which assumes a distribution: of all samples by
//! their ranks, and of how many of the longest are in either part. A device that gets warm shows
//! in the first, one whose cache fills or that begins to collect garbage often only in the
//! second. With two comparisons for each of many entries some differ by chance: Holm's
//! procedure keeps the probability that anything at all is said of a steady device below
//! [`FALSE_ALARM`].

use std::fmt;

use tidegate_model::Duration;

use crate::cell::Cell;
use crate::float;
use crate::order_statistics::quantile;

/// The probability that something is said of a device that is steady, at most.
pub const FALSE_ALARM: f64 = 0.01;

/// Entries with fewer samples are not compared: of 20 in each part the approximation by the
/// normal distribution is good.
pub const SAMPLES_MIN: usize = 60;

/// The first and the last third: most telling for what changes steadily.
const PARTS: usize = 3;

/// The longest samples of the second comparison: those above this quantile of both parts.
const LONGEST_PPM: u32 = 950_000;

const MEDIAN_PPM: u32 = 500_000;

/// What of an entry changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Its samples on the whole.
    Samples,
    /// The longest twentieth of them.
    Longest,
}

/// A difference that chance does not explain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Of which samples.
    pub cell: Cell,
    /// What of it changed.
    pub change: Change,
    /// Median or 95 % quantile of the first third.
    pub first: Duration,
    /// The same of the last third.
    pub last: Duration,
    /// last - first in per cent of first: of the same quantile, so that the figures beside it
    /// give it, and never below -100.
    pub percent: f64,
    /// The probability of such a difference, or a larger one, in a steady device.
    pub p: f64,
}

/// What the comparison of all entries found.
///
/// # Invariants
/// - `shifts` is in the order of `p`.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Drift {
    /// How many cells have samples enough.
    pub compared: usize,
    /// How many have not.
    pub too_short: usize,
    /// The differences.
    pub shifts: Vec<Shift>,
}

/// Compares the first third of the samples of each entry with the last.
///
/// # Source
/// H. Mann and D. Whitney, "On a test of whether one of two random variables is stochastically
/// larger than the other", 1947; S. Holm, "A simple sequentially rejective multiple test
/// procedure", 1979, which holds however the entries depend on each other.
///
/// # Assumptions
/// Samples of an entry are independent, which [`crate::independence`] looks into: without that
/// there are more false alarms; a drift is then one kind of dependence among others.
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

/// Holm's procedure: of m differences in the order of p, the i-th (from 0) stands when its p and
/// all before are within `level / (m - i)`.
pub(crate) fn holm<T>(mut found: Vec<T>, p: impl Fn(&T) -> f64) -> Vec<T> {
    found.sort_by(|a, b| p(a).total_cmp(&p(b)));
    let count = found.len();
    let stands =
        |&(index, it): &(usize, &T)| p(it) <= FALSE_ALARM / float::of_length(count - index);
    let standing = found.iter().enumerate().take_while(stands).count();
    found.truncate(standing);
    found
}

/// Both comparisons of an entry.
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

/// The probability of ranks that differ so much, by Mann and Whitney.
///
/// # Equation
/// `U = #{(a, b): a < b} + #{a = b} / 2` has mean `n m / 2` and variance
/// `n m / 12 ((n + m + 1) - sum (t^3 - t) / ((n + m) (n + m - 1)))` for ties of t samples;
/// `z = (|U - mean| - 1/2) / deviation`, two-sided.
///
/// # Shape
/// Both ascending, neither empty.
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

/// The probability that the longest samples are shared so unequally by both parts.
///
/// # Equation
/// Of N samples k lie above the quantile of all. In a steady device every choice of which are
/// in the last part is as likely as any other, so the number x of the k that are there is
/// hypergeometric: `P(x) = C(k, x) C(N - k, m - x) / C(N, m)`; twice the lesser of `P(<= x)`
/// and `P(>= x)`. Exact, ties included.
///
/// # Shape
/// Both ascending, neither empty.
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

/// `ln C(n, k)`.
fn ln_choose(n: usize, k: usize) -> f64 {
    let ln_factorial = |n: usize| libm::lgamma(float::of_length(n) + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// One sentence. That nothing was found is not said to mean that there is nothing.
impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compared, too_short, shifts } = self;
        if *compared == 0 {
            return write!(f, "drift was not looked for: it takes {SAMPLES_MIN} samples");
        }
        if let [strongest, rest @ ..] = &shifts[..] {
            write!(f, "the device was not steady: {strongest}")?;
            if !rest.is_empty() {
                write!(f, ", and {} more", rest.len())?;
            }
            f.write_str("; what assumes samples of one distribution does not hold")?;
        } else {
            write!(
                f,
                "first and last third of the samples do not differ by more than chance explains ({compared} compared), which does not prove the device steady"
            )?;
        }
        if *too_short > 0 {
            write!(f, "; {too_short} had too few samples to tell")?;
        }
        Ok(())
    }
}

impl Shift {
    /// How many times longer or shorter it became, alike for both: what doubled changed as much
    /// as what halved.
    pub fn factor(&self) -> f64 {
        let [first, last] = [self.first, self.last].map(|time| float::of(time.ns()).max(1.0));
        (last / first).max(first / last)
    }

    /// `median 139us to 132us, -5.3 %`.
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

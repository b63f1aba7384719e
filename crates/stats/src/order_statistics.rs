// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Exact order statistics: every sample is kept, and nothing is interpolated.

use tidegate_model::Duration;
use tidegate_model::drive_file::MeasuredTable;

/// The whole, in parts per million.
const WHOLE_PPM: u64 = 1_000_000;

/// The maximum and the quantiles of a list of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// The longest sample.
    pub highest: Duration,
    /// The quantiles, in the order of [`MeasuredTable::LEVELS_PPM`].
    pub quantiles: [Duration; MeasuredTable::LEVELS_PPM.len()],
    /// The number of samples.
    pub count: u32,
}

impl Summary {
    /// Sorts and summarises samples; `None` if there are none.
    pub fn of(samples: &mut [Duration]) -> Option<Self> {
        samples.sort_unstable();
        let highest = *samples.last()?;
        let quantiles = MeasuredTable::LEVELS_PPM.map(|level_ppm| quantile(samples, level_ppm));
        Some(Self { highest, quantiles, count: u32::try_from(samples.len()).ok()? })
    }
}

/// Returns the smallest sample that at least `level_ppm` parts per million of the samples do not
/// exceed. Its rank is `level * n` rounded up, so that a quantile is never understated.
///
/// # Shape
/// `sorted` is not empty and in ascending order.
///
/// # Panics
/// If there are no samples or the level exceeds a million.
pub fn quantile(sorted: &[Duration], level_ppm: u32) -> Duration {
    assert!(u64::from(level_ppm) <= WHOLE_PPM, "a level must be at most a million ppm");
    let count = u128::try_from(sorted.len()).expect("a length fits");
    let rank = (count * u128::from(level_ppm)).div_ceil(u128::from(WHOLE_PPM)).max(1);
    sorted[usize::try_from(rank - 1).expect("a rank is at most the length")]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(ns: impl IntoIterator<Item = u64>) -> Vec<Duration> {
        ns.into_iter().map(Duration::from_ns).collect()
    }

    #[test]
    fn ranks_are_rounded_up() {
        let sorted = samples(1..=1000);
        let at = |level_ppm| quantile(&sorted, level_ppm).ns();
        assert_eq!([at(0), at(100_000), at(500_000), at(999_000)], [1, 100, 500, 999]);
        assert_eq!([at(999_001), at(1_000_000)], [1000, 1000]);
        assert_eq!(quantile(&samples(1..=10), 990_000).ns(), 10);
    }

    #[test]
    fn summary_needs_no_order() {
        let summary = Summary::of(&mut samples([5, 1, 4, 2, 3])).expect("some samples");
        assert_eq!(summary.highest.ns(), 5);
        assert_eq!(summary.quantiles.map(Duration::ns), [1, 1, 3, 5, 5, 5]);
        assert_eq!(summary.count, 5);
        assert_eq!(Summary::of(&mut []), None);
    }

    proptest::proptest! {
        /// Checks the definition: enough samples are at or below the quantile, and too few are
        /// below it.
        #[test]
        fn a_quantile_is_the_smallest_that_suffices(
            ns in proptest::collection::vec(0_u64..50, 1..200),
            level_ppm in 0_u32..=1_000_000,
        ) {
            let mut sorted = samples(ns);
            sorted.sort_unstable();
            let found = quantile(&sorted, level_ppm);
            let share = |count: usize| count as u128 * 1_000_000;
            let wanted = u128::from(level_ppm) * sorted.len() as u128;
            let below = sorted.iter().filter(|&&sample| sample < found).count();
            let at_most = sorted.iter().filter(|&&sample| sample <= found).count();
            assert!(share(at_most) >= wanted);
            assert!(below == 0 || share(below) < wanted);
        }
    }
}

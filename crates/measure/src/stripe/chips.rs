// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Infers the number of chips that share reads: two reads at random places use the same one of C
//! chips with probability `1 / C`, for any layout, and then take longer.

use serde::{Deserialize, Serialize};

use tidegate_stats::confidence;

/// Slow pairs show nothing about chips unless the share of slow pairs is at least this multiple of
/// the share of slow single reads.
const NOISE_PART: u64 = 4;

/// The probability, in parts per billion, that the number of chips is beyond each of the two
/// limits.
const DOUBT_PPB: u32 = 5_000_000;

/// The number of chips that share reads at random places, inferred from how often two reads use the
/// same chip.
///
/// # Equation
/// Two reads use the same one of C chips with probability `1 / C`. The limits are the
/// Clopper-Pearson limits of that probability, see [`confidence::exceedance_ppb`], with a joint
/// confidence of 99 %.
///
/// # Assumptions
/// Data are spread evenly over all chips; otherwise there are more chips than stated here. A chip
/// serves one read at a time, and its service takes at least 30 % of the time of a single read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chips {
    /// The number of pairs that were measured.
    pub pairs: u64,
    /// The number of pairs that took much longer than one read.
    pub conflicts: u64,
    /// The lower limit of the number of chips.
    pub count_min: u64,
    /// The most likely number of chips; `None` if no pair was in conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The upper limit of the number of chips; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_max: Option<u64>,
}

impl Chips {
    /// Returns the number of chips that explains `conflicts` conflicts among `pairs` pairs; `None`
    /// if single reads are slow about equally often.
    pub(super) fn of(conflicts: usize, pairs: usize, alone_slow_ppm: u64) -> Option<Self> {
        const ALL_PPB: u64 = 1_000_000_000;
        let [conflicts, pairs] = [conflicts, pairs].map(|it| u64::try_from(it).expect("a count"));
        if pairs == 0 || pairs * alone_slow_ppm * NOISE_PART > conflicts * 1_000_000 {
            return None;
        }
        let limit = |slow: u64| u64::from(confidence::exceedance_of_rank(pairs, slow, DOUBT_PPB));
        let (low, high) = (ALL_PPB - limit(pairs - conflicts).min(ALL_PPB), limit(conflicts));
        Some(Self {
            pairs,
            conflicts,
            count_min: ALL_PPB.div_ceil(high.max(1)),
            count: (pairs + conflicts / 2).checked_div(conflicts),
            count_max: ALL_PPB.checked_div(low),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One pair in sixteen is in conflict. Summing the distribution gives the limits for 125 of
    /// 2,000 at 0.5 % on either side: 0.04936 and 0.07776, one in 20.26 and one in 12.86.
    #[test]
    fn the_number_of_chips_has_the_limits_of_clopper_and_pearson() {
        let chips = Chips::of(125, 2_000, 0).expect("pairs");
        assert_eq!(chips.count, Some(16));
        assert_eq!((chips.count_min, chips.count_max), (13, Some(20)));
    }

    #[test]
    fn without_a_conflict_there_is_a_least_number_only() {
        // 0.005^(1/2000) = 0.99735: at most one pair in 378 conflicts, so there are at least 378
        // chips.
        let chips = Chips::of(0, 2_000, 0).expect("pairs");
        assert_eq!((chips.count_min, chips.count, chips.count_max), (378, None, None));
    }

    #[test]
    fn what_is_slow_by_itself_tells_of_no_chips() {
        assert_eq!(Chips::of(100, 2_000, 20_000), None, "two fifths are slow anyway");
        assert!(Chips::of(100, 2_000, 10_000).is_some());
        assert_eq!(Chips::of(0, 0, 0), None);
    }
}

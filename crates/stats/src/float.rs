// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts and times as floats, for statistics, and back: the one place where either border is
//! crossed. Back to a time it is always up, as everything that is measured.

use tidegate_model::Duration;

/// 2^53: up to here floats hold every integer.
const EXACT_MAX: u64 = 1 << 53;

/// A count or a time in ns as a float: exact up to 2^53, 104 days, and to 1 in 10^16 beyond.
#[expect(clippy::cast_precision_loss, reason = "statistics do not turn on one part in 10^16")]
pub fn of(count: u64) -> f64 {
    count as f64
}

/// The length of something as a float.
///
/// # Panics
/// Never: a length fits into 64 bits.
pub fn of_length(length: usize) -> f64 {
    of(u64::try_from(length).expect("a length fits"))
}

/// A number of ns as a time, rounded up and not below 0; `None` where floats of that size do
/// not hold integers, or it is not a number.
pub fn duration_ceil(ns: f64) -> Option<Duration> {
    (ns <= of(EXACT_MAX)).then(|| Duration::from_ns(ceil(ns)))
}

/// The next integer above; 0 for what is below. Saturates at 2^64.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is rounded up first; the cast itself saturates at both ends"
)]
pub fn ceil(value: f64) -> u64 {
    value.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_up_and_never_made_up() {
        assert_eq!(duration_ceil(1.25), Some(Duration::from_ns(2)));
        assert_eq!(duration_ceil(7.0), Some(Duration::from_ns(7)));
        assert_eq!(duration_ceil(-3.5), Some(Duration::from_ns(0)));
        assert_eq!(duration_ceil(of(EXACT_MAX)), Some(Duration::from_ns(EXACT_MAX)));
        assert_eq!([1e17, f64::INFINITY, f64::NAN].map(duration_ceil), [None; 3]);
    }
}

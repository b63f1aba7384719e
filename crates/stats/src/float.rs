// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Converts counts and times to floats for statistics, and back. No other module does such
//! conversions. Converting back to a time rounds up, as all measured times do.

use tidegate_model::Duration;

/// 2^53: floats represent every integer up to here.
const EXACT_MAX: u64 = 1 << 53;

/// Converts a count or a time in ns to a float. The result is exact up to 2^53 (104 days), and
/// within 1 part in 10^16 beyond.
#[expect(clippy::cast_precision_loss, reason = "statistics do not turn on one part in 10^16")]
pub fn of(count: u64) -> f64 {
    count as f64
}

/// Converts a length to a float.
///
/// # Panics
/// Never: every length fits into 64 bits.
pub fn of_length(length: usize) -> f64 {
    of(u64::try_from(length).expect("a length fits"))
}

/// Converts a number of ns to a time, rounded up and at least 0; `None` for NaN, and for numbers
/// too large for floats to represent every integer.
pub fn duration_ceil(ns: f64) -> Option<Duration> {
    (ns <= of(EXACT_MAX)).then(|| Duration::from_ns(ceil(ns)))
}

/// Rounds up to an integer; 0 for negative values. Saturates at 2^64.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded up first; the cast saturates at both ends"
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Converts between integers, which results use, and floats, which fitting uses.
//!
//! Fitting uses times in nanoseconds, angles in nanoseconds of a turn, and places in sectors. All
//! of them are far below 2^53, where floats can no longer represent every integer.

pub(super) use tidegate_stats::float::of as float;

/// Returns the nearest whole number; 0 for negative numbers and NaN.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is cut off at the ends of the integer, as intended"
)]
pub(super) fn whole(number: f64) -> u64 {
    number.round() as u64
}

/// Returns the number rounded down to a whole one; 0 for negative numbers.
pub(super) fn floor(number: f64) -> u64 {
    whole(number.floor())
}

/// Returns the nearest whole number of 32 bits; the largest one if the number is greater.
pub(super) fn whole_32(number: f64) -> u32 {
    u32::try_from(whole(number)).unwrap_or(u32::MAX)
}

/// Returns the length of the list as a float.
pub(super) fn count<T>(list: &[T]) -> f64 {
    tidegate_stats::float::of_length(list.len())
}

/// Returns the median of the numbers; if their count is even, the mean of the middle two. `None`
/// without numbers.
pub(super) fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let upper = *numbers.get(middle)?;
    Some(if numbers.len().is_multiple_of(2) {
        f64::midpoint(numbers[middle - 1], upper)
    } else {
        upper
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_cut_off_at_their_ends() {
        assert_eq!((whole(-3.0), whole(2.5), whole(f64::NAN)), (0, 3, 0));
        assert_eq!((floor(2.9), floor(-0.1), whole_32(1e12)), (2, 0, u32::MAX));
    }

    #[test]
    fn median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }
}

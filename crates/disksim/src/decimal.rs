// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads the decimal numbers of parameter files as exact integers.
//!
//! Milliseconds with any number of digits become nanoseconds, and turns become millionths of a
//! turn: the caller chooses the power of ten, and only digits beyond it are rounded.

/// The largest number of digits: no measurement has more.
const DIGITS_MAX: usize = 30;

/// The largest exponent: no measurement has a larger one.
const EXPONENT_MAX: i32 = 30;

/// Returns `text` times 10^`power`, rounded to the nearest, with halves rounded away from zero;
/// `None` if the text is not a number, or the number is too large.
///
/// A number is decimal, with an optional sign, fraction and exponent, or hexadecimal.
pub(crate) fn scaled(text: &str, power: i32) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => shifted(hexadecimal_value(hexadecimal)?, power)?,
        None => decimal_value(digits, power)?,
    };
    Some(if is_negative { -magnitude } else { magnitude })
}

fn hexadecimal_value(digits: &str) -> Option<i128> {
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_number { i128::from(u64::from_str_radix(digits, 16).ok()?).into() } else { None }
}

fn decimal_value(text: &str, power: i32) -> Option<i128> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent_value(exponent)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = whole.len() + fraction.len();
    if digits == 0 || digits > DIGITS_MAX {
        return None;
    }
    let mut value = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        value = value * 10 + i128::from(char::from(digit).to_digit(10)?);
    }
    let places = i32::try_from(fraction.len()).expect("few digits");
    shifted(value, power + exponent - places)
}

fn exponent_value(text: &str) -> Option<i32> {
    let value: i32 = text.parse().ok()?;
    (value.abs() <= EXPONENT_MAX).then_some(value)
}

/// Returns `value` times 10^`power`, rounded to the nearest.
fn shifted(value: i128, power: i32) -> Option<i128> {
    let Some(factor) = 10_i128.checked_pow(power.unsigned_abs()) else {
        return (power < 0 || value == 0).then_some(0);
    };
    if power >= 0 {
        return value.checked_mul(factor);
    }
    Some((value + factor / 2) / factor)
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn milliseconds_become_nanoseconds_without_a_rounding_error() {
        assert_eq!(scaled("0.831", 6), Some(831_000));
        assert_eq!(scaled("1.264421800", 6), Some(1_264_422));
        assert_eq!(scaled("-0.642000", 6), Some(-642_000));
        assert_eq!(scaled("15", 6), Some(15_000_000));
        assert_eq!(scaled("+.5", 1), Some(5));
        assert_eq!(scaled("3.", 0), Some(3));
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        assert_eq!(scaled("0.5", 0), Some(1));
        assert_eq!(scaled("-0.5", 0), Some(-1));
        assert_eq!(scaled("0.49", 0), Some(0));
    }

    #[test]
    fn exponents_and_hexadecimal_numbers_are_read() {
        assert_eq!(scaled("1.5e+2", 0), Some(150));
        assert_eq!(scaled("15E-1", 1), Some(15));
        assert_eq!(scaled("0x10", 1), Some(160));
        assert_eq!(scaled("-0xFF", 0), Some(-255));
    }

    #[test]
    fn non_numbers_and_large_numbers_are_none() {
        let long = "1".repeat(31);
        for text in ["", "-", ".", "1.2.3", "1e", "1e99", "e5", "0x", "0x+1", "--1", "1 ", &long] {
            assert_eq!(scaled(text, 6), None, "{text}");
        }
        assert_eq!(scaled("1e30", 9), None, "beyond 128 bits");
        assert_eq!(scaled("1e-30", -9), Some(0), "far below the last place");
    }
}

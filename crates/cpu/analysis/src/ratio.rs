// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Nonnegative fractions: loads and utilisations without rounding.

/// A fraction that is exact as long as its parts fit into 128 bits.
///
/// # Invariants
/// The fractional part is reduced and below 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    whole: u128,
    numerator: u128,
    denominator: u128,
}

impl Ratio {
    /// Zero.
    pub const ZERO: Self = Self::whole(0);

    /// Creates a whole number.
    pub const fn whole(whole: u128) -> Self {
        Self { whole, numerator: 0, denominator: 1 }
    }

    /// Creates `numerator` / `denominator`.
    ///
    /// # Panics
    /// If `denominator` is 0.
    pub fn new(numerator: u128, denominator: u128) -> Self {
        let whole = numerator / denominator;
        Self::reduced(whole, numerator % denominator, denominator)
    }

    fn reduced(whole: u128, numerator: u128, denominator: u128) -> Self {
        let divisor = greatest_common_divisor(numerator, denominator);
        Self { whole, numerator: numerator / divisor, denominator: denominator / divisor }
    }

    /// Returns the sum. If a common denominator would exceed 128 bits, the fractional part of
    /// `other` is rounded up to a whole number. `None` if the whole numbers overflow too.
    pub fn add_ceil(self, other: Self) -> Option<Self> {
        let whole = self.whole.checked_add(other.whole)?;
        match self.add_fractions(other) {
            Some((carry, numerator, denominator)) => {
                Some(Self::reduced(whole.checked_add(carry)?, numerator, denominator))
            }
            None => Some(Self { whole: whole.checked_add(1)?, ..self }),
        }
    }

    fn add_fractions(self, other: Self) -> Option<(u128, u128, u128)> {
        let divisor = greatest_common_divisor(self.denominator, other.denominator);
        let denominator = self.denominator.checked_mul(other.denominator / divisor)?;
        let mine = self.numerator.checked_mul(denominator / self.denominator)?;
        let others = other.numerator.checked_mul(denominator / other.denominator)?;
        let sum = mine.checked_add(others)?;
        Some((sum / denominator, sum % denominator, denominator))
    }

    /// Returns the product. If 128 bits cannot represent its fraction, the fractional part of this
    /// number counts as 1. `None` if 128 bits cannot represent the whole part.
    pub fn times_ceil(self, factor: u64) -> Option<Self> {
        let factor = u128::from(factor);
        let whole = self.whole.checked_mul(factor)?;
        match self.numerator.checked_mul(factor) {
            Some(product) => Some(Self::reduced(
                whole.checked_add(product / self.denominator)?,
                product % self.denominator,
                self.denominator,
            )),
            None => Some(Self::whole(whole.checked_add(factor)?)),
        }
    }

    /// Returns the smaller of this fraction and a whole number.
    #[must_use]
    pub fn at_most(self, limit: u128) -> Self {
        if self.is_at_most(limit) { self } else { Self::whole(limit) }
    }

    /// Returns whether this fraction does not exceed a whole number.
    pub fn is_at_most(self, limit: u128) -> bool {
        self.whole < limit || (self.whole == limit && self.numerator == 0)
    }

    /// Returns the fraction rounded up to a whole number; `None` beyond 128 bits.
    pub fn ceil(self) -> Option<u128> {
        self.whole.checked_add(u128::from(self.numerator > 0))
    }

    /// Returns this divided by `divisor` in parts per million, rounded up; `None` if it exceeds
    /// 64 bits.
    ///
    /// The result is rounded up twice, so it is at most 2 ppm too large, unless 128 bits are too
    /// few for a fraction.
    pub fn ppm_of(self, divisor: u64) -> Option<u64> {
        let scaled = self.times_ceil(1_000_000)?.ceil()?;
        u64::try_from(scaled.div_ceil(u128::from(divisor.max(1)))).ok()
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::Ratio;

    #[test]
    fn thirds_make_a_whole() {
        let third = Ratio::new(1, 3);
        let sum = third.add_ceil(third).and_then(|sum| sum.add_ceil(third)).unwrap();
        assert_eq!(sum, Ratio::whole(1));
        assert!(
            sum.is_at_most(1) && !sum.add_ceil(Ratio::new(1, u128::MAX)).unwrap().is_at_most(1)
        );
        assert_eq!(third.times_ceil(4).unwrap(), Ratio::new(4, 3));
        assert_eq!(third.ppm_of(1), Some(333_334));
    }

    /// If 128 bits cannot represent the common denominator, the sum is less than 1 too large.
    #[test]
    fn a_fraction_that_does_not_fit_is_rounded_up() {
        let (a, b) = (Ratio::new(1, u128::MAX), Ratio::new(1, u128::MAX - 1));
        let sum = a.add_ceil(b).unwrap();
        assert!(!sum.is_at_most(1) && sum.is_at_most(2));
        assert_eq!(Ratio::whole(u128::MAX).add_ceil(a.add_ceil(b).unwrap()), None);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Quantities: one unit per type, integers only.
//!
//! Operators panic on overflow in every build profile, because the code uses `checked_*`. Analyses
//! call the `checked_*` methods and turn overflow into "no bound". `Time` counts from the start of
//! its run: instants of different runs must not be compared.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// An instant: nanoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A duration in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

/// A logical block address in sectors of 512 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lba(u64);

/// A rate in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bandwidth(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// The last instant that this type can hold.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the instant `ns` nanoseconds after the start of the run.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Returns the nanoseconds since the start of the run.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Returns the time from `earlier` to this instant, zero if `earlier` is later.
    ///
    /// Saturation is intended: an event may carry a later timestamp than the host's clock reading,
    /// and its age must not be negative.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// Returns this instant moved later by `by`, or `None` on overflow.
    pub const fn checked_add(self, by: Duration) -> Option<Self> {
        match self.0.checked_add(by.0) {
            Some(ns) => Some(Self(ns)),
            None => None,
        }
    }
}

impl Duration {
    /// A duration of zero.
    pub const ZERO: Self = Self(0);
    /// The longest duration that this type can hold (584 years).
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a duration of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Returns a duration of `us` microseconds.
    ///
    /// # Panics
    /// If the duration exceeds [`Duration::MAX`].
    pub const fn from_us(us: u64) -> Self {
        Self(us.checked_mul(1_000).expect("microseconds exceed Duration::MAX"))
    }

    /// Returns a duration of `ms` milliseconds.
    ///
    /// # Panics
    /// If the duration exceeds [`Duration::MAX`].
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.checked_mul(1_000_000).expect("milliseconds exceed Duration::MAX"))
    }

    /// Returns the number of nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Returns whether the duration is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns the sum, or `None` on overflow.
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(ns) => Some(Self(ns)),
            None => None,
        }
    }

    /// Returns the difference, or `None` if `other` is longer.
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(ns) => Some(Self(ns)),
            None => None,
        }
    }

    /// Returns the product, or `None` on overflow.
    pub const fn checked_mul(self, factor: u64) -> Option<Self> {
        match self.0.checked_mul(factor) {
            Some(ns) => Some(Self(ns)),
            None => None,
        }
    }
}

impl Bytes {
    /// Returns a size of `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns a size of `kib` times 1,024 bytes.
    ///
    /// # Panics
    /// If the size exceeds 2^64 bytes.
    pub const fn from_kib(kib: u64) -> Self {
        Self(kib.checked_mul(1024).expect("kibibytes exceed 2^64 bytes"))
    }

    /// Returns the number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number of whole 512-byte sectors that hold this size.
    pub const fn sectors_ceil(self) -> u64 {
        self.0.div_ceil(Lba::SECTOR_BYTES)
    }
}

impl Lba {
    /// Bytes in one sector.
    pub const SECTOR_BYTES: u64 = 512;

    /// Returns the sector with index `sector`.
    pub const fn new(sector: u64) -> Self {
        Self(sector)
    }

    /// Returns the index of the sector.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the offset in bytes at which the sector starts.
    ///
    /// # Panics
    /// If the offset exceeds 2^64 bytes.
    pub const fn offset_bytes(self) -> u64 {
        self.0.checked_mul(Self::SECTOR_BYTES).expect("sector offset exceeds 2^64 bytes")
    }
}

impl Bandwidth {
    /// Returns a rate of `bytes_per_s` bytes per second; `None` for zero, which is not a rate.
    pub const fn new(bytes_per_s: u64) -> Option<Self> {
        if bytes_per_s == 0 { None } else { Some(Self(bytes_per_s)) }
    }

    /// Returns the bytes per second.
    pub const fn bytes_per_s(self) -> u64 {
        self.0
    }

    /// Returns the time that `size` takes at this rate, rounded down.
    ///
    /// Used as the gap between releases, a time rounded down rounds demand up, because a shorter
    /// gap is more load.
    ///
    /// # Panics
    /// If the time exceeds [`Duration::MAX`].
    pub fn transfer_time_floor(self, size: Bytes) -> Duration {
        let ns = u128::from(size.0) * 1_000_000_000 / u128::from(self.0);
        Duration(u64::try_from(ns).expect("transfer time exceeds Duration::MAX"))
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, by: Duration) -> Self {
        self.checked_add(by).expect("instant beyond the end of time")
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, by: Duration) {
        *self = *self + by;
    }
}

impl Sub for Time {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        Duration(self.0.checked_sub(earlier.0).expect("negative length of time"))
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.checked_add(other).expect("duration overflow")
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.checked_sub(other).expect("negative duration")
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        self.checked_mul(factor).expect("duration overflow")
    }
}

/// Prints the exact value, in the largest unit of s, ms, us, ns that keeps the whole part above
/// zero.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit_ns, digits, suffix) = match self.0 {
            0 => return f.pad("0ms"),
            1..1_000 => (1, 0, "ns"),
            1_000..1_000_000 => (1_000, 3, "us"),
            1_000_000..1_000_000_000 => (1_000_000, 6, "ms"),
            _ => (1_000_000_000, 9, "s"),
        };
        let (whole, fraction) = (self.0 / unit_ns, self.0 % unit_ns);
        if fraction == 0 {
            return f.pad(&format!("{whole}{suffix}"));
        }
        let fraction = format!("{fraction:0digits$}");
        f.pad(&format!("{whole}.{}{suffix}", fraction.trim_end_matches('0')))
    }
}

/// Prints the exact value, in the largest binary unit that divides the size.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        for (unit, suffix) in units {
            if self.0 != 0 && self.0.is_multiple_of(unit) {
                return f.pad(&format!("{}{suffix}", self.0 / unit));
            }
        }
        f.pad(&format!("{}B", self.0))
    }
}

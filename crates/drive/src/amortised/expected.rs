// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The average time of a single request at a random position of a hard disk.
//!
//! A mean guarantees nothing, so this module is separate from the bounds; it is for comparison with
//! measurements. The arithmetic is exact in integers except for one rounding; the names state its
//! direction.
//!
//! Source: dissertation 7.4, equations 7.4.0.1 to 7.4.0.12.

use tidegate_model::{Bytes, Duration};

/// The mean distance between two cylinders, as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedDistance {
    /// The mean distance in cylinders, multiplied by `denominator`.
    pub numerator: u64,
    /// At least 1.
    pub denominator: u64,
}

impl ExpectedDistance {
    /// Returns the distance in whole cylinders, rounded down.
    pub const fn floor(self) -> u64 {
        self.numerator / self.denominator
    }

    /// Returns the distance in whole cylinders, rounded up.
    pub const fn ceil(self) -> u64 {
        self.numerator.div_ceil(self.denominator)
    }
}

/// The sectors on tracks of one density.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Density {
    /// The number of sectors on one track.
    pub sectors_per_track: u32,
    /// The number of sectors on all tracks of this density.
    pub sectors: u64,
}

/// Returns the expected distance of a seek on a disk of `cylinders` cylinders.
///
/// # Equation
/// 7.4.0.10: N (N + 2) / (3 (N + 1)), with N + 1 cylinders.
///
/// # Assumptions
/// The ends of the seek are independent and uniform over the cylinders. Outer cylinders hold more
/// sectors, so random sectors deviate from this.
///
/// # Panics
/// If there are no cylinders.
pub fn expected_seek_distance(cylinders: u32) -> ExpectedDistance {
    assert!(cylinders > 0, "a disk must have cylinders");
    let last = u64::from(cylinders) - 1;
    ExpectedDistance { numerator: last * (last + 2), denominator: 3 * (last + 1) }
}

/// Returns the expected time of a seek on a disk of `cylinders` cylinders, rounded up;
/// `seek_time` returns the time for a distance and is called for every distance above 0.
///
/// # Equation
/// 7.4.0.11, by distance: of (N + 1)^2 pairs of cylinders, 2 (N + 1 - d) are d apart.
///
/// # Assumptions
/// As for [`expected_seek_distance`]. A seek of distance 0 takes no time.
///
/// # Panics
/// If there are no cylinders.
///
/// # Complexity
/// O(cylinders).
pub fn expected_seek_time_ceil(cylinders: u32, seek_time: impl Fn(u32) -> Duration) -> Duration {
    assert!(cylinders > 0, "a disk must have cylinders");
    let times = (1..cylinders).map(|distance| {
        let pairs = 2 * u128::from(cylinders - distance);
        pairs * u128::from(seek_time(distance).ns())
    });
    // Fewer than 2^64 pairs of less than 2^64 ns each: the sum cannot overflow.
    let ns = times.sum::<u128>().div_ceil(u128::from(cylinders).pow(2));
    Duration::from_ns(u64::try_from(ns).expect("a mean is not above the longest"))
}

/// Returns the expected time of the transfer of `size` at a random position, rounded up. The result
/// is too long by less than 1 ns for each density.
///
/// # Equation
/// 7.4.0.12: the sum over tracks of req.len / t_i.len * t_rotate^max * P(track = t_i), where P is
/// the track's share of all sectors. Here tracks of one density are one term.
///
/// # Assumptions
/// Every sector is equally likely to be the first; the request stays within the density in which it
/// begins, and a track change takes no time.
///
/// # Panics
/// If there are no sectors, if a track has none, if the product of the sectors, the request's
/// sectors and a rotation's nanoseconds exceeds 128 bits, or if the result exceeds
/// [`Duration::MAX`].
pub fn expected_transfer_time_ceil(
    size: Bytes,
    rotation: Duration,
    densities: &[Density],
) -> Duration {
    let total: u64 = densities.iter().map(|density| density.sectors).sum();
    assert!(total > 0, "a disk must have sectors");
    let turns_ns = u128::from(size.sectors_ceil()) * u128::from(rotation.ns());
    let share_ns = |density: &Density| {
        let product = turns_ns.checked_mul(u128::from(density.sectors));
        let track = u128::from(density.sectors_per_track) * u128::from(total);
        product.expect("a request of this size on a disk of this size").div_ceil(track)
    };
    let ns: u128 = densities.iter().map(share_ns).sum();
    Duration::from_ns(u64::try_from(ns).expect("transfer time exceeds Duration::MAX"))
}

/// Returns the expected time of one request, rounded up: seek, half a rotation, and transfer.
///
/// # Equation
/// 7.4 of the source: `E[t_seek]` + `E[t_rotate]` + `E[t_transfer]`, with `E[t_rotate]` half of
/// t_rotate^max by 7.4.0.1.
///
/// # Assumptions
/// When the seek ends, every angle of the platter is equally likely, and the transfer begins with
/// the first sector: a disk with zero-latency access is faster.
///
/// # Panics
/// If the result exceeds [`Duration::MAX`].
pub fn expected_service_time_ceil(
    seek: Duration,
    rotation: Duration,
    transfer: Duration,
) -> Duration {
    seek + Duration::from_ns(rotation.ns().div_ceil(2)) + transfer
}

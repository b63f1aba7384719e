// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The longest time of a batch on a hard disk, from four figures of its mechanics.
//!
//! A disk that serves a batch by SCAN, beginning with the request nearest to its head, crosses
//! the platter at most twice, regardless of the number of requests. This makes batches cheap.
//!
//! `expected.rs` computes the expected time instead of the longest.
//!
//! Source: dissertation 7.4.1, equations 7.4.1.5 to 7.4.1.7.

pub mod expected;

use tidegate_model::{Bytes, Duration};

/// The figures of a hard disk that bound a batch's time.
///
/// # Invariants
/// - `seek_min <= seek_max`; otherwise the methods panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amortised {
    /// Longest seek: from edge to edge.
    pub seek_max: Duration,
    /// The value of the seek curve's linear upper bound at distance zero.
    pub seek_min: Duration,
    /// One rotation: the longest wait for the first sector.
    pub rotation_max: Duration,
    /// The longest time to transfer one request of the batch.
    pub transfer_max: Duration,
}

impl Amortised {
    /// Returns the longest time that a batch of `requests` requests spends in seeks.
    ///
    /// # Equation
    /// 7.4.1.6: t_seek^max for one request, 2 (t_seek^max - t_seek^min) + n t_seek^min for more;
    /// 0 for no request.
    ///
    /// # Panics
    /// If the result exceeds [`Duration::MAX`].
    pub fn seek_time_max(&self, requests: u32) -> Duration {
        match requests {
            0 => Duration::ZERO,
            1 => self.seek_max,
            _ => (self.seek_max - self.seek_min) * 2 + self.seek_min * u64::from(requests),
        }
    }

    /// Returns the longest time that a batch of `requests` requests spends in seeks if the disk
    /// serves it in one sweep from the nearer end.
    ///
    /// # Equation
    /// 7.4.1.5: 1.5 (t_seek^max - t_seek^min) + n t_seek^min, rounded up; 0 for no request.
    /// Deviation: one request takes t_seek^max, as in 7.4.1.6; 7.4.1.5 would give more.
    ///
    /// # Assumptions
    /// The disk begins with the request nearest to the edge among the requests in its arm's half
    /// of the cylinders; if there is none, with the nearest request. It serves the others in one
    /// sweep. The source found no disk that does this.
    ///
    /// # Panics
    /// If the result exceeds [`Duration::MAX`].
    pub fn seek_time_single_sweep_max(&self, requests: u32) -> Duration {
        if requests <= 1 {
            return self.seek_time_max(requests);
        }
        let strokes_ns = ((self.seek_max - self.seek_min) * 3).ns().div_ceil(2);
        Duration::from_ns(strokes_ns) + self.seek_min * u64::from(requests)
    }

    /// Returns the longest time of a batch of `requests` requests.
    ///
    /// # Equation
    /// 7.4.1.7: the seeks of 7.4.1.6, plus a rotation and a transfer for each request.
    ///
    /// # Assumptions
    /// The disk serves in two sweeps and without errors. The source itself measured single requests
    /// above this figure (7.4.2), so the figure follows from a model and is no guarantee.
    ///
    /// # Panics
    /// If the result exceeds [`Duration::MAX`].
    pub fn batch_time_max(&self, requests: u32) -> Duration {
        let each = self.rotation_max + self.transfer_max;
        self.seek_time_max(requests) + each * u64::from(requests)
    }
}

/// Returns the transfer time of `size`, scaled from a request of `measured_size`, rounded up.
///
/// # Assumptions
/// Both requests lie on tracks of the same density: transfer time is proportional to size.
///
/// # Panics
/// If `measured_size` is 0 or the result exceeds [`Duration::MAX`].
pub fn transfer_time_scaled_ceil(
    measured: Duration,
    measured_size: Bytes,
    size: Bytes,
) -> Duration {
    let product = u128::from(measured.ns()) * u128::from(size.get());
    let ns = product.div_ceil(u128::from(measured_size.get()));
    Duration::from_ns(u64::try_from(ns).expect("transfer time exceeds Duration::MAX"))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The longest time of a batch on a hard disk, from four figures of its mechanics.
//!
//! A disk that serves a batch by SCAN, beginning with the request nearest to its head,
//! crosses the platter at most twice, however many requests there are: that is what makes
//! batches cheap.
//!
//! What to expect instead of the longest: `expected.rs`.
//!
//! Source: dissertation 7.4.1, equations 7.4.1.5 to 7.4.1.7.

pub mod expected;

use tidegate_model::{Bytes, Duration};

/// The figures of a hard disk that bound the time of a batch.
///
/// # Invariants
/// - `seek_min <= seek_max`; broken by the caller, the methods panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amortised {
    /// Longest seek: from edge to edge.
    pub seek_max: Duration,
    /// Where the linear upper bound on the seek curve meets distance zero.
    pub seek_min: Duration,
    /// One rotation: the longest wait for the first sector.
    pub rotation_max: Duration,
    /// Longest transfer of one request of the size in question.
    pub transfer_max: Duration,
}

impl Amortised {
    /// The longest time that a batch of `requests` requests spends in seeks.
    ///
    /// # Equation
    /// 7.4.1.6: t_seek^max for one request, 2 (t_seek^max - t_seek^min) + n t_seek^min for
    /// more; nothing for none.
    ///
    /// # Panics
    /// When the result exceeds [`Duration::MAX`].
    pub fn seek_time_max(&self, requests: u32) -> Duration {
        match requests {
            0 => Duration::ZERO,
            1 => self.seek_max,
            _ => (self.seek_max - self.seek_min) * 2 + self.seek_min * u64::from(requests),
        }
    }

    /// The longest time that a batch of `requests` requests spends in seeks, if the disk
    /// begins at the right end of it.
    ///
    /// # Equation
    /// 7.4.1.5: 1.5 (t_seek^max - t_seek^min) + n t_seek^min, rounded up; nothing for none.
    /// Deviation: t_seek^max for one request, as in 7.4.1.6; the equation gives more there.
    ///
    /// # Assumptions
    /// Of the requests in the half of the cylinders where the arm is, the disk begins with
    /// the one nearest to the edge; with none there, with the nearest. It serves the others
    /// in one sweep. The source found no disk that does.
    ///
    /// # Panics
    /// When the result exceeds [`Duration::MAX`].
    pub fn seek_time_single_sweep_max(&self, requests: u32) -> Duration {
        if requests <= 1 {
            return self.seek_time_max(requests);
        }
        let strokes_ns = ((self.seek_max - self.seek_min) * 3).ns().div_ceil(2);
        Duration::from_ns(strokes_ns) + self.seek_min * u64::from(requests)
    }

    /// The longest time of a batch of `requests` requests.
    ///
    /// # Equation
    /// 7.4.1.7: the seeks of 7.4.1.6, and a rotation and a transfer for each request.
    ///
    /// # Assumptions
    /// The disk serves in two sweeps and nothing goes wrong. The source itself measured
    /// single requests above this figure (7.4.2): a model, not a guarantee of the maker.
    ///
    /// # Panics
    /// When the result exceeds [`Duration::MAX`].
    pub fn batch_time_max(&self, requests: u32) -> Duration {
        let each = self.rotation_max + self.transfer_max;
        self.seek_time_max(requests) + each * u64::from(requests)
    }
}

/// The transfer time of `size`, from that of a request of `measured_size`, rounded up.
///
/// # Assumptions
/// Both lie on tracks of the same density: transfer time is in proportion to size.
///
/// # Panics
/// When `measured_size` is 0 or the result exceeds [`Duration::MAX`].
pub fn transfer_time_scaled_ceil(
    measured: Duration,
    measured_size: Bytes,
    size: Bytes,
) -> Duration {
    let product = u128::from(measured.ns()) * u128::from(size.get());
    let ns = product.div_ceil(u128::from(measured_size.get()));
    Duration::from_ns(u64::try_from(ns).expect("transfer time exceeds Duration::MAX"))
}

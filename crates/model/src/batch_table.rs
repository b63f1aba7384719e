// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The batch table b(i): the longest time the device takes for i requests sent together.
//!
//! Every bound rests on this table and needs only that it is monotone. The constructor therefore
//! makes the table monotone (running maximum, `docs/theory/model.md` section 1) and records which
//! entries it raised.

use crate::units::Duration;

/// The longest time in which the device serves a batch of i requests, for i = 0 to
/// [`Self::batch_max`].
///
/// # Invariants
/// - `b(0) = 0`, and b is nondecreasing.
/// - There is an entry for at least one request, and no entry is zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchTable {
    /// The longest times: entry i is that of a batch of i requests; entry 0 is zero.
    time_max: Vec<Duration>,
    /// The batch sizes whose measured time was below the time of a smaller batch.
    raised: Vec<u32>,
}

/// The reason why a list of durations is not a batch table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchTableError {
    /// The list has no entry.
    #[error("a batch table needs at least b(1), the time of one request")]
    Empty,
    /// An entry is zero: no device serves a request in no time.
    #[error("b({requests}) is 0: every batch takes some time")]
    EntryZero {
        /// The number of requests of the offending batch.
        requests: usize,
    },
}

impl BatchTable {
    /// Creates the table with `b(i) = measured[i - 1]`, raised to its running maximum.
    ///
    /// # Shape
    /// `measured[i - 1]` is the time of a batch of i requests, i = 1 to n.
    ///
    /// # Errors
    /// [`BatchTableError`] if the list is empty or has an entry that is zero.
    ///
    /// # Panics
    /// If the list is longer than `u32::MAX`.
    pub fn new(measured: &[Duration]) -> Result<Self, BatchTableError> {
        if measured.is_empty() {
            return Err(BatchTableError::Empty);
        }
        if let Some(index) = measured.iter().position(|time| time.is_zero()) {
            return Err(BatchTableError::EntryZero { requests: index + 1 });
        }
        let mut time_max = vec![Duration::ZERO];
        let mut raised = Vec::new();
        for (&time, requests) in measured.iter().zip(1_u32..) {
            let highest = *time_max.last().expect("entry 0 is there");
            if time < highest {
                raised.push(requests);
            }
            time_max.push(time.max(highest));
        }
        assert!(u32::try_from(measured.len()).is_ok(), "a batch table is at most 2^32 long");
        Ok(Self { time_max, raised })
    }

    /// Returns the largest batch size in the table.
    #[expect(clippy::missing_panics_doc, reason = "the length is checked on entry")]
    pub fn batch_max(&self) -> u32 {
        u32::try_from(self.time_max.len() - 1).expect("checked on entry")
    }

    /// Returns b(i), the longest time of a batch of `requests` requests; b(0) = 0.
    ///
    /// # Panics
    /// If the table has no entry for this number of requests.
    pub fn time_max(&self, requests: u32) -> Duration {
        self.time_max[requests as usize]
    }

    /// Returns the batch sizes whose measured time was below the time of a smaller batch, in
    /// ascending order. For these sizes the table holds the running maximum instead of the measured
    /// time.
    pub fn raised(&self) -> &[u32] {
        &self.raised
    }

    /// Returns the table for batches of at most `batch_max` requests.
    ///
    /// # Panics
    /// If `batch_max` is 0.
    #[must_use]
    pub fn truncated(&self, batch_max: u32) -> Self {
        assert!(batch_max >= 1, "a batch table has an entry");
        let time_max = self.time_max.iter().copied().take(batch_max as usize + 1).collect();
        let raised = self.raised.iter().copied().filter(|&size| size <= batch_max).collect();
        Self { time_max, raised }
    }

    /// Returns the table with `of` applied to the time of every batch of at least one request. `of`
    /// must be nondecreasing and return more than 0.
    #[must_use]
    pub(crate) fn map(&self, of: impl Fn(Duration) -> Duration) -> Self {
        let times = self.time_max.iter().skip(1).copied().map(of);
        Self {
            time_max: std::iter::once(Duration::ZERO).chain(times).collect(),
            raised: self.raised.clone(),
        }
    }

    /// Returns the larger of this table and `floor`, entry by entry, for all batch sizes of this
    /// table. Beyond the end of `floor`, its last entry counts for all larger sizes.
    #[must_use]
    pub fn at_least(&self, floor: &Self) -> Self {
        let least = |requests: u32| floor.time_max(requests.min(floor.batch_max()));
        let time_max = (0..=self.batch_max()).map(|n| self.time_max(n).max(least(n))).collect();
        Self { time_max, raised: self.raised.clone() }
    }

    /// Returns the table for batches that mix two kinds of request:
    /// `b(n) = max over i + j = n of self(i) + other(j)`, for n up to the shorter table.
    ///
    /// # Assumptions
    /// The device serves a mixed batch no slower than its two kinds one after the other. No
    /// measurement supports this, so users of the table must state it (`docs/theory/model.md`
    /// section 14).
    ///
    /// # Complexity
    /// O(n^2).
    ///
    /// # Panics
    /// If a sum exceeds [`Duration::MAX`].
    #[must_use]
    pub fn mixed_with(&self, other: &Self) -> Self {
        let batch_max = self.batch_max().min(other.batch_max());
        let worst_split = |requests: u32| {
            (0..=requests)
                .map(|first| self.time_max(first) + other.time_max(requests - first))
                .max()
                .expect("a batch splits in at least one way")
        };
        Self { time_max: (0..=batch_max).map(worst_split).collect(), raised: Vec::new() }
    }
}

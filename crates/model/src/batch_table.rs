// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The batch table b(i): how long the device may take for i requests given at once.
//!
//! Every bound rests on this table and needs only that it is monotone, so the table makes
//! itself monotone on entry (running maximum, `docs/theory/model.md` section 1) and says where it had to.

use crate::units::Duration;

/// The longest time in which the device serves a batch of i requests, for i = 0 to `len()`.
///
/// # Invariants
/// - `b(0) = 0`, and b is nondecreasing.
/// - There is an entry for at least one request, and none of them is zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchTable {
    /// Index = number of requests, entry 0 is zero.
    time_max: Vec<Duration>,
    /// Numbers of requests whose measured value was below that of a smaller batch.
    raised: Vec<u32>,
}

/// Why a list of durations is no batch table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchTableError {
    /// The list has no entry.
    #[error("a batch table needs at least b(1), the time of one request")]
    Empty,
    /// An entry is zero: no device serves a request in no time.
    #[error("b({requests}) is 0: a batch takes some time")]
    EntryZero {
        /// The number of requests of the offending batch.
        requests: usize,
    },
}

impl BatchTable {
    /// The table with `b(i) = measured[i - 1]`, raised to its running maximum.
    ///
    /// # Shape
    /// `measured[i - 1]` is the time of a batch of i requests, i = 1 to n.
    ///
    /// # Errors
    /// [`BatchTableError`] if the list is empty or an entry is zero.
    ///
    /// # Panics
    /// When the list is longer than `u32::MAX`.
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

    /// The largest batch the table speaks of.
    #[expect(clippy::missing_panics_doc, reason = "the length is checked on entry")]
    pub fn batch_max(&self) -> u32 {
        u32::try_from(self.time_max.len() - 1).expect("checked on entry")
    }

    /// b(i), the longest time of a batch of `requests` requests; b(0) = 0.
    ///
    /// # Panics
    /// When the table has no entry for that many requests.
    pub fn time_max(&self, requests: u32) -> Duration {
        self.time_max[requests as usize]
    }

    /// The batch sizes whose measured time lay below that of a smaller batch, in order.
    /// For them the table holds the running maximum instead of what was measured.
    pub fn raised(&self) -> &[u32] {
        &self.raised
    }

    /// The table for batches of at most `batch_max` requests.
    ///
    /// # Panics
    /// When `batch_max` is 0.
    #[must_use]
    pub fn truncated(&self, batch_max: u32) -> Self {
        assert!(batch_max >= 1, "a batch table has an entry");
        let time_max = self.time_max.iter().copied().take(batch_max as usize + 1).collect();
        let raised = self.raised.iter().copied().filter(|&size| size <= batch_max).collect();
        Self { time_max, raised }
    }

    /// This table where it is at least `floor`, else `floor`, for as many requests as this one
    /// speaks of; where `floor` ends sooner its last entry stands for all larger ones.
    #[must_use]
    pub fn at_least(&self, floor: &Self) -> Self {
        let least = |requests: u32| floor.time_max(requests.min(floor.batch_max()));
        let time_max = (0..=self.batch_max()).map(|n| self.time_max(n).max(least(n))).collect();
        Self { time_max, raised: self.raised.clone() }
    }

    /// The table for batches that mix two kinds of request:
    /// `b(n) = max over i + j = n of self(i) + other(j)`, for n up to the shorter table.
    ///
    /// # Assumptions
    /// The device serves a mixed batch no slower than its two kinds one after the other.
    /// Nothing measured that: whoever uses the table has to say so (`docs/theory/model.md`
    /// section 14).
    ///
    /// # Complexity
    /// O(n^2).
    ///
    /// # Panics
    /// When a sum exceeds [`Duration::MAX`].
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

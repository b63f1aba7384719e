// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Times in JSON: a number of nanoseconds, under a name that ends in `_ns` or in `_ns_` and a
//! qualifier.

use serde::{Serialize, Serializer};
use tidegate_model::Duration;

/// A time that is written to JSON as a number of nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ns(pub Duration);

impl Ns {
    /// Wraps an optional time.
    pub(crate) fn of(time: Option<Duration>) -> Option<Self> {
        time.map(Self)
    }
}

impl From<Duration> for Ns {
    fn from(time: Duration) -> Self {
        Self(time)
    }
}

impl Serialize for Ns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0.ns())
    }
}

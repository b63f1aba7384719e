// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Limits the requests that all sources of a file may release at one instant: each of them takes
//! memory from then on.

use std::ops::Range;

use crate::file_error::FileError;

/// The largest number of requests: tens of thousands of times as many as drives accept.
const REQUESTS_MAX: u64 = 1 << 20;

/// Counts the requests that the sources added so far can release at one instant.
#[derive(Default)]
pub(super) struct AtOnce(u64);

impl AtOnce {
    /// Adds `sources` sources that can each release this many requests at one instant.
    ///
    /// # Errors
    /// If the sum exceeds [`REQUESTS_MAX`], at `span`: the position of the number to reduce.
    pub(super) fn add(
        &mut self,
        sources: u32,
        requests: u64,
        span: Range<usize>,
    ) -> Result<(), FileError> {
        let all = u64::from(sources).saturating_mul(requests).saturating_add(self.0);
        if all > REQUESTS_MAX {
            return Err(FileError::new(
                span,
                format!(
                    "the sources up to this one can release {all} requests at one instant, more than \
                     {REQUESTS_MAX}"
                ),
                "write a smaller number; drives accept a few dozen requests",
            ));
        }
        self.0 = all;
        Ok(())
    }
}

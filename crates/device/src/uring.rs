// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Converts between the kernel's numbers and this crate's types.

use io_uring::types::{Fixed, Timespec};
use rustix::io::Errno;
use tidegate_model::{Bytes, Duration};

use crate::ring_error::{IoError, RingError, errno_of};

/// The target, which is the ring's only registered file.
pub(crate) const TARGET: Fixed = Fixed(0);

/// Returns the result of a request of `size` from the kernel's result.
pub(crate) fn outcome(result: i32, size: Bytes) -> Result<(), IoError> {
    match u64::try_from(result) {
        Err(_) => Err(IoError::Device(Errno::from_raw_os_error(-result))),
        Ok(moved) if moved == size.get() => Ok(()),
        Ok(moved) => Err(IoError::Short { moved: Bytes::new(moved), size }),
    }
}

pub(crate) fn timespec(timeout: Duration) -> Timespec {
    let fraction = u32::try_from(timeout.ns() % 1_000_000_000).expect("below 10^9");
    Timespec::new().sec(timeout.ns() / 1_000_000_000).nsec(fraction)
}

pub(crate) fn refused(step: &'static str, error: &std::io::Error) -> RingError {
    RingError::Setup { step, source: errno_of(error) }
}

pub(crate) fn length(size: Bytes) -> usize {
    usize::try_from(size.get()).expect("at most SIZE_MAX")
}

pub(crate) fn length_u32(size: Bytes) -> u32 {
    u32::try_from(size.get()).expect("at most SIZE_MAX")
}

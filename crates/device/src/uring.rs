// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What every ring has in common: how it is set up, and what the kernel's numbers mean.

use io_uring::IoUring;
use io_uring::types::{Fixed, Timespec};
use rustix::io::Errno;
use tidegate_model::{Bytes, Duration};

use crate::ring_error::{IoError, RingError};

/// The target, as the ring's only registered file.
pub(crate) const TARGET: Fixed = Fixed(0);

/// A ring as good as the kernel allows, and whether completions are deferred.
pub(crate) fn set_up(slots: u32) -> Result<(IoUring, bool), RingError> {
    let deferred = IoUring::builder()
        .setup_submit_all()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .build(slots);
    let plain = match deferred.map_err(|error| errno_of(&error)) {
        Ok(uring) => return Ok((uring, true)),
        // Kernels before 6.1 do not know these flags.
        Err(Errno::INVAL) => IoUring::builder().build(slots).map_err(|error| errno_of(&error)),
        Err(source) => Err(source),
    };
    match plain {
        Ok(uring) if uring.params().is_feature_ext_arg() => Ok((uring, false)),
        Ok(_) | Err(Errno::NOSYS) => Err(RingError::Absent),
        Err(source @ (Errno::PERM | Errno::ACCESS)) => Err(RingError::Forbidden { source }),
        Err(source) => Err(RingError::Setup { step: "set up a ring", source }),
    }
}

/// What the kernel's result says about a request of `size`.
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

/// The error number of a failed system call.
pub(crate) fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

pub(crate) fn length(size: Bytes) -> usize {
    usize::try_from(size.get()).expect("at most SIZE_MAX")
}

pub(crate) fn length_u32(size: Bytes) -> u32 {
    u32::try_from(size.get()).expect("at most SIZE_MAX")
}

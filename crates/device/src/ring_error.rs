// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The errors of requests and rings.

use std::convert::Infallible;

use rustix::io::Errno;
use tidegate_model::Bytes;

use crate::ring_limits::{SIZE_MAX, SLOTS_MAX};

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The kernel or the device reported an error.
    #[error("the device reported: {0}")]
    Device(#[source] Errno),
    /// The device transferred fewer bytes than requested.
    #[error("the device transferred only {moved} of {size}")]
    Short {
        /// The transferred size.
        moved: Bytes,
        /// The requested size.
        size: Bytes,
    },
}

/// Executors in virtual time never fail.
impl From<Infallible> for RingError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl From<std::io::Error> for IoError {
    fn from(error: std::io::Error) -> Self {
        Self::Device(errno_of(&error))
    }
}

impl IoError {
    /// Returns the kernel's number for the error; a short transfer is an I/O error.
    pub fn raw_os_error(self) -> i32 {
        match self {
            Self::Device(errno) => errno.raw_os_error(),
            Self::Short { .. } => Errno::IO.raw_os_error(),
        }
    }
}

/// Why a ring cannot be made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// The host forbids io_uring.
    #[error(
        "io_uring is forbidden here ({source}): set sysctl kernel.io_uring_disabled=0, and in a container allow io_uring in its seccomp profile"
    )]
    Forbidden {
        /// The kernel's error.
        source: Errno,
    },
    /// The kernel has no io_uring.
    #[error("this kernel has no io_uring: use Linux 5.11 or later with CONFIG_IO_URING")]
    Absent,
    /// The number of slots is out of range.
    #[error("a ring cannot have {slots} slots: give 1 to {SLOTS_MAX}")]
    SlotsOutOfRange {
        /// The requested number.
        slots: u32,
    },
    /// The request size is not possible with the target or the ring.
    #[error(
        "a ring cannot have requests of {size}: give a multiple of {alignment}, at most {SIZE_MAX}"
    )]
    SizeOutOfRange {
        /// The requested size.
        size: Bytes,
        /// The alignment that direct I/O on the target requires.
        alignment: Bytes,
    },
    /// There is no memory for the buffers.
    #[error("no memory for {slots} buffers of {size} ({source}): use fewer or smaller requests")]
    NoMemory {
        /// The number of buffers.
        slots: u32,
        /// Each buffer's size.
        size: Bytes,
        /// The kernel's error.
        source: Errno,
    },
    /// The kernel refused a setup step.
    #[error("io_uring cannot {step}: {source}")]
    Setup {
        /// The step, as a verb.
        step: &'static str,
        /// The kernel's error.
        source: Errno,
    },
    /// The kernel accepted only a part of a batch.
    #[error(
        "the kernel accepted {taken} of {size} requests of a batch: the device did not get the batch as a whole"
    )]
    BatchSplit {
        /// The number of accepted requests.
        taken: usize,
        /// The number of requests in the batch.
        size: usize,
    },
    /// The kernel refused to submit or to wait.
    #[error("io_uring cannot submit or wait: {source}")]
    Enter {
        /// The kernel's error.
        source: Errno,
    },
}

/// Returns the error number of a failed system call.
pub(crate) fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

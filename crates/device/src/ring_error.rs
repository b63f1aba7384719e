// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Why a request failed, and why a ring cannot be made or used.

use std::convert::Infallible;

use rustix::io::Errno;
use tidegate_model::Bytes;

use crate::ring_core::{SIZE_MAX, SLOTS_MAX};
use crate::uring::errno_of;

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The kernel or the device reported an error.
    #[error("the device reported: {0}")]
    Device(#[source] Errno),
    /// Fewer bytes were moved than asked for.
    #[error("the device moved only {moved} of {size}")]
    Short {
        /// What was moved.
        moved: Bytes,
        /// What was asked for.
        size: Bytes,
    },
}

/// Nothing fails in virtual time.
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
    /// The kernel's number for it; a short transfer is an error of I/O.
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
        /// What the kernel answered.
        source: Errno,
    },
    /// The kernel has no io_uring.
    #[error("this kernel has no io_uring: use Linux 5.11 or later with CONFIG_IO_URING")]
    Absent,
    /// A ring of that many slots cannot be had.
    #[error("a ring of {slots} slots: ask for 1 to {SLOTS_MAX}")]
    SlotsOutOfRange {
        /// What was asked for.
        slots: u32,
    },
    /// A request size that the target or the ring cannot carry.
    #[error("requests of {size}: ask for a multiple of {alignment}, at most {SIZE_MAX}")]
    SizeOutOfRange {
        /// What was asked for.
        size: Bytes,
        /// What direct I/O on the target needs.
        alignment: Bytes,
    },
    /// No memory for the buffers.
    #[error(
        "no memory for {slots} buffers of {size} ({source}): ask for fewer or smaller requests"
    )]
    NoMemory {
        /// How many buffers.
        slots: u32,
        /// How large each.
        size: Bytes,
        /// What the kernel answered.
        source: Errno,
    },
    /// The kernel refused a step of the set-up.
    #[error("io_uring cannot {step}: {source}")]
    Setup {
        /// What was tried.
        step: &'static str,
        /// What the kernel answered.
        source: Errno,
    },
    /// The kernel took only a part of a batch.
    #[error(
        "the kernel took {taken} of a batch of {size}: the device was not given what was asked"
    )]
    BatchSplit {
        /// Requests taken.
        taken: usize,
        /// Requests of the batch.
        size: usize,
    },
    /// The kernel refused to submit or to wait.
    #[error("io_uring cannot submit or wait: {source}")]
    Enter {
        /// What the kernel answered.
        source: Errno,
    },
}

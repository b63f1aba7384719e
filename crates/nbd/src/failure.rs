// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The protocol's errors.

/// The reason why a request failed, as the protocol states it. The protocol has no other errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[repr(u32)]
pub enum Failure {
    /// The request would write to a read-only export.
    #[error("not permitted")]
    NotPermitted = 1,
    /// The store reported an error.
    #[error("input/output error")]
    Io = 5,
    /// The server has no memory for the request.
    #[error("out of memory")]
    NoMemory = 12,
    /// The request is invalid.
    #[error("invalid request")]
    Invalid = 22,
    /// There is no space, or the range ends beyond the export.
    #[error("no space")]
    NoSpace = 28,
    /// The request is too large to be answered in one piece.
    #[error("too large for one piece")]
    Overflow = 75,
    /// The server cannot do this, or cannot do it fast.
    #[error("not supported")]
    NotSupported = 95,
    /// The server is ending, or the export was removed.
    #[error("the server is shutting down")]
    Shutdown = 108,
}

impl Failure {
    /// Returns the protocol's number for the failure.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Returns the failure with this number. An unknown number counts as [`Self::Invalid`], as the
    /// protocol demands.
    pub fn of_code(code: u32) -> Self {
        match code {
            1 => Self::NotPermitted,
            5 => Self::Io,
            12 => Self::NoMemory,
            28 => Self::NoSpace,
            75 => Self::Overflow,
            95 => Self::NotSupported,
            108 => Self::Shutdown,
            _ => Self::Invalid,
        }
    }

    /// Returns the failure for an error number of Linux. An error for which the protocol has no
    /// number is the store's, because requests are checked before they reach the store.
    pub fn of_errno(errno: i32) -> Self {
        const QUOTA: i32 = 122;
        const READ_ONLY: i32 = 30;
        match errno {
            1 | READ_ONLY => Self::NotPermitted,
            12 => Self::NoMemory,
            22 => Self::Invalid,
            28 | QUOTA => Self::NoSpace,
            75 => Self::Overflow,
            95 => Self::NotSupported,
            108 => Self::Shutdown,
            _ => Self::Io,
        }
    }
}

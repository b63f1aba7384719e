// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A valid request of a client.

/// The command of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Reads data.
    Read {
        /// The reply must be one chunk.
        is_one_piece: bool,
    },
    /// Stores the payload that follows the header.
    Write,
    /// Makes completed writes durable.
    Flush,
    /// Discards the data of a range.
    Trim,
    /// Writes zeroes.
    WriteZeroes {
        /// The client accepts a hole.
        may_deallocate: bool,
    },
    /// Queries which parts of a range are allocated.
    BlockStatus,
    /// Ends the session without a reply.
    Disconnect,
}

/// A valid request of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The command.
    pub command: Command,
    /// Whether the reply must wait until the data is on the medium.
    pub is_durable: bool,
    /// The number with which the client identifies the request.
    pub cookie: u64,
    /// The offset of the first byte in the export.
    pub offset: u64,
    /// The number of bytes; not zero if the command has a range.
    pub length: u64,
}

impl Request {
    /// Returns the number of payload bytes that follow the header.
    pub fn payload(&self) -> u64 {
        if self.command == Command::Write { self.length } else { 0 }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A valid request of a client.

/// The command of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Returns data; `is_one_piece`: in one chunk or not at all.
    Read {
        /// The reply must be one chunk.
        is_one_piece: bool,
    },
    /// Stores the payload that follows.
    Write,
    /// Makes completed writes durable.
    Flush,
    /// Gives up the data of a range.
    Trim,
    /// Writes zeroes; `may_deallocate`: the client accepts a hole.
    WriteZeroes {
        /// The client accepts a hole.
        may_deallocate: bool,
    },
    /// Asks which parts of a range are allocated.
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
    /// The client's name for the request.
    pub cookie: u64,
    /// The first byte of the export.
    pub offset: u64,
    /// The number of bytes, not zero if the command has a range.
    pub length: u64,
}

impl Request {
    /// Returns the number of bytes that follow the header.
    pub fn payload(&self) -> u64 {
        if self.command == Command::Write { self.length } else { 0 }
    }
}

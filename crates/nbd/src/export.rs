// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An export as a client sees it.

use crate::wire;

/// The limits on the sizes of requests, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSizes {
    /// The alignment: offsets and lengths are multiples of it; a power of two.
    pub minimum: u32,
    /// The size that the server serves fastest; a power of two.
    pub preferred: u32,
    /// The largest payload of one request.
    pub maximum: u32,
}

/// An export as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportInfo {
    /// The export's name.
    pub name: String,
    /// A description for people; can be empty.
    pub description: String,
    /// The size in bytes.
    pub size: u64,
    /// The limits on the sizes of requests.
    pub block: BlockSizes,
    /// Whether the export refuses writes.
    pub is_read_only: bool,
    /// Whether trims can have an effect.
    pub can_trim: bool,
    /// Whether the store is known to be a rotating disk.
    pub is_rotational: bool,
}

impl ExportInfo {
    /// Returns the transmission flags. Reads in one piece are offered only if replies are
    /// structured.
    pub fn flags(&self, is_structured: bool) -> u16 {
        let when = |condition: bool, flag: u16| if condition { flag } else { 0 };
        let is_writable = !self.is_read_only;
        // A flush on one connection covers the writes that completed on the others.
        wire::FLAG_HAS_FLAGS
            | wire::FLAG_CAN_MULTI_CONN
            | when(self.is_read_only, wire::FLAG_READ_ONLY)
            | when(is_writable, wire::FLAG_SEND_FLUSH | wire::FLAG_SEND_FUA)
            | when(is_writable, wire::FLAG_SEND_WRITE_ZEROES | wire::FLAG_SEND_FAST_ZERO)
            | when(is_writable && self.can_trim, wire::FLAG_SEND_TRIM)
            | when(self.is_rotational, wire::FLAG_ROTATIONAL)
            | when(is_structured, wire::FLAG_SEND_DF)
    }
}

/// An entry in the list of exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The export's name.
    pub name: String,
    /// A description for people; can be empty.
    pub description: String,
}

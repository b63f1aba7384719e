// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads and writes numbers in network byte order, which the protocol uses.

/// The part of a message that has not been read yet. A read returns `None` if this part is too
/// short.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    fn array<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        self.take(COUNT)?.try_into().ok()
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Reads a text preceded by its length.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.u32()?).ok()?;
        self.take(length)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// Appends numbers to a buffer.
pub(crate) trait Writer {
    fn put_u16(&mut self, number: u16);
    fn put_u32(&mut self, number: u32);
    fn put_u64(&mut self, number: u64);
}

impl Writer for Vec<u8> {
    fn put_u16(&mut self, number: u16) {
        self.extend_from_slice(&number.to_be_bytes());
    }

    fn put_u32(&mut self, number: u32) {
        self.extend_from_slice(&number.to_be_bytes());
    }

    fn put_u64(&mut self, number: u64) {
        self.extend_from_slice(&number.to_be_bytes());
    }
}

/// Converts a length to the type that the protocol uses.
pub(crate) fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("messages of this program are short")
}

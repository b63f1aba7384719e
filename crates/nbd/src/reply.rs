// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Encodes replies.
//!
//! A read is answered with chunks if replies are structured, and a block status is always answered
//! with a chunk. Other commands get simple replies, which are shorter and always allowed, unless
//! headers are extended.

use crate::bytes::{Writer as _, length};
use crate::failure::Failure;
use crate::meta::ALLOCATION_ID;
use crate::request::{Command, Request};
use crate::session::{Refused, Session};
use crate::wire;

/// The length of an error chunk's text, which is empty because the error number is sufficient.
const NO_MESSAGE: u16 = 0;

impl Session {
    /// Appends the reply to a request that succeeded without returning data.
    pub fn put_done(&self, out: &mut Vec<u8>, request: &Request) {
        if self.dialect.is_extended {
            self.put_chunk(out, request, wire::REPLY_TYPE_NONE, true, 0);
        } else {
            put_simple(out, request.cookie, 0);
        }
    }

    /// Appends the header of one piece of a read's data: `count` bytes at `offset`. Without
    /// structured replies, only the first piece has a header.
    pub fn put_data_head(
        &self,
        out: &mut Vec<u8>,
        request: &Request,
        offset: u64,
        count: usize,
        is_last: bool,
    ) {
        if self.dialect.is_structured {
            let payload = length(count) + 8;
            self.put_chunk(out, request, wire::REPLY_TYPE_OFFSET_DATA, is_last, payload);
            out.put_u64(offset);
        } else if offset == request.offset {
            put_simple(out, request.cookie, 0);
        }
    }

    /// Appends the status of a range, which is always: allocated, and not known to read as zero.
    pub fn put_allocated(&self, out: &mut Vec<u8>, request: &Request) {
        if self.dialect.is_extended {
            self.put_chunk(out, request, wire::REPLY_TYPE_BLOCK_STATUS_EXT, true, 24);
            out.put_u32(ALLOCATION_ID);
            out.put_u32(1);
            out.put_u64(request.length);
            out.put_u64(0);
        } else {
            self.put_chunk(out, request, wire::REPLY_TYPE_BLOCK_STATUS, true, 12);
            out.put_u32(ALLOCATION_ID);
            // A compact header cannot state a longer range, so the length is capped.
            out.put_u32(u32::try_from(request.length).unwrap_or(u32::MAX));
            out.put_u32(0);
        }
    }

    /// Appends the reply to a request that failed.
    pub fn put_failed(&self, out: &mut Vec<u8>, request: &Request, failure: Failure) {
        let is_read = matches!(request.command, Command::Read { .. } | Command::BlockStatus);
        let &Request { cookie, offset, .. } = request;
        self.put_refused(out, &Refused { cookie, offset, is_read, failure });
    }

    /// Appends the reply to a request that was refused.
    pub fn put_refused(&self, out: &mut Vec<u8>, refused: &Refused) {
        let &Refused { cookie, offset, is_read, failure } = refused;
        let is_chunk = self.dialect.is_extended || self.dialect.is_structured && is_read;
        if !is_chunk {
            return put_simple(out, cookie, failure.code());
        }
        self.put_chunk_of(out, cookie, offset, wire::REPLY_TYPE_ERROR, true, 6);
        out.put_u32(failure.code());
        out.put_u16(NO_MESSAGE);
    }

    fn put_chunk(&self, out: &mut Vec<u8>, request: &Request, kind: u16, is_last: bool, size: u32) {
        self.put_chunk_of(out, request.cookie, request.offset, kind, is_last, size);
    }

    fn put_chunk_of(
        &self,
        out: &mut Vec<u8>,
        cookie: u64,
        offset: u64,
        kind: u16,
        is_last: bool,
        size: u32,
    ) {
        let is_extended = self.dialect.is_extended;
        let magic =
            if is_extended { wire::EXTENDED_REPLY_MAGIC } else { wire::STRUCTURED_REPLY_MAGIC };
        out.put_u32(magic);
        out.put_u16(if is_last { wire::REPLY_FLAG_DONE } else { 0 });
        out.put_u16(kind);
        out.put_u64(cookie);
        if is_extended {
            out.put_u64(offset);
            out.put_u64(u64::from(size));
        } else {
            out.put_u32(size);
        }
    }
}

fn put_simple(out: &mut Vec<u8>, cookie: u64, error: u32) {
    out.put_u32(wire::SIMPLE_REPLY_MAGIC);
    out.put_u32(error);
    out.put_u64(cookie);
}

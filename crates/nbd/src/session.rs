// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The server's side of the transmission phase of one connection: parses and checks requests.

use crate::bytes::Reader;
use crate::export::ExportInfo;
use crate::failure::Failure;
use crate::handshake::Dialect;
use crate::request::{Command, Request};
use crate::wire;

/// The largest payload in bytes that the server skips to reply to a wrong request; a larger one
/// ends the connection.
const SKIPPED_BYTES_MAX: u64 = 64 << 20;

/// The meaning of the client's next bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parsed {
    /// The header is not complete.
    Incomplete,
    /// A valid request, which its payload follows.
    Request {
        /// The request.
        request: Request,
        /// The header's size in bytes.
        header: usize,
    },
    /// A wrong request, to be answered with this failure once its payload is skipped.
    Refused {
        /// The request's cookie and offset, and the failure, for the reply.
        refused: Refused,
        /// The header's size in bytes.
        header: usize,
        /// The number of bytes to skip after the header.
        payload: u64,
    },
}

/// A request that is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The number with which the client identifies the request.
    pub cookie: u64,
    /// The offset of the range's first byte.
    pub offset: u64,
    /// Whether the request is a read or a block status, which are answered in chunks if replies are
    /// structured.
    pub is_read: bool,
    /// The error to report in the reply.
    pub failure: Failure,
}

/// The reason why a connection cannot continue: the next request's start is unknown or too far
/// away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// A header does not begin with the magic number.
    #[error("a request begins with {found:#010x}, not with a request's magic number")]
    Magic {
        /// The header's first four bytes.
        found: u32,
    },
    /// The payload is too large to skip.
    #[error("a request has a payload of {payload} bytes, which no server accepts")]
    Payload {
        /// The payload's size in bytes.
        payload: u64,
    },
}

/// A connection in the transmission phase.
#[derive(Debug, Clone)]
pub struct Session {
    pub(crate) dialect: Dialect,
    export: ExportInfo,
}

/// The fields of a header as the client sent them.
struct Raw {
    flags: u16,
    command: u16,
    cookie: u64,
    offset: u64,
    length: u64,
}

impl Session {
    /// Makes the session of an export that was negotiated in `dialect`.
    pub fn new(export: ExportInfo, dialect: Dialect) -> Self {
        Self { dialect, export }
    }

    /// Returns the export.
    pub fn export(&self) -> &ExportInfo {
        &self.export
    }

    /// Returns whether reads are answered in chunks.
    pub fn is_structured(&self) -> bool {
        self.dialect.is_structured
    }

    /// Returns the size of a request header in bytes.
    pub fn header_bytes(&self) -> usize {
        if self.dialect.is_extended { wire::EXTENDED_REQUEST_BYTES } else { wire::REQUEST_BYTES }
    }

    /// Parses the request at the start of `bytes`.
    ///
    /// # Errors
    /// [`Breach`] if the connection must be closed.
    pub fn parse(&self, bytes: &[u8]) -> Result<Parsed, Breach> {
        let header = self.header_bytes();
        let Some(raw) = self.raw(bytes)? else { return Ok(Parsed::Incomplete) };
        let has_payload = raw.command == wire::CMD_WRITE
            || self.dialect.is_extended && raw.flags & wire::CMD_FLAG_PAYLOAD_LEN != 0;
        let payload = if has_payload { raw.length } else { 0 };
        match self.check(&raw) {
            Ok(request) => Ok(Parsed::Request { request, header }),
            Err(_) if payload > SKIPPED_BYTES_MAX => Err(Breach::Payload { payload }),
            Err(failure) => {
                let Raw { cookie, offset, command, .. } = raw;
                let is_read = matches!(command, wire::CMD_READ | wire::CMD_BLOCK_STATUS);
                let refused = Refused { cookie, offset, is_read, failure };
                Ok(Parsed::Refused { refused, header, payload })
            }
        }
    }

    fn raw(&self, bytes: &[u8]) -> Result<Option<Raw>, Breach> {
        let mut reader = Reader::new(bytes);
        let Some(magic) = reader.u32() else { return Ok(None) };
        let is_extended = self.dialect.is_extended;
        let expected = if is_extended { wire::EXTENDED_REQUEST_MAGIC } else { wire::REQUEST_MAGIC };
        if magic != expected {
            return Err(Breach::Magic { found: magic });
        }
        let mut rest = || {
            let (flags, command) = (reader.u16()?, reader.u16()?);
            let (cookie, offset) = (reader.u64()?, reader.u64()?);
            let length = if is_extended { reader.u64()? } else { u64::from(reader.u32()?) };
            Some(Raw { flags, command, cookie, offset, length })
        };
        Ok(rest())
    }

    /// Checks a header against the export.
    fn check(&self, raw: &Raw) -> Result<Request, Failure> {
        let &Raw { flags, command, cookie, offset, length } = raw;
        let (command, more) = self.command(command, flags)?;
        let payload_flag = if self.dialect.is_extended && command == Command::Write {
            wire::CMD_FLAG_PAYLOAD_LEN
        } else {
            0
        };
        if flags & !(wire::CMD_FLAG_FUA | more | payload_flag) != 0 {
            return Err(Failure::Invalid);
        }
        let is_durable = flags & wire::CMD_FLAG_FUA != 0;
        let request = Request { command, is_durable, cookie, offset, length };
        match command {
            Command::Disconnect => return Ok(request),
            Command::Flush if offset == 0 && length == 0 => return Ok(request),
            Command::Flush => return Err(Failure::Invalid),
            Command::Read { .. } | Command::BlockStatus => {}
            Command::Write | Command::Trim | Command::WriteZeroes { .. } => {
                if self.export.is_read_only {
                    return Err(Failure::NotPermitted);
                }
            }
        }
        self.check_range(&request)?;
        // Zeroing writes zeroes, so it is never fast.
        if flags & wire::CMD_FLAG_FAST_ZERO != 0 {
            return Err(Failure::NotSupported);
        }
        Ok(request)
    }

    fn check_range(&self, request: &Request) -> Result<(), Failure> {
        let &Request { command, offset, length, .. } = request;
        let is_write = matches!(command, Command::Write | Command::WriteZeroes { .. });
        let moves_data = matches!(command, Command::Read { .. } | Command::Write);
        let block = u64::from(self.export.block.minimum);
        if length == 0 || moves_data && length > u64::from(self.export.block.maximum) {
            return Err(Failure::Invalid);
        }
        if offset.checked_add(length).is_none_or(|end| end > self.export.size) {
            return Err(if is_write { Failure::NoSpace } else { Failure::Invalid });
        }
        // A block status can begin at any offset.
        let is_aligned = offset.is_multiple_of(block) && length.is_multiple_of(block);
        let is_fine = is_aligned || command == Command::BlockStatus;
        if is_fine { Ok(()) } else { Err(Failure::Invalid) }
    }

    /// Returns the command with this number, and the flags that it allows besides `FUA`.
    fn command(&self, number: u16, flags: u16) -> Result<(Command, u16), Failure> {
        Ok(match number {
            wire::CMD_READ => {
                let is_one_piece = flags & wire::CMD_FLAG_DF != 0;
                let allowed = if self.dialect.is_structured { wire::CMD_FLAG_DF } else { 0 };
                (Command::Read { is_one_piece }, allowed)
            }
            wire::CMD_WRITE => (Command::Write, 0),
            wire::CMD_DISC => (Command::Disconnect, u16::MAX),
            wire::CMD_FLUSH => (Command::Flush, 0),
            wire::CMD_TRIM => (Command::Trim, 0),
            wire::CMD_WRITE_ZEROES => {
                let may_deallocate = flags & wire::CMD_FLAG_NO_HOLE == 0;
                let allowed = wire::CMD_FLAG_NO_HOLE | wire::CMD_FLAG_FAST_ZERO;
                (Command::WriteZeroes { may_deallocate }, allowed)
            }
            wire::CMD_BLOCK_STATUS if self.dialect.has_allocation => {
                (Command::BlockStatus, wire::CMD_FLAG_REQ_ONE)
            }
            _ => return Err(Failure::Invalid),
        })
    }
}

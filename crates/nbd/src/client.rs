// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A client on any stream. It submits requests and takes replies in the order in which they arrive.
//!
//! Replies are buffered; requests are not. A client that submits many writes without taking replies
//! can deadlock with the server: limit the number of outstanding requests.

mod handshake;
mod load;
mod stream;

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Write};

use crate::bytes::Writer as _;
use crate::export::BlockSizes;
use crate::failure::Failure;
use crate::handshake::Dialect;
use crate::wire;

pub use handshake::list;
pub use load::{Load, Loaded};
pub use stream::Stream;

/// The size of the read buffer in bytes.
const BUFFER_BYTES: usize = 256 << 10;

/// The largest error chunk in bytes that a client accepts.
const MESSAGE_BYTES_MAX: u64 = 64 << 10;

/// The reason why a client cannot continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The connection failed or ended.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The server refused an option of the handshake.
    #[error("the server refused the export: {text} ({code:#x})")]
    Refused {
        /// The protocol's number of the refusal.
        code: u32,
        /// The server's explanation.
        text: String,
    },
    /// The server breaks the protocol.
    #[error("the server breaks the protocol: {0}")]
    Breach(&'static str),
}

/// A request to a server.
#[derive(Debug, Clone, Copy)]
pub struct Submission<'a> {
    /// The command's number, as defined in [`wire`].
    pub command: u16,
    /// The command's flags, as defined in [`wire`].
    pub flags: u16,
    /// The offset of the first byte.
    pub offset: u64,
    /// The length in bytes.
    pub length: u64,
    /// The data of a write.
    pub payload: &'a [u8],
}

/// An extent of a block status: its length and its flags.
pub type Extent = (u64, u64);

/// The reply to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The request's number, as [`Client::submit`] returned it.
    pub cookie: u64,
    /// Whether the server executed the request.
    pub result: Result<(), Failure>,
    /// The data of a read.
    pub data: Vec<u8>,
    /// The extents of a block status.
    pub extents: Vec<Extent>,
}

#[derive(Debug)]
struct Outstanding {
    command: u16,
    offset: u64,
    reply: Reply,
}

/// A connection to one export.
#[derive(Debug)]
pub struct Client<S> {
    stream: BufReader<S>,
    dialect: Dialect,
    size: u64,
    flags: u16,
    block: Option<BlockSizes>,
    name: String,
    description: String,
    next_cookie: u64,
    outstanding: HashMap<u64, Outstanding>,
    /// The memory of the next request (`scratch`), and the memory of replies that the caller has
    /// returned (`spare`).
    scratch: Vec<u8>,
    spare: Vec<Vec<u8>>,
}

impl<S: Read + Write> Client<S> {
    /// Negotiates the export called `export`, and the dialect: `wanted`, as far as the server
    /// supports it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn connect(stream: S, export: &str, wanted: Dialect) -> Result<Self, ClientError> {
        let mut stream = BufReader::with_capacity(BUFFER_BYTES, stream);
        let agreed = handshake::negotiate(&mut stream, export, wanted)?;
        Ok(Self {
            stream,
            dialect: agreed.dialect,
            size: agreed.size,
            flags: agreed.flags,
            block: agreed.block,
            name: agreed.name,
            description: agreed.description,
            next_cookie: 1,
            outstanding: HashMap::new(),
            scratch: Vec::new(),
            spare: Vec::new(),
        })
    }

    /// Returns the export's size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the export's transmission flags.
    pub fn flags(&self) -> u16 {
        self.flags
    }

    /// Returns the limits on the sizes of requests; `None` if the server did not state them.
    pub fn block(&self) -> Option<BlockSizes> {
        self.block
    }

    /// Returns the export's name as the server reports it, or else the requested name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the server's description of the export; empty if there is none.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the negotiated dialect.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the stream, for clients that break the protocol on purpose.
    pub fn stream_mut(&mut self) -> &mut S {
        self.stream.get_mut()
    }

    /// Returns the number of outstanding requests.
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// Sends a request without waiting for its reply; returns the request's number.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn submit(&mut self, submission: &Submission<'_>) -> io::Result<u64> {
        let &Submission { command, flags, offset, length, payload } = submission;
        let cookie = self.next_cookie;
        self.next_cookie += 1;
        let out = &mut self.scratch;
        out.clear();
        if self.dialect.is_extended {
            let is_write = command == wire::CMD_WRITE;
            out.put_u32(wire::EXTENDED_REQUEST_MAGIC);
            out.put_u16(flags | if is_write { wire::CMD_FLAG_PAYLOAD_LEN } else { 0 });
        } else {
            out.put_u32(wire::REQUEST_MAGIC);
            out.put_u16(flags);
        }
        out.put_u16(command);
        out.put_u64(cookie);
        out.put_u64(offset);
        if self.dialect.is_extended {
            out.put_u64(length);
        } else {
            let length = u32::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
            out.put_u32(length);
        }
        out.extend_from_slice(payload);
        self.stream.get_mut().write_all(out)?;
        let mut data = self.spare.pop().unwrap_or_default();
        if command == wire::CMD_READ {
            let length = usize::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
            data.resize(length, 0);
        }
        let reply = Reply { cookie, result: Ok(()), data, extents: Vec::new() };
        self.outstanding.insert(cookie, Outstanding { command, offset, reply });
        Ok(cookie)
    }

    /// Takes the next reply, which can belong to any outstanding request.
    ///
    /// # Errors
    /// [`ClientError`] if the connection fails or the server breaks the protocol.
    pub fn reply(&mut self) -> Result<Reply, ClientError> {
        loop {
            let (cookie, is_last) = match self.u32()? {
                wire::SIMPLE_REPLY_MAGIC => (self.take_simple()?, true),
                wire::STRUCTURED_REPLY_MAGIC if !self.dialect.is_extended => self.take_chunk()?,
                wire::EXTENDED_REPLY_MAGIC if self.dialect.is_extended => self.take_chunk()?,
                _ => return Err(ClientError::Breach("a reply has no magic number")),
            };
            if is_last && let Some(done) = self.outstanding.remove(&cookie) {
                return Ok(done.reply);
            }
        }
    }

    /// Returns a reply's memory, which later reads then use.
    pub fn recycle(&mut self, mut reply: Reply) {
        reply.data.clear();
        self.spare.push(reply.data);
    }

    fn take_simple(&mut self) -> Result<u64, ClientError> {
        let (error, cookie) = (self.u32()?, self.u64()?);
        let mut of = self.known(cookie)?;
        if error != 0 {
            of.reply.result = Err(Failure::of_code(error));
        } else if of.command == wire::CMD_READ {
            if self.dialect.is_structured {
                return Err(ClientError::Breach("a read has a simple reply"));
            }
            self.stream.read_exact(&mut of.reply.data)?;
        }
        self.outstanding.insert(cookie, of);
        Ok(cookie)
    }

    fn take_chunk(&mut self) -> Result<(u64, bool), ClientError> {
        let (flags, kind, cookie) = (self.u16()?, self.u16()?, self.u64()?);
        let size = if self.dialect.is_extended {
            let (_offset, size) = (self.u64()?, self.u64()?);
            size
        } else {
            u64::from(self.u32()?)
        };
        let mut of = self.known(cookie)?;
        match kind {
            wire::REPLY_TYPE_NONE if size == 0 => {}
            wire::REPLY_TYPE_OFFSET_DATA if size > 8 => {
                let at = self.u64()?;
                let range = range_of(&of, at, size - 8)?;
                self.stream.read_exact(&mut of.reply.data[range])?;
            }
            wire::REPLY_TYPE_OFFSET_HOLE if size == 12 => {
                let (at, length) = (self.u64()?, self.u32()?);
                let range = range_of(&of, at, u64::from(length))?;
                of.reply.data[range].fill(0);
            }
            wire::REPLY_TYPE_BLOCK_STATUS if size >= 12 && (size - 4).is_multiple_of(8) => {
                self.u32()?;
                for _ in 0..(size - 4) / 8 {
                    let extent = (u64::from(self.u32()?), u64::from(self.u32()?));
                    of.reply.extents.push(extent);
                }
            }
            wire::REPLY_TYPE_BLOCK_STATUS_EXT if size >= 24 && (size - 8).is_multiple_of(16) => {
                self.u64()?;
                for _ in 0..(size - 8) / 16 {
                    let extent = (self.u64()?, self.u64()?);
                    of.reply.extents.push(extent);
                }
            }
            _ if kind >> 15 == 1 && (6..=MESSAGE_BYTES_MAX).contains(&size) => {
                of.reply.result = Err(Failure::of_code(self.u32()?));
                io::copy(&mut self.stream.by_ref().take(size - 4), &mut io::sink())?;
            }
            _ => return Err(ClientError::Breach("a chunk is of an unknown kind or size")),
        }
        self.outstanding.insert(cookie, of);
        Ok((cookie, flags & wire::REPLY_FLAG_DONE != 0))
    }

    fn known(&mut self, cookie: u64) -> Result<Outstanding, ClientError> {
        let of = self.outstanding.remove(&cookie);
        of.ok_or(ClientError::Breach("a reply names a request that is not outstanding"))
    }

    fn array<const COUNT: usize>(&mut self) -> io::Result<[u8; COUNT]> {
        let mut bytes = [0; COUNT];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn u16(&mut self) -> io::Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> io::Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> io::Result<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Sends a request and waits for its reply; no other request may be outstanding.
    ///
    /// # Errors
    /// [`ClientError`].
    ///
    /// # Panics
    /// If a request is outstanding.
    pub fn call(&mut self, submission: &Submission<'_>) -> Result<Reply, ClientError> {
        assert!(self.outstanding.is_empty(), "a call waits for its own reply only");
        self.submit(submission)?;
        self.reply()
    }

    /// Reads `length` bytes from `offset` on.
    ///
    /// # Errors
    /// [`ClientError`]; the server's failure is in the result.
    pub fn read(
        &mut self,
        offset: u64,
        length: usize,
    ) -> Result<Result<Vec<u8>, Failure>, ClientError> {
        let (command, length) = (wire::CMD_READ, length as u64);
        let reply = self.call(&Submission { command, flags: 0, offset, length, payload: &[] })?;
        Ok(reply.result.map(|()| reply.data))
    }

    /// Writes `payload` from `offset` on. With `is_durable`, the data is on the medium when the
    /// write succeeds.
    ///
    /// # Errors
    /// The same as [`Self::read`].
    pub fn write(
        &mut self,
        offset: u64,
        payload: &[u8],
        is_durable: bool,
    ) -> Result<Result<(), Failure>, ClientError> {
        let flags = if is_durable { wire::CMD_FLAG_FUA } else { 0 };
        let (command, length) = (wire::CMD_WRITE, payload.len() as u64);
        Ok(self.call(&Submission { command, flags, offset, length, payload })?.result)
    }

    /// Makes all completed writes durable.
    ///
    /// # Errors
    /// The same as [`Self::read`].
    pub fn flush(&mut self) -> Result<Result<(), Failure>, ClientError> {
        let command = wire::CMD_FLUSH;
        let flush = Submission { command, flags: 0, offset: 0, length: 0, payload: &[] };
        Ok(self.call(&flush)?.result)
    }

    /// Executes a command that transfers no data on a range: trim, zeroes, block status.
    ///
    /// # Errors
    /// The same as [`Self::read`].
    pub fn on_range(
        &mut self,
        command: u16,
        flags: u16,
        offset: u64,
        length: u64,
    ) -> Result<Reply, ClientError> {
        self.call(&Submission { command, flags, offset, length, payload: &[] })
    }

    /// Tells the server that no more requests follow. The protocol requires this before a client
    /// disconnects.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn disconnect(&mut self) -> io::Result<()> {
        let command = wire::CMD_DISC;
        let leave = Submission { command, flags: 0, offset: 0, length: 0, payload: &[] };
        self.submit(&leave).map(drop)
    }
}

/// Returns the part of the request's data that the chunk fills.
fn range_of(of: &Outstanding, at: u64, count: u64) -> Result<std::ops::Range<usize>, ClientError> {
    let range = || {
        let begin = usize::try_from(at.checked_sub(of.offset)?).ok()?;
        let end = begin.checked_add(usize::try_from(count).ok()?)?;
        (end <= of.reply.data.len()).then_some(begin..end)
    };
    range().ok_or(ClientError::Breach("a chunk lies outside its request"))
}

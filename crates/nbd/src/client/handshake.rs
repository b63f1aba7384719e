// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The client's side of the handshake.

use std::io::{BufReader, Read, Write};

use super::ClientError;
use crate::bytes::{Reader, Writer as _, length};
use crate::export::{BlockSizes, Listed};
use crate::handshake::Dialect;
use crate::meta::ALLOCATION;
use crate::wire;

/// The largest reply to an option in bytes that a client accepts.
const REPLY_BYTES_MAX: u32 = 64 << 10;

/// The result of a handshake.
pub(super) struct Agreed {
    pub(super) dialect: Dialect,
    pub(super) size: u64,
    pub(super) flags: u16,
    pub(super) block: Option<BlockSizes>,
    pub(super) name: String,
    pub(super) description: String,
}

/// A server during its handshake.
struct Options<'a, S>(&'a mut BufReader<S>);

impl<S: Read + Write> Options<'_, S> {
    fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], ClientError> {
        let mut bytes = [0; COUNT];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn greet(&mut self) -> Result<(), ClientError> {
        let magic = [self.array()?, self.array()?].map(u64::from_be_bytes);
        if magic != [wire::NBDMAGIC, wire::IHAVEOPT] {
            return Err(ClientError::Breach("it does not greet as an NBD server does"));
        }
        let flags = u16::from_be_bytes(self.array()?);
        let wanted = wire::FLAG_FIXED_NEWSTYLE | wire::FLAG_NO_ZEROES;
        if flags & wanted != wanted {
            return Err(ClientError::Breach("it does not speak the fixed newstyle"));
        }
        self.0.get_mut().write_all(&u32::from(wanted).to_be_bytes())?;
        Ok(())
    }

    fn ask(&mut self, option: u32, data: &[u8]) -> Result<(), ClientError> {
        let mut out = Vec::new();
        out.put_u64(wire::IHAVEOPT);
        out.put_u32(option);
        out.put_u32(length(data.len()));
        out.extend_from_slice(data);
        self.0.get_mut().write_all(&out)?;
        Ok(())
    }

    /// Returns the kind and data of the next reply.
    fn reply(&mut self) -> Result<(u32, Vec<u8>), ClientError> {
        if u64::from_be_bytes(self.array()?) != wire::OPTION_REPLY_MAGIC {
            return Err(ClientError::Breach("an option's reply has no magic number"));
        }
        let [_option, kind, size] =
            [self.array()?, self.array()?, self.array()?].map(u32::from_be_bytes);
        if size > REPLY_BYTES_MAX {
            return Err(ClientError::Breach("an option's reply is too long"));
        }
        let mut data = vec![0; size as usize];
        self.0.read_exact(&mut data)?;
        Ok((kind, data))
    }

    /// Sends an option without data; returns whether the server supports it.
    fn has(&mut self, option: u32) -> Result<bool, ClientError> {
        self.ask(option, &[])?;
        Ok(self.reply()?.0 == wire::REP_ACK)
    }

    /// Selects the context `base:allocation` for the export; returns whether the server has it.
    fn select_allocation(&mut self, export: &str) -> Result<bool, ClientError> {
        let mut data = Vec::new();
        data.put_u32(length(export.len()));
        data.extend_from_slice(export.as_bytes());
        data.put_u32(1);
        data.put_u32(length(ALLOCATION.len()));
        data.extend_from_slice(ALLOCATION.as_bytes());
        self.ask(wire::OPT_SET_META_CONTEXT, &data)?;
        let mut has_it = false;
        loop {
            match self.reply()?.0 {
                wire::REP_META_CONTEXT => has_it = true,
                wire::REP_ACK => return Ok(has_it),
                _ => return Ok(false),
            }
        }
    }
}

/// Negotiates an export.
pub(super) fn negotiate<S: Read + Write>(
    stream: &mut BufReader<S>,
    export: &str,
    wanted: Dialect,
) -> Result<Agreed, ClientError> {
    let mut options = Options(stream);
    options.greet()?;
    let is_extended = wanted.is_extended && options.has(wire::OPT_EXTENDED_HEADERS)?;
    let is_structured =
        is_extended || wanted.is_structured && options.has(wire::OPT_STRUCTURED_REPLY)?;
    let has_allocation =
        wanted.has_allocation && is_structured && options.select_allocation(export)?;
    let dialect = Dialect { is_structured, is_extended, has_allocation };
    let mut data = Vec::new();
    data.put_u32(length(export.len()));
    data.extend_from_slice(export.as_bytes());
    data.put_u16(3);
    data.put_u16(wire::INFO_NAME);
    data.put_u16(wire::INFO_DESCRIPTION);
    data.put_u16(wire::INFO_BLOCK_SIZE);
    options.ask(wire::OPT_GO, &data)?;
    let (name, description) = (export.to_owned(), String::new());
    let mut agreed = Agreed { dialect, size: 0, flags: 0, block: None, name, description };
    loop {
        let (kind, data) = options.reply()?;
        match kind {
            wire::REP_INFO => read_info(&data, &mut agreed)
                .ok_or(ClientError::Breach("an information is too short"))?,
            wire::REP_ACK => return Ok(agreed),
            code => {
                return Err(ClientError::Refused { code, text: text(&data) });
            }
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read_info(data: &[u8], agreed: &mut Agreed) -> Option<()> {
    let mut reader = Reader::new(data);
    match reader.u16()? {
        wire::INFO_EXPORT => (agreed.size, agreed.flags) = (reader.u64()?, reader.u16()?),
        wire::INFO_BLOCK_SIZE => {
            let (minimum, preferred, maximum) = (reader.u32()?, reader.u32()?, reader.u32()?);
            agreed.block = Some(BlockSizes { minimum, preferred, maximum });
        }
        wire::INFO_NAME => agreed.name = text(reader.rest()),
        wire::INFO_DESCRIPTION => agreed.description = text(reader.rest()),
        _ => {}
    }
    Some(())
}

/// Returns the exports that a server lists, and ends the handshake.
///
/// # Errors
/// [`ClientError`].
pub fn list<S: Read + Write>(stream: S) -> Result<Vec<Listed>, ClientError> {
    let mut stream = BufReader::new(stream);
    let mut options = Options(&mut stream);
    options.greet()?;
    options.ask(wire::OPT_LIST, &[])?;
    let mut listed = Vec::new();
    loop {
        let (kind, data) = options.reply()?;
        match kind {
            wire::REP_SERVER => {
                let mut reader = Reader::new(&data);
                let name = reader.text().ok_or(ClientError::Breach("a name is too short"))?;
                listed.push(Listed { name: text(name), description: text(reader.rest()) });
            }
            wire::REP_ACK => break,
            code => {
                return Err(ClientError::Refused { code, text: text(&data) });
            }
        }
    }
    options.ask(wire::OPT_ABORT, &[])?;
    Ok(listed)
}

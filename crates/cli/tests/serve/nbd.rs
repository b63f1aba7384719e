// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An NBD client that can also misbehave: it can disconnect without notice.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

const OPTION: &[u8; 8] = b"IHAVEOPT";
const OPTION_GO: u32 = 7;
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
const ACKNOWLEDGED: u32 = 1;
const REQUEST: u32 = 0x2560_9513;
const REPLY: u32 = 0x6744_6698;

const READ: u16 = 0;
const WRITE: u16 = 1;
const FLUSH: u16 = 3;
const FUA: u16 = 1;

/// A connection to one export.
pub(crate) struct Client {
    stream: UnixStream,
}

/// A reply: the request's cookie, and the protocol's error or 0.
pub(crate) type Answered = (u64, u32);

impl Client {
    /// Connects to `export` at that socket.
    pub(crate) fn connect(socket: &Path, export: &str) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(crate::server::PATIENCE))?;
        let mut client = Self { stream };
        let mut greeting = [0; 18];
        client.stream.read_exact(&mut greeting)?;
        let name = u32::try_from(export.len()).unwrap();
        let mut hello = 3_u32.to_be_bytes().to_vec();
        hello.extend(OPTION);
        hello.extend(OPTION_GO.to_be_bytes());
        hello.extend((name + 6).to_be_bytes());
        hello.extend(name.to_be_bytes());
        hello.extend(export.as_bytes());
        hello.extend(0_u16.to_be_bytes());
        client.stream.write_all(&hello)?;
        loop {
            let magic = u64::from_be_bytes(client.take()?);
            let (_option, kind) = (client.number()?, client.number()?);
            let mut text = vec![0; client.number()? as usize];
            client.stream.read_exact(&mut text)?;
            if magic != OPTION_REPLY || kind >= 1 << 31 {
                return Err(io::Error::other(format!("refused: {kind:#x}")));
            }
            if kind == ACKNOWLEDGED {
                return Ok(client);
            }
        }
    }

    fn take<const COUNT: usize>(&mut self) -> io::Result<[u8; COUNT]> {
        let mut bytes = [0; COUNT];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn number(&mut self) -> io::Result<u32> {
        Ok(u32::from_be_bytes(self.take()?))
    }

    fn send(&mut self, kind: u16, flags: u16, cookie: u64, offset: u64, size: usize, data: &[u8]) {
        let mut request = REQUEST.to_be_bytes().to_vec();
        request.extend(flags.to_be_bytes());
        request.extend(kind.to_be_bytes());
        request.extend(cookie.to_be_bytes());
        request.extend(offset.to_be_bytes());
        request.extend(u32::try_from(size).unwrap().to_be_bytes());
        request.extend(data);
        // A killed server is noticed when the reply is missing.
        let _ = self.stream.write_all(&request);
    }

    /// Sends a write and does not wait.
    pub(crate) fn ask_write(&mut self, cookie: u64, offset: u64, data: &[u8], is_durable: bool) {
        let flags = if is_durable { FUA } else { 0 };
        self.send(WRITE, flags, cookie, offset, data.len(), data);
    }

    /// Returns the next reply to a request other than a read.
    pub(crate) fn answer(&mut self) -> io::Result<Answered> {
        let (magic, error) = (self.number()?, self.number()?);
        if magic != REPLY {
            return Err(io::Error::other("no reply"));
        }
        Ok((u64::from_be_bytes(self.take()?), error))
    }

    /// Writes; returns the protocol's error, or 0.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8], is_durable: bool) -> io::Result<u32> {
        self.ask_write(1, offset, data, is_durable);
        self.answer().map(|(_, error)| error)
    }

    pub(crate) fn flush(&mut self) -> io::Result<u32> {
        self.send(FLUSH, 0, 1, 0, 0, &[]);
        self.answer().map(|(_, error)| error)
    }

    /// Reads; returns the protocol's error, or the data.
    pub(crate) fn read(&mut self, offset: u64, size: usize) -> io::Result<Result<Vec<u8>, u32>> {
        self.send(READ, 0, 1, offset, size, &[]);
        let (_, error) = self.answer()?;
        if error != 0 {
            return Ok(Err(error));
        }
        let mut data = vec![0; size];
        self.stream.read_exact(&mut data)?;
        Ok(Ok(data))
    }
}

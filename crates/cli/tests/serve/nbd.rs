// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An NBD client that can also misbehave: it can disconnect without notice.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use tidegate_nbd::client::{self, ClientError, Submission};
use tidegate_nbd::{Dialect, Failure, wire};

/// A connection to one export.
pub(crate) struct Client {
    client: client::Client<UnixStream>,
    /// The test's number for each request, by the request's cookie.
    names: HashMap<u64, u64>,
}

/// A reply: the test's number for the request, and the protocol's error or 0.
pub(crate) type Answered = (u64, u32);

fn code(result: Result<(), Failure>) -> u32 {
    result.map_or_else(Failure::code, |()| 0)
}

fn of_io(error: ClientError) -> io::Error {
    match error {
        ClientError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

/// Connects to the socket and negotiates nothing.
pub(crate) fn raw(socket: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(crate::server::PATIENCE))?;
    Ok(stream)
}

impl Client {
    /// Connects to `export` at that socket.
    pub(crate) fn connect(socket: &Path, export: &str) -> io::Result<Self> {
        Self::speaking(socket, export, Dialect::default())
    }

    /// Connects with a dialect.
    pub(crate) fn speaking(socket: &Path, export: &str, dialect: Dialect) -> io::Result<Self> {
        let client = client::Client::connect(raw(socket)?, export, dialect).map_err(of_io)?;
        Ok(Self { client, names: HashMap::new() })
    }

    pub(crate) fn inner(&mut self) -> &mut client::Client<UnixStream> {
        &mut self.client
    }

    /// Sends a write without waiting for its reply.
    pub(crate) fn ask_write(&mut self, name: u64, offset: u64, payload: &[u8], is_durable: bool) {
        let flags = if is_durable { wire::CMD_FLAG_FUA } else { 0 };
        let (command, length) = (wire::CMD_WRITE, payload.len() as u64);
        let submission = Submission { command, flags, offset, length, payload };
        // If the server was killed, the missing reply shows it later.
        if let Ok(cookie) = self.client.submit(&submission) {
            self.names.insert(cookie, name);
        }
    }

    /// Sends a read without waiting for its reply.
    pub(crate) fn ask_read(&mut self, offset: u64, length: u64) -> io::Result<u64> {
        let command = wire::CMD_READ;
        self.client.submit(&Submission { command, flags: 0, offset, length, payload: &[] })
    }

    /// Returns the next reply to a write.
    pub(crate) fn answer(&mut self) -> io::Result<Answered> {
        let reply = self.client.reply().map_err(of_io)?;
        Ok((self.names[&reply.cookie], code(reply.result)))
    }

    /// Writes; returns the protocol's error, or 0.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8], is_durable: bool) -> io::Result<u32> {
        self.client.write(offset, data, is_durable).map(code).map_err(of_io)
    }

    pub(crate) fn flush(&mut self) -> io::Result<u32> {
        self.client.flush().map(code).map_err(of_io)
    }

    /// Reads; returns the protocol's error, or the data.
    pub(crate) fn read(&mut self, offset: u64, size: usize) -> io::Result<Result<Vec<u8>, u32>> {
        let read = self.client.read(offset, size).map_err(of_io)?;
        Ok(read.map_err(Failure::code))
    }

    /// Sends bytes that may not be a valid request; returns whether the server closes the
    /// connection.
    pub(crate) fn is_closed_after(&mut self, bytes: &[u8]) -> bool {
        let stream = self.client.stream_mut();
        stream.write_all(bytes).is_err() || stream.read(&mut [0; 64]).is_ok_and(|it| it == 0)
    }
}

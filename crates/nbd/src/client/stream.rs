// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A connection to a server at an address.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::uri::Address;

/// A connection to a server.
#[derive(Debug)]
pub enum Stream {
    /// Through a socket in the file system.
    Unix(UnixStream),
    /// Over TCP.
    Tcp(TcpStream),
}

impl Stream {
    /// Connects to a server.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(address: &Address) -> io::Result<Self> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Self::Unix),
            Address::Tcp { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port))?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(stream))
            }
        }
    }

    /// Limits the time for which a read waits.
    ///
    /// # Errors
    /// The system's error.
    pub fn set_read_timeout(&self, time: Duration) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(Some(time)),
            Self::Tcp(stream) => stream.set_read_timeout(Some(time)),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(bytes),
            Self::Tcp(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The address of an export in the form that people write.
//!
//! # Source
//! The format is that of <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/uri.md>,
//! without TLS and vsock.

use std::path::PathBuf;

/// The default port of NBD.
const PORT: u16 = 10_809;

/// The address at which a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A host and a port.
    Tcp {
        /// The host, without brackets.
        host: String,
        /// The port.
        port: u16,
    },
}

/// The address of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uri {
    /// The address at which the server listens.
    pub address: Address,
    /// The export's name; empty for the default export.
    pub export: String,
}

/// The reason why a text is not the address of an export.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// The text does not begin with the scheme of an address.
    #[error(
        "an address begins with nbd:// or nbd+unix:///, for example nbd+unix:///NAME?socket=PATH"
    )]
    Scheme,
    /// The address requires encryption, which the client half does not support.
    #[error("this client does not encrypt; nbdinfo and nbdcopy open nbds:// addresses")]
    Encrypted,
    /// The address of a Unix socket lacks the socket's path.
    #[error("nbd+unix:///NAME needs ?socket=PATH")]
    NoSocket,
    /// The host or the port is invalid.
    #[error("`{0}` is not HOST or HOST:PORT")]
    Host(String),
    /// A percent sign is not followed by two hexadecimal digits, or the result is not UTF-8.
    #[error("`{0}` has a wrong percent code")]
    Percent(String),
}

impl std::str::FromStr for Uri {
    type Err = UriError;

    fn from_str(text: &str) -> Result<Self, UriError> {
        if let Some(rest) = text.strip_prefix("nbd+unix://") {
            let (path, query) = rest.split_once('?').ok_or(UriError::NoSocket)?;
            let socket = query.split('&').find_map(|pair| pair.strip_prefix("socket="));
            let socket =
                decoded(socket.filter(|path| !path.is_empty()).ok_or(UriError::NoSocket)?)?;
            let export = decoded(path.strip_prefix('/').unwrap_or(path))?;
            return Ok(Self { address: Address::Unix(PathBuf::from(socket)), export });
        }
        if text.starts_with("nbds") {
            return Err(UriError::Encrypted);
        }
        let rest = text.strip_prefix("nbd://").ok_or(UriError::Scheme)?;
        let (authority, export) = rest.split_once('/').unwrap_or((rest, ""));
        Ok(Self { address: host_and_port(authority)?, export: decoded(export)? })
    }
}

fn host_and_port(text: &str) -> Result<Address, UriError> {
    let fault = || UriError::Host(text.to_owned());
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().map_err(|_| fault())?),
        _ => (text, PORT),
    };
    let host = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
    if host.is_empty() {
        return Err(fault());
    }
    Ok(Address::Tcp { host: host.to_owned(), port })
}

fn decoded(text: &str) -> Result<String, UriError> {
    let fault = || UriError::Percent(text.to_owned());
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(rest.next()), digit(rest.next()));
        let (high, low) = (high.ok_or_else(fault)?, low.ok_or_else(fault)?);
        bytes.push(u8::try_from(16 * high + low).expect("two digits"));
    }
    String::from_utf8(bytes).map_err(|_| fault())
}

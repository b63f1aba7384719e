// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Treats arbitrary bytes as a client's input: a handshake, then requests, split anywhere.
//!
//! Replies are checked with the client half's parser, which must accept the server half's reply as
//! the reply to the same request.

use std::io::{self, Read, Write};

use crate::client::Client;
use crate::{
    BlockSizes, Catalogue, Command, ExportInfo, Handshake, Listed, Parsed, Session, Step, Tls,
    Unavailable,
};

/// The largest output in bytes that a client can cause without reading it.
const OUTPUT_BYTES_MAX: usize = 16 << 10;

/// A catalogue of two exports, one of them read-only.
#[derive(Debug)]
pub struct Exports;

impl Exports {
    /// Returns the export called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<ExportInfo> {
        let is_read_only = match name {
            "" | "disk" => false,
            "notes" => true,
            _ => return None,
        };
        let block = BlockSizes { minimum: 512, preferred: 4096, maximum: 1 << 20 };
        Some(ExportInfo {
            name: name.to_owned(),
            description: "an export".to_owned(),
            size: 8 << 20,
            block,
            is_read_only,
            can_trim: true,
            is_rotational: false,
        })
    }
}

impl Catalogue for Exports {
    fn list(&self) -> Vec<Listed> {
        let listed = |name: &str| Listed { name: name.to_owned(), description: String::new() };
        ["disk", "notes"].map(listed).to_vec()
    }

    fn find(&self, name: &str) -> Result<ExportInfo, Unavailable> {
        Self::named(name).ok_or(Unavailable::Unknown)
    }
}

/// The stage that the connection has reached when the bytes end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// The client completed no option.
    Nothing,
    /// The client entered an export.
    Entered,
    /// A valid request was read.
    Requested,
}

/// Passes the bytes to a server. The first byte decides the size of the pieces and whether the
/// server requires TLS.
///
/// # Errors
/// The description of a wrong result.
pub fn run(bytes: &[u8]) -> Result<Reached, String> {
    let Some((&first, bytes)) = bytes.split_first() else { return Ok(Reached::Nothing) };
    let piece = usize::from(first >> 2) + 1;
    let tls = if first & 1 == 0 { Tls::Off } else { Tls::Required };
    let mut handshake = Handshake::new(tls);
    let mut is_encrypted = false;
    let mut at = 0;
    let entered = loop {
        if handshake.output().len() > OUTPUT_BYTES_MAX {
            return Err(format!("{} bytes of output at once", handshake.output().len()));
        }
        handshake.output().clear();
        match handshake.step(&mut Exports) {
            Err(_) | Ok(Step::End) => return Ok(Reached::Nothing),
            Ok(Step::Enter(entered)) => break entered,
            Ok(Step::StartTls) => match handshake.encrypted() {
                Ok(next) => (handshake, is_encrypted) = (next, true),
                Err(_) => return Ok(Reached::Nothing),
            },
            Ok(Step::More) if !handshake.output().is_empty() => {}
            Ok(Step::More) if at == bytes.len() => return Ok(Reached::Nothing),
            Ok(Step::More) => {
                let end = bytes.len().min(at + piece.min(handshake.room()));
                handshake.receive(&bytes[at..end]);
                at = end;
            }
        }
    };
    if tls == Tls::Required && !is_encrypted {
        return Err("an export was entered without encryption".to_owned());
    }
    let session = Session::new(entered.export.clone(), entered.dialect);
    let mut left = entered.rest;
    left.extend_from_slice(&bytes[at..]);
    let mut reached = Reached::Entered;
    let mut rest = &left[..];
    loop {
        let Ok(parsed) = session.parse(rest) else { return Ok(reached) };
        match parsed {
            Parsed::Incomplete => return Ok(reached),
            Parsed::Refused { refused, header, payload } => {
                let mut out = Vec::new();
                session.put_refused(&mut out, &refused);
                let skipped = usize::try_from(payload).map_err(|error| error.to_string())?;
                rest = rest.get(header + skipped..).unwrap_or_default();
            }
            Parsed::Request { request, header } => {
                reached = Reached::Requested;
                check(&session, &request)?;
                if request.command == Command::Disconnect {
                    return Ok(reached);
                }
                let payload = usize::try_from(request.payload()).map_err(|it| it.to_string())?;
                rest = rest.get(header + payload..).unwrap_or_default();
            }
        }
    }
}

/// Checks that a request stays within its export.
fn check(session: &Session, request: &crate::Request) -> Result<(), String> {
    let export = session.export();
    let has_range = !matches!(request.command, Command::Flush | Command::Disconnect);
    let writes =
        matches!(request.command, Command::Write | Command::Trim | Command::WriteZeroes { .. });
    let end = request.offset.checked_add(request.length);
    let is_within = end.is_some_and(|end| end <= export.size) && request.length > 0;
    if has_range && !is_within || writes && export.is_read_only {
        return Err(format!("{request:?} was accepted by {export:?}"));
    }
    let moved = matches!(request.command, Command::Read { .. } | Command::Write);
    if moved && request.length > u64::from(export.block.maximum) {
        return Err(format!("{request:?} is larger than {:?}", export.block));
    }
    Ok(())
}

/// A server in memory, as a stream: its reads return the server's replies to the bytes that were
/// written.
#[derive(Debug)]
pub struct Memory {
    handshake: Option<Handshake>,
    session: Option<Session>,
    input: Vec<u8>,
    output: Vec<u8>,
    data: Vec<u8>,
}

impl Default for Memory {
    fn default() -> Self {
        let (handshake, data) = (Some(Handshake::new(Tls::Off)), vec![0; 8 << 20]);
        Self { handshake, session: None, input: Vec::new(), output: Vec::new(), data }
    }
}

/// Connects a client to a server in memory.
///
/// # Panics
/// If the handshake fails.
#[must_use]
pub fn client(export: &str, wanted: crate::Dialect) -> Client<Memory> {
    Client::connect(Memory::default(), export, wanted).expect("the server is our own")
}

impl Memory {
    fn turn(&mut self) {
        if let Some(handshake) = &mut self.handshake {
            handshake.receive(&std::mem::take(&mut self.input));
            loop {
                self.output.append(handshake.output());
                match handshake.step(&mut Exports) {
                    Ok(Step::Enter(entered)) => {
                        self.output.append(handshake.output());
                        self.session = Some(Session::new(entered.export, entered.dialect));
                        self.input = entered.rest;
                        self.handshake = None;
                        break;
                    }
                    Ok(Step::More) if !handshake.output().is_empty() => {}
                    Ok(Step::More) => return,
                    _ => {
                        self.output.append(handshake.output());
                        return;
                    }
                }
            }
        }
        while self.serve_one() {}
    }

    fn serve_one(&mut self) -> bool {
        let Some(session) = &self.session else { return false };
        let Ok(parsed) = session.parse(&self.input) else { return false };
        let (header, payload) = match parsed {
            Parsed::Incomplete => return false,
            Parsed::Refused { refused, header, payload } => {
                session.put_refused(&mut self.output, &refused);
                (header, payload)
            }
            Parsed::Request { request, header } => {
                let (begin, count) = (index(request.offset), index(request.length));
                match request.command {
                    Command::Read { .. } => {
                        // The data is sent in two chunks, if that is allowed.
                        let half = if session.dialect.is_structured { count / 2 } else { 0 };
                        if half > 0 {
                            session.put_data_head(
                                &mut self.output,
                                &request,
                                request.offset,
                                half,
                                false,
                            );
                            self.output.extend_from_slice(&self.data[begin..begin + half]);
                        }
                        let at = request.offset + half as u64;
                        session.put_data_head(&mut self.output, &request, at, count - half, true);
                        self.output.extend_from_slice(&self.data[begin + half..begin + count]);
                    }
                    Command::BlockStatus => session.put_allocated(&mut self.output, &request),
                    Command::Write => {
                        let payload = &self.input[header..header + count];
                        self.data[begin..begin + count].copy_from_slice(payload);
                        session.put_done(&mut self.output, &request);
                    }
                    Command::Trim | Command::WriteZeroes { .. } => {
                        self.data[begin..begin + count].fill(0);
                        session.put_done(&mut self.output, &request);
                    }
                    Command::Flush => session.put_done(&mut self.output, &request),
                    Command::Disconnect => {}
                }
                (header, request.payload())
            }
        };
        self.input.drain(..header + index(payload));
        true
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("of an export in memory")
}

impl Read for Memory {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.turn();
        let count = bytes.len().min(self.output.len());
        bytes[..count].copy_from_slice(&self.output[..count]);
        self.output.drain(..count);
        Ok(count)
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.input.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

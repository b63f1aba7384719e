// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The server's side of the handshake: fixed newstyle, one option at a time.
//!
//! ```text
//!   greeting --client flags--> options --GO, EXPORT_NAME--> Step::Enter
//!                               |  ^  `--ABORT, breach----> Step::End
//!                               +--+-- STARTTLS: Step::StartTls, then the options begin again
//! ```
//! The caller sends [`Handshake::output`] completely before it calls [`Handshake::step`] again. So
//! a client that sends options and reads no replies has at most the replies to one option in
//! memory.

use crate::bytes::{Reader, Writer as _, length};
use crate::export::{ExportInfo, Listed};
use crate::meta;
use crate::wire;

/// The largest data of one option in bytes; a longer option ends the handshake.
const OPTION_BYTES_MAX: usize = 4 * wire::NAME_BYTES_MAX;

/// The largest number of options in one handshake.
const OPTIONS_MAX: u32 = 128;

/// Whether the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// The server does not encrypt.
    Off,
    /// The client must encrypt before it does anything else.
    Required,
    /// The connection is encrypted.
    On,
}

/// The formats of requests and replies that server and client have agreed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dialect {
    /// Reads are answered in chunks.
    pub is_structured: bool,
    /// Headers are extended, which implies structured replies.
    pub is_extended: bool,
    /// The client can request `base:allocation`.
    pub has_allocation: bool,
}

/// The reason why a client cannot enter an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    /// No export has this name.
    Unknown,
    /// The export has too many connections.
    Crowded,
    /// The server is ending.
    Ending,
}

/// The exports of a server.
pub trait Catalogue {
    /// Returns the list of exports.
    fn list(&self) -> Vec<Listed>;

    /// Returns the export called `name`.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn find(&self, name: &str) -> Result<ExportInfo, Unavailable>;

    /// Returns the export called `name` for a connection that enters it. An implementation can
    /// reserve a slot for the connection.
    ///
    /// # Errors
    /// [`Unavailable`].
    fn enter(&mut self, name: &str) -> Result<ExportInfo, Unavailable> {
        self.find(name)
    }
}

/// The next step of a handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The caller must send the output; if there is none, the handshake needs more bytes.
    More,
    /// Once the output is sent, the client starts to encrypt.
    StartTls,
    /// Once the output is sent, the client sends requests.
    Enter(Box<Entered>),
    /// Once the output is sent, the connection must be closed.
    End,
}

/// The result of a handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entered {
    /// The export.
    pub export: ExportInfo,
    /// The agreed formats of requests and replies.
    pub dialect: Dialect,
    /// The bytes that the client sent after the handshake's end.
    pub rest: Vec<u8>,
}

/// The reason why a handshake fails without a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// The client flags are unknown.
    #[error("the client sent unknown flags {flags:#x}")]
    Flags {
        /// The client flags.
        flags: u32,
    },
    /// An option does not begin with the magic number.
    #[error("an option begins with {found:#018x}, not with IHAVEOPT")]
    Magic {
        /// The option's first eight bytes.
        found: u64,
    },
    /// The client sent too many options.
    #[error("the client sent more than {OPTIONS_MAX} options")]
    Options,
    /// Unencrypted bytes follow the request to encrypt.
    #[error("the client sent unencrypted bytes after STARTTLS")]
    Injected,
    /// A client of the old option `EXPORT_NAME` named an export that it cannot have; the protocol
    /// has no reply for that.
    #[error("the client asked with EXPORT_NAME for an export that it cannot have")]
    NoExport,
}

/// The state of a handshake.
#[derive(Debug)]
pub struct Handshake {
    tls: Tls,
    /// Whether the client wants no padding; `None` until its flags have been read.
    no_zeroes: Option<bool>,
    dialect: Dialect,
    /// The export for which the client selected the context.
    context_of: Option<Vec<u8>>,
    options: u32,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Handshake {
    /// Begins a handshake. Its first output is the greeting.
    pub fn new(tls: Tls) -> Self {
        let mut output = Vec::new();
        output.put_u64(wire::NBDMAGIC);
        output.put_u64(wire::IHAVEOPT);
        output.put_u16(wire::FLAG_FIXED_NEWSTYLE | wire::FLAG_NO_ZEROES);
        Self {
            tls,
            no_zeroes: None,
            dialect: Dialect::default(),
            context_of: None,
            options: 0,
            input: Vec::new(),
            output,
        }
    }

    /// Continues on the encrypted connection after [`Step::StartTls`]. Everything agreed before is
    /// discarded, because anyone could have sent it.
    ///
    /// # Errors
    /// [`HandshakeError::Injected`] if the client sent unencrypted bytes after its STARTTLS option.
    pub fn encrypted(self) -> Result<Self, HandshakeError> {
        if !self.input.is_empty() {
            return Err(HandshakeError::Injected);
        }
        let Self { no_zeroes, options, .. } = self;
        Ok(Self { no_zeroes, options, output: Vec::new(), ..Self::new(Tls::On) })
    }

    /// Returns the bytes to send; the caller removes the bytes that it has sent.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Returns the number of bytes that [`Self::receive`] accepts now.
    pub fn room(&self) -> usize {
        (OPTION_BYTES_MAX + 16).saturating_sub(self.input.len())
    }

    /// Adds bytes from the client, at most [`Self::room`].
    pub fn receive(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// Handles the client's next message, if it is complete and the output is empty.
    ///
    /// # Errors
    /// [`HandshakeError`] if the connection must be closed without a reply.
    pub fn step(&mut self, exports: &mut dyn Catalogue) -> Result<Step, HandshakeError> {
        if !self.output.is_empty() {
            return Ok(Step::More);
        }
        if self.no_zeroes.is_none()
            && let Some(flags) = Reader::new(&self.input).u32()
        {
            self.read_flags(flags)?;
        }
        let Some(no_zeroes) = self.no_zeroes else { return Ok(Step::More) };
        let mut reader = Reader::new(&self.input);
        let Some(magic) = reader.u64() else { return Ok(Step::More) };
        if magic != wire::IHAVEOPT {
            return Err(HandshakeError::Magic { found: magic });
        }
        let (Some(option), Some(size)) = (reader.u32(), reader.u32()) else {
            return Ok(Step::More);
        };
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > OPTION_BYTES_MAX {
            self.reply(option, wire::REP_ERR_TOO_BIG, b"");
            return Ok(Step::End);
        }
        let Some(data) = reader.take(size).map(<[u8]>::to_vec) else { return Ok(Step::More) };
        self.input.drain(..16 + size);
        self.options += 1;
        if self.options > OPTIONS_MAX {
            return Err(HandshakeError::Options);
        }
        self.option(option, &data, no_zeroes, exports)
    }

    fn read_flags(&mut self, flags: u32) -> Result<(), HandshakeError> {
        let (fixed, no_zeroes) =
            (u32::from(wire::FLAG_FIXED_NEWSTYLE), u32::from(wire::FLAG_NO_ZEROES));
        if flags & !(fixed | no_zeroes) != 0 {
            return Err(HandshakeError::Flags { flags });
        }
        self.no_zeroes = Some(flags & no_zeroes != 0);
        self.input.drain(..4);
        Ok(())
    }

    fn option(
        &mut self,
        option: u32,
        data: &[u8],
        no_zeroes: bool,
        exports: &mut dyn Catalogue,
    ) -> Result<Step, HandshakeError> {
        if self.tls == Tls::Required && ![wire::OPT_STARTTLS, wire::OPT_ABORT].contains(&option) {
            if option == wire::OPT_EXPORT_NAME {
                return Err(HandshakeError::NoExport);
            }
            self.reply(option, wire::REP_ERR_TLS_REQD, b"");
            return Ok(Step::More);
        }
        match option {
            wire::OPT_EXPORT_NAME => return self.enter_by_name(data, no_zeroes, exports),
            wire::OPT_ABORT => {
                self.reply(option, wire::REP_ACK, b"");
                return Ok(Step::End);
            }
            wire::OPT_STARTTLS => return Ok(self.start_tls(data)),
            wire::OPT_INFO => drop(self.describe(option, data, exports)),
            wire::OPT_GO => {
                if let Some(export) = self.describe(option, data, exports) {
                    return Ok(self.entered(export));
                }
            }
            wire::OPT_LIST if data.is_empty() => self.list(exports),
            wire::OPT_STRUCTURED_REPLY if data.is_empty() => {
                if self.dialect.is_extended {
                    self.reply(option, wire::REP_ERR_EXT_HEADER_REQD, b"");
                } else {
                    self.dialect.is_structured = true;
                    self.reply(option, wire::REP_ACK, b"");
                }
            }
            wire::OPT_EXTENDED_HEADERS if data.is_empty() => {
                (self.dialect.is_structured, self.dialect.is_extended) = (true, true);
                self.reply(option, wire::REP_ACK, b"");
            }
            wire::OPT_LIST | wire::OPT_STRUCTURED_REPLY | wire::OPT_EXTENDED_HEADERS => {
                self.reply(option, wire::REP_ERR_INVALID, b"");
            }
            wire::OPT_LIST_META_CONTEXT | wire::OPT_SET_META_CONTEXT => {
                self.contexts(option, data, exports);
            }
            _ => self.reply(option, wire::REP_ERR_UNSUP, b""),
        }
        Ok(Step::More)
    }

    fn start_tls(&mut self, data: &[u8]) -> Step {
        let kind = match self.tls {
            _ if !data.is_empty() => wire::REP_ERR_INVALID,
            Tls::On => wire::REP_ERR_INVALID,
            Tls::Off => wire::REP_ERR_POLICY,
            Tls::Required => wire::REP_ACK,
        };
        self.reply(wire::OPT_STARTTLS, kind, b"");
        if kind == wire::REP_ACK { Step::StartTls } else { Step::More }
    }

    fn list(&mut self, exports: &dyn Catalogue) {
        for Listed { name, description } in exports.list() {
            let mut line = Vec::new();
            line.put_u32(length(name.len()));
            line.extend_from_slice(name.as_bytes());
            line.extend_from_slice(description.as_bytes());
            self.reply(wire::OPT_LIST, wire::REP_SERVER, &line);
        }
        self.reply(wire::OPT_LIST, wire::REP_ACK, b"");
    }

    /// Replies to INFO or GO; returns the export if the option succeeded.
    fn describe(
        &mut self,
        option: u32,
        data: &[u8],
        exports: &mut dyn Catalogue,
    ) -> Option<ExportInfo> {
        let Some((name, wanted)) = read_info(data) else {
            self.reply(option, wire::REP_ERR_INVALID, b"");
            return None;
        };
        let text = std::str::from_utf8(name).map_err(|_| Unavailable::Unknown);
        let found = text.and_then(|name| {
            if option == wire::OPT_GO { exports.enter(name) } else { exports.find(name) }
        });
        let export = match found {
            Ok(export) => export,
            Err(why) => {
                let (kind, text): (u32, &[u8]) = match why {
                    Unavailable::Unknown => (wire::REP_ERR_UNKNOWN, b"there is no such export"),
                    Unavailable::Crowded => {
                        (wire::REP_ERR_POLICY, b"the export has too many connections")
                    }
                    Unavailable::Ending => (wire::REP_ERR_SHUTDOWN, b"the server is ending"),
                };
                self.reply(option, kind, text);
                return None;
            }
        };
        self.settle_context(name);
        self.put_infos(option, &export, &wanted);
        self.reply(option, wire::REP_ACK, b"");
        Some(export)
    }

    fn put_infos(&mut self, option: u32, export: &ExportInfo, wanted: &[u16]) {
        let mut info = Vec::new();
        info.put_u16(wire::INFO_EXPORT);
        info.put_u64(export.size);
        info.put_u16(export.flags(self.dialect.is_structured));
        self.reply(option, wire::REP_INFO, &info);
        let mut sizes = Vec::new();
        sizes.put_u16(wire::INFO_BLOCK_SIZE);
        sizes.put_u32(export.block.minimum);
        sizes.put_u32(export.block.preferred);
        sizes.put_u32(export.block.maximum);
        self.reply(option, wire::REP_INFO, &sizes);
        let texts =
            [(wire::INFO_NAME, &export.name), (wire::INFO_DESCRIPTION, &export.description)];
        for (kind, text) in texts {
            if wanted.contains(&kind) && !text.is_empty() {
                let mut info = Vec::new();
                info.put_u16(kind);
                info.extend_from_slice(text.as_bytes());
                self.reply(option, wire::REP_INFO, &info);
            }
        }
    }

    fn contexts(&mut self, option: u32, data: &[u8], exports: &dyn Catalogue) {
        let is_list = option == wire::OPT_LIST_META_CONTEXT;
        let query = meta::read(data, is_list).filter(|_| self.dialect.is_structured);
        let Some(meta::Query { export, wants_allocation }) = query else {
            return self.reply(option, wire::REP_ERR_INVALID, b"");
        };
        let is_known = std::str::from_utf8(export).is_ok_and(|name| exports.find(name).is_ok());
        if !is_list {
            self.context_of = None;
        }
        if !is_known {
            return self.reply(option, wire::REP_ERR_UNKNOWN, b"");
        }
        if wants_allocation {
            let mut context = Vec::new();
            context.put_u32(if is_list { 0 } else { meta::ALLOCATION_ID });
            context.extend_from_slice(meta::ALLOCATION.as_bytes());
            self.reply(option, wire::REP_META_CONTEXT, &context);
            if !is_list {
                self.context_of = Some(export.to_vec());
            }
        }
        self.reply(option, wire::REP_ACK, b"");
    }

    /// Keeps the selected context only if it was selected for this export.
    fn settle_context(&mut self, name: &[u8]) {
        self.dialect.has_allocation = self.context_of.as_deref() == Some(name);
    }

    fn enter_by_name(
        &mut self,
        name: &[u8],
        no_zeroes: bool,
        exports: &mut dyn Catalogue,
    ) -> Result<Step, HandshakeError> {
        let export = std::str::from_utf8(name).ok().and_then(|name| exports.enter(name).ok());
        let export = export.ok_or(HandshakeError::NoExport)?;
        self.settle_context(name);
        self.output.put_u64(export.size);
        self.output.put_u16(export.flags(self.dialect.is_structured));
        if !no_zeroes {
            self.output.extend_from_slice(&[0; 124]);
        }
        Ok(self.entered(export))
    }

    fn entered(&mut self, export: ExportInfo) -> Step {
        let rest = std::mem::take(&mut self.input);
        Step::Enter(Box::new(Entered { export, dialect: self.dialect, rest }))
    }

    fn reply(&mut self, option: u32, kind: u32, data: &[u8]) {
        self.output.put_u64(wire::OPTION_REPLY_MAGIC);
        self.output.put_u32(option);
        self.output.put_u32(kind);
        self.output.put_u32(length(data.len()));
        self.output.extend_from_slice(data);
    }
}

/// Reads the data of INFO and GO: the export's name, and the kinds of information that the client
/// asks for.
fn read_info(data: &[u8]) -> Option<(&[u8], Vec<u16>)> {
    let mut reader = Reader::new(data);
    let name = reader.text()?;
    let count = reader.u16()?;
    let wanted = (0..count).map(|_| reader.u16()).collect::<Option<Vec<_>>>()?;
    reader.is_empty().then_some((name, wanted))
}

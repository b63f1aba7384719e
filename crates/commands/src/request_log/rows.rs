// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rows of a request log, in a file that can be compressed.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use serde::Serialize;
use tempfile::NamedTempFile;
use tidegate_host::EndedRequest;
use tidegate_model::{Class, Op, Outcome, PolicyName, Time};
use tidegate_platform::{FileFault, NewFile};
use zstd::stream::write::Encoder;

/// A file to which nothing is written after an error. If a buffer were written again after an
/// error, its text would begin in the middle of a row.
struct Strict {
    file: File,
    has_failed: bool,
}

impl Write for Strict {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.has_failed {
            return Err(io::Error::other("an earlier row could not be written"));
        }
        let written = self.file.write(bytes);
        self.has_failed = written.is_err();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The destination of rows: the file itself, or a compressor that writes to it.
enum Sink {
    Plain(Strict),
    Packed(Encoder<'static, Strict>),
}

impl Sink {
    /// Selects compression if the file's name ends in `.zst`.
    fn of(name: &str, file: File) -> io::Result<Self> {
        let file = Strict { file, has_failed: false };
        match Path::new(name).extension() {
            Some(extension) if extension == "zst" => {
                Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL).map(Self::Packed)
            }
            _ => Ok(Self::Plain(file)),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Packed(encoder) => encoder.finish().map(drop),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Packed(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Packed(encoder) => encoder.flush(),
        }
    }
}

/// The columns of the file; docs/reference/request-log.md describes them.
const COLUMNS: [&str; 13] = [
    "policy",
    "request",
    "source",
    "class",
    "op",
    "offset_bytes",
    "size_bytes",
    "released_ns",
    "due_ns",
    "batch",
    "dispatched_ns",
    "ended_ns",
    "outcome",
];

/// A row of the file, in the order of its columns; `docs/reference/request-log.md` describes them.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the columns of the page")]
pub struct RequestRow<'a> {
    pub policy: &'a str,
    pub request: u64,
    pub source: &'a str,
    pub class: &'static str,
    pub op: &'static str,
    pub offset_bytes: u64,
    pub size_bytes: u64,
    pub released_ns: u64,
    pub due_ns: Option<u64>,
    pub batch: Option<u64>,
    pub dispatched_ns: Option<u64>,
    pub ended_ns: u64,
    pub outcome: &'static str,
}

impl<'a> RequestRow<'a> {
    /// Returns the row of a request that a policy served.
    pub fn of(policy: PolicyName, source: &'a str, ended: &EndedRequest) -> Self {
        let request = &ended.request;
        Self {
            policy: policy.name(),
            request: request.id.0,
            source,
            class: match request.class {
                Class::Hard => "hard",
                Class::Soft => "soft",
                Class::Interactive => "interactive",
                Class::BestEffort => "best-effort",
            },
            op: Op::name(request.op),
            offset_bytes: request.start.offset_bytes(),
            size_bytes: request.size.get(),
            released_ns: request.released.ns(),
            due_ns: request.due.map(Time::ns),
            batch: ended.dispatched.map(|(batch, _)| batch),
            dispatched_ns: ended.dispatched.map(|(_, at)| at.ns()),
            ended_ns: ended.ended.ns(),
            outcome: match ended.outcome {
                Some(Outcome::Done) => "done",
                Some(Outcome::Failed) => "failed",
                None => "dropped",
            },
        }
    }
}

/// A file of rows, with a maximum number of rows.
pub struct RequestRows {
    file: NamedTempFile,
    csv: csv::Writer<Sink>,
    left: u64,
    beyond: u64,
}

impl RequestRows {
    /// Begins a file for at most `rows_max` rows, compressed if its name ends in `.zst`.
    ///
    /// # Errors
    /// If no file can be created there.
    pub fn begin(file: &NewFile, rows_max: u64) -> Result<Self, FileFault> {
        let temporary = file.temporary()?;
        let csv = Self::csv(&file.name(), &temporary).map_err(|error| file.unwritable(error))?;
        Ok(Self { file: temporary, csv, left: rows_max, beyond: 0 })
    }

    /// Writes the header; a file without rows has it too.
    fn csv(name: &str, file: &NamedTempFile) -> io::Result<csv::Writer<Sink>> {
        let sink = Sink::of(name, file.as_file().try_clone()?)?;
        let mut csv = csv::WriterBuilder::new().has_headers(false).from_writer(sink);
        csv.write_record(COLUMNS)?;
        Ok(csv)
    }

    /// Adds the row of a request, or counts the request if the limit is reached.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn put(&mut self, row: &RequestRow<'_>) -> io::Result<()> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                self.csv.serialize(row)?;
            }
            None => self.beyond += 1,
        }
        Ok(())
    }

    /// Returns the complete file, synced to the disk, and the number of requests beyond the limit.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(self) -> io::Result<(NamedTempFile, u64)> {
        let EndedRows { file, beyond, fault } = self.end();
        fault.map_or(Ok((file, beyond)), Err)
    }

    /// Ends the file. After an error, it keeps the complete rows that were written before. If it is
    /// compressed, it then lacks the end mark.
    pub fn end(self) -> EndedRows {
        let Self { file, csv, beyond, .. } = self;
        let is_plain = matches!(csv.get_ref(), Sink::Plain(_));
        let ended = csv.into_inner().map_err(csv::IntoInnerError::into_error);
        let ended = ended.and_then(Sink::finish);
        let cut = if ended.is_err() && is_plain { cut_last_row(file.as_file()) } else { Ok(()) };
        let fault = ended.and(cut).and_then(|()| file.as_file().sync_all()).err();
        EndedRows { file, beyond, fault }
    }
}

/// A file of rows that was ended.
#[derive(Debug)]
pub struct EndedRows {
    /// The file.
    pub file: NamedTempFile,
    /// The number of requests beyond the limit.
    pub beyond: u64,
    /// The error because of which the file lacks rows, if there was one.
    pub fault: Option<io::Error>,
}

/// Truncates a file after its last complete row.
fn cut_last_row(file: &File) -> io::Result<()> {
    let mut tail = [0; 4096];
    let end = file.metadata()?.len();
    let begin = end.saturating_sub(tail.len() as u64);
    let tail = &mut tail[..usize::try_from(end - begin).expect("a part of a buffer")];
    file.read_exact_at(tail, begin)?;
    let rest = tail.iter().rev().take_while(|&&byte| byte != b'\n').count();
    file.set_len(end - rest as u64)
}

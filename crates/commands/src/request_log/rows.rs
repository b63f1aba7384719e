// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rows of a log of requests, in a file that may be compressed.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use tempfile::NamedTempFile;
use tidegate_host::EndedRequest;
use tidegate_model::{Class, Op, Outcome, PolicyName, Time};
use tidegate_platform::{FileFault, NewFile};
use zstd::stream::write::Encoder;

/// Where rows go: the file itself, or through a compressor.
enum Sink {
    Plain(NamedTempFile),
    Packed(Encoder<'static, NamedTempFile>),
}

impl Sink {
    /// Compresses if the file's name asks for it.
    fn of(name: &str, file: NamedTempFile) -> io::Result<Self> {
        match Path::new(name).extension() {
            Some(extension) if extension == "zst" => {
                Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL).map(Self::Packed)
            }
            _ => Ok(Self::Plain(file)),
        }
    }

    fn finish(self) -> io::Result<NamedTempFile> {
        match self {
            Self::Plain(file) => Ok(file),
            Self::Packed(encoder) => encoder.finish(),
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

/// A row of the file; docs/reference/request-log.md describes the columns.
#[derive(Serialize)]
struct Row<'a> {
    policy: &'static str,
    request: u64,
    source: &'a str,
    class: &'static str,
    op: &'static str,
    offset_bytes: u64,
    size_bytes: u64,
    released_ns: u64,
    due_ns: Option<u64>,
    batch: Option<u64>,
    dispatched_ns: Option<u64>,
    ended_ns: u64,
    outcome: &'static str,
}

impl<'a> Row<'a> {
    fn of(policy: PolicyName, source: &'a str, ended: &EndedRequest) -> Self {
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

/// A file of rows, up to a limit.
pub struct RequestRows {
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
        let sink = Sink::of(&file.name(), file.temporary()?);
        let sink = sink.map_err(|error| file.unwritable(error))?;
        Ok(Self { csv: csv::Writer::from_writer(sink), left: rows_max, beyond: 0 })
    }

    /// Adds the row of a request, or counts it beyond the limit.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn put(
        &mut self,
        policy: PolicyName,
        source: &str,
        ended: &EndedRequest,
    ) -> io::Result<()> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                self.csv.serialize(Row::of(policy, source, ended))?;
            }
            None => self.beyond += 1,
        }
        Ok(())
    }

    /// Returns the whole file, which is on the disk, and the number of requests beyond the limit.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(self) -> io::Result<(NamedTempFile, u64)> {
        let sink = self.csv.into_inner().map_err(csv::IntoInnerError::into_error)?;
        let file = sink.finish()?;
        file.as_file().sync_all()?;
        Ok((file, self.beyond))
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The client's end of a control socket.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use tidegate_commands::Faults;
use tidegate_engine::control::wire::{self, Asked, Verb};
use tidegate_model::{FileKind, ServeFile};

use super::text;
use crate::failure::Failure;

/// The time limit for a reply.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time limit for a change, which is proved first and can then wait seconds for a quiet
/// instant.
const PATIENCE_FOR_CHANGES: Duration = Duration::from_mins(1);

/// The longest accepted reply in bytes; a service sends no longer one.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// A connection to a service.
#[derive(Debug)]
pub(crate) struct Client {
    path: PathBuf,
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects to a control socket, or to the control socket that a serve file names.
    pub(crate) fn open(target: &Path) -> Result<Self, Failure> {
        let path = socket_of(target)?;
        let unreachable = |error: io::Error| {
            let why = match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                    "no service listens there; check that the service is running"
                }
                io::ErrorKind::PermissionDenied => tidegate_platform::privileges::advice(
                    "only the user who runs the service may connect: try as that user, or as root",
                ),
                _ => "check that it is a control socket",
            };
            Failure::environment(&NotReached { path: path.clone(), error, why })
        };
        let stream = UnixStream::connect(&path).map_err(unreachable)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(unreachable)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(unreachable)?;
        Ok(Self { path: path.clone(), stream: BufReader::new(stream) })
    }

    /// Connects for a change, which gets a longer time limit.
    pub(crate) fn open_for_change(target: &Path) -> Result<Self, Failure> {
        let client = Self::open(target)?;
        let patient = client.stream.get_ref().set_read_timeout(Some(PATIENCE_FOR_CHANGES));
        patient.map_err(|error| Failure::environment(&error))?;
        Ok(client)
    }

    /// Sends a request and returns the reply unchanged.
    pub(crate) fn ask_line(&mut self, request: &Asked) -> Result<String, Failure> {
        let mut exchange = || -> io::Result<String> {
            let mut request = serde_json::to_vec(request)?;
            request.push(b'\n');
            self.stream.get_mut().write_all(&request)?;
            let mut line = String::new();
            self.stream.by_ref().take(ANSWER_BYTES_MAX).read_line(&mut line)?;
            if line.ends_with('\n') { Ok(line) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        };
        let line = exchange().map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof => {
                    "the service ended, or this is the socket of its clients: name the socket \
                     under `control`"
                }
                _ => "the service ended, or did not reply in time",
            };
            Failure::environment(&NotReached { path: self.path.clone(), error, why })
        })?;
        Ok(line.trim_end().to_owned())
    }

    /// Parses a reply; a refusal is an error.
    pub(crate) fn understand<T: DeserializeOwned>(&self, line: &str) -> Result<T, Failure> {
        match wire::read(line) {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(failed)) => Err(Failure::input(text(&failed.error), text(&failed.help))),
            Err(error) if wire::is_reply(line) => Err(Failure::input(
                format!(
                    "the service at {} replies in an unknown format: {error}",
                    self.path.display()
                ),
                "use the version of tidegate that started the service",
            )),
            Err(_) => Err(Failure::input(
                format!(
                    "the program that listens at {} does not reply like a service",
                    self.path.display()
                ),
                "name the socket that the serve file gives under `control`",
            )),
        }
    }

    /// Sends a request about all exports and parses the reply.
    pub(crate) fn ask<T: DeserializeOwned>(&mut self, verb: Verb) -> Result<T, Failure> {
        let line = self.ask_line(&Asked { verb: verb.name().to_owned(), export: None })?;
        self.understand(&line)
    }
}

/// The error if the service cannot be reached.
#[derive(Debug, thiserror::Error)]
#[error("cannot ask the service at {}: {error}; {why}", path.display())]
struct NotReached {
    path: PathBuf,
    error: io::Error,
    why: &'static str,
}

/// Returns `target` if it is a socket, or else the socket that this serve file names.
fn socket_of(target: &Path) -> Result<PathBuf, Failure> {
    let found = fs::metadata(target);
    let is_missing = found.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    if is_missing && target.extension().is_some_and(|extension| extension == "toml") {
        return Err(Failure::input(
            format!("there is no file {}", target.display()),
            "name a control socket, or the serve file that names it",
        ));
    }
    if !found.is_ok_and(|found| !found.file_type().is_socket()) {
        return Ok(target.to_owned());
    }
    let text = fs::read_to_string(target).map_err(|error| {
        Failure::input(
            format!("cannot read {}: {error}", target.display()),
            "name a control socket, or the serve file that names it",
        )
    })?;
    let file = ServeFile::parse(&text).map_err(|error| {
        Faults::of_reading(target, &text, FileKind::Serve, error, ServeFile::parse)
    })?;
    match &file.control {
        Some(named) => Ok(target.parent().unwrap_or(Path::new("")).join(named.get_ref())),
        None => Err(Failure::input(
            format!("{} names no control socket", target.display()),
            "add the line control = \"serve.ctl\" above its exports, and restart the service",
        )),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate nbd`: lists, reads, writes and measures the exports of a running server.

pub(crate) mod arguments;
mod data;
mod measure;

use std::time::Duration;

use tidegate_nbd::client::{self, ClientError, Stream};
use tidegate_nbd::{Dialect, Uri, UriError, wire};
use tidegate_report::nbd::{ExportReport, ListReport};
use tidegate_report::printable;

use crate::answer::Answer;
use crate::failure::Failure;
use crate::show;

use arguments::{AddressArguments, NbdArguments, NbdCommand};

/// The longest wait for a part of a reply.
const PATIENCE: Duration = Duration::from_mins(1);

type Client = client::Client<Stream>;

/// The error if a server cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {uri}: {error}; {why}")]
struct NotReached {
    uri: String,
    error: String,
    why: &'static str,
}

/// Runs the command.
pub(crate) fn nbd(arguments: &NbdArguments) -> Result<Answer, Failure> {
    match &arguments.command {
        NbdCommand::List(arguments) => list(arguments)?,
        NbdCommand::Info(arguments) => info(arguments)?,
        NbdCommand::Read(arguments) => data::read(arguments)?,
        NbdCommand::Write(arguments) => data::write(arguments)?,
        NbdCommand::Measure(arguments) => return measure::measure(arguments),
    }
    Ok(Answer::Yes)
}

impl AddressArguments {
    fn parsed(&self) -> Result<Uri, Failure> {
        self.uri.parse().map_err(|error: UriError| {
            Failure::input(
                format!("`{}` is not an address: {error}", printable(&self.uri)),
                "`tidegate serve` prints the address of each export",
            )
        })
    }

    fn stream(&self, uri: &Uri) -> Result<Stream, Failure> {
        let open = || {
            let stream = Stream::open(&uri.address)?;
            stream.set_read_timeout(PATIENCE)?;
            Ok(stream)
        };
        open().map_err(|error| self.failure(ClientError::Io(error)))
    }

    /// Connects to the export that the arguments name.
    fn connect(&self) -> Result<Client, Failure> {
        let uri = self.parsed()?;
        let wanted = Dialect { is_structured: true, ..Dialect::default() };
        Client::connect(self.stream(&uri)?, &uri.export, wanted)
            .map_err(|error| self.failure(error))
    }

    fn failure(&self, error: ClientError) -> Failure {
        let uri = printable(&self.uri);
        let why = match error {
            ClientError::Refused { code, text } => {
                let help = match code {
                    wire::REP_ERR_TLS_REQD => {
                        "the server encrypts, and this client does not: use nbdinfo or nbdcopy"
                            .to_owned()
                    }
                    _ => format!("to see its exports: tidegate nbd list '{uri}'"),
                };
                let text = printable(&text);
                return Failure::input(format!("the server refused {uri}: {text}"), help);
            }
            ClientError::Io(ref error) => match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused => {
                    "no server listens there; check that it is running"
                }
                std::io::ErrorKind::PermissionDenied => tidegate_platform::privileges::advice(
                    "the socket belongs to another user: try as that user, or as root",
                ),
                _ => "the server ended, closed the connection, or did not reply in time",
            },
            _ => "check that an NBD server listens there",
        };
        Failure::environment(&NotReached { uri, error: error.to_string(), why })
    }
}

fn list(arguments: &AddressArguments) -> Result<(), Failure> {
    let uri = arguments.parsed()?;
    let listed = client::list(arguments.stream(&uri)?).map_err(|error| arguments.failure(error))?;
    show::report_in(&ListReport::of(&listed), arguments.form);
    Ok(())
}

fn info(arguments: &AddressArguments) -> Result<(), Failure> {
    let mut client = arguments.connect()?;
    show::report_in(&ExportReport::of(&client), arguments.form);
    leave(&mut client);
    Ok(())
}

/// Ends the connection as the protocol demands; the server may already be gone.
fn leave(client: &mut Client) {
    let _ = client.disconnect();
}

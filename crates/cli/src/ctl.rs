// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate ctl`: queries or controls a running service through its control socket.

mod client;
mod new_export;
mod result;
mod tables;

use serde::de::DeserializeOwned;
use tidegate_commands::quoted;
use tidegate_engine::control::wire::{self, Asked, Distributions, ExportPart, Noted, Verb};
use tidegate_report::Page;

pub(crate) use self::client::Client;
pub(crate) use self::tables::{drive, elapsed, time, tokens};
pub(crate) use tidegate_report::printable as text;

use crate::answer::Answer;
use crate::arguments::{CtlArguments, CtlVerb};
use crate::failure::Failure;
use crate::result::Destination;
use crate::show::{self, outln};

/// Runs the command.
pub(crate) fn ctl(arguments: &CtlArguments) -> Result<Answer, Failure> {
    let result = Destination::prepare(arguments.result.as_deref())?;
    if result.is_asked() && arguments.verb != CtlVerb::Statistics {
        return Err(Failure::input(
            "--result applies to `statistics`",
            "write `statistics` behind the socket, or leave the option out",
        ));
    }
    let request = request(arguments)?;
    let is_change = Verb::from(arguments.verb).is_about_change();
    let open = if is_change { Client::open_for_change } else { Client::open };
    let mut client = open(&arguments.target)?;
    let line = client.ask_line(&request)?;
    if arguments.json {
        outln!("{line}");
    }
    if is_change
        && let Ok(Err(refused)) = wire::read::<Noted>(&line)
        && refused.is_refused
    {
        let write = |page: &mut Page| page.lines(&tables::refusal(&refused, arguments.verb));
        if arguments.quiet {
            show::first_line(write);
        } else if !arguments.json {
            show::page(write);
        }
        return Ok(Answer::No);
    }
    let shown =
        Shown { client: &client, line: &line, is_json: arguments.json, is_quiet: arguments.quiet };
    match arguments.verb {
        CtlVerb::Status => {
            let status = shown.reply(tables::write_status)?;
            return Ok(if status.is_guaranteed() { Answer::Yes } else { Answer::No });
        }
        CtlVerb::Statistics if result.is_asked() => {
            let write = |found: &Distributions, page: &mut Page| {
                tables::write_statistics(&found.statistics, page);
            };
            let found = shown.reply(write)?;
            result::write(&result, &found)?;
        }
        CtlVerb::Statistics => {
            shown.reply(tables::write_statistics)?;
        }
        CtlVerb::Missed | CtlVerb::Ended => {
            shown.reply(tables::write_heard)?;
        }
        CtlVerb::Check => {
            shown.reply(|found, page| tables::write_admitted(found, "would be admitted", page))?;
        }
        CtlVerb::Admit => {
            shown.reply(|found, page| tables::write_admitted(found, "is admitted", page))?;
        }
        CtlVerb::Remove => {
            shown.reply(tables::write_removed)?;
        }
        CtlVerb::Stop => {
            shown.reply(|_: &Noted, page| {
                page.paragraph("The service stops after finishing outstanding requests.");
            })?;
        }
    }
    Ok(Answer::Yes)
}

/// A parsed reply, which is printed unless `--json` has printed the original.
struct Shown<'a> {
    client: &'a Client,
    line: &'a str,
    is_json: bool,
    /// Only the first line is printed.
    is_quiet: bool,
}

impl Shown<'_> {
    fn reply<T: DeserializeOwned>(&self, write: impl Fn(&T, &mut Page)) -> Result<T, Failure> {
        let reply = self.client.understand(self.line)?;
        if self.is_quiet {
            show::first_line(|page| write(&reply, page));
        } else if !self.is_json {
            show::page(|page| write(&reply, page));
        }
        Ok(reply)
    }
}

/// Returns the request line for the arguments.
fn request(arguments: &CtlArguments) -> Result<Asked, Failure> {
    let verb = match arguments.verb {
        CtlVerb::Statistics if arguments.result.is_some() => Verb::Distributions,
        verb => Verb::from(verb),
    };
    let export = match (&arguments.export, verb.export()) {
        (Some(export), ExportPart::New) => Some(new_export::read(export, &arguments.target)?),
        (Some(export), ExportPart::Name) => Some(export.as_str().into()),
        (None, ExportPart::Absent) => None,
        (None, ExportPart::New | ExportPart::Name) => {
            return Err(Failure::input(
                format!("`{verb}` needs the name of an export"),
                format!(
                    "add its name; `tidegate ctl {} status` lists the exports",
                    quoted(&arguments.target.to_string_lossy())
                ),
            ));
        }
        (Some(_), ExportPart::Absent) => {
            return Err(Failure::input(
                format!("`{verb}` applies to all exports"),
                "leave the export's name out",
            ));
        }
    };
    Ok(Asked { verb: verb.name().to_owned(), export })
}

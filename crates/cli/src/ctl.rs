// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate ctl`: queries or controls a running service through its control socket.

mod client;
mod new_export;
mod tables;

use serde::de::DeserializeOwned;
use tidegate_engine::control::wire::{self, Asked, Noted};
use tidegate_report::Page;

pub(crate) use self::client::Client;
pub(crate) use self::tables::{drive, elapsed, time, tokens};
pub(crate) use tidegate_report::printable as text;

use crate::answer::Answer;
use crate::arguments::{CtlArguments, CtlVerb};
use crate::failure::Failure;
use crate::show::{self, outln};

/// Runs the command.
pub(crate) fn ctl(arguments: &CtlArguments) -> Result<Answer, Failure> {
    let request = request(arguments)?;
    let is_change = is_about_change(arguments.verb);
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
        if !arguments.json {
            outln!("{}", tables::refusal(&refused, arguments.verb));
        }
        return Ok(Answer::No);
    }
    let shown =
        Shown { client: &client, line: &line, is_json: arguments.json, is_quiet: arguments.quiet };
    match arguments.verb {
        CtlVerb::Status => {
            let status = shown.reply(tables::write_status)?;
            return Ok(if tables::is_guaranteed(&status) { Answer::Yes } else { Answer::No });
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

/// A reply that is parsed, and printed unless `--json` printed it unchanged.
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

/// Returns whether the service can refuse the verb.
fn is_about_change(verb: CtlVerb) -> bool {
    matches!(verb, CtlVerb::Check | CtlVerb::Admit | CtlVerb::Remove)
}

/// Returns the request line for the arguments.
fn request(arguments: &CtlArguments) -> Result<Asked, Failure> {
    let verb = match arguments.verb {
        CtlVerb::Status => "status",
        CtlVerb::Statistics => "statistics",
        CtlVerb::Missed => "missed",
        CtlVerb::Ended => "ended",
        CtlVerb::Check => "check",
        CtlVerb::Admit => "admit",
        CtlVerb::Remove => "remove",
        CtlVerb::Stop => "stop",
    };
    let is_new = matches!(arguments.verb, CtlVerb::Check | CtlVerb::Admit);
    let is_of_one =
        is_new || matches!(arguments.verb, CtlVerb::Missed | CtlVerb::Ended | CtlVerb::Remove);
    match (&arguments.export, is_of_one) {
        (Some(export), true) if is_new => {
            let export = new_export::read(export, &arguments.target)?;
            Ok(Asked { verb: verb.to_owned(), export: Some(export) })
        }
        (Some(export), true) => {
            Ok(Asked { verb: verb.to_owned(), export: Some(export.as_str().into()) })
        }
        (None, false) => Ok(Asked { verb: verb.to_owned(), export: None }),
        (None, true) => Err(Failure::input(
            format!("`{verb}` needs the name of an export"),
            format!("write `tidegate ctl {} {verb} EXPORT`", arguments.target.display()),
        )),
        (Some(_), false) => Err(Failure::input(
            format!("`{verb}` applies to all exports"),
            "leave the export's name out",
        )),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate ctl`: asks a running service, or tells it something, through its control socket.

mod client;
mod new_export;
mod tables;

use serde_json::{Value, json};

pub(crate) use self::client::Client;
pub(crate) use self::tables::{drive, elapsed, number, text, time, tokens};

use crate::Answer;
use crate::arguments::{CtlArguments, CtlVerb};
use crate::failure::Failure;
use crate::show::outln;

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
    if is_change && let Some(refusal) = tables::refusal(&line, arguments.verb) {
        if !arguments.json {
            outln!("{refusal}");
        }
        return Ok(Answer::No);
    }
    let answer = client.understand(&line)?;
    match (arguments.json, arguments.verb) {
        (true, _) => {}
        (false, CtlVerb::Status) => tables::print_status(&answer),
        (false, CtlVerb::Statistics) => tables::print_statistics(&answer),
        (false, CtlVerb::Missed | CtlVerb::Ended) => tables::print_heard(&answer),
        (false, CtlVerb::Check) => tables::print_admitted(&answer, "would be admitted"),
        (false, CtlVerb::Admit) => tables::print_admitted(&answer, "is admitted"),
        (false, CtlVerb::Remove) => tables::print_removed(&answer),
        (false, CtlVerb::Stop) => outln!("It answers what is outstanding, and ends."),
    }
    let is_asked = arguments.verb == CtlVerb::Status;
    Ok(if is_asked && !tables::is_guaranteed(&answer) { Answer::No } else { Answer::Yes })
}

/// Whether somebody may say no to it.
fn is_about_change(verb: CtlVerb) -> bool {
    matches!(verb, CtlVerb::Check | CtlVerb::Admit | CtlVerb::Remove)
}

/// The line that asks for it.
fn request(arguments: &CtlArguments) -> Result<Value, Failure> {
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
            Ok(json!({ "do": verb, "export": export }))
        }
        (Some(export), true) => Ok(json!({ "do": verb, "export": export })),
        (None, false) => Ok(json!({ "do": verb })),
        (None, true) => Err(Failure::input(
            format!("`{verb}` is about one export, and none is named"),
            format!("write `tidegate ctl {} {verb} EXPORT`", arguments.target.display()),
        )),
        (Some(_), false) => Err(Failure::input(
            format!("`{verb}` is about all exports"),
            "leave the name of the export out",
        )),
    }
}

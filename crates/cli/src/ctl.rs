// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate ctl`: asks a running service, or tells it something, through its control socket.

mod client;
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
    let mut client = Client::open(&arguments.target)?;
    let line = client.ask_line(&request)?;
    if arguments.json {
        outln!("{line}");
    }
    let answer = client.understand(&line)?;
    match (arguments.json, arguments.verb) {
        (true, _) => {}
        (false, CtlVerb::Status) => tables::print_status(&answer),
        (false, CtlVerb::Statistics) => tables::print_statistics(&answer),
        (false, CtlVerb::Missed | CtlVerb::Ended) => tables::print_heard(&answer),
        (false, CtlVerb::Stop) => outln!("It answers what is outstanding, and ends."),
    }
    let is_asked = arguments.verb == CtlVerb::Status;
    Ok(if is_asked && !tables::is_guaranteed(&answer) { Answer::No } else { Answer::Yes })
}

/// The line that asks for it.
fn request(arguments: &CtlArguments) -> Result<Value, Failure> {
    let verb = match arguments.verb {
        CtlVerb::Status => "status",
        CtlVerb::Statistics => "statistics",
        CtlVerb::Missed => "missed",
        CtlVerb::Ended => "ended",
        CtlVerb::Stop => "stop",
    };
    let is_of_one = matches!(arguments.verb, CtlVerb::Missed | CtlVerb::Ended);
    match (&arguments.export, is_of_one) {
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

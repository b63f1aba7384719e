// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive`: built-in drives, drive files, and drives of other simulators; one file per
//! sub-command.

pub(crate) mod arguments;
mod attach;
mod compare;
mod detach;
mod import;
mod list;
mod make;
mod replay;
mod show;

use crate::answer::Answer;
use crate::failure::Failure;
use arguments::{DriveArguments, DriveCommand};

/// Runs the command.
pub(crate) fn drive(arguments: &DriveArguments) -> Result<Answer, Failure> {
    match &arguments.command {
        DriveCommand::Compare(arguments) => return compare::compare(arguments),
        DriveCommand::Attach(arguments) => return attach::attach(arguments),
        DriveCommand::Detach(arguments) => return detach::detach(arguments),
        DriveCommand::List(arguments) => list::list(arguments),
        DriveCommand::Show(arguments) => show::show(arguments),
        DriveCommand::Import(arguments) => import::import(arguments),
        DriveCommand::Make(arguments) => make::make(arguments),
        DriveCommand::Replay(arguments) => replay::replay(arguments),
    }?;
    Ok(Answer::Yes)
}

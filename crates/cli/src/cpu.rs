// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu`: concerns the processor, which I/O services share with other work; one file per
//! sub-command.

pub(crate) mod arguments;
mod check;
mod conformance;
mod profile;
mod serve;
mod sim;

use crate::answer::Answer;
use crate::failure::Failure;
use arguments::{CpuArguments, CpuCommand};

/// Runs the command.
pub(crate) fn cpu(arguments: &CpuArguments) -> Result<Answer, Failure> {
    match &arguments.command {
        CpuCommand::Check(arguments) => check::check(arguments),
        CpuCommand::Sim(arguments) => sim::sim(arguments),
        CpuCommand::Profile(arguments) => profile::profile(arguments),
        CpuCommand::Serve(arguments) => serve::serve(arguments),
        CpuCommand::Conformance(arguments) => conformance::conformance(arguments),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu`: the processor, of which I/O services take their share; one file per
//! sub-command.

pub(crate) mod arguments;
mod conformance;
mod conformance_text;
mod program;
mod results;
mod sim;

use crate::Answer;
use crate::failure::Failure;
use arguments::{CpuArguments, CpuCommand};

/// Runs the command.
pub(crate) fn cpu(arguments: &CpuArguments) -> Result<Answer, Failure> {
    match &arguments.command {
        CpuCommand::Sim(arguments) => sim::sim(arguments),
        CpuCommand::Conformance(arguments) => conformance::conformance(arguments),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate profile` for a simulated drive: measures the tables that a drive file lacks, in
//! virtual time, on a drive with the mechanics or chips that the file describes.

use std::path::Path;

use tidegate_commands::NamedDrive;
use tidegate_measure::{Measurable as _, ProfileParams, SimulatedTarget, SimulatedTargetError};
use tidegate_report::PlanReport;

use crate::answer::Answer;
use crate::arguments::ProfileArguments;
use crate::failure::Failure;
use crate::measurement::Measurement;
use crate::profile_output::Output;
use crate::show;
use crate::{interrupt, progress};

/// The extension of drive file names.
const EXTENSION: &str = ".drive.toml";

/// Returns whether the target is a simulated drive: a built-in drive, or a drive file.
pub(crate) fn is_meant(target: &Path) -> bool {
    let name = target.as_os_str().to_string_lossy();
    tidegate_drive::builtin::is_name(&name) || name.ends_with(EXTENSION)
}

/// Measures the drive, and writes or prints its drive file with the measured tables.
pub(crate) fn run(arguments: &ProfileArguments) -> Result<Answer, Failure> {
    if arguments.create.is_some() {
        return Err(Failure::input(
            "--create does not apply to a simulated drive",
            "leave --create out",
        ));
    }
    let file = NamedDrive::new(&arguments.target.to_string_lossy())?.file;
    // The drive file itself can be the output, because changing it does not harm a simulated drive.
    let output = Output::prepare(arguments, Path::new(""))?;
    let kind = SimulatedTarget::kind_of(&file, arguments.model);
    let defaults = SimulatedTarget::params(&file, kind, arguments.selection());
    let experiments = defaults.experiments.clone();
    let params = ProfileParams {
        seed: arguments.seed.unwrap_or(1),
        ..arguments.params(defaults, experiments)
    };
    let target = format!("{} as {}", file.name, kind.name());
    let mut drive = SimulatedTarget::new(file, kind, &params).map_err(not_made)?;
    if !arguments.quiet {
        progress::print_measuring(&target, &params);
    }
    let steps = drive.plan(&params).map_err(progress::profile_failure)?;
    if arguments.plan {
        show::report_in(&PlanReport::of(&steps), arguments.form());
        if !arguments.json && !arguments.quiet {
            show::labelled("Time", "is the drive's time; simulating it takes much less");
        }
        return Ok(Answer::Yes);
    }
    let interrupted = interrupt::flag(output.kept())?;
    let measurement = Measurement { arguments, params, steps, output, interrupted: &interrupted };
    measurement.make(&mut drive, &mut || ())
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn not_made(error: SimulatedTargetError) -> Failure {
    match error.help() {
        Some(help) => Failure::input(error.to_string(), help),
        None => Failure::unusable(&error),
    }
}

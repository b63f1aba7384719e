// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive compare`: compares two profiles, of one drive or of two.

use tidegate_commands::NamedDrive;
use tidegate_measure::compare::Comparison;
use tidegate_report::drive::CompareReport;

use super::arguments::CompareArguments;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::show;

/// Runs the command.
pub(crate) fn compare(arguments: &CompareArguments) -> Result<Answer, Failure> {
    let first = NamedDrive::new(&arguments.first)?.file;
    let second = NamedDrive::new(&arguments.second)?.file;
    let comparison = Comparison::of(&first, &second);
    let report = CompareReport::of(&comparison, [&first.name, &second.name], arguments.tolerance);
    show::report_in(&report, arguments.form);
    Ok(Answer::of(!report.has_moved()))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu check`: proves the deadlines on a processor, or says that it cannot.

use tidegate_commands::read_processor;
use tidegate_report::cpu::CpuReport;

use super::arguments::CpuCheckArguments;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::show;

/// Runs the command.
pub(super) fn check(arguments: &CpuCheckArguments) -> Result<Answer, Failure> {
    let processor = read_processor(&arguments.workload)?;
    let report = CpuReport::of(&processor.workload, &processor.measured);
    show::report_in(&report, arguments.form);
    Ok(Answer::of(report.is_proven()))
}

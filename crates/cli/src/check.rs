// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate check`: proves the deadlines of a workload, or says that it cannot.

use tidegate_report::cpu::CpuReport;
use tidegate_report::{CheckReport, MachineReport};

use crate::answer::Answer;
use crate::arguments::CheckArguments;
use crate::failure::Failure;
use crate::{input, show};

/// Runs the command for the workload's disk, its processor, or both; both give one answer.
pub(crate) fn check(arguments: &CheckArguments) -> Result<Answer, Failure> {
    let machine = input::read_machine(&arguments.workload, arguments.policy.as_slice())?;
    let disk = machine.disk.as_ref().map(|disk| {
        let policy = arguments.policy.unwrap_or(disk.workload.policy);
        CheckReport::of(&disk.workload, policy)
    });
    let cpu = machine.cpu.as_ref().map(|cpu| CpuReport::of(&cpu.workload, &cpu.measured));
    let report = MachineReport::of(disk, cpu);
    show::report(&report, arguments.json);
    Ok(Answer::of(report.is_proven()))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu check`: the proof of a processor, or an honest no.

use tidegate_cpu_analysis::{CpuAnswer, CpuAssessment, assess};

use super::arguments::CpuCheckArguments;
use super::input::{self, Processor};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::show::outln;

/// What is said of a processor.
pub(crate) struct CpuReport {
    pub(super) processor: Processor,
    pub(super) assessment: CpuAssessment,
}

/// Runs the command.
pub(super) fn check(arguments: &CpuCheckArguments) -> Result<Answer, Failure> {
    let report = CpuReport::of(input::read(&arguments.workload)?);
    if arguments.json {
        outln!("{:#}", report.to_json());
    } else {
        report.print();
    }
    Ok(if report.is_proven() { Answer::Yes } else { Answer::No })
}

impl CpuReport {
    pub(crate) fn of(processor: Processor) -> Self {
        let assessment = assess(&processor.workload, &processor.measured);
        Self { processor, assessment }
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.assessment.answer == CpuAnswer::Proven
    }

    /// The verdict for programs.
    pub(crate) fn verdict(&self) -> &'static str {
        match self.assessment.answer {
            CpuAnswer::Proven => "proven",
            CpuAnswer::NotProven => "not_proven",
            CpuAnswer::NotApplicable { .. } => "not_applicable",
        }
    }
}

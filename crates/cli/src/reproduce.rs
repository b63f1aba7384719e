// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate reproduce`: compares figures and tables of the literature with the results here.

use tidegate_studies::{
    OutputFault, Outputs, Progress, Study, StudyFault, StudyList, VerdictReport, all,
};

use crate::answer::Answer;
use crate::arguments::ReproduceArguments;
use crate::failure::Failure;
use crate::progress::{self, OF_RUNNING};
use crate::{interrupt, show};

/// Runs the command.
pub(crate) fn reproduce(arguments: &ReproduceArguments) -> Result<Answer, Failure> {
    if arguments.list {
        show::report_in(&StudyList::of(&all().map_err(unknown)?), arguments.form);
        return Ok(Answer::Yes);
    }
    let studies = if arguments.all {
        all().map_err(unknown)?
    } else {
        Study::all_named(&arguments.studies).map_err(unknown)?
    };
    let outputs = arguments.out.as_deref().map(Outputs::prepare).transpose().map_err(unwritten)?;
    let interrupted = interrupt::flag(None)?;
    let bar = progress::bar(OF_RUNNING);
    let show_progress = |progress: Progress<'_>| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(progress.study.to_owned());
    };
    let results =
        tidegate_studies::reproduce(&studies, arguments.quick, &show_progress, &interrupted);
    bar.finish_and_clear();
    let report = VerdictReport::of(&results, arguments.quick, arguments.all);
    show::report_in(&report, arguments.form);
    if let Some(outputs) = outputs {
        outputs.write(&results, arguments.quick).map_err(|fault| Failure::environment(&fault))?;
    }
    Ok(Answer::of(report.is_as_stated() && !report.is_interrupted()))
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn unknown(fault: StudyFault) -> Failure {
    Failure::input(fault.to_string(), fault.help())
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn unwritten(fault: OutputFault) -> Failure {
    Failure::input(fault.to_string(), fault.help())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate report`: writes results as one page, for a browser and for paper, or as Markdown.

use std::path::Path;

use tidegate_commands::{file_origin, read_text};
use tidegate_platform::NewFile;
use tidegate_report::ResultFile;
use tidegate_report::handout::{self, NamedResult};

use crate::answer::Answer;
use crate::arguments::ReportArguments;
use crate::failure::Failure;
use crate::show::{self, out};

/// Runs the command.
pub(crate) fn report(arguments: &ReportArguments) -> Result<Answer, Failure> {
    let output = arguments.output.as_deref().map(NewFile::prepare).transpose();
    let output = output.map_err(|fault| Failure::of_file(&fault))?;
    let results: Result<Vec<_>, _> = arguments.results.iter().map(|path| read(path)).collect();
    let form = if arguments.markdown { handout::markdown } else { handout::page };
    let page = form(&results?);
    let Some(file) = output else {
        out!("{page}");
        return Ok(Answer::Yes);
    };
    file.write(&page).map_err(|fault| Failure::of_file(&fault))?;
    show::page(|page| page.paragraph(format_args!("Wrote {}.", file.name())));
    Ok(Answer::Yes)
}

fn read(path: &Path) -> Result<NamedResult, Failure> {
    let text = read_text(path, "result file")?;
    let fault = |error: tidegate_report::UnreadableResult| {
        Failure::input(format!("{}: {error}", path.display()), error.help())
    };
    let result = ResultFile::read(&text).map_err(fault)?;
    let file = file_origin(path, &text);
    NamedResult::of(file, result).map_err(fault)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The source that reads a result file in the study's folder, for example that of a run on a
//! device.

use serde::Deserialize;
use tidegate_report::{ResultCommand, ResultFile, RunRecord, SourceRecord};

use super::responses::{self, Responses};
use super::{Failed, Measures, Surroundings, schedule, unknown};
use crate::cell::Cell;

/// The parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// The path of the result file in the study's folder, which is not a template.
    file: String,
    /// The policy whose run is read; required if the file has several runs.
    #[serde(default)]
    policy: Option<String>,
}

/// The measures of a recorded run.
pub(super) struct Recorded(RunRecord);

impl Parameters {
    pub(super) fn run(self, surroundings: &Surroundings<'_>) -> Result<Recorded, Failed> {
        let file = ResultFile::read(surroundings.file(&self.file)?);
        let file = file.map_err(|fault| Failed::Fault(format!("{}: {fault}", self.file)))?;
        if file.command == ResultCommand::Watch {
            // A watch lists its requests twice: under the declared sources and under the programs.
            return Err(Failed::Fault(format!(
                "{} is of a watch, which no study reads",
                self.file
            )));
        }
        let is_wanted = |run: &RunRecord| self.policy.as_ref().is_none_or(|it| *it == run.policy);
        let mut runs = file.runs.into_iter().filter(is_wanted);
        match (runs.next(), runs.next()) {
            (Some(run), None) => Ok(Recorded(run)),
            (None, _) => Err(Failed::Fault(format!("{} has no such run", self.file))),
            (Some(_), Some(_)) => {
                Err(Failed::Fault(format!("{} has several runs: name a `policy`", self.file)))
            }
        }
    }
}

impl Measures for Recorded {
    /// A measure is `MEASURE` for all tasks together, or `NAME.MEASURE`, where `NAME` is `tasks`,
    /// `loads`, or the name of a task or a load.
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let (source, measure) = name.split_once('.').unwrap_or(("tasks", name));
        let is_of = |it: &&SourceRecord| match source {
            "tasks" => !it.is_best_effort,
            "loads" => it.is_best_effort,
            name => it.name == name,
        };
        let sources: Vec<&SourceRecord> = self.0.sources.iter().filter(is_of).collect();
        if sources.is_empty() {
            return Err(format!("there is no task or load `{source}`"));
        }
        match measure {
            "schedule" => Ok(Some(schedule::of_record(&self.0))),
            "jobs" => {
                let steps = sources.iter().flat_map(|it| &it.response_ns_steps);
                Ok(Some(Cell::of(steps.map(|step| step.1).sum())))
            }
            response if response.starts_with("response_ns_") => {
                let steps = sources.iter().flat_map(|it| it.response_ns_steps.iter().copied());
                Responses::of_steps(steps.collect()).get(response)
            }
            _ => Err(unknown(name, &format!("schedule, jobs, {}", responses::KNOWN))),
        }
    }
}

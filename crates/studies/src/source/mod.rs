// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The sources of numbers; each computes the measures of one point.

mod check;
mod cpu_check;
mod cpu_profile;
mod cpu_sim;
mod demand;
mod drive;
mod formula;
mod input;
mod profile;
mod recorded;
mod responses;
mod samples;
mod schedule;
mod sequential;
mod sim;
mod slices;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::Deserialize;

use crate::axes::Point;
use crate::cell::Cell;
use crate::row::Row;
use crate::study::Study;
use crate::template;

/// The reason why a point has no measures.
#[derive(Debug, Clone)]
pub(crate) enum Failed {
    /// The work was interrupted.
    Cancelled,
    /// The study is faulty.
    Fault(String),
}

/// The context of a source, besides its parameters.
pub(crate) struct Surroundings<'a> {
    /// The study, which provides the files in its folder.
    pub(crate) study: &'a Study,
    /// Whether the work is interrupted.
    pub(crate) cancelled: &'a AtomicBool,
}

/// The kinds of sources, with their parameters.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Source {
    /// A policy on a simulated drive.
    Sim(sim::Parameters),
    /// The proof for a workload.
    Check(check::Parameters),
    /// A simulated processor.
    CpuSim(cpu_sim::Parameters),
    /// The proof for a processor.
    CpuCheck(cpu_check::Parameters),
    /// A processor's profile in the study's folder.
    CpuProfile(cpu_profile::Parameters),
    /// The bounds on a task's demand for the processor.
    Demand(demand::Parameters),
    /// The figures of a drive file.
    Drive(drive::Parameters),
    /// The measurement of a simulated drive.
    Profile(profile::Parameters),
    /// A result file in the study's folder.
    Result(recorded::Parameters),
    /// The number of samples that a claim needs.
    Samples(samples::Parameters),
    /// Expressions over the axes.
    Formula(formula::Parameters),
}

/// The measures of a source's result; `None` for a measure that this point does not have.
trait Measures {
    /// Returns the measure called `name`.
    ///
    /// # Errors
    /// If the source has no such measure.
    fn get(&self, name: &str) -> Result<Option<Cell>, String>;
}

/// Computes the measures of a point.
///
/// # Errors
/// [`Failed`].
pub(crate) fn measure(
    parameters: &toml::Table,
    measures: &[String],
    point: &Point,
    surroundings: &Surroundings<'_>,
) -> Result<Row, Failed> {
    let at = crate::expression::shown(point);
    let fault = |what: String| Failed::Fault(format!("at {at}: {what}"));
    let filled = template::value(&parameters.clone().into(), point);
    let filled = filled.map_err(|error| fault(error.to_string()))?;
    let source: Source = filled.try_into().map_err(|error| fault(error.to_string()))?;
    let source = source.run(point, surroundings).map_err(|failed| match failed {
        Failed::Cancelled => Failed::Cancelled,
        Failed::Fault(what) => fault(what),
    })?;
    let taken = measures.iter().map(|name| Ok((name.clone(), source.get(name)?)));
    let measures = taken.collect::<Result<BTreeMap<_, _>, String>>().map_err(fault)?;
    Ok(Row { point: point.clone(), measures })
}

impl Source {
    fn run(
        self,
        point: &Point,
        surroundings: &Surroundings<'_>,
    ) -> Result<Box<dyn Measures>, Failed> {
        Ok(match self {
            Self::Sim(it) => Box::new(it.run(point, surroundings)?),
            Self::Check(it) => Box::new(it.run(point, surroundings)?),
            Self::CpuSim(it) => Box::new(it.run(point, surroundings)?),
            Self::CpuCheck(it) => Box::new(it.run(point, surroundings)?),
            Self::CpuProfile(it) => Box::new(it.run(surroundings)?),
            Self::Demand(it) => Box::new(it),
            Self::Drive(it) => Box::new(it.run()?),
            Self::Profile(it) => Box::new(it.run(surroundings)?),
            Self::Result(it) => Box::new(it.run(surroundings)?),
            Self::Samples(it) => Box::new(it),
            Self::Formula(it) => Box::new(it),
        })
    }
}

impl Failed {
    /// Returns a fault of the study.
    #[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
    fn of(fault: impl ToString) -> Self {
        Self::Fault(fault.to_string())
    }
}

impl Surroundings<'_> {
    /// Returns the path and the text of a file in the study's folder, with templates filled in at a
    /// point. Faults name the path.
    fn text(&self, file: &str, point: &Point) -> Result<(PathBuf, String), Failed> {
        let filled = template::text(self.file(file)?, point);
        let filled = filled.map_err(|error| Failed::Fault(format!("{file}: {error}")))?;
        Ok((Path::new(&self.study.name).join(file), filled))
    }

    /// Returns the text of a file in the study's folder, unchanged.
    fn file(&self, file: &str) -> Result<&str, Failed> {
        let text = self.study.texts.get(file).map(String::as_str);
        let name = &self.study.name;
        text.ok_or_else(|| Failed::Fault(format!("`{name}` has no file `{file}`")))
    }
}

/// Returns the fault for a measure that a source does not have.
fn unknown(name: &str, known: &str) -> String {
    format!("there is no measure `{name}`; the source has {known}")
}

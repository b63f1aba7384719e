// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The source `cpu-check`, which proves a processor's workload.

use serde::Deserialize;
use tidegate_cpu_analysis::{CpuAnswer, CpuAssessment, CpuThreadAssessment, assess};
use tidegate_cpu_model::{CpuWorkload, MachineFile};

use super::{Failed, Measures, Surroundings, unknown};
use crate::axes::Point;
use crate::cell::Cell;

/// The parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// The path of the workload file in the study's folder, a template.
    workload: String,
}

/// The measures of a proof.
pub(super) struct Proof {
    workload: CpuWorkload,
    assessment: CpuAssessment,
}

/// Reads the processor's part of a workload file that is in the study's folder.
pub(super) fn processor(
    file: &str,
    point: &Point,
    surroundings: &Surroundings<'_>,
) -> Result<CpuWorkload, Failed> {
    let (path, text) = surroundings.text(file, point)?;
    let machine = MachineFile::parse(&text);
    let machine = machine.map_err(|error| Failed::Fault(format!("{}: {error}", path.display())))?;
    machine.cpu.ok_or_else(|| Failed::Fault(format!("{} has no processor", path.display())))
}

impl Parameters {
    pub(super) fn run(
        self,
        point: &Point,
        surroundings: &Surroundings<'_>,
    ) -> Result<Proof, Failed> {
        let workload = processor(&self.workload, point, surroundings)?;
        let assessment = assess(&workload, &[]);
        Ok(Proof { workload, assessment })
    }
}

impl Measures for Proof {
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let Self { workload, assessment } = self;
        if name == "is_proven" {
            return Ok(Some(Cell::Bool(assessment.answer == CpuAnswer::Proven)));
        }
        let (thread, measure) = name.split_once('.').ok_or_else(|| unknown(name, KNOWN))?;
        let names = workload
            .tasks
            .iter()
            .map(|it| &it.name)
            .chain(workload.servers.iter().map(|it| &it.name));
        let names = names.chain(workload.work.iter().map(|it| &it.name));
        let of = assessment.tasks.iter().chain(&assessment.servers).chain(&assessment.work);
        let found = names.zip(of).find(|(name, _)| *name == thread);
        let (_, row) = found.ok_or_else(|| format!("there is no thread `{thread}`"))?;
        of_thread(row, measure)
    }
}

const KNOWN: &str = "is_proven, THREAD.response_ns_max, THREAD.is_met, and THREAD.is_met_ceil, \
                     _refined, _linear of the load test";

fn of_thread(row: &CpuThreadAssessment, measure: &str) -> Result<Option<Cell>, String> {
    let of_load = |index: usize| row.loads[index].map(|load| Cell::Bool(load.is_met()));
    Ok(match measure {
        "response_ns_max" => row.response_max().map(Cell::of_time),
        "is_met" => Some(Cell::Bool(row.is_deadline_met())),
        "is_met_ceil" => of_load(0),
        "is_met_refined" => of_load(1),
        "is_met_linear" => of_load(2),
        _ => return Err(unknown(measure, KNOWN)),
    })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads the processor part of a workload file, and the profiles that it names.

use std::ops::Range;
use std::path::Path;

use tidegate_cpu_analysis::{MeasuredDemand, MissingFit, under_interference};
use tidegate_cpu_model::{CpuInterference, CpuProfile, CpuWorkload};
use tidegate_cpu_sim::StolenTime;
use tidegate_model::{FileError, FileKind, HostSection};
use tidegate_platform::text_file;

use crate::fault::Faults;
use crate::text::{self, WorkloadFault};

/// A processor and the measurements of its interference.
pub struct Processor {
    /// The processor's part of the workload.
    pub workload: CpuWorkload,
    /// The measured demand of each interference that the workload names.
    pub measured: Vec<MeasuredDemand>,
    /// The same interference as loads for a simulation.
    pub thieves: Vec<StolenTime>,
}

/// Reads the processor part of a workload file, and the profiles that it names.
///
/// # Errors
/// All faults of the file, the first fault of a profile, or the fault that the file has no
/// processor.
pub fn read(path: &Path) -> Result<Processor, Faults> {
    parse(path, &text::read_text(path, "workload file")?)
}

/// Does the same as [`read`] for a workload file with this `text`. Relative names of profiles are
/// relative to the folder of `path`, which also names the file in faults.
///
/// # Errors
/// The same as [`read`].
pub fn parse(path: &Path, text: &str) -> Result<Processor, Faults> {
    text::parse_workload(path, text, |machine, _| {
        with_profiles(machine.cpu.ok_or_else(without_processor)?, path)
    })
}

fn without_processor() -> FileError {
    FileError::new(
        0..0,
        "the workload has no processor",
        "add a [[cpu_task]] or a [[cpu_server]]; docs/reference/processor-file.md shows both",
    )
}

/// Reads the profiles that a processor's workload names. `path` is the path of the workload file.
pub(crate) fn with_profiles(
    workload: CpuWorkload,
    path: &Path,
) -> Result<Processor, WorkloadFault> {
    let without_fit = |interference: &CpuInterference, error: &MissingFit| {
        let help = "write bound = \"points\", which every profile has";
        FileError::new(interference.span.clone(), error.to_string(), help)
    };
    let read = |interference: &CpuInterference| {
        let profile = read_profile(&interference.file, &interference.span, path)?;
        let (bound, margin) = (interference.bound, interference.margin);
        let measured = MeasuredDemand::new(&profile, bound, margin)
            .map_err(|error| without_fit(interference, &error))?;
        let thief = StolenTime::of(&profile, bound, margin)
            .ok_or_else(|| without_fit(interference, &MissingFit { bound }))?;
        Ok((measured, thief))
    };
    let read: Vec<_> =
        workload.interference.iter().map(read).collect::<Result<_, WorkloadFault>>()?;
    let (measured, thieves) = read.into_iter().unzip();
    Ok(Processor { workload, measured, thieves })
}

/// Adds the interference that the `[host]` table names to the host's times. Its profile's name is
/// relative to the folder of the workload file at `path`.
pub(crate) fn add_interference(host: &mut HostSection, path: &Path) -> Result<(), WorkloadFault> {
    let Some(interference) = &host.interference else { return Ok(()) };
    let profile = read_profile(&interference.file, &interference.span, path)?;
    *host = under_interference(host.times, interference, &profile)?;
    Ok(())
}

/// Reads the profile that the workload file at `path` names at the position `span`.
fn read_profile(name: &str, span: &Range<usize>, path: &Path) -> Result<CpuProfile, WorkloadFault> {
    let file = path.parent().unwrap_or(Path::new("")).join(name);
    let profile = text_file::read(&file).map_err(|error| {
        let message = format!("cannot read the processor profile {}: {error}", file.display());
        FileError::new(span.clone(), message, "name a file that `tidegate cpu profile` wrote")
    })?;
    Ok(parse_profile(&file, &profile)?)
}

/// Parses the `text` of a processor profile; `path` names it in faults.
///
/// # Errors
/// All faults of the profile, or the fault that the file is of another kind.
pub fn parse_profile(path: &Path, text: &str) -> Result<CpuProfile, Faults> {
    let parse = CpuProfile::parse;
    parse(text).map_err(|first| Faults::of_reading(path, text, FileKind::Processor, first, parse))
}

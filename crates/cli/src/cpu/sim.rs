// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu sim`: simulates tasks and servers on a processor.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tidegate_commands::{Processor, read_processor};
use tidegate_cpu_model::{CpuWorkload, ServerKind, ServerParams};
use tidegate_cpu_sim::{CpuParams, Disturbance, StolenTime, Timing, simulate};
use tidegate_model::Duration;
use tidegate_report::cpu::{CpuResult, CpuSimReport};

use super::arguments::{CpuSimArguments, Disturb};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::run_progress::VirtualTime;
use crate::{interrupt, show};

/// Runs the command.
pub(super) fn sim(arguments: &CpuSimArguments) -> Result<Answer, Failure> {
    let Processor { workload, thieves, .. } = read_processor(&arguments.workload)?;
    let workloads = match &arguments.server[..] {
        [] => vec![(None, workload)],
        _ if workload.servers.is_empty() => {
            return Err(Failure::input(
                "--server cannot be used: the workload has no [[cpu_server]]",
                "add one to the file, or leave --server out",
            ));
        }
        kinds => kinds.iter().map(|&kind| with_kind(&workload, kind)).collect::<Result<_, _>>()?,
    };
    let interrupted = interrupt::flag(None)?;
    // A run after an interruption ends at once, and says so.
    let run = |(kind, workload)| run(kind, workload, &thieves, arguments, &interrupted);
    let results: Vec<CpuResult> = workloads.into_iter().map(run).collect();
    let timing = timing(arguments.disturb);
    let report = CpuSimReport::of(&results, arguments.seed, arguments.duration, timing);
    show::report_in(&report, arguments.form);
    let defects = report.defects();
    for defect in &defects {
        show::complain(defect);
    }
    Ok(if defects.is_empty() { Answer::of(report.is_kept()) } else { Answer::Broken })
}

const fn timing(disturb: Disturb) -> Timing {
    match disturb {
        Disturb::Critical => Timing::Critical,
        Disturb::Random => Timing::Random,
        Disturb::Never => Timing::Never,
    }
}

/// Returns the workload with servers of another kind.
fn with_kind(
    workload: &CpuWorkload,
    kind: ServerKind,
) -> Result<(Option<ServerKind>, CpuWorkload), Failure> {
    let mut workload = workload.clone();
    for server in &mut workload.servers {
        let params = ServerParams { kind, ..server.params };
        server.params = params.checked().map_err(|error| Failure::unusable(&error))?;
    }
    Ok((Some(kind), workload))
}

/// The smallest slice that interference takes: smaller slices cost more simulation time than they
/// are worth.
const GRAIN: Duration = Duration::from_us(1);

fn run(
    kind: Option<ServerKind>,
    workload: CpuWorkload,
    thieves: &[StolenTime],
    arguments: &CpuSimArguments,
    interrupted: &AtomicBool,
) -> CpuResult {
    let start = Instant::now();
    let timing = timing(arguments.disturb);
    let disturbance = Disturbance { timing, stolen: thieves, grain: GRAIN };
    let params = CpuParams::new(&workload, arguments.duration, arguments.seed);
    let params = CpuParams { disturbance, interrupted: Some(interrupted), ..params };
    let what = kind.map_or("cpu sim", ServerKind::name);
    let mut progress = VirtualTime::new(what, arguments.duration);
    let run = simulate(&params, &mut progress);
    drop(progress);
    let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    CpuResult { kind, workload, run, wall_ns }
}

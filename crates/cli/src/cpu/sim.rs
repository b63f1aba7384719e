// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu sim`: simulates tasks and servers on a processor.

use tidegate_commands::{ProcessorRuns, read_processor, simulate_processor};
use tidegate_cpu_model::ServerKind;
use tidegate_cpu_sim::Timing;
use tidegate_report::cpu::CpuSimReport;

use super::arguments::{CpuSimArguments, Disturb};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::run_progress::VirtualTime;
use crate::{interrupt, show};

/// Runs the command.
pub(super) fn sim(arguments: &CpuSimArguments) -> Result<Answer, Failure> {
    let processor = read_processor(&arguments.workload)?;
    let interrupted = interrupt::flag(None)?;
    let timing = timing(arguments.disturb);
    let runs = ProcessorRuns {
        kinds: &arguments.server,
        duration: arguments.duration,
        seed: arguments.seed,
        timing,
        interrupted: &interrupted,
    };
    let results = simulate_processor(&processor, &runs, |kind| {
        VirtualTime::new(kind.map_or("cpu sim", ServerKind::name), arguments.duration)
    })?;
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

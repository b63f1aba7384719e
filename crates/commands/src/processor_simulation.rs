// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Simulates a processor, once or with servers of several kinds.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use tidegate_cpu_model::{CpuWorkload, ServerKind, ServerParams};
use tidegate_cpu_sim::{CpuObserver, CpuParams, Disturbance, Timing, simulate};
use tidegate_model::Duration;
use tidegate_report::cpu::CpuResult;

use crate::fault::Faults;
use crate::processor::Processor;

/// The smallest slice of time that interference takes. Smaller slices would make simulations slower
/// without changing the results noticeably.
const GRAIN: Duration = Duration::from_us(1);

/// The parameters for simulating one processor.
pub struct ProcessorRuns<'a> {
    /// The kinds of servers, with one run for each; if empty, one run with the servers in the file.
    pub kinds: &'a [ServerKind],
    /// The duration of each run.
    pub duration: Duration,
    /// The seed of all random choices.
    pub seed: u64,
    /// The choice of when threads of lower priority block, and when interference takes time.
    pub timing: Timing,
    /// A flag that ends the runs early once it is set.
    pub interrupted: &'a AtomicBool,
}

/// Simulates a processor. `follower` makes an observer for each run.
///
/// # Errors
/// If kinds are given but the workload has no server, or a server cannot be of one of these kinds.
pub fn simulate_processor<O: CpuObserver>(
    processor: &Processor,
    runs: &ProcessorRuns<'_>,
    mut follower: impl FnMut(Option<ServerKind>) -> O,
) -> Result<Vec<CpuResult>, Faults> {
    let workload = &processor.workload;
    if !runs.kinds.is_empty() && workload.servers.is_empty() {
        return Err(Faults::one(
            "no other kind of server can be simulated: the workload has no [[cpu_server]]",
            "add one to the file, or name no kind",
        ));
    }
    let workloads = match runs.kinds {
        [] => vec![(None, workload.clone())],
        kinds => kinds.iter().map(|&kind| with_kind(workload, kind)).collect::<Result<_, _>>()?,
    };
    // If it was interrupted, a run ends immediately and reports this.
    let run = |(kind, workload): (Option<ServerKind>, CpuWorkload)| {
        let start = Instant::now();
        let disturbance =
            Disturbance { timing: runs.timing, stolen: &processor.thieves, grain: GRAIN };
        let params = CpuParams::new(&workload, runs.duration, runs.seed);
        let params = CpuParams { disturbance, interrupted: Some(runs.interrupted), ..params };
        let run = simulate(&params, &mut follower(kind));
        let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        CpuResult { kind, workload, run, wall_ns }
    };
    Ok(workloads.into_iter().map(run).collect())
}

/// Returns the workload with all servers changed to another kind.
fn with_kind(
    workload: &CpuWorkload,
    kind: ServerKind,
) -> Result<(Option<ServerKind>, CpuWorkload), Faults> {
    let mut workload = workload.clone();
    for server in &mut workload.servers {
        let params = ServerParams { kind, ..server.params };
        server.params = params.checked().map_err(|error| Faults::unusable(&error))?;
    }
    Ok((Some(kind), workload))
}

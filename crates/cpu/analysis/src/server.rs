// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An aperiodic server as others see it: a sporadic task (budget, period), and one overrun.

use tidegate_cpu_model::{Background, CpuServer, CpuWorkload, Priority, ServerKind};
use tidegate_model::Duration;

use super::demand::Source;
use super::objection::Objection;
use super::overhead;

/// What a server costs the threads below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLoad {
    /// As a sporadic task: e is its budget and what its activations cost beside it.
    pub source: Source,
    /// Executed beyond the budget at most, once in any window: one enforcement delay.
    pub overrun: Duration,
}

impl ServerLoad {
    /// What a server costs, if its rules bound it.
    ///
    /// # Bound
    /// In a window of length D from a critical instant: `ceil(D / T) C + overrun`. A deferrable
    /// server may use the budgets of two periods back to back: jitter T - C. With context switches
    /// C grows by what `replenishments_max + 1` activations cost: there may be more of them in a period, of
    /// a server that leaves so much of its budget.
    ///
    /// # Source
    /// Dissertation, 6.3 and 6.5, with invariants I2 and I3 of docs/theory/sporadic-servers.md; jitter: J.
    /// Strosnider et al., "The Deferrable Server Algorithm", 1995. Own derivation of what
    /// activations cost, docs/theory/servers-as-tasks.md section 19.
    ///
    /// # Errors
    /// When nothing bounds it; on overflow as well.
    pub fn of(server: &CpuServer, workload: &CpuWorkload) -> Result<Self, Objection> {
        let params = &server.params;
        let unbounded =
            || Objection::ServerUnbounded { server: server.name.clone(), kind: params.kind };
        if !params.kind.is_like_a_periodic_task() && params.kind != ServerKind::Deferrable {
            return Err(unbounded());
        }
        let mut jitter = Duration::ZERO;
        if params.kind == ServerKind::Deferrable {
            if !workload.switch.is_zero() {
                let (server, switch) = (server.name.clone(), workload.switch);
                return Err(Objection::SwitchesUnbounded { server, switch });
            }
            jitter = params.period - params.budget;
        }
        let cost = || {
            let each = overhead::of_activation(workload.switch, params.preemption_charge)?;
            each.checked_mul(chunks_max(server) + 1)?.checked_add(params.budget)
        };
        let execution = cost().ok_or_else(unbounded)?;
        let source = Source { execution, period: params.period, jitter };
        Ok(Self { source, overrun: workload.timer_latency })
    }
}

/// The most chunks that a budget is cut into: how often a server with a backlog becomes active in a
/// period.
pub(super) fn chunks_max(server: &CpuServer) -> u64 {
    match server.params.kind {
        ServerKind::Polling | ServerKind::Deferrable => 1,
        _ => u64::from(server.params.replenishments_max),
    }
}

/// Whether a server may execute without budget at this priority or above.
pub(super) fn background_objection(server: &CpuServer, priority: Priority) -> Option<Objection> {
    match server.background {
        Background::At(background) if background >= priority => {
            Some(Objection::Background { server: server.name.clone() })
        }
        Background::At(_) | Background::Never => None,
    }
}

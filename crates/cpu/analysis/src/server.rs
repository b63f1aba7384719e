// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An aperiodic server as others see it: a sporadic task (budget, period), plus one overrun.

use tidegate_cpu_model::{Background, CpuServer, CpuWorkload, Priority, ServerKind};
use tidegate_model::Duration;

use super::demand::Source;
use super::objection::Objection;
use super::overhead;

/// The load that a server puts on the threads below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLoad {
    /// The server as a sporadic task: e is its budget plus the cost of its activations.
    pub source: Source,
    /// The longest execution beyond the budget, once in any window: one enforcement delay.
    pub overrun: Duration,
}

impl ServerLoad {
    /// Returns a server's load, if its rules bound it.
    ///
    /// # Bound
    /// In a window of length D from a critical instant: `ceil(D / T) C + overrun`. A deferrable
    /// server can use the budgets of two periods back to back: jitter T - C. With context switches
    /// C grows by the cost of `replenishments_max + 1` activations; a server can have more
    /// activations in a period only if it leaves enough of its budget unused to pay for them.
    ///
    /// # Source
    /// Dissertation, 6.3 and 6.5, with invariants I2 and I3 of docs/theory/sporadic-servers.md;
    /// jitter: J. Strosnider et al., "The Deferrable Server Algorithm", 1995. Own derivation of the
    /// cost of activations, docs/theory/servers-as-tasks.md section 19.
    ///
    /// # Errors
    /// If the load is unbounded, or on overflow.
    pub fn of(server: &CpuServer, workload: &CpuWorkload) -> Result<Self, Objection> {
        let params = &server.params;
        let unbounded =
            || Objection::ServerUnbounded { server: server.name.clone(), kind: params.kind };
        if !params.kind.has_budget() {
            return Err(Objection::NoBudget { server: server.name.clone() });
        }
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

/// Returns the largest number of chunks of a server's budget. A server with a backlog becomes
/// active at most this often in a period.
pub(super) fn chunks_max(server: &CpuServer) -> u64 {
    if server.params.kind.has_replenishments() {
        u64::from(server.params.replenishments_max)
    } else {
        1
    }
}

/// Returns an objection if a server may execute at this priority or above when it is out of budget.
pub(super) fn background_objection(server: &CpuServer, priority: Priority) -> Option<Objection> {
    match server.background {
        Background::At(background) if background >= priority => {
            Some(Objection::Background { server: server.name.clone() })
        }
        Background::At(_) | Background::Never => None,
    }
}

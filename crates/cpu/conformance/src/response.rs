// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The response-time bound that I3 checks against. It was written separately from `analysis`, so
//! that an error would have to be made twice.

use tidegate_cpu_model::{CpuWorkload, Priority};
use tidegate_model::Duration;

/// Returns the response-time bound of a task; `None` if it exceeds the task's period.
///
/// # Bound
/// The least `R` with `R = C_i + O + Σ_j ⌈R / T_j⌉ C_j`, summed over the tasks and servers of
/// higher or equal priority, where each server counts as a task with its budget and period. `O` is
/// one enforcement delay and one preemption charge for each server.
///
/// # Source
/// Joseph and Pandya, "Finding Response Times in a Real-Time System", 1986; dissertation, 6.4.2.
///
/// # Assumptions
/// No jitter, no blocking, no context-switch cost; periodic or sporadic tasks.
pub fn response_max(workload: &CpuWorkload, task: usize) -> Option<Duration> {
    let own = &workload.tasks[task];
    let is_above = |priority: Priority| priority >= own.priority;
    let others = workload.tasks.iter().enumerate().filter(|&(other, _)| other != task);
    let tasks = others
        .filter(|(_, other)| is_above(other.priority))
        .map(|(_, other)| (other.execution.ns(), other.period.ns()));
    let servers = workload.servers.iter().filter(|server| is_above(server.priority));
    let interference: Vec<(u64, u64)> = tasks
        .chain(servers.clone().map(|it| (it.params.budget.ns(), it.params.period.ns())))
        .collect();
    let overruns =
        servers.map(|it| (workload.timer_latency + it.params.preemption_charge).ns()).sum::<u64>();
    let alone = own.execution.ns().checked_add(overruns)?;
    let mut response = alone;
    while response <= own.period.ns() {
        let mut next = alone;
        for &(execution, period) in &interference {
            next = next.checked_add(response.div_ceil(period).checked_mul(execution)?)?;
        }
        if next == response {
            return Some(Duration::from_ns(response));
        }
        response = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use tidegate_cpu_model::{CpuServer, CpuTask, Scheduling, ServerKind, ServerParams};

    use super::*;

    /// Table 6.1: 10 + 2 · 20 + 49 = 99, and one tick more if the overrun is one tick.
    #[test]
    fn table_6_1_has_its_published_response() {
        let ms = Duration::from_ms;
        let mut workload = CpuWorkload::new(Scheduling::FixedPriority);
        workload.tasks.push(CpuTask::new("1", ms(10), ms(200), Priority(3)));
        workload.tasks.push(CpuTask::new("3", ms(49), ms(200), Priority(1)));
        let params = ServerParams::new(ServerKind::Sporadic, ms(20), ms(50));
        workload.servers.push(CpuServer::new("2", Priority(2), params));
        assert_eq!(response_max(&workload, 1), Some(ms(99)));
        assert_eq!(response_max(&workload, 0), Some(ms(10)));
        workload.timer_latency = ms(1);
        assert_eq!(response_max(&workload, 1), Some(ms(100)));
        workload.tasks[1].execution = ms(300);
        assert_eq!(response_max(&workload, 1), None);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A plan with drain(q) = 12 + 11 q ms, for policies that decide by drain times.

use tidegate_model::{BatchTable, Duration, Plan, Task, Workload};

pub(crate) use crate::common::task::task;

/// Returns the plan for these tasks on a drive that accepts 8 requests.
pub(crate) fn plan(tasks: Vec<Task>) -> Plan {
    let times: Vec<Duration> = (1..=8).map(|count| Duration::from_ms(12 + 11 * count)).collect();
    let table = BatchTable::new(&times).unwrap();
    let mut workload = Workload { tasks, ..Workload::new("test", 8, table.clone()) };
    workload.contracts.drain = Some(table);
    Plan { queued_max: 100, ..Plan::of(&workload) }
}

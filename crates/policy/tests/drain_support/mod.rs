// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A plan with drain(q) = 12 + 11 q ms, for policies that decide by drain times.

use tidegate_model::{
    BatchTable, Bytes, Class, Duration, Plan, Request, Task, TaskIndex, Time, Workload,
};
use tidegate_policy::{Event, Policy};

use crate::common::request;

/// Returns a task with a period and a deadline in ms, and the requests of a job.
pub(crate) fn task(period_ms: u64, deadline_ms: u64, requests: u32) -> Task {
    Task {
        deadline: Duration::from_ms(deadline_ms),
        requests,
        ..Task::periodic("task", Duration::from_ms(period_ms), Bytes::from_kib(128))
    }
}

/// Returns the plan for these tasks on a drive that accepts 8 requests.
pub(crate) fn plan(tasks: Vec<Task>) -> Plan {
    let times: Vec<Duration> = (1..=8).map(|count| Duration::from_ms(12 + 11 * count)).collect();
    let table = BatchTable::new(&times).unwrap();
    let mut workload = Workload { tasks, ..Workload::new("test", 8, table.clone()) };
    workload.contracts.drain = Some(table);
    Plan { queued_max: 100, ..Plan::of(&workload) }
}

/// Releases a request of a task, due `deadline_ms` after its release.
pub(crate) fn real_time(policy: &mut impl Policy, now: Time, id: u64, task: u32, deadline_ms: u64) {
    let due = now + Duration::from_ms(deadline_ms);
    let request = Request {
        task: TaskIndex(task),
        released: now,
        eligible: now,
        due: Some(due),
        ..request(id, Class::Hard)
    };
    policy.observe(now, Event::Release(request)).unwrap();
}

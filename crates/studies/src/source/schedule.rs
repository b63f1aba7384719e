// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Schedules as lists of bars. A bar has a row, a state, start and end in ns, and a number; bars
//! with the same number belong to one request.

use tidegate_cpu_model::CpuWorkload;
use tidegate_cpu_sim::{CpuObserver, Thread};
use tidegate_model::{Duration, Time};
use tidegate_report::RunRecord;

use crate::cell::Cell;

/// Returns the schedule of the requests in a run's longest busy interval.
pub(super) fn of_record(record: &RunRecord) -> Cell {
    let spans = record.spans().into_iter();
    let bar = |span: tidegate_report::Span<'_>| {
        let state = if span.is_on_drive { "on the drive" } else { "waits" };
        bar(span.source, state, span.ns, span.request)
    };
    Cell::List(spans.map(bar).collect())
}

fn bar(row: &str, state: &str, ns: (u64, u64), number: u64) -> Cell {
    let text = |text: &str| Cell::Text(text.to_owned());
    Cell::List(vec![text(row), text(state), Cell::of(ns.0), Cell::of(ns.1), Cell::of(number)])
}

/// Records which thread executes at which time, up to a limit.
pub(super) struct Executions {
    until: Duration,
    all: Vec<(Thread, bool, Time, Time)>,
}

impl Executions {
    pub(super) const fn new(until: Duration) -> Self {
        Self { until, all: Vec::new() }
    }

    /// Returns the schedule, starting with the thread of the highest priority.
    pub(super) fn listed(&self, workload: &CpuWorkload) -> Cell {
        let tasks = workload.tasks.iter().zip(0..);
        let tasks = tasks.map(|(it, index)| (it.priority, it.name.as_str(), Thread::Task(index)));
        let servers = workload.servers.iter().zip(0..);
        let servers =
            servers.map(|(it, index)| (it.priority, it.name.as_str(), Thread::Server(index)));
        let mut threads: Vec<_> = servers.chain(tasks).collect();
        threads.sort_by_key(|it| std::cmp::Reverse(it.0));
        let bars = threads.into_iter().flat_map(|(_, name, thread)| {
            let own = self.all.iter().filter(move |it| it.0 == thread);
            own.map(|&(_, in_budget, from, to)| {
                let state = if in_budget { "executes" } else { "in the background" };
                let [from, to] = [from, to].map(|at| at.since(Time::ZERO).ns());
                bar(name, state, (from, to.min(self.until.ns())), 0)
            })
            .collect::<Vec<_>>()
        });
        Cell::List(bars.collect())
    }
}

impl CpuObserver for Executions {
    fn executed(&mut self, thread: Thread, from: Time, to: Time, in_budget: bool) {
        if from.since(Time::ZERO) >= self.until {
            return;
        }
        match self.all.last_mut() {
            Some(last) if (last.0, last.1, last.3) == (thread, in_budget, from) => last.3 = to,
            _ => self.all.push((thread, in_budget, from, to)),
        }
    }
}

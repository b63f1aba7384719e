// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds priorities under which every deadline is met.
//!
//! Audsley's assignment fills the levels from the lowest up. A thread gets a level if it meets its
//! deadlines there with all threads that have no level yet above it. A bound here depends on the
//! set of more urgent threads and not on their order, and grows with that set. So no choice at a
//! level can spoil a higher level: if any order is proven, this algorithm finds one.
//!
//! Source: N. C. Audsley, "Optimal priority assignment and feasibility of static priority tasks
//! with arbitrary start times", 1991.

use tidegate_cpu_model::{Background, CpuServer, CpuWorkload, Priority, Scheduling};

use super::assessment::{CpuAnswer, assess, task_row};
use super::interference::MeasuredDemand;
use super::thread_assessment::CpuThreadAssessment;
use super::threads::Threads;

/// The largest number of threads for which an order is searched.
const THREADS_MAX: usize = 64;

/// A thread that needs a priority of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prioritised {
    /// A task, by its index in the workload.
    Task(usize),
    /// A server, by its index in the workload.
    Server(usize),
}

/// Returns an order of priorities, the most urgent first, under which every deadline is proven;
/// `None` if there is none, for more than 64 threads, and under EDF, which has no priorities.
///
/// Measured demand stays above all threads, and the background levels of servers stay below them.
///
/// # Complexity
/// n^2 assessments of one thread.
pub fn fitting_priorities(
    workload: &CpuWorkload,
    measured: &[MeasuredDemand],
) -> Option<Vec<Prioritised>> {
    let tasks = (0..workload.tasks.len()).map(Prioritised::Task);
    let mut open: Vec<_> =
        tasks.chain((0..workload.servers.len()).map(Prioritised::Server)).collect();
    if workload.scheduling != Scheduling::FixedPriority || open.len() > THREADS_MAX {
        return None;
    }
    let background = workload.servers.iter().filter_map(background).max();
    let lowest = background.map_or(0, |Priority(level)| level).checked_add(1)?;
    let above = lowest.checked_add(u32::try_from(open.len()).ok()?)?;
    let mut trial = workload.clone();
    for &thread in &open {
        *priority(&mut trial, thread) = Priority(above);
    }
    let mut order = Vec::with_capacity(open.len());
    for level in lowest..above {
        let fits = |&thread: &Prioritised| {
            *priority(&mut trial, thread) = Priority(level);
            let is_met = meets(&trial, measured, thread);
            *priority(&mut trial, thread) = Priority(above);
            is_met
        };
        let found = open.iter().position(fits)?;
        let thread = open.swap_remove(found);
        *priority(&mut trial, thread) = Priority(level);
        order.push(thread);
    }
    order.reverse();
    // The order is checked, because the argument above depends on the form of every bound.
    (assess(&trial, measured).answer == CpuAnswer::Proven).then_some(order)
}

/// Returns whether a task meets its deadline, or all work of a server meets its deadlines.
fn meets(workload: &CpuWorkload, measured: &[MeasuredDemand], thread: Prioritised) -> bool {
    let threads = Threads::of(workload, measured);
    match thread {
        Prioritised::Task(index) => task_row(&workload.tasks[index], &threads).is_deadline_met(),
        Prioritised::Server(index) => {
            let served = threads.served(index, &threads.server(index));
            let mut work = workload.work.iter().filter(|work| work.server == index);
            work.all(|work| {
                let deadline = work.deadline;
                CpuThreadAssessment { deadline, ..served.clone() }.is_deadline_met()
            })
        }
    }
}

fn background(server: &CpuServer) -> Option<Priority> {
    match server.background {
        Background::Never => None,
        Background::At(priority) => Some(priority),
    }
}

fn priority(workload: &mut CpuWorkload, thread: Prioritised) -> &mut Priority {
    match thread {
        Prioritised::Task(index) => &mut workload.tasks[index].priority,
        Prioritised::Server(index) => &mut workload.servers[index].priority,
    }
}

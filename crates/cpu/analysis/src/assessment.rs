// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One answer for a processor: which thread keeps its deadline, by which bound, and what limits.

use tidegate_cpu_model::{CpuTask, CpuWorkload, Priority, Scheduling};
use tidegate_model::Duration;

use super::demand::DemandBound;
use super::edf::EdfVerdict;
use super::interference::MeasuredDemand;
use super::load_test::{Load, load_test};
use super::objection::Objection;
use super::response::response_and_window;
use super::threads::Threads;

/// What may be promised to everything that shares a processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuAssessment {
    /// The answer: of all tasks, and of work with a deadline.
    pub answer: CpuAnswer,
    /// One for each task, in order.
    pub tasks: Vec<CpuThreadAssessment>,
    /// One for each server, in order: whether it gets its budget within each period.
    pub servers: Vec<CpuThreadAssessment>,
    /// One for each piece of work, in order.
    pub work: Vec<CpuThreadAssessment>,
    /// What stands in the way of more.
    pub limit: Option<CpuLimit>,
    /// The longest window from a critical instant whose demand the answer rests on.
    pub window: Duration,
    /// What the answer rests on, and what a reader must be warned of: a sentence each, without its
    /// full stop.
    pub assumptions: Vec<String>,
}

/// The three answers; neither is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CpuAnswer {
    /// Every job of every task, and of all work with a deadline, meets it.
    Proven,
    /// Some may miss it.
    NotProven,
    /// None is known to miss it, and of some nothing can be said.
    NotApplicable {
        /// Of the first: why not.
        reason: Objection,
    },
}

/// What is known of one thread's response times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CpuBound {
    /// No job takes longer, arrival to completion.
    Bounded(Duration),
    /// None was found.
    NoBound,
    /// An assumption fails.
    NotApplicable(Objection),
}

/// What may be promised to one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuThreadAssessment {
    /// By the test of loads, in the order of [`DemandBound::ALL`]; none where it does not apply.
    pub loads: [Option<Load>; 3],
    /// The longest response; under EDF the deadline, if it is met.
    pub bound: CpuBound,
    /// What it is held against: of a server its period, of work there may be none.
    pub deadline: Option<Duration>,
    /// The longest window from a critical instant whose demand the bound rests on.
    pub window: Duration,
}

/// A thread of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuThread {
    /// A task, by its index.
    Task(usize),
    /// Work, by its index.
    Work(usize),
}

/// What stands in the way of more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuLimit {
    /// The thread with the least share of its deadline left.
    Margin(CpuThread),
    /// The thread whose bound exceeds its deadline by the largest share.
    Deadline(CpuThread),
    /// The thread without any bound.
    NoBound(CpuThread),
    /// Under EDF: a window in which more may be due than can be executed.
    Window(Duration),
}

impl CpuThreadAssessment {
    pub(super) fn unknown(reason: Objection, deadline: Option<Duration>) -> Self {
        Self { bound: CpuBound::NotApplicable(reason), ..Self::of_bound(None, deadline) }
    }

    pub(super) fn of_bound(bound: Option<Duration>, deadline: Option<Duration>) -> Self {
        let bound = bound.map_or(CpuBound::NoBound, CpuBound::Bounded);
        Self { loads: [None; 3], bound, deadline, window: Duration::ZERO }
    }

    /// The bound, if there is one.
    pub fn response_max(&self) -> Option<Duration> {
        match self.bound {
            CpuBound::Bounded(response) => Some(response),
            CpuBound::NoBound | CpuBound::NotApplicable(_) => None,
        }
    }

    /// Whether its deadline is met for certain; none has nothing to miss.
    pub fn is_deadline_met(&self) -> bool {
        match (self.deadline, self.response_max()) {
            (Some(deadline), Some(response)) => response <= deadline,
            (None, _) => true,
            (Some(_), None) => false,
        }
    }
}

/// Assesses everything that shares a processor, what was measured counted above all of it.
///
/// # Complexity
/// As [`super::response()`] for every different task and server, and as [`super::Supply::response_ns`] for
/// every server.
///
/// # Panics
/// When a period is zero or a budget exceeds its period, which no file can say.
pub fn assess(workload: &CpuWorkload, measured: &[MeasuredDemand]) -> CpuAssessment {
    let threads = Threads::of(workload, measured);
    let edf = match workload.scheduling {
        Scheduling::FixedPriority => None,
        Scheduling::Edf => Some(threads.edf()),
    };
    let tasks: Vec<_> = match &edf {
        None => of_fixed_priority(workload, &threads),
        Some(edf) => workload.tasks.iter().map(|task| edf_row(edf, task.deadline)).collect(),
    };
    let servers: Vec<_> = (0..workload.servers.len())
        .map(|index| match &edf {
            None => threads.server(index),
            Some(edf) => edf_row(edf, workload.servers[index].params.period),
        })
        .collect();
    let of_server = |index| threads.served(index, &servers[index]);
    let of_servers: Vec<_> = (0..workload.servers.len()).map(of_server).collect();
    let work = workload.work.iter().map(|work| {
        let deadline = work.deadline;
        CpuThreadAssessment { deadline, ..of_servers[work.server].clone() }
    });
    let work: Vec<_> = work.collect();
    let rows = tasks.iter().chain(&servers).chain(&work);
    let window = rows.map(|row| row.window).max().unwrap_or_default();
    CpuAssessment {
        answer: answer(&tasks, &work),
        limit: match &edf {
            Some(Ok(EdfVerdict::Exceeded { window })) => Some(CpuLimit::Window(*window)),
            _ => limit(&tasks, &work),
        },
        assumptions: assumptions(workload, measured, window),
        window,
        tasks,
        servers,
        work,
    }
}

/// Equal neighbours are assessed once: a file may hold thousands of them.
fn of_fixed_priority(workload: &CpuWorkload, threads: &Threads<'_>) -> Vec<CpuThreadAssessment> {
    let mut rows: Vec<CpuThreadAssessment> = Vec::with_capacity(workload.tasks.len());
    for (index, task) in workload.tasks.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &workload.tasks[before]);
        let row = match (before, rows.last()) {
            (Some(before), Some(row)) if is_alike(before, task) => row.clone(),
            _ => task_row(task, threads),
        };
        rows.push(row);
    }
    rows
}

fn is_alike(a: &CpuTask, b: &CpuTask) -> bool {
    let key = |task: &CpuTask| {
        let times = (task.execution, task.period, task.deadline, task.jitter, task.blocking);
        (task.priority, times)
    };
    key(a) == key(b)
}

fn task_row(task: &CpuTask, threads: &Threads<'_>) -> CpuThreadAssessment {
    let deadline = Some(task.deadline);
    if let Some(reason) = threads.objection(task.priority, None) {
        return CpuThreadAssessment::unknown(reason, deadline);
    }
    let Some((own, mut level)) = threads.task_level(task) else {
        return CpuThreadAssessment::of_bound(None, deadline);
    };
    level.delay_once(task.blocking);
    let loads = DemandBound::ALL.map(|bound| load_test(&level, &own, task.deadline, bound));
    let (verdict, window) = response_and_window(&level, &own);
    CpuThreadAssessment {
        loads,
        window,
        ..CpuThreadAssessment::of_bound(verdict.bound(), deadline)
    }
}

/// Under EDF a task or a server of this deadline meets it, if all do.
fn edf_row(verdict: &Result<EdfVerdict, Objection>, deadline: Duration) -> CpuThreadAssessment {
    let (bound, window) = match verdict {
        Err(reason) => return CpuThreadAssessment::unknown(reason.clone(), Some(deadline)),
        Ok(EdfVerdict::Met { busy }) => (Some(deadline), *busy),
        Ok(EdfVerdict::Exceeded { window }) => (None, *window),
        Ok(EdfVerdict::Unbounded) => (None, Duration::MAX),
    };
    CpuThreadAssessment { window, ..CpuThreadAssessment::of_bound(bound, Some(deadline)) }
}

/// Of a certain no and "cannot be said" the no is the answer.
fn answer(tasks: &[CpuThreadAssessment], work: &[CpuThreadAssessment]) -> CpuAnswer {
    if tasks.is_empty() && work.iter().all(|row| row.deadline.is_none()) {
        return CpuAnswer::NotApplicable { reason: Objection::NothingDue };
    }
    let mut unknown = None;
    for row in tasks.iter().chain(work).filter(|row| !row.is_deadline_met()) {
        match &row.bound {
            CpuBound::NotApplicable(reason) => unknown = unknown.or(Some(reason)),
            CpuBound::Bounded(_) | CpuBound::NoBound => return CpuAnswer::NotProven,
        }
    }
    match unknown {
        Some(reason) => CpuAnswer::NotApplicable { reason: reason.clone() },
        None => CpuAnswer::Proven,
    }
}

/// The thread that stands closest to its deadline, or furthest beyond it.
fn limit(tasks: &[CpuThreadAssessment], work: &[CpuThreadAssessment]) -> Option<CpuLimit> {
    let tasks = tasks.iter().enumerate().map(|(index, row)| (CpuThread::Task(index), row));
    let work = work.iter().enumerate().map(|(index, row)| (CpuThread::Work(index), row));
    let mut tightest: Option<(u128, CpuLimit)> = None;
    for (thread, row) in tasks.chain(work) {
        let Some(deadline) = row.deadline else { continue };
        let response = match &row.bound {
            CpuBound::NotApplicable(_) => continue,
            CpuBound::NoBound => return Some(CpuLimit::NoBound(thread)),
            CpuBound::Bounded(response) => *response,
        };
        // The bound as a share of the deadline, in parts per billion, rounded up.
        let share = (u128::from(response.ns()) * 1_000_000_000).div_ceil(deadline.ns().into());
        let limit = if response <= deadline { CpuLimit::Margin } else { CpuLimit::Deadline };
        if tightest.as_ref().is_none_or(|(tightest, _)| share > *tightest) {
            tightest = Some((share, limit(thread)));
        }
    }
    tightest.map(|(_, limit)| limit)
}

/// `window` is the longest that was looked at.
fn assumptions(
    workload: &CpuWorkload,
    measured: &[MeasuredDemand],
    window: Duration,
) -> Vec<String> {
    let priorities = workload.tasks.iter().map(|task| task.priority);
    let priorities = priorities.chain(workload.servers.iter().map(|server| server.priority));
    let lowest = match workload.scheduling {
        Scheduling::FixedPriority => priorities.min(),
        Scheduling::Edf => None,
    };
    measured.iter().flat_map(|measured| notes(measured, window, lowest)).collect()
}

fn notes(
    measured: &MeasuredDemand,
    window: Duration,
    priority_min: Option<Priority>,
) -> Vec<String> {
    let name = measured.name();
    let mut notes = vec![format!(
        "no more of the processor is taken by others than the bound of `{name}` says, which was \
         measured and not proved"
    )];
    if measured.is_extrapolated_in(window) {
        let reach = match window {
            Duration::MAX => "all that is to come".to_owned(),
            window => format!("up to {window}"),
        };
        notes.push(format!(
            "`{name}` was measured in intervals of up to {}, and the answer looks at {reach}: \
             beyond, its line is extrapolated; measure longer ones, or use `bound = \"points\"`",
            measured.longest()
        ));
    }
    // Who measures gives way to nobody as urgent as itself, and so sees nothing of them.
    let unseen = measured.priority().zip(priority_min).filter(|(at, lowest)| *at >= lowest.0);
    if let Some((at, lowest)) = unseen {
        let which =
            if at == lowest.0 { format!("at {at}") } else { format!("from {lowest} to {at}") };
        notes.push(format!(
            "`{name}` was measured at priority {at}, which sees nothing of what is as urgent or \
             less: whatever runs on the processor {which} and is not in this file is not counted"
        ));
    }
    if measured.priority().is_none() {
        notes.push(format!(
            "`{name}` was measured without a real-time priority: it counts ordinary threads, and \
             says nothing about what a real-time task loses; measure it again as root"
        ));
    }
    notes
}

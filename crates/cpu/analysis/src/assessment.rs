// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The assessment of a processor: which threads meet their deadlines, by which bounds, and what
//! limits the answer.

use tidegate_cpu_model::{CpuTask, CpuWorkload, Priority, Scheduling};
use tidegate_model::{Duration, Grade, Premise, PremiseCode, Premises};

use super::demand::DemandBound;
use super::edf::EdfVerdict;
use super::interference::MeasuredDemand;
use super::load_test::load_test;
use super::objection::Objection;
use super::response::response_and_window;
use super::thread_assessment::{CpuBound, CpuThreadAssessment};
use super::threads::Threads;

/// The guarantees for everything that shares a processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuAssessment {
    /// The answer for all tasks, and for work with a deadline.
    pub answer: CpuAnswer,
    /// The assessment of each task, in the order of the workload.
    pub tasks: Vec<CpuThreadAssessment>,
    /// The assessment of each server, in the order of the workload: whether it gets its budget
    /// within each period.
    pub servers: Vec<CpuThreadAssessment>,
    /// The assessment of each piece of work, in the order of the workload.
    pub work: Vec<CpuThreadAssessment>,
    /// The thread or window that keeps the answer from being better.
    pub limit: Option<CpuLimit>,
    /// The longest window from a critical instant whose demand the answer depends on.
    pub window: Duration,
    /// The premises of the answer.
    pub premises: Premises,
}

/// The three answers; none of them is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CpuAnswer {
    /// Every job of every task, and of all work with a deadline, meets its deadline.
    Proven,
    /// Some jobs can miss their deadlines.
    NotProven,
    /// No job is known to miss its deadline, but some cannot be assessed.
    NotApplicable {
        /// The reason why the first such job cannot be assessed.
        reason: Objection,
    },
}

impl CpuAssessment {
    /// Returns the grade of the proof; `None` if nothing is proven.
    pub fn grade(&self) -> Option<Grade> {
        match self.answer {
            CpuAnswer::Proven => Some(self.premises.grade()),
            CpuAnswer::NotProven | CpuAnswer::NotApplicable { .. } => None,
        }
    }
}

/// A thread of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuThread {
    /// A task, by its index in the workload.
    Task(usize),
    /// A piece of work, by its index in the workload.
    Work(usize),
}

/// The thread or window that keeps an answer from being better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuLimit {
    /// The thread with the smallest share of its deadline left.
    Margin(CpuThread),
    /// The thread whose bound exceeds its deadline by the largest share.
    Deadline(CpuThread),
    /// A thread without any bound.
    NoBound(CpuThread),
    /// Under EDF: the length of a window in which more can be due than the processor can execute.
    Window(Duration),
}

/// Assesses everything that shares a processor; measured demand counts as more urgent than all
/// tasks and servers.
///
/// # Complexity
/// The cost of [`super::response()`] for every different task and server, plus the cost of
/// [`super::Supply::response_ns`] for every server.
///
/// # Panics
/// If a period is zero or a budget exceeds its period, which no file can state.
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
        premises: premises(workload, measured, window),
        window,
        tasks,
        servers,
        work,
    }
}

/// Assesses each run of equal neighbours once, because a file can contain thousands of them.
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

pub(super) fn task_row(task: &CpuTask, threads: &Threads<'_>) -> CpuThreadAssessment {
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

/// Returns the row of a task or server with this deadline. Under EDF one verdict covers all
/// deadlines together.
fn edf_row(verdict: &Result<EdfVerdict, Objection>, deadline: Duration) -> CpuThreadAssessment {
    let (bound, window) = match verdict {
        Err(reason) => return CpuThreadAssessment::unknown(reason.clone(), Some(deadline)),
        Ok(EdfVerdict::Met { busy }) => (Some(deadline), *busy),
        Ok(EdfVerdict::Exceeded { window }) => (None, *window),
        Ok(EdfVerdict::Unbounded) => (None, Duration::MAX),
    };
    CpuThreadAssessment { window, ..CpuThreadAssessment::of_bound(bound, Some(deadline)) }
}

/// Returns the answer. A deadline that is exceeded, or a response without a bound, takes precedence
/// over a deadline that cannot be assessed.
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

/// Returns the first thread without a bound or, if all have one, the thread whose bound is the
/// largest share of its deadline.
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

/// Returns the premises; `window` is the longest window examined.
fn premises(workload: &CpuWorkload, measured: &[MeasuredDemand], window: Duration) -> Premises {
    let priorities = workload.tasks.iter().map(|task| task.priority);
    let priorities = priorities.chain(workload.servers.iter().map(|server| server.priority));
    let lowest = match workload.scheduling {
        Scheduling::FixedPriority => priorities.min(),
        Scheduling::Edf => None,
    };
    measured.iter().flat_map(|measured| of_demand(measured, window, lowest)).collect()
}

/// Returns the premises of one measured demand; `window` is the longest window examined.
pub(super) fn of_demand(
    measured: &MeasuredDemand,
    window: Duration,
    priority_min: Option<Priority>,
) -> Vec<Premise> {
    let name = measured.name();
    let mut premises = vec![Premise::new(
        PremiseCode::CpuDemandMeasured,
        format!("the bound of `{name}`"),
        format!(
            "others take no more of the processor than the bound of `{name}` says, which was measured \
             and not proven"
        ),
    )];
    if measured.is_extrapolated_in(window) {
        let reach = match window {
            Duration::MAX => "windows of unlimited length".to_owned(),
            window => format!("up to {window}"),
        };
        let text = format!(
            "`{name}` was measured in intervals of up to {}, and the answer examines {reach}: \
             beyond the measured intervals its line is extrapolated; measure longer ones, or use \
             `bound = \"points\"`",
            measured.longest()
        );
        premises.push(Premise::new(
            PremiseCode::CpuExtrapolated,
            "extrapolated processor demand",
            text,
        ));
    }
    // The measuring thread does not yield to other threads of its own priority, so it does not see
    // them.
    let unseen = measured.priority().zip(priority_min).filter(|(at, lowest)| *at >= lowest.0);
    if let Some((at, lowest)) = unseen {
        let which =
            if at == lowest.0 { format!("at {at}") } else { format!("from {lowest} to {at}") };
        let text = format!(
            "`{name}` was measured at priority {at}, which does not see threads of the same or \
             lower priority: threads on the processor {which} that are not in this file are not \
             counted"
        );
        premises.push(Premise::new(PremiseCode::CpuUnseenThreads, "unseen threads", text));
    }
    if measured.priority().is_none() {
        let text = format!(
            "`{name}` was measured without a real-time priority: it counts ordinary threads, and \
             does not tell what a real-time task loses; measure it again as root"
        );
        premises.push(Premise::new(PremiseCode::NoRealTime, "no real-time scheduling", text));
    }
    premises
}

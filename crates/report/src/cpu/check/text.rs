// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text of `tidegate cpu check`.

use tidegate_cpu_analysis::{CpuAnswer, CpuBound, CpuThreadAssessment, Load};
use tidegate_cpu_model::{CpuTask, Priority, Scheduling};
use tidegate_model::{Duration, Grade};

use super::CpuReport;
use crate::figures;
use crate::page::{Answer, Page, Report, Table};
use crate::premises;

/// A row of the table.
struct Row<'a> {
    name: String,
    kind: String,
    priority: Option<Priority>,
    assessed: &'a CpuThreadAssessment,
}

impl Report for CpuReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let limit = self.limited_by.as_ref().map(|limit| format!("; {limit}"));
        let limit = limit.unwrap_or_default();
        Some(match &self.assessment.answer {
            CpuAnswer::NotApplicable { reason } => {
                Answer::bad(format!("NOT APPLICABLE: {reason}."))
            }
            CpuAnswer::Proven => {
                let statement = format!("every deadline of the processor is met{limit}.");
                match self.grade {
                    Some(Grade::Weak) => Answer::doubtful(format!(
                        "PROVEN, weak ({}): {statement}",
                        self.premises.doubts()
                    )),
                    Some(Grade::Strong) | None => Answer::good(format!("PROVEN: {statement}")),
                }
            }
            CpuAnswer::NotProven => {
                let work = self.assessment.work.iter().filter(|row| row.deadline.is_some());
                let rows: Vec<_> = self.assessment.tasks.iter().chain(work).collect();
                let met = rows.iter().filter(|row| row.is_deadline_met()).count();
                let of = figures::count(rows.len(), "deadline");
                Answer::bad(format!("NOT PROVEN: {met} of {of} can be guaranteed{limit}."))
            }
        })
    }

    fn write(&self, page: &mut Page) {
        writeln!(page);
        self.write_threads(page);
        writeln!(page);
        self.write_condition(page);
        for change in &self.would_fit {
            page.labelled("Would fit", change);
        }
        for (name, reason) in self.objections() {
            page.labelled("No bound", format!("{name}: {reason}"));
        }
        self.write_head(page);
    }
}

impl CpuReport<'_> {
    fn write_head(&self, page: &mut Page) {
        let workload = self.workload;
        let order = match workload.scheduling {
            Scheduling::FixedPriority => "highest priority first",
            Scheduling::Edf => "earliest deadline first",
        };
        let (switch, latency) = (workload.switch, workload.timer_latency);
        let costs = format!("a switch costs {switch}; budgets are enforced {latency} late");
        page.labelled("Processor", format!("{order}; {costs}"));
        let sources = [
            figures::count(workload.tasks.len(), "task"),
            figures::count(workload.servers.len(), "server"),
            format!("{} of work", figures::count(workload.work.len(), "source")),
        ];
        page.labelled("Workload", sources.join(", "));
        for (interference, measured) in workload.interference.iter().zip(self.measured) {
            let share = measured.utilization().ppm_of(1).unwrap_or(u64::MAX);
            let margin = match interference.margin {
                Duration::ZERO => String::new(),
                margin => format!(" and a margin of {margin}"),
            };
            let text = format!(
                "`{}` by its bound `{}`{margin}: {} in the long run, measured in intervals up to {}",
                measured.name(),
                interference.bound,
                percent(share),
                measured.longest(),
            );
            page.labelled("Interference", text);
        }
        premises::write(&self.premises, page);
    }

    fn write_threads(&self, page: &mut Page) {
        let rows = self.rows();
        let text = |cell: &dyn Fn(&Row<'_>) -> String| rows.iter().map(cell).collect::<Vec<_>>();
        let load = |index: usize| text(&|row| load_cell(row.assessed.loads[index]));
        let mut columns = vec![("thread", text(&|row| row.name.clone()))];
        columns.push(("kind", text(&|row| row.kind.clone())));
        let is_edf = self.workload.scheduling == Scheduling::Edf;
        if !is_edf {
            let priority = |row: &Row<'_>| row.priority.map_or("-".to_owned(), |it| it.to_string());
            columns.push(("priority", text(&priority)));
        }
        let deadline =
            |row: &Row<'_>| row.assessed.deadline.map_or("-".to_owned(), |it| it.to_string());
        columns.push(("deadline", text(&deadline)));
        if !is_edf {
            columns.extend([("ceil", load(0)), ("refined", load(1)), ("hyperbolic", load(2))]);
        }
        columns.push(("bound", text(&|row| figures::bound(row.assessed.response_max()))));
        // Under EDF a task's bound is its deadline, and the time left before it is not known.
        let is_known = |row: &Row<'_>| !is_edf || row.priority.is_none();
        let cell = |row: &Row<'_>| match row.assessed.bound {
            CpuBound::Bounded(_) if !is_known(row) => "-".to_owned(),
            _ => margin(row.assessed),
        };
        columns.push(("margin", text(&cell)));
        let optional = ["hyperbolic", "ceil", "refined", "priority"];
        page.put(Table::of_columns(&columns, 2).optional(&optional));
        writeln!(page);
        if is_edf {
            page.legend(
                "`bound` is the longest response time, arrival to completion; under edf either all \
                 tasks meet their deadlines or no deadline is certain. A server's `bound` is the \
                 time within which it gets its budget.",
            );
        } else {
            page.legend(
                "`bound` is the longest response time, arrival to completion, by exact analysis; a \
                 server's is the time within which it gets its budget. `hyperbolic`, `ceil` and \
                 `refined`, on a wide terminal, are loads at the deadline: by each of them alone, up \
                 to 100 % the deadline is met.",
            );
        }
    }

    /// Returns tasks, servers and work as rows; consecutive entries that differ only in their
    /// number share a row.
    fn rows(&self) -> Vec<Row<'_>> {
        let (workload, assessment) = (self.workload, &self.assessment);
        let mut rows: Vec<Row<'_>> = Vec::new();
        let mut last: Option<&CpuTask> = None;
        let mut first_name = "";
        for (task, assessed) in workload.tasks.iter().zip(&assessment.tasks) {
            match (last, rows.last_mut()) {
                (Some(last), Some(row)) if is_numbered_like(last, task) => {
                    row.name = figures::numbered(first_name, &task.name);
                }
                _ => {
                    first_name = &task.name;
                    let (name, kind) = (task.name.clone(), "task".to_owned());
                    rows.push(Row { name, kind, priority: Some(task.priority), assessed });
                }
            }
            last = Some(task);
        }
        for (server, assessed) in workload.servers.iter().zip(&assessment.servers) {
            let (name, kind) = (server.name.clone(), format!("{} server", server.params.kind));
            rows.push(Row { name, kind, priority: Some(server.priority), assessed });
        }
        for (work, assessed) in workload.work.iter().zip(&assessment.work) {
            let kind = format!("work of {}", workload.servers[work.server].name);
            rows.push(Row { name: work.name.clone(), kind, priority: None, assessed });
        }
        rows
    }

    /// Writes the conditions of a proof.
    fn write_condition(&self, page: &mut Page) {
        let (measured, window) = (self.measured, self.assessment.window);
        let interference = if measured.is_empty() {
            ""
        } else if measured.iter().any(|it| it.is_extrapolated_in(window)) {
            ", and interference takes no more than the line says, also in windows longer than \
             measured"
        } else {
            ", and interference takes no more than was measured"
        };
        if self.schedulable {
            let kept = format!("no job executes longer than the file says{interference}");
            page.labelled("Provided", kept);
        }
    }

    /// Returns the reasons why threads cannot be assessed, each with the first such thread.
    fn objections(&self) -> Vec<(String, String)> {
        let mut objections: Vec<(String, String)> = Vec::new();
        for row in self.rows() {
            let CpuBound::NotApplicable(reason) = &row.assessed.bound else { continue };
            let reason = reason.to_string();
            match objections.iter_mut().find(|(_, known)| *known == reason) {
                Some((names, _)) => *names = format!("{names}, {}", row.name),
                None => objections.push((row.name, reason)),
            }
        }
        objections
    }
}

/// Returns whether two tasks belong to one entry with a `count`.
fn is_numbered_like(a: &CpuTask, b: &CpuTask) -> bool {
    let stem = |task: &CpuTask| task.name.rsplit_once('-').map(|(stem, _)| stem.to_owned());
    stem(a).is_some() && stem(a) == stem(b) && *a == CpuTask { name: a.name.clone(), ..b.clone() }
}

fn load_cell(load: Option<Load>) -> String {
    load.and_then(Load::ppm).map_or_else(|| "-".to_owned(), percent)
}

/// Formats parts per million as a percentage with two decimals, rounded up.
fn percent(ppm: u64) -> String {
    let hundredths = ppm.div_ceil(100);
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// Formats the time left before the deadline, or the time by which the deadline can be missed.
fn margin(row: &CpuThreadAssessment) -> String {
    match (&row.bound, row.deadline) {
        (CpuBound::NotApplicable(_), _) => "not applicable".to_owned(),
        (CpuBound::NoBound, _) => "no bound".to_owned(),
        (CpuBound::Bounded(_), None) => "-".to_owned(),
        (CpuBound::Bounded(response), Some(deadline)) if *response <= deadline => {
            figures::ms_floor(deadline - *response)
        }
        (CpuBound::Bounded(response), Some(deadline)) => {
            format!("-{}", figures::ms_ceil(*response - deadline))
        }
    }
}

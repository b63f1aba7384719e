// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text of `tidegate check`.

use tidegate_analysis::{Answer as Proof, Assessment, BoundName, Limit};
use tidegate_model::{BatchChoice, BestEffort, DispatchMode, Grade, Workload};

use super::{CheckReport, Detail, HeadroomReport, TaskReport, is_later_at_client};
use crate::arrivals;
use crate::figures;
use crate::ns::Ns;
use crate::page::{Answer, Page, Report, Table, Tone, printable};
use crate::premises;
use crate::soft::Soft;
use crate::tolerance::percent_floor;

/// Consecutive tasks of one entry that have the same bound, with their common name.
struct Row<'a> {
    name: String,
    /// The first task, which has the shortest deadline.
    task: &'a TaskReport<'a>,
    deadline_last: Ns,
    count: usize,
}

impl Report for CheckReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let Self { workload, assessment, .. } = self;
        Some(match (assessment.answer, assessment.premises.void()) {
            (Proof::NotApplicable { reason }, _) => {
                Answer::bad(format!("NOT APPLICABLE: {reason}."))
            }
            (Proof::Proven, _) if workload.tasks.is_empty() => {
                Answer::good("PROVEN, trivially: no task has a deadline.")
            }
            (Proof::Proven, _) => self.proven(),
            (Proof::NotProven, Some(void)) => Answer::bad(format!("NOT PROVEN: {}.", void.text)),
            (Proof::NotProven, None) => {
                let met = assessment.tasks.iter().filter(|task| task.is_deadline_met).count();
                let tasks = figures::count(workload.tasks.len(), "task");
                let limit = self.limited_by.as_ref().map(|limit| format!("; {limit}"));
                let limit = limit.unwrap_or_default();
                Answer::bad(format!(
                    "NOT PROVEN: {met} of {tasks} would meet the deadline for certain{limit}."
                ))
            }
        })
    }

    fn write(&self, page: &mut Page) {
        let Self { workload, assessment, .. } = self;
        writeln!(page);
        if !workload.tasks.is_empty() {
            self.write_tasks(page);
            writeln!(page);
        }
        self.write_verdict(page);
        write_head(page, workload, assessment);
        if let Some(host) = &self.host {
            host.write(page);
        }
        arrivals::write_jitter(workload, page);
        match self.detail {
            Detail::Short => premises::write_short(&assessment.premises, &self.more, page),
            Detail::Premises => premises::write(&assessment.premises, page),
            Detail::Explained => {
                premises::write(&assessment.premises, page);
                self.write_explanation(page);
            }
        }
    }
}

impl CheckReport<'_> {
    /// Returns the answer of a proof: its statement, and the task with the smallest margin.
    fn proven(&self) -> Answer {
        let least = match (self.assessment.limit, &self.limited_by) {
            (Some(Limit::Margin { .. }), Some(limit)) => format!("; {limit}"),
            _ => String::new(),
        };
        let statement = format!("every job completes within its deadline{least}.");
        match self.grade {
            Some(Grade::Weak) => Answer::doubtful(format!(
                "PROVEN, weak ({}): {statement}",
                self.assessment.premises.doubts()
            )),
            Some(Grade::Strong) | None => Answer::good(format!("PROVEN: {statement}")),
        }
    }

    /// Writes the consequences of the bounds, the most important first.
    fn write_verdict(&self, page: &mut Page) {
        let Self { workload, assessment, .. } = self;
        for change in &self.would_fit {
            page.labelled("Would fit", change);
        }
        if let Some(command) = &self.to_do {
            page.command("To do", command);
        }
        if self.schedulable && !workload.tasks.is_empty() {
            let kept = format!(
                "the drive stays within its {}{}{} (by {})",
                figures::kept(assessment),
                if self.host.is_some() { ", the host within its times" } else { "" },
                if workload.has_jitter() { ", each task within its jitter" } else { "" },
                bounds_used(assessment)
            );
            page.labelled("Provided", kept);
        }
        if let Some(tolerance) = &self.tolerance {
            tolerance.write(page);
        }
        if let Some(overruns) = &self.overruns {
            overruns.write(page);
        }
        if let Some(unknown) = self.overruns_unknown {
            page.labelled("Evidence", unknown);
        }
        Soft::write(&self.soft, workload, assessment, page);
        if self.schedulable {
            for room in &self.headroom {
                page.labelled("Headroom", headroom_sentence(room));
            }
            if !self.headroom_computed {
                page.labelled("Headroom", "not computed for more than 16 [[task]] entries");
            }
        }
        if !workload.best_effort.is_empty() {
            page.labelled("Best effort", figures::best_effort(workload, assessment));
            let order = figures::best_effort_order(workload, assessment.policy);
            if let Some(order) = order.and_then(figures::order) {
                page.labelled("Order", order);
            }
            if let Some(limit) = figures::depth_limit(workload, assessment) {
                page.labelled("Depth", limit);
            }
            if let Some(rate) = self.best_effort_expected_bytes_per_s {
                let rate = figures::throughput(rate);
                let text = format!(
                    "about {rate} of best effort: a prediction from measured throughput, not a bound"
                );
                page.labelled("Expected", text);
            }
        }
    }

    fn write_tasks(&self, page: &mut Page) {
        let rows = self.rows();
        let text =
            |pick: fn(&Row<'_>) -> String| -> Vec<String> { rows.iter().map(pick).collect() };
        let response = |row: &Row<'_>| row.task.response_ns_max.map(|it| it.0);
        let mut columns = vec![
            ("task", text(|row| row.name.clone())),
            ("bound", rows.iter().map(|row| figures::bound(response(row))).collect()),
        ];
        if is_later_at_client(self.workload) {
            let at_disk = |row: &Row<'_>| row.task.disk_response_ns_max.map(|it| it.0);
            columns.push(("at disk", rows.iter().map(|it| figures::bound(at_disk(it))).collect()));
        }
        columns.extend([
            ("deadline", text(|row| figures::range(row.task.deadline_ns.0, row.deadline_last.0))),
            ("margin", text(|row| margin(row.task))),
        ]);
        let tone = |row: &Row<'_>| (!row.task.meets_deadline).then_some(Tone::Bad);
        page.put(Table::of_columns(&columns, 1).toned(rows.iter().map(tone).collect()));
    }

    /// Writes every bound, the bounds of other policies, and the steps to each bound.
    fn write_explanation(&self, page: &mut Page) {
        let rows = self.rows();
        if rows.is_empty() {
            return;
        }
        let bound = |pick: &dyn Fn(&TaskReport<'_>) -> Option<Ns>| -> Vec<String> {
            rows.iter().map(|row| figures::bound(pick(row.task).map(|it| it.0))).collect()
        };
        let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
        let has_costs = self.workload.contracts.costs.is_some();
        let mut columns = vec![("task", names.clone())];
        for name in BoundName::ALL.into_iter().filter(|name| has_costs || !name.rests_on_costs()) {
            columns.push((name.name(), bound(&|task| task.bounds.of(name))));
        }
        writeln!(page);
        page.paragraph("All bounds; the least that holds is the bound, `-` says nothing here:");
        writeln!(page);
        page.columns(&columns, 1);
        self.write_reached(&rows, page);
        let others = rows[0].task.comparison;
        let mut columns = vec![("task", names)];
        if !others.fifo_ns.is_own() {
            columns.push(("fifo", bound(&|task| task.comparison.fifo_ns.bound())));
        }
        if !others.edf_ns.is_own() {
            columns.push(("edf", bound(&|task| task.comparison.edf_ns.bound())));
        }
        if !others.dqf_ns.is_own() {
            columns.push(("dqf", bound(&|task| task.comparison.dqf_ns.bound())));
        }
        writeln!(page);
        page.paragraph(
            "Bounds of other policies; a shorter one has its price: `fifo` and `edf` send one request \
             at a time, so that fewer are served:",
        );
        writeln!(page);
        page.columns(&columns, 1);
        for row in &rows {
            if let (Some(steps), Some(Ns(bound))) = (row.task.steps, row.task.response_ns_max) {
                steps.write(&row.name, bound, page);
            }
        }
        if rows.iter().all(|row| row.task.steps.is_none()) {
            writeln!(page);
            page.paragraph(
                "Steps are told for bounds `tight` of `dqf` and `dqf-elastic`; docs/theory has the \
                 others.",
            );
        }
    }

    /// Writes how close to its bound a search brought each task.
    fn write_reached(&self, rows: &[Row<'_>], page: &mut Page) {
        if self.tasks.iter().all(|task| task.response_ns_reached.is_none()) {
            if self.schedulable {
                writeln!(page);
                page.paragraph(
                    "No schedule was simulated beside the bounds: the tasks are too many, or the \
                     simulated drive would exceed a contract.",
                );
            }
            return;
        }
        let mut tasks = self.tasks.iter();
        let mut cells = Vec::new();
        for row in rows {
            let same = tasks.by_ref().take(row.count);
            let Some(Ns(reached)) = same.filter_map(|task| task.response_ns_reached).max() else {
                continue;
            };
            let bound = figures::bound(row.task.response_ns_max.map(|it| it.0));
            cells.push(vec![row.name.clone(), figures::ms_floor(reached), bound]);
        }
        writeln!(page);
        page.paragraph(
            "Longest responses of one schedule that the contracts allow, whatever offsets and fixed \
             periods exclude: no bound for all such schedules can be below them:",
        );
        writeln!(page);
        page.table(&["task", "reached", "bound"], cells, 1);
    }

    /// Returns one row for each sequence of tasks that differ only in their number.
    fn rows(&self) -> Vec<Row<'_>> {
        let mut rows: Vec<Row<'_>> = Vec::new();
        for task in &self.tasks {
            match rows.last_mut() {
                Some(last) if last.task.is_like(task) => {
                    last.name = figures::numbered(last.task.name, task.name);
                    last.deadline_last = task.deadline_ns;
                    last.count += 1;
                }
                _ => rows.push(Row {
                    name: task.name.to_owned(),
                    task,
                    deadline_last: task.deadline_ns,
                    count: 1,
                }),
            }
        }
        rows
    }
}

impl TaskReport<'_> {
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let facts = |it: &Self| (it.entry, it.bounds, it.comparison, it.response_ns_max);
        let verdict = |it: &Self| (it.bound_used, it.meets_deadline);
        facts(self) == facts(other) && verdict(self) == verdict(other)
    }
}

/// Formats the time left before the deadline, or the time by which the deadline can be missed.
fn margin(task: &TaskReport<'_>) -> String {
    let deadline = task.deadline_ns.0;
    match task.response_ns_max {
        None => "no bound".to_owned(),
        Some(Ns(response)) if response <= deadline => figures::ms_floor(deadline - response),
        Some(Ns(response)) => format!("-{}", figures::ms_ceil(response - deadline)),
    }
}

/// The largest number of best-effort loads that the heading lists by name.
const LOADS_NAMED_MAX: usize = 4;

/// Names the best-effort loads; one export of a serve file makes several.
fn best_effort(workload: &Workload) -> String {
    let loads = &workload.best_effort;
    if loads.is_empty() {
        return "no best effort".to_owned();
    }
    let groups: Vec<&[BestEffort]> = BestEffort::entries(loads).collect();
    if groups.len() > LOADS_NAMED_MAX {
        return figures::count(loads.len(), "best-effort load");
    }
    let name = |group: &&[BestEffort]| match group {
        [first, .., last] => printable(&figures::numbered(&first.name, &last.name)),
        [] | [_] => printable(&group[0].name),
    };
    let names: Vec<String> = groups.iter().map(name).collect();
    format!("best effort: {}", names.join(", "))
}

fn write_head(page: &mut Page, workload: &Workload, assessment: &Assessment) {
    let drive = format!(
        "{}, up to {} at once; proved with b(1) = {} to b({}) = {}",
        workload.drive_name,
        figures::count(workload.depth as usize, "request"),
        figures::ms_ceil(workload.table.time_max(1)),
        workload.table.batch_max(),
        figures::ms_ceil(workload.table.time_max(workload.table.batch_max())),
    );
    page.labelled("Drive", &drive);
    let tasks = figures::count(workload.tasks.len(), "task");
    page.labelled("Workload", format!("{tasks}, {}", best_effort(workload)));
    let batch_max = assessment.batch_max;
    let batch = match assessment.policy.facts().dispatch {
        DispatchMode::Batches if assessment.batch_cost.is_some() => {
            let by_cost = figures::batch_cost(assessment).unwrap_or_default();
            format!("batches of at most {batch_max}, {by_cost}")
        }
        DispatchMode::UpToDepth => "no batches: whatever comes, up to the drive's depth".to_owned(),
        DispatchMode::OneAtATime => "one request at a time".to_owned(),
        DispatchMode::Batches => match workload.batch {
            BatchChoice::Auto => {
                format!("batches of at most {batch_max} (chosen: batch = \"auto\")")
            }
            BatchChoice::Fixed(asked) => format!("batches of at most {asked} (as asked)"),
        },
        DispatchMode::BestEffortDepth => {
            let depth = figures::count(assessment.best_effort_depth as usize, "request");
            format!("at most {depth} of best effort on the drive at once")
        }
    };
    page.labelled("Policy", format!("{}, {batch}", assessment.policy));
    if workload.margin_ppm > 0 {
        let margin = percent_floor(workload.margin_ppm.into());
        let text = format!("{margin}: planned and proved for a drive that is slower by that");
        page.labelled("Margin", text);
    }
}

/// Returns the names of the bounds on which the verdict relies.
fn bounds_used(assessment: &Assessment) -> String {
    let mut names: Vec<&str> = assessment
        .tasks
        .iter()
        .filter_map(|task| task.response_max)
        .map(|(_, name)| name.name())
        .collect();
    names.sort_unstable();
    names.dedup();
    let plural = if names.len() == 1 { "" } else { "s" };
    format!("the bound{plural} `{}`", names.join("`, `"))
}

fn headroom_sentence(headroom: &HeadroomReport<'_>) -> String {
    let name = headroom.name;
    let at_least = if headroom.is_at_least { "at least " } else { "" };
    match (headroom.more, headroom.count_max) {
        (0, 0) => format!("no task like `{name}` can be proven beside the others"),
        (0, count_max) => format!("no more tasks like `{name}`: at most {count_max} can be proven"),
        (more, count_max) => format!(
            "{at_least}{more} more like `{name}` can be proven ({at_least}{count_max} in all), \
             best effort yielding to them"
        ),
    }
}

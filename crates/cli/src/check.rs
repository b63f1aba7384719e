// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate check`: the proof, or an honest no.

use serde_json::{Value, json};
use tidegate_analysis::{
    Answer as Proof, Assessment, BoundName, Comparison, Headroom, Limit, TaskAssessment, assess,
    compare, headroom,
};
use tidegate_model::{BatchChoice, DispatchMode, Duration, PolicyName, Task, Workload};

use crate::Answer;
use crate::arguments::CheckArguments;
use crate::cpu::CpuReport;
use crate::failure::Failure;
use crate::input;
use crate::machine;
use crate::show::{self, out, outln};
use crate::soft::{self, Soft};

/// What is said of a workload under a policy.
pub(crate) struct Report {
    workload: Workload,
    assessment: Assessment,
    /// One for each task.
    comparisons: Vec<Comparison>,
    /// None where there are too many entries to compute it.
    headroom: Option<Vec<Headroom>>,
    /// At the highest quantile first.
    soft: Vec<Soft>,
}

/// Runs the command: of a workload's disk, of its processor, or of both, which then have one
/// answer.
pub(crate) fn check(arguments: &CheckArguments) -> Result<Answer, Failure> {
    let machine = input::read_machine(&arguments.workload, arguments.policy.as_slice())?;
    let disk = machine.disk.map(|disk| {
        let policy = arguments.policy.unwrap_or(disk.workload.policy);
        Report::of(disk.workload, policy)
    });
    let cpu = machine.cpu.map(CpuReport::of);
    Ok(machine::report(disk.as_ref(), cpu.as_ref(), arguments.json))
}

/// Prints what can be proved of a workload under its own policy.
pub(crate) fn print(workload: &Workload) {
    Report::of(workload.clone(), workload.policy).print();
}

impl Report {
    fn of(workload: Workload, policy: PolicyName) -> Self {
        let assessment = assess(&workload, policy);
        let headroom = match assessment.answer {
            Proof::NotApplicable { .. } => Some(Vec::new()),
            Proof::Proven | Proof::NotProven => headroom(&workload, policy),
        };
        let comparisons = compare(&workload, policy);
        let soft = soft::promises(&workload, &assessment);
        Self { workload, assessment, comparisons, headroom, soft }
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.assessment.answer == Proof::Proven
    }

    pub(crate) fn print(&self) {
        let Self { workload, assessment, .. } = self;
        print_head(workload, assessment);
        outln!();
        if !workload.tasks.is_empty() {
            self.print_tasks();
            outln!();
        }
        show::labelled("Verdict", &verdict_sentence(workload, assessment));
        soft::print(&self.soft, workload, assessment);
        if let Some(limit) = limited_by(workload, assessment) {
            show::labelled("Limited by", &limit);
        }
        match &self.headroom {
            Some(headroom) => {
                for room in headroom {
                    show::labelled("Headroom", &headroom_sentence(workload, room));
                }
            }
            None => show::labelled("Headroom", "not computed for more than 16 [[task]] entries"),
        }
        if !workload.best_effort.is_empty() {
            show::labelled("Best effort", &show::best_effort(assessment));
        }
    }

    fn print_tasks(&self) {
        let rows = self.rows();
        let bound = |pick: &dyn Fn(&Row) -> Option<Duration>| -> Vec<String> {
            rows.iter().map(|row| show::bound(pick(row))).collect()
        };
        let text = |pick: fn(&Row) -> String| -> Vec<String> { rows.iter().map(pick).collect() };
        let mut columns = vec![
            ("task", text(|row| row.name.clone())),
            ("deadline", text(|row| row.task.deadline.to_string())),
        ];
        let has_costs = self.workload.contracts.costs.is_some();
        for name in BoundName::ALL.into_iter().filter(|name| has_costs || !name.rests_on_costs()) {
            columns.push((name.name(), bound(&|row| row.assessed.bounds.of(name))));
        }
        columns
            .push(("bound", bound(&|row| row.assessed.response_max.map(|(response, _)| response))));
        columns.push(("margin", text(margin)));
        let policy = self.assessment.policy;
        if !policy.shares_bounds_with(PolicyName::Fifo) {
            columns.push(("fifo", bound(&|row| row.comparison.fifo)));
        }
        if !policy.shares_bounds_with(PolicyName::Edf) {
            columns.push(("edf", bound(&|row| row.comparison.edf)));
        }
        if !policy.shares_bounds_with(PolicyName::Dqf) {
            columns.push(("dqf", bound(&|row| row.comparison.dqf)));
        }
        out!("{}", show::columns(&columns, 1));
        outln!();
        outln!(
            "  Bounds are longest response times, release to completion; `bound` is the least that\n  \
             holds, `-` means that this bound says nothing here. Behind `margin`: what other\n  \
             policies could promise."
        );
    }

    /// Neighbours that differ in nothing but their number are one row.
    fn rows(&self) -> Vec<Row<'_>> {
        let all = self.workload.tasks.iter().zip(&self.assessment.tasks).zip(&self.comparisons);
        let mut rows: Vec<Row<'_>> = Vec::new();
        for ((task, assessed), comparison) in all {
            let row = Row { name: task.name.clone(), task, assessed, comparison };
            match rows.last_mut() {
                Some(last) if last.is_like(&row) => {
                    last.name = show::numbered(&last.task.name, &task.name);
                }
                _ => rows.push(row),
            }
        }
        rows
    }
}

/// A row of the table of tasks.
struct Row<'a> {
    name: String,
    task: &'a Task,
    assessed: &'a TaskAssessment,
    comparison: &'a Comparison,
}

impl Row<'_> {
    fn is_like(&self, other: &Self) -> bool {
        (self.task.entry, self.assessed, self.comparison)
            == (other.task.entry, other.assessed, other.comparison)
    }
}

/// What is left of the deadline, or by how much it may be missed.
fn margin(row: &Row<'_>) -> String {
    match row.assessed.response_max {
        None => "no bound".to_owned(),
        Some((response, _)) if response <= row.task.deadline => {
            show::ms_floor(row.task.deadline - response)
        }
        Some((response, _)) => format!("-{}", show::ms_ceil(response - row.task.deadline)),
    }
}

fn print_head(workload: &Workload, assessment: &Assessment) {
    let drive = format!(
        "{}, up to {} at once; table b(1) = {} to b({}) = {}",
        workload.drive_name,
        show::count(workload.depth as usize, "request"),
        show::ms_ceil(workload.table.time_max(1)),
        workload.table.batch_max(),
        show::ms_ceil(workload.table.time_max(workload.table.batch_max())),
    );
    show::labelled("Drive", &drive);
    let sources = format!(
        "{}, {}",
        show::count(workload.tasks.len(), "task"),
        show::count(workload.best_effort.len(), "best-effort load"),
    );
    show::labelled("Workload", &sources);
    let batch_max = assessment.batch_max;
    let batch = match assessment.policy.facts().dispatch {
        DispatchMode::Batches if assessment.batch_cost.is_some() => {
            let by_cost = show::batch_cost(assessment).unwrap_or_default();
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
            let depth = show::count(assessment.best_effort_depth as usize, "request");
            format!("at most {depth} of best effort on the drive at once")
        }
    };
    show::labelled("Policy", &format!("{}, {batch}", assessment.policy));
    for note in workload.notes.iter().chain(&assessment.assumptions) {
        show::labelled("Note", note);
    }
}

fn verdict_sentence(workload: &Workload, assessment: &Assessment) -> String {
    match assessment.answer {
        Proof::NotApplicable { reason } => format!("NOT APPLICABLE: {reason}."),
        Proof::Proven if workload.tasks.is_empty() => {
            "PROVEN, trivially: no task has a deadline.".to_owned()
        }
        Proof::Proven => format!(
            "PROVEN: every job of every task completes within its deadline, as long as the drive \
             keeps its {} (by {}).",
            show::kept(assessment),
            bounds_used(assessment)
        ),
        Proof::NotProven => {
            let met = assessment.tasks.iter().filter(|task| task.is_deadline_met).count();
            format!(
                "NOT PROVEN: {} of {} would meet the deadline for certain.",
                met,
                show::count(workload.tasks.len(), "task")
            )
        }
    }
}

/// The names of the bounds that the verdict rests on.
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

fn limited_by(workload: &Workload, assessment: &Assessment) -> Option<String> {
    let bound_of =
        |task: usize| assessment.tasks[task].response_max.map_or(Duration::ZERO, |b| b.0);
    let sentence = match assessment.limit? {
        Limit::NoBound { task } if assessment.policy.facts().dispatch.limits_best_effort() => {
            format!("{}: no bound holds for it", workload.tasks[task].name)
        }
        Limit::NoBound { task } if assessment.batch_cost.is_some() => format!(
            "{}: the bound for batches limited by cost would not be below every period, and says \
             nothing then",
            workload.tasks[task].name
        ),
        Limit::NoBound { task } => format!(
            "{}: no bound was found before the search was given up",
            workload.tasks[task].name
        ),
        Limit::Capacity => format!(
            "capacity: more requests come in the long run than batches of {} serve",
            assessment.batch_max
        ),
        Limit::Margin { task } => format!(
            "{}: {} of its deadline of {} are left",
            workload.tasks[task].name,
            show::ms_floor(workload.tasks[task].deadline - bound_of(task)),
            workload.tasks[task].deadline
        ),
        Limit::Deadline { task } => format!(
            "{}: it may take {}, its deadline is {}",
            workload.tasks[task].name,
            show::ms_ceil(bound_of(task)),
            workload.tasks[task].deadline
        ),
    };
    Some(sentence)
}

/// The name of a `[[task]]` entry as it is written.
fn entry_name<'a>(workload: &'a Workload, headroom: &Headroom) -> &'a str {
    &workload.entries[headroom.entry as usize]
}

fn headroom_sentence(workload: &Workload, headroom: &Headroom) -> String {
    let name = entry_name(workload, headroom);
    let at_least = if headroom.is_at_least { "at least " } else { "" };
    match (headroom.more, headroom.count_max) {
        (0, 0) => format!("no task like `{name}` can be proven beside the others"),
        (0, count_max) => format!("no more tasks like `{name}`: {count_max} can be proven in all"),
        (more, count_max) => format!(
            "{at_least}{more} more like `{name}` can be proven ({at_least}{count_max} in all), \
             best effort yielding to them"
        ),
    }
}

impl Report {
    /// The object that `--json` prints: names end in their unit.
    pub(crate) fn to_json(&self) -> Value {
        let Self { workload, assessment, .. } = self;
        let (verdict, reason) = match assessment.answer {
            Proof::Proven => ("proven", None),
            Proof::NotProven => ("not_proven", None),
            Proof::NotApplicable { reason } => ("not_applicable", Some(reason)),
        };
        let tasks = workload.tasks.iter().zip(&assessment.tasks).zip(&self.comparisons);
        let tasks = tasks.map(|((task, assessed), comparison)| {
            let mut value =
                task_json(task, assessed, &comparison_json(assessment.policy, comparison));
            value["soft"] = soft::to_json(&self.soft, task);
            value
        });
        let headroom = self.headroom.iter().flatten().map(|headroom| {
            json!({
                "name": entry_name(workload, headroom),
                "more": headroom.more,
                "count_max": headroom.count_max,
                "is_at_least": headroom.is_at_least,
            })
        });
        json!({
            "drive": workload.drive_name,
            "policy": assessment.policy.name(),
            "batch": show::batch_max(assessment),
            "verdict": verdict,
            "reason": reason,
            "schedulable": assessment.answer == Proof::Proven,
            "tasks": tasks.collect::<Vec<_>>(),
            "limited_by": limited_by(workload, assessment),
            "best_effort_fill": assessment.best_effort_fill,
            "batch_cost_ns": assessment.batch_cost.as_ref().map(|cost| cost.cost_max.ns()),
            "best_effort_fill_cost_ns":
                assessment.batch_cost.as_ref().map(|cost| cost.best_effort_fill.ns()),
            "headroom": headroom.collect::<Vec<_>>(),
            "headroom_computed": self.headroom.is_some(),
            "best_effort_depth": show::best_effort_depth(assessment),
            "assumptions": assessment.assumptions,
            "notes": workload.notes,
        })
    }
}

fn ns(bound: Option<Duration>) -> Option<u64> {
    bound.map(Duration::ns)
}

fn task_json(task: &Task, assessed: &TaskAssessment, comparison: &Value) -> Value {
    let mut bounds = json!({});
    for name in BoundName::ALL {
        bounds[format!("{name}_ns")] = ns(assessed.bounds.of(name)).into();
    }
    json!({
        "name": task.name,
        "period_ns": task.period.ns(),
        "deadline_ns": task.deadline.ns(),
        "requests": task.requests,
        "bounds": bounds,
        "comparison": comparison,
        "response_ns_max": assessed.response_max.map(|(response, _)| response.ns()),
        "bound_used": assessed.response_max.map(|(_, name)| name.name()),
        "meets_deadline": assessed.is_deadline_met,
    })
}

/// What the other policies would give: the policy itself is not among them.
fn comparison_json(policy: PolicyName, comparison: &Comparison) -> Value {
    let mut value = json!({});
    if !policy.shares_bounds_with(PolicyName::Edf) {
        value["edf_ns"] = ns(comparison.edf).into();
    }
    if !policy.shares_bounds_with(PolicyName::Fifo) {
        value["fifo_ns"] = ns(comparison.fifo).into();
    }
    if !policy.shares_bounds_with(PolicyName::Dqf) {
        value["dqf_ns"] = ns(comparison.dqf).into();
    }
    value
}

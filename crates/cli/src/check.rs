// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate check`: the proof, or an honest no.

use analysis::{Answer as Proof, Assessment, Limit, TaskAssessment, assess};
use model::{BatchChoice, Duration, PolicyName, Task, Workload};
use serde_json::{Value, json};

use crate::Answer;
use crate::arguments::CheckArguments;
use crate::failure::Failure;
use crate::input;
use crate::show;

/// Runs the command.
pub(crate) fn check(arguments: &CheckArguments) -> Result<Answer, Failure> {
    let workload = input::read(&arguments.workload)?.workload;
    let policy = arguments.policy.unwrap_or(workload.policy);
    let assessment = assess(&workload, policy);
    if arguments.json {
        println!("{:#}", to_json(&workload, &assessment));
    } else {
        print(&workload, &assessment);
    }
    Ok(if assessment.answer == Proof::Proven { Answer::Yes } else { Answer::No })
}

fn print(workload: &Workload, assessment: &Assessment) {
    print_head(workload, assessment);
    println!();
    if !workload.tasks.is_empty() {
        print_tasks(workload, assessment);
    }
    println!();
    show::labelled("Verdict", &verdict_sentence(workload, assessment));
    if let Some(limit) = limited_by(workload, assessment) {
        show::labelled("Limited by", &limit);
    }
    for headroom in &assessment.headroom {
        show::labelled("Headroom", &headroom_sentence(workload, headroom));
    }
    if !workload.best_effort.is_empty() {
        show::labelled("Best effort", &best_effort_sentence(assessment));
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
    let batch = match (assessment.policy, workload.batch) {
        (PolicyName::Noop, _) => "no batches: whatever comes, up to the drive's depth".to_owned(),
        (PolicyName::Fifo, _) => "one request at a time".to_owned(),
        (PolicyName::Dqf, BatchChoice::Auto) => {
            format!("batches of at most {} (chosen: batch = \"auto\")", assessment.batch_max)
        }
        (PolicyName::Dqf, BatchChoice::Fixed(batch_max)) => {
            format!("batches of at most {batch_max} (as asked)")
        }
    };
    show::labelled("Policy", &format!("{}, {batch}", assessment.policy));
    for note in &workload.notes {
        show::labelled("Note", note);
    }
}

fn print_tasks(workload: &Workload, assessment: &Assessment) {
    let header = [
        "task",
        "deadline",
        "linear",
        "busy_interval",
        "min_period",
        "tight",
        "bound",
        "margin",
        "fifo",
        "edf",
        "dqf",
    ];
    let rows = alike(workload, assessment).into_iter().map(|(name, task, assessed)| {
        let bounds = assessed.bounds;
        let margin = match assessed.response_max {
            None => "no bound".to_owned(),
            Some((response, _)) if response <= task.deadline => {
                show::ms_floor(task.deadline - response)
            }
            Some((response, _)) => format!("-{}", show::ms_ceil(response - task.deadline)),
        };
        let other = assessed.comparison;
        vec![
            name,
            task.deadline.to_string(),
            show::bound(bounds.linear),
            show::bound(bounds.busy_interval),
            show::bound(bounds.min_period),
            show::bound(bounds.tight),
            show::bound(assessed.response_max.map(|(response, _)| response)),
            margin,
            show::bound(other.fifo),
            show::bound(other.edf),
            show::bound(other.dqf),
        ]
    });
    // A comparison with the policy itself says nothing.
    let own = header.iter().position(|title| *title == assessment.policy.name());
    let keep = |index: usize| Some(index) != own;
    let titles: Vec<&str> =
        (0..header.len()).filter(|&index| keep(index)).map(|index| header[index]).collect();
    let rows = rows
        .map(|row| (0..).zip(row).filter(|&(index, _)| keep(index)).map(|(_, cell)| cell).collect())
        .collect();
    print!("{}", show::table(&titles, rows, 1));
    println!();
    println!(
        "  Bounds are longest response times, release to completion. `bound` is the least that\n  \
         holds; the columns behind `margin` are what other policies could promise."
    );
}

/// Neighbours that differ in nothing but their number are one row.
fn alike<'a>(
    workload: &'a Workload,
    assessment: &'a Assessment,
) -> Vec<(String, &'a Task, &'a TaskAssessment)> {
    let mut rows: Vec<(String, &Task, &TaskAssessment)> = Vec::new();
    let mut last_name = "";
    for (task, assessed) in workload.tasks.iter().zip(&assessment.tasks) {
        match rows.last_mut() {
            Some((name, first, known)) if first.entry == task.entry && *known == assessed => {
                *name = format!("{} to {}", first.name, number_of(&task.name));
            }
            _ => rows.push((task.name.clone(), task, assessed)),
        }
        last_name = &task.name;
    }
    let _ = last_name;
    rows
}

fn number_of(name: &str) -> &str {
    name.rsplit('-').next().unwrap_or(name)
}

fn verdict_sentence(workload: &Workload, assessment: &Assessment) -> String {
    match assessment.answer {
        Proof::NotApplicable { reason } => format!("NOT APPLICABLE: {reason}."),
        Proof::Proven if workload.tasks.is_empty() => {
            "PROVEN, trivially: no task has a deadline.".to_owned()
        }
        Proof::Proven => format!(
            "PROVEN: every job of every task completes within its deadline, as long as the drive \
             keeps its table (by {}).",
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

/// The name of a `[[task]]` entry: that of its task, or of its numbered tasks without the number.
fn entry_name(workload: &Workload, headroom: &analysis::Headroom) -> String {
    let name = &workload.tasks[headroom.first_task].name;
    let in_entry = workload.tasks.iter().filter(|task| task.entry == headroom.entry).count();
    let base = name.strip_suffix("-1").filter(|_| in_entry > 1);
    base.unwrap_or(name).to_owned()
}

fn headroom_sentence(workload: &Workload, headroom: &analysis::Headroom) -> String {
    let name = entry_name(workload, headroom);
    match (headroom.more, headroom.count_max) {
        (0, 0) => format!("no task like `{name}` can be proven beside the others"),
        (0, count_max) => format!("no more tasks like `{name}`: {count_max} can be proven in all"),
        (more, count_max) => format!(
            "{more} more like `{name}` can be proven ({count_max} in all), best effort yielding to them"
        ),
    }
}

fn best_effort_sentence(assessment: &Assessment) -> String {
    match (assessment.policy, assessment.best_effort_fill) {
        (PolicyName::Noop | PolicyName::Fifo, _) => {
            format!("{} keeps it in the same queue as the tasks", assessment.policy)
        }
        (PolicyName::Dqf, 0) => "none may ride along: the proof leaves no room for it".to_owned(),
        (PolicyName::Dqf, fill) => {
            format!("fills every batch up to {}", show::count(fill as usize, "request"))
        }
    }
}

/// The object of design section 5.
fn to_json(workload: &Workload, assessment: &Assessment) -> Value {
    let ns = |bound: Option<Duration>| bound.map(Duration::ns);
    let tasks: Vec<Value> = workload
        .tasks
        .iter()
        .zip(&assessment.tasks)
        .map(|(task, assessed)| {
            let bounds = assessed.bounds;
            let mut comparison = json!({
                "fifo_ns": ns(assessed.comparison.fifo),
                "edf_ns": ns(assessed.comparison.edf),
                "dqf_ns": ns(assessed.comparison.dqf),
            });
            if let Some(comparison) = comparison.as_object_mut() {
                comparison.shift_remove(&format!("{}_ns", assessment.policy));
            }
            json!({
                "name": task.name,
                "period_ns": task.period.ns(),
                "deadline_ns": task.deadline.ns(),
                "requests": task.requests,
                "bounds": {
                    "linear_ns": ns(bounds.linear),
                    "busy_interval_ns": ns(bounds.busy_interval),
                    "min_period_ns": ns(bounds.min_period),
                    "tight_ns": ns(bounds.tight),
                },
                "comparison": comparison,
                "response_ns_max": assessed.response_max.map(|(response, _)| response.ns()),
                "bound_used": assessed.response_max.map(|(_, name)| name.name()),
                "meets_deadline": assessed.is_deadline_met,
            })
        })
        .collect();
    let headroom: Vec<Value> = assessment
        .headroom
        .iter()
        .map(|headroom| {
            json!({
                "name": entry_name(workload, headroom),
                "more": headroom.more,
                "count_max": headroom.count_max,
            })
        })
        .collect();
    let (verdict, reason) = match assessment.answer {
        Proof::Proven => ("proven", None),
        Proof::NotProven => ("not_proven", None),
        Proof::NotApplicable { reason } => ("not_applicable", Some(reason)),
    };
    json!({
        "drive": workload.drive_name,
        "policy": assessment.policy.name(),
        "batch": assessment.batch_max,
        "verdict": verdict,
        "reason": reason,
        "schedulable": assessment.answer == Proof::Proven,
        "tasks": tasks,
        "limited_by": limited_by(workload, assessment),
        "best_effort_fill": assessment.best_effort_fill,
        "headroom": headroom,
        "notes": workload.notes,
    })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes the plan of a proof as the table line of the kernel target (`kernel/line.c`).

use std::fmt::Write as _;

use tidegate_analysis::{Answer, assess};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{BatchTable, Bytes, Plan, RegulatorName, Task, Workload};

/// The levels of the real-time I/O class.
const LEVELS: u32 = 8;

/// Returns the plan in a table line. The task at `level` is the first of the workload; tasks with
/// the same period and deadline share a level (`docs/decisions/0043-kernel-target.md`).
///
/// # Errors
/// A sentence, if the workload has an error, is not proved, or does not fit into a line.
pub fn table_line(text: &str, level: u32) -> Result<String, String> {
    let (workload, plan) = proved(text)?;
    let tokens = plan.regulators.contains(&RegulatorName::TokensPerTask);
    let mut line = format!(
        "policy {} order {} tokens {} depth {} batch {} fill {} best_effort {} sectors {}",
        workload.policy,
        plan.best_effort_order,
        u32::from(tokens),
        plan.depth,
        plan.batch_max,
        plan.best_effort_fill,
        plan.best_effort_depth,
        sectors_max(&workload),
    );
    write_table(&mut line, "times", Some(&plan.table));
    write_table(&mut line, "drains", plan.contracts.drain.as_ref());
    write_tasks(&mut line, &plan, level)?;
    Ok(line)
}

/// Returns a workload with an inline drive, and its plan if it is proved.
fn proved(text: &str) -> Result<(Workload, Plan), String> {
    let file = WorkloadFile::parse(text).map_err(|error| error.to_string())?;
    let DriveReference::Inline(drive) = &file.drive else {
        return Err("the workload carries no drive".to_owned());
    };
    let workload = file.bind(drive).map_err(|error| error.to_string())?;
    let assessment = assess(&workload, workload.policy);
    if assessment.answer != Answer::Proven {
        return Err("the workload is not proved".to_owned());
    }
    let plan = assessment.plan(&workload);
    if plan.batch_cost.is_some() {
        return Err("the kernel does not limit batches by cost".to_owned());
    }
    Ok((workload, plan))
}

fn sectors_max(workload: &Workload) -> u64 {
    let tasks = workload.tasks.iter().map(|task| task.size);
    let sizes = tasks.chain(workload.best_effort.iter().map(|load| load.size));
    sizes.map(Bytes::sectors_ceil).max().unwrap_or(1)
}

fn write_table(line: &mut String, key: &str, table: Option<&BatchTable>) {
    let count = table.map_or(0, BatchTable::batch_max);
    let times = (1..=count).filter_map(|n| Some(table?.time_max(n).ns().to_string()));
    let words: Vec<String> = [count.to_string()].into_iter().chain(times).collect();
    write!(line, " {key} {}", words.join(" ")).expect("a string grows");
}

fn write_tasks(line: &mut String, plan: &Plan, level: u32) -> Result<(), String> {
    let mut groups: Vec<(&Task, u32)> = Vec::new();
    for task in &plan.tasks {
        let same = |(other, _): &&mut (&Task, u32)| {
            (other.period, other.deadline) == (task.period, task.deadline)
        };
        match groups.iter_mut().find(same) {
            Some((_, requests)) => *requests += task.requests,
            None => groups.push((task, task.requests)),
        }
    }
    for ((task, requests), level) in groups.iter().zip(level..) {
        if level >= LEVELS {
            return Err("the tasks need more levels than there are".to_owned());
        }
        let (period, deadline) = (task.period.ns(), task.deadline.ns());
        write!(line, " task {level} {period} {deadline} {requests}").expect("a string grows");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(period: &str) -> String {
        let task = |name: &str, period: &str| {
            format!("[[task]]\nname = \"{name}\"\nperiod = \"{period}\"\nsize = \"8KiB\"\n")
        };
        format!(
            "[policy]\nname = \"gated-drain\"\nbest_effort_order = \"elevator\"\n[drive]\nkind = \
             \"pseudo\"\ndepth = 2\nbatch_ns_max = [1_000, 2_000]\ndrain_ns_max = [1_500, 2_500]\n{}{}{}",
            task("a", period),
            task("b", "1ms"),
            task("c", period),
        )
    }

    /// Goal: tasks that differ only in name share a level, and others have their own.
    #[test]
    fn plan_is_written_with_a_level_for_each_kind_of_task() {
        let text = workload("2ms").replace("depth = 2", "depth = 3").replace(
            "[1_000, 2_000]\ndrain_ns_max = [1_500, 2_500]",
            "[1_000, 2_000, 3_000]\ndrain_ns_max = [1_500, 2_500, 3_500]",
        );
        let line = table_line(&text, 3).unwrap();
        assert_eq!(
            line,
            "policy gated-drain order elevator tokens 0 depth 3 batch 3 fill 0 best_effort 3 \
             sectors 16 times 3 1000 2000 3000 drains 3 1500 2500 3500 \
             task 3 2000000 2000000 2 task 4 1000000 1000000 1"
        );
        assert_eq!(table_line(&text, 7).unwrap_err(), "the tasks need more levels than there are");
    }

    #[test]
    fn nothing_is_written_that_is_not_proved() {
        assert_eq!(table_line(&workload("1us"), 0).unwrap_err(), "the workload is not proved");
    }
}

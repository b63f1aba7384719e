// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Formats the plan of a proof as the table line of the kernel target.

use tidegate_analysis::{Answer, assess};
use tidegate_mapping::{TableLine, signs};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_tune::Root;

/// Returns the table line of a proved plan. The first task without a unit is at `level`.
///
/// # Errors
/// A sentence, if the workload has an error, is not proved, or does not fit into a line.
pub fn table_line(text: &str, level: u32) -> Result<String, String> {
    let file = WorkloadFile::parse(text).map_err(|error| error.to_string())?;
    let DriveReference::Inline(drive) = &file.drive else {
        return Err("the workload carries no drive".to_owned());
    };
    let signs_of = |workload: &_| signs(&file, workload, &Root::new("/nowhere"));
    let workload = file.clone().bind(drive).map_err(|error| error.to_string())?;
    let assessment = assess(&workload, workload.policy);
    if assessment.answer != Answer::Proven {
        return Err("the workload is not proved".to_owned());
    }
    let plan = assessment.plan(&workload);
    let line = TableLine::new(&workload, &plan, &signs_of(&workload), level);
    line.map(|line| line.text().to_owned()).map_err(|error| error.to_string())
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

    /// Goal: tasks that differ only in their names share a level, and other tasks have their own.
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
        let error = table_line(&text, 7).unwrap_err();
        assert!(error.contains("more than 8 kinds of period and deadline"), "{error}");
    }

    /// Goal: tasks with a unit are identified by its cgroup and take no level.
    #[test]
    fn units_are_written_as_cgroups() {
        let text = workload("2ms").replace("depth = 2", "depth = 3").replace(
            "[1_000, 2_000]\ndrain_ns_max = [1_500, 2_500]",
            "[1_000, 2_000, 3_000]\ndrain_ns_max = [1_500, 2_500, 3_500]",
        );
        let named = text.replace("name = \"b\"", "name = \"b\"\nunit = \"x\\\\x2dy.service\"");
        let line = table_line(&named, 3).unwrap();
        let tail = line.split_once(" task ").unwrap().1;
        assert_eq!(
            tail,
            "3 2000000 2000000 2 task - 1000000 1000000 1 \
             cgroup 1 /system.slice/x\\x2dy.service"
        );
        let shared = named.replace("name = \"a\"", "name = \"a\"\nunit = \"x\\\\x2dy.service\"");
        let error = table_line(&shared, 3).unwrap_err();
        assert!(error.starts_with("the kernel cannot tell `b` from `a`"), "{error}");
    }

    #[test]
    fn nothing_is_written_that_is_not_proved() {
        assert_eq!(table_line(&workload("1us"), 0).unwrap_err(), "the workload is not proved");
    }
}

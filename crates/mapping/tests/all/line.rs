// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a plan that the target cannot carry out, or tasks that it cannot tell apart, give no table
//! line. Method: a plan that fits, changed in one way each.

use tidegate_mapping::{LineError, Sign, Step, TableLine};
use tidegate_model::{
    BatchTable, BestEffortOrder, Bytes, Class, Duration, Plan, PolicyName, RegulatorName, Task,
    Workload,
};

fn group(name: &str) -> Sign {
    Sign::Cgroup(format!("/system.slice/{name}"))
}

/// A case: the workload, its plan, and the tasks' signs.
struct Case {
    workload: Workload,
    plan: Plan,
    signs: Vec<Sign>,
}

impl Case {
    fn new() -> Self {
        let table = BatchTable::new(&[Duration::from_ms(5), Duration::from_ms(8)]).unwrap();
        let mut workload = Workload::new("test", 2, table);
        workload.policy = PolicyName::Dqf;
        let task = |name: &str, period| {
            Task::periodic(name, Duration::from_ms(period), Bytes::from_kib(4))
        };
        workload.tasks = vec![task("a", 100), task("b", 200), task("c", 100)];
        let plan = Plan { best_effort_fill: 2, ..Plan::of(&workload) };
        Self { workload, plan, signs: vec![group("a.service"), Sign::Level, group("a.service")] }
    }

    fn line(&self) -> Result<TableLine, LineError> {
        TableLine::new(&self.workload, &self.plan, &self.signs, 0)
    }
}

#[test]
fn tasks_of_one_kind_and_sign_share_a_contract() {
    let line = Case::new().line().unwrap();
    assert!(
        line.text().ends_with(
            " task - 100000000 100000000 2 task 0 200000000 200000000 1 cgroup 0 /system.slice/a.service"
        ),
        "{}",
        line.text()
    );
    let names: Vec<_> = line.contracts().iter().map(|contract| contract.tasks.clone()).collect();
    assert_eq!(names, [vec!["a", "c"], vec!["b"]]);
    assert!(line.table("/dev/x", 8).starts_with("0 8 tidegate /dev/x 0 policy dqf order "));
}

#[test]
fn each_reason_is_found() {
    type Change = fn(&mut Case);
    let cases: [(Change, &str); 11] = [
        (|it| it.workload.policy = PolicyName::Edf, "has no policy `edf`"),
        (|it| it.plan.best_effort_order = BestEffortOrder::Nearest, "has no order `nearest`"),
        (|it| it.plan.regulators = vec![RegulatorName::Mdn], "has no regulator `mdn`"),
        (|it| it.plan.tasks[2].class = Class::Soft, "`c` is not: leave its class out"),
        (|it| it.signs[1] = group("a.service"), "cannot tell `b` from `a`"),
        (
            |it| {
                it.signs[0] = Sign::Place { first: 0, count: 8 };
                it.signs[1] = Sign::Place { first: 7, count: 1 };
            },
            "both are known by sectors 7 to 7",
        ),
        (
            |it| {
                for n in 0..8 {
                    let task = Task::periodic(
                        format!("t{n}"),
                        Duration::from_ms(n + 1),
                        Bytes::from_kib(4),
                    );
                    it.plan.tasks.push(task);
                    it.signs.push(Sign::Level);
                }
            },
            "more than 8 kinds of period and deadline",
        ),
        (
            |it| {
                for n in 0..64 {
                    it.plan.tasks.push(Task { name: format!("t{n}"), ..it.plan.tasks[0].clone() });
                    it.signs.push(group(&n.to_string()));
                }
            },
            "at most 64 contracts",
        ),
        (|it| it.signs[0] = Sign::Cgroup("/".repeat(224)), "paths of cgroups of at most 223 bytes"),
        (|it| it.plan.tasks[0].requests = 4_095, "at most 4096 requests of one job"),
        (|it| it.workload.policy = PolicyName::Das, "has no policy `das`"),
    ];
    for (change, reason) in cases {
        let mut case = Case::new();
        change(&mut case);
        let error = case.line().expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

/// A shell that runs the printed command passes the table on unchanged.
#[test]
fn a_printed_command_keeps_backslashes() {
    let mut case = Case::new();
    case.signs[0] = group(r"x\x2dy.service");
    let table = case.line().unwrap().table("/dev/x", 8);
    assert!(
        table.ends_with(r" cgroup 0 /system.slice/x\x2dy.service cgroup 2 /system.slice/a.service")
    );
    let step = Step { arguments: vec!["-"], table: Some(&table) };
    let command = step.command("cat");
    let done = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    assert_eq!(String::from_utf8(done.stdout).unwrap().trim_end(), table);
}

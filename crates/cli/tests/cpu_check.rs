// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu check` through the binary, and `tidegate check` of a whole machine.

mod common;

use common::Folder;

const DISK: &str = "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [5_000_000, 8_000_000]\n[[task]]\n\
                    name = \"a\"\nperiod = \"100ms\"\nsize = \"4KiB\"\n";

/// A disk that cannot keep its deadline.
const SLOW_DISK: &str = "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [5_000_000]\n[[task]]\n\
                         name = \"a\"\nperiod = \"1s\"\ndeadline = \"4ms\"\nsize = \"4KiB\"\n";

fn task(name: &str, execution: &str, period: &str, priority: u32) -> String {
    format!(
        "[[cpu_task]]\nname = \"{name}\"\nexecution = \"{execution}\"\nperiod = \"{period}\"\n\
         priority = {priority}\n"
    )
}

/// Two tasks, of which the second takes 2 + 2 * 1 of its 6.
fn processor() -> String {
    task("urgent", "1ms", "4ms", 2) + &task("other", "2ms", "6ms", 1)
}

const PROFILE: &str = "name = \"idle\"\n[conditions]\ncpu = 1\npriority = 50\n[stolen]\n\
                       interval_ns = [1_000_000, 10_000_000]\nns_max = [440_000, 500_000]\n\
                       [fit.demand]\nutilization_ppb = 100_000_000\noffset_ns = 400_000\n";

#[test]
fn proven_is_exit_0_and_every_field_of_the_contract_is_there() {
    let folder = Folder::new();
    folder.file("w.toml", &processor());
    let (code, check) = folder.json(&["cpu", "check", "w.toml"]);
    assert_eq!((code, check["verdict"].as_str()), (0, Some("proven")));
    assert_eq!(check["schedulable"], true);
    assert_eq!(check["scheduling"], "fixed-priority");
    assert!(check["reason"].is_null());
    let other = &check["tasks"][1];
    assert_eq!(other["name"], "other");
    assert_eq!(
        (other["priority"].as_u64(), other["period_ns"].as_u64()),
        (Some(1), Some(6_000_000))
    );
    assert_eq!(other["response_ns_max"], 3_000_000);
    assert_eq!(other["meets_deadline"], true);
    // Of 6 ms: 2 + 2 * 1; 2 + 1 + min(1, 2); 2 + 1/4 * (6 + 4 - 1).
    assert_eq!(other["loads"]["ceil_ppm"], 666_667);
    assert_eq!(other["loads"]["refined_ppm"], 666_667);
    assert_eq!(other["loads"]["hyperbolic_ppm"], 708_334);
    assert_eq!(check["limited_by"], "other: 3.000ms of its deadline of 6ms are left");
    let (code, text, _) = folder.run(&["cpu", "check", "w.toml"]);
    assert!(code == 0 && text.contains("PROVEN: every job of every task"), "{text}");
    // A file without a disk is for `check` what it is for `cpu check`.
    let (code, whole) = folder.json(&["check", "w.toml"]);
    assert_eq!((code, whole["verdict"].as_str()), (0, Some("proven")));
    assert!(whole["disk"].is_null());
    assert_eq!(whole["cpu"], check);
    assert_eq!(folder.run(&["check", "w.toml"]).1, text);
}

#[test]
fn not_proven_and_no_bound_are_exit_1() {
    let folder = Folder::new();
    let late = processor() + &task("late", "3ms", "12ms", 0);
    folder.file(
        "w.toml",
        &late.replace("period = \"12ms\"", "period = \"12ms\"\ndeadline = \"6ms\""),
    );
    let (code, check) = folder.json(&["cpu", "check", "w.toml"]);
    assert_eq!((code, check["verdict"].as_str()), (1, Some("not_proven")));
    assert_eq!(check["tasks"][2]["response_ns_max"], 10_000_000);
    let (_, text, _) = folder.run(&["cpu", "check", "w.toml"]);
    assert!(text.contains("NOT PROVEN: 2 of 3 deadlines would be met for certain."), "{text}");
    assert!(text.contains("late: it may take 10.000ms, its deadline is 6ms"), "{text}");
    folder.file("over.toml", &(processor() + &task("late", "6ms", "12ms", 0)));
    let (code, check) = folder.json(&["cpu", "check", "over.toml"]);
    assert_eq!((code, check["tasks"][2]["response_ns_max"].as_u64()), (1, None));
}

/// One command answers for the whole machine: yes only when both are proven.
#[test]
fn a_machine_is_proven_when_both_its_parts_are() {
    let folder = Folder::new();
    let fails = task("x", "5ms", "4ms", 1);
    let machines = [
        ("both", format!("{DISK}{}", processor()), 0, "proven", "PROVEN: both its disk"),
        ("disk", format!("{DISK}{fails}"), 1, "not_proven", "NOT PROVEN: its disk is"),
        (
            "cpu",
            format!("{SLOW_DISK}{}", processor()),
            1,
            "not_proven",
            "NOT PROVEN: its processor is",
        ),
        ("none", format!("{SLOW_DISK}{fails}"), 1, "not_proven", "NOT PROVEN: neither"),
    ];
    for (name, text, expected, verdict, sentence) in machines {
        folder.file("m.toml", &text);
        let (code, check) = folder.json(&["check", "m.toml"]);
        assert_eq!((code, check["verdict"].as_str()), (expected, Some(verdict)), "{name}");
        assert_eq!(check["schedulable"], expected == 0);
        assert_eq!(check["disk"]["drive"], "inline");
        let (_, text, _) = folder.run(&["check", "m.toml"]);
        assert!(text.contains("Drive ") && text.contains("Processor "), "{text}");
        assert!(text.contains(&format!("Machine      {sentence}")), "{text}");
    }
    folder.file("m.toml", &format!("{DISK}{fails}"));
    let (code, check) = folder.json(&["check", "m.toml", "--policy", "noop"]);
    assert_eq!((code, check["disk"]["verdict"].as_str()), (1, Some("not_applicable")));
    // The processor alone does not need the disk to be proven.
    folder.file("m.toml", &format!("{SLOW_DISK}{}", processor()));
    assert_eq!(folder.run(&["cpu", "check", "m.toml"]).0, 0);
}

#[test]
fn measured_interference_counts_above_every_task() {
    let folder = Folder::new();
    folder.file("idle.cpu.toml", PROFILE);
    let with = |lines: &str| {
        format!("{}[[cpu_interference]]\nfile = \"idle.cpu.toml\"\n{lines}", processor())
    };
    let urgent = |lines: &str| {
        folder.file("w.toml", &with(lines));
        let (code, check) = folder.json(&["cpu", "check", "w.toml"]);
        assert_eq!(code, 0);
        assert!(check["assumptions"][0].as_str().unwrap().contains("measured and not proven"));
        check["tasks"][0]["response_ns_max"].as_u64().unwrap()
    };
    // R = 1 + 0.4 + 0.1 R; by the points up to 10 ms it is 0.5; the margin comes on top.
    assert_eq!(urgent(""), 1_555_556);
    assert_eq!(urgent("bound = \"points\""), 1_500_000);
    assert_eq!(urgent("margin = \"90us\""), 1_655_556);
    let (_, text, _) = folder.run(&["cpu", "check", "w.toml"]);
    assert!(
        text.contains("Interference `idle` by its bound `demand` and a margin of 90us"),
        "{text}"
    );
    assert!(text.contains("measured at priority 50, which does not see threads of"), "{text}");
    assert!(!text.contains("without a real-time priority"), "{text}");
    assert_eq!(PROFILE.matches("priority = 50\n").count(), 1);
    folder.file("idle.cpu.toml", &PROFILE.replace("priority = 50\n", ""));
    let (_, text, _) = folder.run(&["cpu", "check", "w.toml"]);
    assert!(text.contains("`idle` was measured without a real-time priority"), "{text}");
}

/// Of windows longer than any that was measured a line is a guess, and points are not. It is the
/// windows that the bound rests on which count, and not the deadlines.
#[test]
fn a_line_beyond_what_was_measured_is_said() {
    let folder = Folder::new();
    folder.file("idle.cpu.toml", PROFILE);
    let said = |tasks: String, bound: &str| {
        let interference = format!("[[cpu_interference]]\nfile = \"idle.cpu.toml\"\n{bound}");
        folder.file("w.toml", &(tasks + &interference));
        let (_, text, _) = folder.run(&["cpu", "check", "w.toml"]);
        let is_said = text.contains("its line is extrapolated");
        assert_eq!(is_said, text.contains("also in windows longer than were measured"), "{text}");
        text.contains("intervals of up to 10ms") && is_said
    };
    // R = e + 0.4 + 0.1 R.
    assert!(!said(task("slow", "8.5ms", "11ms", 60), ""));
    assert!(said(task("slow", "8.7ms", "11ms", 60), ""));
    assert!(!said(task("slow", "8.7ms", "11ms", 60), "bound = \"points\""));
    // The first job responds within 9.9 ms, and the busy interval goes on.
    let many = task("slow", "8.5ms", "9.6ms", 60) + "deadline = \"40ms\"\n";
    assert!(said(many.clone(), ""));
    let edf = "[cpu]\nscheduling = \"edf\"\n".to_owned() + &many.replace("priority = 60\n", "");
    assert!(said(edf, ""));
}

/// Who measures at a priority sees nothing of others there.
#[test]
fn what_is_as_urgent_as_the_measuring_thread_is_said_not_to_be_counted() {
    let folder = Folder::new();
    folder.file("idle.cpu.toml", PROFILE);
    let said = |priority: u32| {
        let interference = "[[cpu_interference]]\nfile = \"idle.cpu.toml\"\n";
        folder.file("w.toml", &(task("slow", "1ms", "10ms", priority) + interference));
        let (_, text, _) = folder.run(&["cpu", "check", "w.toml"]);
        text.contains("does not see threads of the same or lower priority")
    };
    assert!(said(49) && said(50));
    assert!(!said(51));
}

/// A file without any deadline is not proven: there is nothing to prove.
#[test]
fn nothing_that_has_a_deadline_is_no_proof() {
    let folder = Folder::new();
    let server = "[[cpu_server]]\nname = \"net\"\nkind = \"sporadic\"\nbudget = \"1ms\"\n\
                  period = \"10ms\"\npriority = 5\n";
    folder.file("w.toml", server);
    let (code, text, _) = folder.run(&["cpu", "check", "w.toml"]);
    assert!(code == 1 && text.contains("nothing in the file has a deadline"), "{text}");
}

#[test]
fn faults_are_shown_with_their_place() {
    let folder = Folder::new();
    let interference = |line: &str| format!("{}[[cpu_interference]]\n{line}\n", processor());
    let refusals = [
        (interference("file = \"no.toml\""), "cannot read the processor profile no.toml"),
        (
            interference("file = \"idle.cpu.toml\"\nbound = \"load\""),
            "the profile has no fit `load`",
        ),
        (
            interference("file = \"idle.cpu.toml\"\nbound = \"guess\""),
            "there is no bound of interference `guess`",
        ),
        (
            interference("file = \"low.cpu.toml\""),
            "low.cpu.toml, line 8, column 1: the fit is below",
        ),
        (DISK.to_owned(), "the workload says nothing of a processor"),
    ];
    folder.file("idle.cpu.toml", PROFILE);
    folder.file("low.cpu.toml", &PROFILE.replace("400_000", "300_000"));
    for (text, message) in refusals {
        folder.file("w.toml", &text);
        let (code, _, stderr) = folder.run(&["cpu", "check", "w.toml"]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(message), "{message}\n{stderr}");
    }
    folder.file("w.toml", &processor());
    let (code, _, stderr) = folder.run(&["check", "w.toml", "--policy", "dqf"]);
    assert!(code == 2 && stderr.contains("are about a disk"), "{stderr}");
}

#[test]
fn under_edf_all_meet_their_deadlines_or_none_is_sure_to() {
    let folder = Folder::new();
    let edf = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("priority"));
        format!("[cpu]\nscheduling = \"edf\"\n{}\n", lines.collect::<Vec<_>>().join("\n"))
    };
    folder.file("w.toml", &edf(&(processor() + &task("more", "5ms", "12ms", 1))));
    let (code, check) = folder.json(&["cpu", "check", "w.toml"]);
    assert_eq!((code, check["tasks"][0]["response_ns_max"].as_u64()), (0, Some(4_000_000)));
    assert!(check["tasks"][0]["loads"]["ceil_ppm"].is_null());
    // The bound is the deadline: that says nothing of what is left of it.
    let (_, text, _) = folder.run(&["cpu", "check", "w.toml"]);
    assert!(check["limited_by"].is_null() && !text.contains("Limited by"), "{text}");
    let row = text.lines().find(|line| line.trim_start().starts_with("urgent")).unwrap();
    assert!(row.trim_end().ends_with(" -"), "{text}");
    assert!(text.contains("3 tasks, 0 servers, 0 sources of work"), "{text}");
    folder.file("w.toml", &edf(&(processor() + &task("more", "6ms", "12ms", 1))));
    let (code, text, _) = folder.run(&["cpu", "check", "w.toml"]);
    assert!(code == 1 && text.contains("NOT PROVEN: 0 of 3"), "{text}");
}

/// The example that comes with Tidegate is proven, disk and processor.
#[test]
fn the_example_machine_is_proven() {
    let folder = Folder::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/machine.workload.toml");
    let (code, check) = folder.json(&["check", example]);
    assert_eq!(code, 0, "{check:#}");
    assert_eq!(check["cpu"]["interference"][0]["name"], "example");
}

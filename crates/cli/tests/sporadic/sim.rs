// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu sim` through the binary: kinds of server side by side, reproducible, refusals
//! with their place.

use serde_json::Value;

use crate::common::Folder;
use crate::table_6_1;

/// Three long aperiodic events, which POSIX replenishes too early.
const EVENTS: &str = r#"
[[cpu_work]]
name = "first"
server = "2"
at = ["0ms"]
execution = "18ms"
[[cpu_work]]
name = "later"
server = "2"
at = ["40ms", "90ms"]
execution = "20ms"
"#;

fn response_of_task_3(run: &Value) -> Option<u64> {
    let tasks = run["tasks"].as_array()?;
    tasks.iter().find(|task| task["name"] == "3")?["response_ns_max"].as_u64()
}

#[test]
fn kinds_of_server_stand_side_by_side_and_posix_makes_a_task_late() {
    let folder = Folder::new();
    folder.file("w.toml", &table_6_1(EVENTS));
    let kept = folder.json(&["cpu", "sim", "w.toml", "--duration", "200ms"]);
    assert_eq!(kept.0, 0);
    assert_eq!(response_of_task_3(&kept.1["runs"][0]), Some(99_000_000));
    assert_eq!(kept.1["runs"][0]["servers"][0]["kind"], "sporadic");
    let kinds = "posix-sporadic,sporadic";
    let both = ["cpu", "sim", "w.toml", "--duration", "200ms", "--server", kinds];
    let (code, sim) = folder.json(&both);
    assert_eq!(code, 1, "one of them misses a deadline");
    assert_eq!(response_of_task_3(&sim["runs"][0]), Some(117_000_000));
    assert_eq!(response_of_task_3(&sim["runs"][1]), Some(99_000_000));
    assert_eq!(sim["runs"][0]["tasks"][1]["misses"], 1);
    let (code, text, _) = folder.run(&both);
    assert_eq!(code, 1);
    assert!(text.contains("posix-sporadic") && text.contains("117.000ms"), "{text}");
}

#[test]
fn the_same_seed_gives_the_same_figures_and_another_one_others() {
    let folder = Folder::new();
    let drawn = table_6_1(EVENTS).replace("at = [\"40ms\", \"90ms\"]", "gap = \"90ms\"");
    folder.file("w.toml", &drawn);
    let run = |seed: &str| {
        let (_, mut sim) = folder.json(&["cpu", "sim", "w.toml", "--seed", seed]);
        sim["runs"][0]["wall_ns"].take();
        sim["seed"].take();
        sim
    };
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
}

#[test]
fn refusals_name_the_place_and_what_to_write() {
    let folder = Folder::new();
    folder.file("w.toml", &table_6_1(EVENTS).replace("\"sporadic\"", "\"sporadik\""));
    let (code, _, error) = folder.run(&["cpu", "sim", "w.toml"]);
    assert_eq!(code, 2);
    assert!(error.contains("w.toml, line 11, column 8: there is no kind of server"), "{error}");
    assert!(error.contains("write one of polling, deferrable,"), "{error}");
    folder.file(
        "disk.toml",
        "drive = \"d\"\n[[task]]\nname = \"t\"\nperiod = \"1s\"\nsize = \"4KiB\"\n",
    );
    let (code, _, error) = folder.run(&["cpu", "sim", "disk.toml"]);
    assert_eq!(code, 2);
    assert!(error.contains("says nothing of a processor"), "{error}");
    let (code, _, error) = folder.run(&["cpu", "sim", "w.toml", "--duration", "5124000h"]);
    assert_eq!(code, 2);
    assert!(error.contains("more than 100 years; write a shorter time"), "{error}");
    // The other way round: a command for disks is given a processor.
    let (code, _, error) = folder.run(&["check", "w.toml"]);
    assert_eq!(code, 2, "{error}");
    folder.file("w.toml", &table_6_1(EVENTS));
    let (code, _, error) = folder.run(&["sim", "w.toml"]);
    assert_eq!(code, 2);
    assert!(error.contains("the workload has no disk part"), "{error}");
}

/// An overload that no run need go through ends it, and is said.
#[test]
fn an_overload_ends_the_run_and_is_said() {
    let folder = Folder::new();
    let two = "[[cpu_task]]\nname = \"a\"\nexecution = \"2ms\"\nperiod = \"1ms\"\npriority = 1\n";
    folder.file("w.toml", two);
    let (code, sim) = folder.json(&["cpu", "sim", "w.toml", "--duration", "1h"]);
    assert_eq!((code, sim["runs"][0]["end"].as_str()), (1, Some("overloaded")));
    let (_, text, _) = folder.run(&["cpu", "sim", "w.toml", "--duration", "1h"]);
    assert!(text.contains("more jobs of a task waited than there is room for"), "{text}");
}

/// A switch delays the first chunk of the budget and not the second, which follows it at once: a
/// window then holds more than the budget, and nothing is wrong with that.
#[test]
fn a_switch_shifts_what_a_window_holds() {
    let folder = Folder::new();
    let work = |name: &str, at: u32, execution: u32| {
        format!(
            "[[cpu_work]]\nname = \"{name}\"\nserver = \"s\"\nat = [\"{at}ms\"]\n\
             execution = \"{execution}ms\"\n"
        )
    };
    let server = "[cpu]\nswitch = \"1ms\"\n[[cpu_server]]\nname = \"s\"\nkind = \"sporadic\"\n\
                  budget = \"4ms\"\nperiod = \"20ms\"\npriority = 1\n";
    folder.file("w.toml", &format!("{server}{}{}", work("a", 0, 2), work("b", 17, 100)));
    let (code, sim) = folder.json(&["cpu", "sim", "w.toml", "--duration", "100ms"]);
    assert_eq!(sim["runs"][0]["servers"][0]["executed_in_period_ns_max"], 5_000_000);
    assert_eq!(code, 0);
}

/// The example that comes along keeps its deadlines, and its server its budget.
#[test]
fn the_example_runs() {
    let folder = Folder::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/network.workload.toml");
    let (code, sim) = folder.json(&["cpu", "sim", example, "--duration", "2s"]);
    assert_eq!(code, 0);
    let server = &sim["runs"][0]["servers"][0];
    assert!(server["executed_in_period_ns_max"].as_u64().unwrap() <= 1_020_000, "{server}");
    let taken = server["executed_ns"].as_u64().unwrap() + server["charged_ns"].as_u64().unwrap();
    assert!(taken <= 200_000_000, "a tenth of 2 s: {server}");
    assert!(sim["runs"][0]["work"][0]["jobs"].as_u64() > Some(12_000));
}

/// A job of `urgent` comes while `other` executes; a thief takes 9 ms at once, and a quarter.
const DISTURBED: &str = r#"
[[cpu_interference]]
file = "thief.cpu.toml"
margin = "6ms"
[[cpu_task]]
name = "urgent"
execution = "2ms"
period = "200ms"
offset = "3ms"
blocking = "4ms"
priority = 2
[[cpu_task]]
name = "other"
execution = "30ms"
period = "200ms"
priority = 1
"#;

const THIEF: &str = "name = \"thief\"\n[conditions]\ncpu = 1\n[stolen]\n\
                     interval_ns = [1_000_000]\nns_max = [1_000_000]\n[fit.demand]\n\
                     utilization_ppb = 250_000_000\noffset_ns = 3_000_000\n";

/// Blocking and interference as the file has them, at their worst: 2 + 4 + 9 + 5 = 20 for the one,
/// and the least R = 30 + 2 + 9 + R / 4 for the other, 54.7. `cpu check` promises no more.
#[test]
fn blocking_and_interference_are_simulated_and_said() {
    let folder = Folder::new();
    folder.file("w.toml", DISTURBED);
    let (code, _, error) = folder.run(&["cpu", "sim", "w.toml"]);
    assert!(code == 2 && error.contains("cannot read the processor profile"), "{error}");
    folder.file("thief.cpu.toml", THIEF);
    let longest = |disturb: &str| {
        let (code, sim) =
            folder.json(&["cpu", "sim", "w.toml", "--duration", "10s", "--disturb", disturb]);
        assert_eq!((code, sim["disturb"].as_str()), (0, Some(disturb)));
        let run = sim["runs"][0].clone();
        let of_task = |task: usize| run["tasks"][task]["response_ns_max"].as_u64().unwrap();
        (of_task(0), of_task(1), run)
    };
    let (urgent, other, run) = longest("critical");
    let (_, check) = folder.json(&["cpu", "check", "w.toml"]);
    let bound = |task: usize| check["tasks"][task]["response_ns_max"].as_u64().unwrap();
    assert_eq!((bound(0), bound(1)), (20_000_000, 54_666_667));
    assert!(bound(0) - 10_000 < urgent && urgent <= bound(0), "{urgent}");
    assert!(bound(1) - 10_000 < other && other <= bound(1), "{other}");
    assert!(run["sections"].as_u64() > Some(10) && run["section_ns_max"] == 4_000_000);
    assert!(run["stolen_ns"].as_u64() > Some(500_000_000));
    let at_random = longest("random");
    assert!(at_random.0 > 2_000_000 && at_random.0 <= bound(0) && at_random.1 <= bound(1));
    let (urgent, other, run) = longest("never");
    assert_eq!((urgent, other), (2_000_000, 32_000_000));
    assert_eq!((run["sections"].as_u64(), run["stolen_ns"].as_u64()), (Some(0), Some(0)));
    let text = || folder.run(&["cpu", "sim", "w.toml", "--duration", "10s"]).1;
    let said = text();
    assert!(said.contains("sections of less urgent threads, at critical instants"), "{said}");
    assert!(said.contains("thieves within `thief.cpu.toml` by `demand`"), "{said}");
    assert!(said.contains("sections of up to 4ms") && said.contains(" stolen"), "{said}");
    // Between the two a third that nothing may block.
    let third = "[[cpu_task]]\nname = \"third\"\nexecution = \"1ms\"\nperiod = \"200ms\"\n\
                 offset = \"100ms\"\npriority = 2\n";
    folder.file("w.toml", &(DISTURBED.replace("priority = 2", "priority = 3") + third));
    let said = text();
    assert!(said.contains("nothing blocked"), "{said}");
}

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
    assert!(error.contains("a run of more than 100 years; write a shorter one"), "{error}");
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

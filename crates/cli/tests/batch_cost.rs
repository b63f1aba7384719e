// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `batch_cost` of `[policy.dqf]` through the binary: check proves by it and says so, sim keeps
//! what it proves, and what cannot be is refused at its place.

mod common;

use common::Folder;

/// A batch takes 10 ms, a read of 4 KiB 1 ms, a write of 1 MiB 20 ms.
const DRIVE: &str = r#"
name = "d"
kind = "pseudo"
depth = 16
[[batch]]
op = "read"
size = "4KiB"
ns_max = [11_000_000, 12_000_000, 13_000_000, 14_000_000, 15_000_000, 16_000_000]
[[batch]]
op = "read"
size = "1MiB"
ns_max = [30_000_000, 50_000_000, 70_000_000, 90_000_000, 110_000_000, 130_000_000]
[[batch]]
op = "write"
size = "1MiB"
ns_max = [30_000_000, 50_000_000, 70_000_000, 90_000_000, 110_000_000, 130_000_000]
[cost]
positioning_ns_max = 10_000_000
request = [
    { op = "read", size = "4KiB", ns_max = 1_000_000 },
    { op = "write", size = "1MiB", ns_max = 20_000_000 },
]
"#;

/// Four readers and a recorder: C = 24 ms.
fn workload(policy: &str, more: &str) -> String {
    format!(
        "drive = \"d.drive.toml\"\n[policy]\nname = \"dqf\"\n{policy}\n\
         [[task]]\nname = \"query\"\ncount = 4\nperiod = \"200ms\"\nsize = \"4KiB\"\n\
         [[task]]\nname = \"recorder\"\nperiod = \"200ms\"\nop = \"write\"\nsize = \"1MiB\"\n{more}"
    )
}

fn folder(policy: &str, more: &str) -> Folder {
    let folder = Folder::new();
    folder.file("d.drive.toml", DRIVE);
    folder.file("w.toml", &workload(policy, more));
    folder
}

#[test]
fn a_limit_that_never_cuts_proves_as_theorem_2_by_cost() {
    let (code, check) =
        folder("[policy.dqf]\nbatch_cost = \"24ms\"", "").json(&["check", "w.toml"]);
    assert_eq!((code, check["verdict"].as_str()), (0, Some("proven")));
    assert_eq!(check["batch_cost_ns"], 24_000_000);
    let first = &check["tasks"][0];
    assert_eq!(first["bounds"]["mixed_ns"], 44_000_000, "2 A + C");
    assert_eq!(first["bound_used"], "mixed");
    assert!(first["bounds"]["tight_ns"].is_null(), "no bound by count is valid");
}

/// At 20 ms the write goes alone: behind one read in flight two reads, the write and the last
/// read are three batches, so 4 A + C.
#[test]
fn a_limit_that_cuts_costs_batches() {
    let folder = folder("[policy.dqf]\nbatch_cost = \"20ms\"", "");
    let (code, check) = folder.json(&["check", "w.toml"]);
    assert_eq!((code, check["tasks"][0]["response_ns_max"].as_u64()), (0, Some(64_000_000)));
    let (_, text, _) = folder.run(&["check", "w.toml"]);
    assert!(text.contains("which cost at most 20ms together (batch_cost)"), "{text}");
    assert!(text.contains("keeps its cost model (by the bound `mixed`)"), "{text}");
}

/// 2 A + 2 F stays below the period of 200 ms: what is left of it is best effort's.
#[test]
fn best_effort_gets_the_cost_that_is_left_and_sim_keeps_the_bound() {
    let load = "[[best_effort]]\nname = \"backup\"\noutstanding = 8\nsize = \"4KiB\"\n";
    let folder = folder("[policy.dqf]\nbatch_cost = \"100ms\"", load);
    let (code, check) = folder.json(&["check", "w.toml"]);
    assert_eq!((code, check["verdict"].as_str()), (0, Some("proven")));
    let fill_ns = check["best_effort_fill_cost_ns"].as_u64().unwrap();
    assert_eq!(fill_ns, 89_999_999);
    let (code, sim) = folder.json(&["sim", "w.toml", "--jobs", "200"]);
    assert_eq!(code, 0, "{sim:#}");
    let policy = &sim["policies"][0];
    assert_eq!(policy["batch_cost_ns"], 100_000_000);
    assert_eq!(policy["overruns"], 0, "the pseudo-disk keeps the costs");
    for task in policy["tasks"].as_array().unwrap() {
        assert!(task["response_ns_max"].as_u64() <= task["bound_ns"].as_u64(), "{task:#}");
    }
    assert!(policy["best_effort"]["requests"].as_u64() > Some(0));
    let (_, text, _) = folder.run(&["check", "w.toml"]);
    assert!(text.contains("behind which no task waits, up to a cost of 89.999ms"), "{text}");
}

/// A workload whose proof charges each request its own cost, by count, keeps its bound too.
#[test]
fn the_pseudo_disk_keeps_the_costs_that_a_proof_by_count_charges() {
    let folder = folder("batch = 5", "");
    let (code, sim) = folder.json(&["sim", "w.toml", "--jobs", "200"]);
    assert_eq!(code, 0, "{sim:#}");
    let task = &sim["policies"][0]["tasks"][0];
    assert_eq!(task["bound_ns"], 44_000_000);
    assert!(task["response_ns_max"].as_u64() <= Some(44_000_000), "{task:#}");
}

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    for (policy, said) in [
        ("[policy.dqf]\nbatch_cost = \"19ms\"", "costs 20.000ms, which is more than a batch may"),
        ("[policy.dqf]\nbatch_cost = 60", "no unit"),
        ("[policy.dqf]\nbatch = \"60ms\"", "unknown field `batch`"),
    ] {
        let (code, _, stderr) = folder(policy, "").run(&["check", "w.toml"]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(said) && stderr.contains("w.toml:"), "{stderr}");
    }
}

/// Goal: the promise names what it rests on. Without a limit the tighter bound is by costs too, and
/// a drive that keeps only its table may break it.
#[test]
fn a_bound_by_costs_says_so_without_a_limit_too() {
    let folder = folder("", "deadline = \"60ms\"\n");
    let (code, text, _) = folder.run(&["check", "w.toml"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("as long as the drive keeps its cost model"), "{text}");
    assert!(text.contains("no batch of `d` takes longer than A and the costs"), "{text}");
    let (_, check) = folder.json(&["check", "w.toml", "--policy", "edf"]);
    assert!(!check["assumptions"].to_string().contains("A and the costs"), "{check}");
}

/// Goal: the pseudo-disk is an adversary for every policy. Method: `fifo` is bound by the table of
/// the largest request, which nobody who knows costs would reach.
#[test]
fn the_pseudo_disk_is_as_slow_as_the_proof_of_each_policy_allows() {
    let folder = folder("", "deadline = \"60ms\"\n");
    let (_, sim) = folder
        .json(&["sim", "w.toml", "--policy", "fifo,dqf", "--jobs", "20", "--model", "pseudo"]);
    let longest = |policy: usize| {
        let tasks = sim["policies"][policy]["tasks"].as_array().unwrap();
        tasks.iter().map(|task| task["response_ns_max"].as_u64().unwrap()).max().unwrap()
    };
    assert_eq!(longest(0), 5 * 30_000_000, "five at b(1), all at once");
    // Two batches by costs at most, where the table would take 60 ms and more.
    assert!((34_000_000..=44_000_000).contains(&longest(1)), "{}", longest(1));
}

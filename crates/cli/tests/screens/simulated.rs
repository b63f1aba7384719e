// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: simulations keep proven bounds and are reproducible. Method: the JSON output of
//! simulations in virtual time.

use serde_json::Value;

use crate::{folder, json_of, run};

/// Runs a line in a new folder; returns its exit code and its JSON object.
fn ran(line: &str) -> (i32, Value) {
    json_of(line, folder().path())
}

fn tasks(run: &Value) -> &[Value] {
    run["tasks"].as_array().unwrap()
}

fn is_within_bounds(run: &Value) -> bool {
    let bound = |task: &Value| task["bound_ns"].as_u64().expect("a bound");
    tasks(run).iter().all(|task| task["response_ns_max"].as_u64().unwrap() <= bound(task))
}

fn longest_ns(run: &Value) -> u64 {
    tasks(run).iter().map(|task| task["response_ns_max"].as_u64().unwrap()).max().unwrap()
}

#[test]
fn policies_stand_side_by_side_and_only_dqf_keeps_the_deadlines() {
    let (code, sim) = ran("tidegate sim recorder.toml --policy noop,fifo,dqf --jobs 200 --json");
    // The baseline's misses do not affect the exit code.
    assert_eq!(code, 0);
    assert_eq!((sim["model"].as_str(), sim["seed"].as_u64()), (Some("pseudo"), Some(1)));
    let [noop, fifo, dqf] = sim["policies"].as_array().unwrap().as_slice() else { panic!("{sim}") };
    let names = [noop, fifo, dqf].map(|run| run["policy"].as_str().unwrap());
    assert_eq!(names, ["noop", "fifo", "dqf"]);
    assert!(noop["tasks"][0]["misses"].as_u64() > Some(0));
    assert!(noop["tasks"][0]["bound_ns"].is_null());
    assert!(is_within_bounds(fifo) && is_within_bounds(dqf));
    for task in tasks(dqf) {
        assert_eq!((task["jobs"].as_u64(), task["misses"].as_u64()), (Some(200), Some(0)));
    }
    assert!(dqf["best_effort"]["throughput_bytes_per_s"].as_u64() > Some(1_000_000));
}

/// Goal: the policies that promise every deadline determine the exit code; if none promises that,
/// all policies do.
#[test]
fn baselines_do_not_decide_unless_nothing_promises() {
    let folder = folder();
    for (policies, expected) in [
        ("noop", 1),
        ("noop,fifo", 1),
        ("noop,fifo,dqf", 0),
        ("noop,das", 1),
        ("das,dqf", 0),
        ("das", 2),
    ] {
        let line = format!("tidegate sim recorder.toml --policy {policies} --jobs 50 --quiet");
        let output = run(&line, folder.path(), crate::COLUMNS[1]);
        assert_eq!(output.status.code(), Some(expected), "{policies}");
    }
}

#[test]
fn the_same_seed_gives_the_same_figures_and_another_one_others() {
    for (line, runs) in [
        ("tidegate sim recorder.toml --jobs 100 --json", "policies"),
        ("tidegate cpu sim random.toml --json", "runs"),
    ] {
        let run = |seed: u32| {
            let (_, mut sim) = ran(&format!("{line} --seed {seed}"));
            sim[runs][0]["wall_ns"].take();
            sim[runs].take()
        };
        assert_eq!(run(7), run(7), "{line}");
        assert_ne!(run(7), run(8), "{line}");
    }
}

#[test]
fn a_run_can_be_given_a_duration() {
    let (_, sim) = ran("tidegate sim recorder.toml --duration 3s --json");
    assert_eq!(sim["policies"][0]["tasks"][0]["jobs"], 10);
}

#[test]
fn a_recorded_profile_is_simulated_within_its_bound() {
    let mean = |task: &Value| task["response_ns_mean"].as_u64().unwrap();
    let (code, sim) = ran("tidegate sim recorded.toml --jobs 5000 --json");
    assert_eq!((code, sim["model"].as_str()), (0, Some("recorded")));
    let task = &sim["policies"][0]["tasks"][0];
    assert!(mean(task) * 3 < task["bound_ns"].as_u64().unwrap() * 2);
    let (_, worst) = ran("tidegate sim recorded.toml --jobs 5000 --model pseudo --json");
    assert!(mean(&worst["policies"][0]["tasks"][0]) > mean(task));
}

/// Checks of contracts that the drive keeps are counted, even if no bound relies on the contract.
#[test]
fn contracts_are_watched() {
    let (_, sim) =
        ran("sed -n '/^\\[mechanics\\]/,$p' drives/fujitsu-max3036rc.drive.toml > mechanics
                        sed 's/= \\[.*/= [30_000_000, 55_000_000, 80_000_000]/' optimist.head |
                        cat - mechanics > d.drive.toml
                        tidegate sim optimist.toml --jobs 300 --json");
    let run = &sim["policies"][0];
    assert_eq!((run["contract"].as_str(), run["overruns"].as_u64()), (Some("drain"), Some(0)));
    assert!(run["contracts"]["drain"]["observed"].as_u64() > Some(300));
    assert!(run["contracts"]["starvation"].is_null());
}

#[test]
fn cheat_is_a_soft_task_and_is_not_believed() {
    for task in ["camera", "camera-2"] {
        let (_, sim) = ran(&format!(
            "tidegate sim cheats.toml --policy mdn --jobs 50 --json --false-reports {task}"
        ));
        assert!(sim["policies"][0]["best_effort"]["requests"].as_u64() > Some(0), "{task}");
    }
}

/// The pseudo-disk keeps to the costs that a proof charges, with batches limited by cost or by
/// count.
#[test]
fn bounds_by_cost_are_kept() {
    let (code, sim) = ran(
        "sed 's/# batch_cost = \"24ms\"/batch_cost = \"100ms\"/; s/# best_effort/[[best_effort]]/
              s/# load//' cost.toml > w.toml; tidegate sim w.toml --jobs 200 --json",
    );
    let run = &sim["policies"][0];
    assert!(code == 0 && is_within_bounds(run), "{sim:#}");
    assert_eq!(
        (run["batch_cost_ns"].as_u64(), run["overruns"].as_u64()),
        (Some(100_000_000), Some(0))
    );
    assert!(run["best_effort"]["requests"].as_u64() > Some(0));
    let (code, sim) = ran("tidegate sim cost.toml --batch 5 --jobs 200 --json");
    let run = &sim["policies"][0];
    assert!(code == 0 && is_within_bounds(run), "{sim:#}");
    assert_eq!(run["tasks"][0]["bound_ns"], 44_000_000);
}

/// Goal: the pseudo-disk is an adversary for every policy. Method: on one workload, each request
/// under `fifo` takes b(1) of the largest request, as its proof charges, and batches under `dqf`
/// take the costs that its proof charges.
#[test]
fn the_pseudo_disk_is_as_slow_as_the_proof_of_each_policy_allows() {
    let (_, sim) = ran("sed 's/# deadline/deadline/' cost.toml > w.toml
                        tidegate sim w.toml --policy fifo,dqf --jobs 20 --model pseudo --json");
    let [fifo, dqf] = [0, 1].map(|policy| longest_ns(&sim["policies"][policy]));
    assert_eq!(fifo, 5 * 30_000_000, "five at b(1), all at once");
    // At most two batches charged by cost, instead of the table's 60 ms and more.
    assert!((34_000_000..=44_000_000).contains(&dqf), "{dqf}");
}

/// Regulators hold requests back and change their class and order; the policy behind them must not
/// be blamed for that.
#[test]
fn policies_behind_regulators_are_not_called_defective() {
    for file in ["interactive.toml", "detected.toml", "backlog.toml"] {
        let policies = "noop,fifo,sstf,scan,c-look,edf,dqf,dq-edf,dqf-elastic,rtio";
        let (code, _) =
            ran(&format!("tidegate sim {file} --jobs 300 --policy {policies} --json 2>&1"));
        assert!(code <= 1, "{file}: {code}");
    }
}

/// The example workload keeps its deadlines, and its server keeps its budget.
#[test]
fn the_example_of_a_server_keeps_its_budget() {
    let line = "tidegate cpu sim workloads/network.workload.toml --duration 2s --json";
    let (code, sim) = ran(line);
    assert_eq!(code, 0);
    let server = &sim["runs"][0]["servers"][0];
    assert!(server["executed_in_period_ns_max"].as_u64().unwrap() <= 1_020_000, "{server}");
    let taken = server["executed_ns"].as_u64().unwrap() + server["charged_ns"].as_u64().unwrap();
    assert!(taken <= 200_000_000, "a tenth of 2 s: {server}");
    assert!(sim["runs"][0]["work"][0]["jobs"].as_u64() > Some(12_000));
}

/// At critical instants tasks respond as late as `cpu check` predicts, and at random instants no
/// later.
#[test]
fn blocking_and_interference_reach_the_bounds() {
    let disturbed = |when: &str| {
        let line =
            format!("tidegate cpu sim disturbed.toml --duration 10s --disturb {when} --json");
        let (code, sim) = ran(&line);
        assert_eq!((code, sim["disturb"].as_str()), (0, Some(when)));
        let run = sim["runs"][0].clone();
        let longest = [0, 1].map(|task| run["tasks"][task]["response_ns_max"].as_u64().unwrap());
        (longest, run)
    };
    let bounds = [20_000_000, 54_666_667];
    let (longest, run) = disturbed("critical");
    for (longest, bound) in longest.iter().zip(bounds) {
        assert!(bound - 10_000 < *longest && *longest <= bound, "{longest}");
    }
    assert!(run["sections"].as_u64() > Some(10) && run["section_ns_max"] == 4_000_000);
    assert!(run["stolen_ns"].as_u64() > Some(500_000_000));
    let ([urgent, other], _) = disturbed("random");
    assert!(2_000_000 < urgent && urgent <= bounds[0] && other <= bounds[1]);
}

#[test]
fn corrected_servers_conform_and_others_do_not() {
    let (code, report) = ran("tidegate cpu conformance --runs 30 --json");
    assert_eq!(code, 0);
    let all = report["implementations"].as_array().unwrap();
    for (name, conforms) in [
        ("sporadic", true),
        ("hybrid-immediate", true),
        ("hybrid-gradual", true),
        ("polling", true),
        ("deferrable", false),
        ("spsl", false),
        ("posix-sporadic", false),
        ("posix-sporadic-strict", false),
    ] {
        let found = all.iter().find(|it| it["implementation"] == name).unwrap();
        assert_eq!(found["conforms"], conforms, "{name}");
    }
}

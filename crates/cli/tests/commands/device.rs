// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tidegate profile` and `run` work on a real disk. Method: the binary measures, and runs
//! on, a file beside the build output.
//!
//! If that folder has no direct I/O, the tests print the reason and pass: they need a disk, but no
//! particular one.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::Folder;

const SHARED: &str = r#"
drive = "d.toml"
[[task]]
name = "recorder"
count = 2
period = "50ms"
size = "64KiB"
[[best_effort]]
name = "backup"
outstanding = 8
size = "64KiB"
"#;

/// Measures a new file of 8 MiB; prints the reason and returns `false` if that is impossible.
fn is_profiled(folder: &Folder) -> bool {
    let (code, _, stderr) = folder.run(&[
        "profile",
        "disk.img",
        "--create",
        "8MiB",
        "--size",
        "64KiB",
        "--depth",
        "4",
        "--samples",
        "20",
        "-o",
        "d.toml",
        "--seed",
        "1",
    ]);
    if code != 0 {
        println!("skipped: {stderr}");
    }
    code == 0
}

#[test]
fn a_measured_file_can_be_checked_simulated_and_run_on() {
    let folder = Folder::new();
    if !is_profiled(&folder) {
        return;
    }
    folder.file("w.toml", SHARED);
    // The jobs are so rare that a bound exists however slow the host made the measurement.
    folder.file("rare.toml", &SHARED.replace("50ms", "1h"));
    let (_, check) = folder.json(&["check", "rare.toml"]);
    assert!(check["tasks"][0]["bounds"]["tight_ns"].is_u64());
    let (_, sim) = folder.json(&["sim", "w.toml", "--jobs", "100"]);
    assert_eq!(sim["model"], "recorded");
    let (_, run) = folder.json(&[
        "run",
        "w.toml",
        "--device",
        "disk.img",
        "--policy",
        "noop,fifo,dqf",
        "--jobs",
        "5",
    ]);
    for policy in run["policies"].as_array().unwrap() {
        assert_eq!(policy["end"], "complete");
        assert_eq!(policy["tasks"][1]["jobs"], 5);
        assert_eq!(policy["requests_failed"], 0);
        assert!(
            policy["host_lateness"]["ns_max"].is_u64() && policy["device_time"]["ns_p50"].is_u64()
        );
        // On a disk that a busy host slows down, nothing may be left for best effort.
        let is_served = policy["policy"] != "dqf" || policy["best_effort_fill"] != 0;
        assert_eq!(policy["best_effort"]["requests"] != 0, is_served, "{policy:#}");
    }
    assert!(run["policies"][2]["batches"].as_u64().unwrap() > 0);
}

/// Goal: a drive file without priority times gives no bound that relies on priority, and one
/// message says so; every request is still served.
#[test]
fn priority_that_no_device_is_seen_to_honour_gives_no_bound() {
    let folder = Folder::new();
    if !is_profiled(&folder) {
        return;
    }
    let drive = "[drive]\nkind = \"pseudo\"\ndepth = 4\nbatch_ns_max = [50_000_000, 80_000_000]\n\
                 priority_ns_max = [20_000_000, 28_000_000]\n";
    let sources = SHARED.replace("drive = \"d.toml\"", "").replace("50ms", "100ms");
    folder.file("w.toml", &format!("{drive}{sources}"));
    let policy = ["--policy", "rtio-priority"];
    let (_, check) = folder.json(&[&["check", "w.toml"], &policy[..]].concat());
    assert!(check["tasks"][0]["bounds"].as_object().is_some_and(|bounds| !bounds.is_empty()));
    let run = ["run", "w.toml", "--device", "disk.img", "--jobs", "3"];
    let (_, run) = folder.json(&[&run[..], &policy[..]].concat());
    let ran = &run["policies"][0];
    let said = ran["premises"].as_array().unwrap().iter();
    let is_unsent = |premise: &&serde_json::Value| premise["code"] == "priority_unsent";
    assert_eq!(said.filter(is_unsent).count(), 1, "{run}");
    assert_eq!((&ran["end"], &ran["requests_failed"]), (&"complete".into(), &0.into()));
    assert!(ran["tasks"][0]["bound_ns"].is_null(), "{ran}");
}

/// A loop device on a file, which bypasses the page cache; detached when dropped.
struct LoopDevice(String);

impl LoopDevice {
    /// Creates the device; prints the reason and returns `None` if this host does not allow that.
    fn new(folder: &Folder, file: &str) -> Option<Self> {
        let mut command = Command::new("losetup");
        command.args(["--find", "--show", "--direct-io=on", file]).current_dir(folder.path());
        match command.output() {
            Ok(output) if output.status.success() => {
                Some(Self(String::from_utf8_lossy(&output.stdout).trim().to_owned()))
            }
            other => {
                println!("skipped: {other:?}");
                None
            }
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // A failure here cannot be handled.
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

/// Goal: `run` and `serve` refuse `das` unless the mechanics were measured on this very device, and
/// say what to do. Method: a file, for which the place on the disk is not known, with its own drive
/// file and with that of another device; then a block device. Canary: `fifo` runs on all of them.
#[test]
fn das_is_refused_where_the_mechanics_are_not_those_of_the_device() {
    const SERVED: &str = "backing = \"disk.img\"\ndrive = \"fujitsu-max3036rc\"\n\
        policy.name = \"das\"\n[[export]]\nname = \"a\"\nsize = \"4MiB\"\nread_only = true\n\
        contract = { period = \"300ms\", size_max = \"64KiB\", op = \"read\" }\n";
    let folder = Folder::new();
    if !is_profiled(&folder) {
        return;
    }
    folder.file("own.toml", SHARED);
    folder.file("other.toml", &SHARED.replace("d.toml", "fujitsu-max3036rc"));
    folder.file("s.toml", SERVED);
    let run = |workload: &str, device: &str, policy: &str| {
        let asked = ["run", workload, "--device", device, "--policy", policy, "--jobs", "1"];
        let (code, _, said) = folder.run(&asked);
        (code, said)
    };
    for workload in ["own.toml", "other.toml"] {
        assert_eq!(run(workload, "disk.img", "fifo").0, 0, "{workload}");
        let (code, said) = run(workload, "disk.img", "das");
        assert!(code == 2 && said.contains("disk.img is a file"), "{workload}, {code}: {said}");
    }
    let (code, _, said) = folder.run(&["serve", "s.toml"]);
    assert!(code == 3 && said.contains("disk.img is a file"), "{code}: {said}");

    let Some(device) = LoopDevice::new(&folder, "disk.img") else { return };
    assert_eq!(run("other.toml", &device.0, "fifo").0, 0);
    let (code, said) = run("other.toml", &device.0, "das");
    let command = format!("tidegate profile {} -o NEW.drive.toml", device.0);
    let is_refused = code == 2 && said.contains("another device") && said.contains(&command);
    assert!(is_refused, "{code}: {said}");
    folder.file("s.toml", &SERVED.replace("disk.img", &device.0));
    let (code, _, said) = folder.run(&["serve", "s.toml"]);
    assert!(code == 3 && said.contains("another device"), "{code}: {said}");
}

#[test]
fn a_measurement_is_not_overwritten_and_can_be_added_to() {
    let folder = Folder::new();
    if !is_profiled(&folder) {
        return;
    }
    let before = std::fs::read_to_string(folder.path().join("d.toml")).unwrap();
    let arguments =
        ["profile", "disk.img", "--size", "4KiB", "--depth", "2", "--samples", "5", "-o", "d.toml"];
    let (code, _, stderr) = folder.run(&arguments);
    assert_eq!(code, 2);
    assert!(stderr.contains("existing files are never overwritten"), "{stderr}");
    assert_eq!(std::fs::read_to_string(folder.path().join("d.toml")).unwrap(), before);
    let (code, ..) = folder.run(&[&arguments[..], &["--add"]].concat());
    assert_eq!(code, 0);
    let after = std::fs::read_to_string(folder.path().join("d.toml")).unwrap();
    assert_eq!(after.matches("[[batch]]").count(), 2);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no partial file is left");
}

#[test]
fn nothing_is_written_without_permission() {
    let folder = Folder::new();
    if !is_profiled(&folder) {
        return;
    }
    let before = std::fs::read(folder.path().join("disk.img")).unwrap();
    let table = std::fs::read_to_string(folder.path().join("d.toml")).unwrap();
    folder.file("d.toml", &table.replace("op = \"read\"", "op = \"write\""));
    folder.file("w.toml", &SHARED.replace("size =", "op = \"write\"\nsize ="));
    let run = ["run", "w.toml", "--device", "disk.img", "--jobs", "2"];
    let (code, _, stderr) = folder.run(&run);
    assert_eq!(code, 2);
    assert!(stderr.contains("writes"), "{stderr}");
    assert!(std::fs::read(folder.path().join("disk.img")).unwrap() == before, "it was written");
    let (code, ..) = folder.run(&[&run[..], &["--allow-writes"]].concat());
    assert!(code <= 1);
    assert!(std::fs::read(folder.path().join("disk.img")).unwrap() != before, "it was not written");
}

/// Goal: Ctrl-C ends a run cleanly; its partial results are shown and do not count as success.
#[test]
fn an_interrupted_run_tells_what_it_has() {
    let folder = Folder::new();
    if !is_profiled(&folder) {
        return;
    }
    folder.file("w.toml", SHARED);
    for (policies, said) in [("noop,dqf", "dqf: the run was interrupted"), ("noop", "INCOMPLETE: ")]
    {
        let line =
            ["run", "w.toml", "--device", "disk.img", "--duration", "1h", "--policy", policies];
        let mut run = folder.command(&line);
        let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // When this line appears, the signal handler is installed; a few periods later, jobs are
        // running.
        let mut stderr = BufReader::new(run.stderr.take().unwrap()).lines();
        assert!(stderr.any(|line| line.unwrap().starts_with("running noop")));
        std::thread::sleep(Duration::from_millis(300));
        let kill = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let mut text = String::new();
        run.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(run.wait().unwrap().code(), Some(1), "{policies}: {text}");
        // On a busy host, a deadline may already have been missed.
        let is_said = text.contains(said) || text.contains(" until it was interrupted");
        assert!(is_said, "{said} in\n{text}");
        assert!(text.contains("noop: the results are those of the part before"), "{text}");
        assert!(text.contains("recorder-1 to 2"), "{text}");
    }
}

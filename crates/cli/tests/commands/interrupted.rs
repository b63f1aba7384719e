// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a stopped measurement or simulation keeps partial results. Method: `tidegate profile` of a
//! simulated drive is stopped by a signal sent twice, by a second signal after a pause, and by its
//! time limit; `tidegate sim` is stopped by a signal.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::Folder;
use serde_json::Value;

const SIGTERM: i32 = 15;

/// Options with so many samples at one depth that the measurement outlasts the test.
const LONG: [&str; 7] = [
    "profile",
    "fujitsu-max3036rc",
    "--depth=2",
    "--only=batch",
    "--samples=4000000",
    "-o",
    "d.toml",
];

/// A task whose deadlines are met if the drive serves one request at a time.
const SIMULATED: &str = "drive = \"fujitsu-max3036rc\"\n[[task]]\nname = \"camera\"\n\
                         period = \"300ms\"\nsize = \"128KiB\"\n";

/// A server with little work.
const PROCESSOR: &str = "[[cpu_server]]\nname = \"s\"\nkind = \"sporadic\"\nbudget = \"2ms\"\n\
                         period = \"10ms\"\npriority = 5\n[[cpu_work]]\nname = \"w\"\nserver = \"s\"\n\
                         execution = \"1ms\"\narrivals = \"periodic\"\ngap = \"20ms\"\ndeadline = \"20ms\"\n";

/// Starts a measurement, and waits until it has saved some rounds in addition to earlier ones.
fn measuring(folder: &Folder, more: &[&str]) -> (Child, BufReader<ChildStderr>) {
    let rounds = || {
        let text = std::fs::read_to_string(folder.path().join("d.toml.samples"));
        text.map_or(0, |text| text.lines().count())
    };
    let before = rounds();
    let mut command = folder.command(&[&LONG[..], more].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while rounds() < before + 5 {
        assert_eq!(child.try_wait().unwrap(), None, "it ended too early");
        sleep(Duration::from_millis(5));
    }
    let stderr = BufReader::new(child.stderr.take().unwrap());
    (child, stderr)
}

/// Waits until the process has installed its SIGTERM handler.
fn wait_for_handler(child: &mut Child) {
    let status = format!("/proc/{}/status", child.id());
    let is_caught = || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        caught.is_some_and(|mask| mask >> (SIGTERM - 1) & 1 == 1)
    };
    while !is_caught() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended too early");
        sleep(Duration::from_millis(5));
    }
}

/// Waits until the process computes: parsing its files takes only a fraction of this processor
/// time.
fn wait_for_work(child: &mut Child) {
    wait_for_handler(child);
    let stat = format!("/proc/{}/stat", child.id());
    let ticks = || {
        // User time and system time are fields 14 and 15; field 2 is the name, in parentheses.
        let text = std::fs::read_to_string(&stat).unwrap();
        let (_, after_name) = text.rsplit_once(')').unwrap();
        let times = after_name.split_whitespace().skip(11).take(2);
        times.map(|ticks| ticks.parse::<u64>().unwrap()).sum::<u64>()
    };
    // The process has then used half a second.
    while ticks() < 50 {
        assert_eq!(child.try_wait().unwrap(), None, "it ended too early");
        sleep(Duration::from_millis(5));
    }
}

/// Goal: a stopped simulation shows its partial results, says that they are incomplete, and does
/// not count as success. Method: a simulation of centuries is stopped; the next policy does not
/// run.
#[test]
fn a_stopped_simulation_is_incomplete() {
    let folder = Folder::new();
    folder.file("w.toml", SIMULATED);
    let simulating = |form: &[&str]| {
        let line = ["sim", "w.toml", "--policy", "dqf,fifo", "--duration", "1000000h"];
        let mut command = folder.command(&[&line, form].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for_work(&mut child);
        stop(&child, 1);
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, text, said) = simulating(&[]);
    assert_eq!(code, Some(1), "{text}{said}");
    assert!(text.starts_with("INCOMPLETE"), "{text}");
    assert!(text.contains("fifo: the run was interrupted before it"), "{text}");
    assert!(said.starts_with("Stopping"), "{said}");
    let (code, text, _) = simulating(&["--json"]);
    let object: Value = serde_json::from_str(&text).unwrap();
    let [first, second] = [0, 1].map(|index| &object["policies"][index]);
    assert_eq!(code, Some(1));
    assert_eq!((&first["end"], &first["verdict"]), (&"interrupted".into(), &"incomplete".into()));
    assert_eq!((&second["policy"], &second["end"]), (&"fifo".into(), &"not_run".into()));
}

/// Goal: a stopped simulation of a processor does not count as success either, and reports how far
/// it got. Method: a simulation of two kinds of server is stopped during the first; the second does
/// not start.
#[test]
fn a_stopped_simulation_of_a_processor_is_incomplete() {
    let folder = Folder::new();
    folder.file("w.toml", PROCESSOR);
    let simulating = |form: &[&str]| {
        let line = ["cpu", "sim", "w.toml", "--server", "sporadic,polling", "--duration=800000h"];
        let mut command = folder.command(&[&line, form].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for_work(&mut child);
        stop(&child, 1);
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = simulating(&["--quiet"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.starts_with("INCOMPLETE: sporadic kept all "), "{text}");
    assert!(text.contains(" until it was interrupted after "), "{text}");
    assert!(text.ends_with("; polling was interrupted before it began.\n"), "{text}");
    let (code, text) = simulating(&["--json"]);
    let object: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(code, Some(1));
    for run in object["runs"].as_array().unwrap() {
        assert_eq!(run["end"], "interrupted");
    }
}

/// Sends SIGTERM `times` times in a row.
fn stop(child: &Child, times: usize) {
    let kill = format!("kill -TERM {}; ", child.id()).repeat(times);
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

/// Goal: two equal signals in a row, as `timeout` sends them, end a measurement with a drive file
/// of partial results, and programs can tell that it is partial.
#[test]
fn a_request_to_stop_that_comes_twice_ends_with_a_drive_file() {
    let folder = Folder::new();
    let (mut child, mut stderr) = measuring(&folder, &["--json"]);
    stop(&child, 2);
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "an incomplete measurement is a no: {said}");
    for line in ["Stopping ", "stopped early: ", "d.toml.samples\n", "-o d.toml --json --resume"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let value: Value = serde_json::from_reader(child.stdout.take().unwrap()).unwrap();
    assert_eq!((&value["end"], &value["written"]), (&"interrupted".into(), &"d.toml".into()));
    assert_eq!(value["samples_file"], "d.toml.samples");
    assert_eq!(value["warnings"][0]["kind"], "incomplete");
    let best_effort = "[[best_effort]]\nname = \"b\"\noutstanding = 1\nsize = \"4KiB\"\n";
    folder.file("w.toml", &format!("drive = \"d.toml\"\n{best_effort}"));
    assert_eq!(folder.json(&["check", "w.toml"]).0, 0);
}

/// Goal: a second signal after a pause ends the program before it saves, and the message says which
/// files remain. Method: the drive file is locked, so that saving takes seconds.
#[test]
fn a_later_request_quits_at_once_and_names_the_samples() {
    let folder = Folder::new();
    let first = ["--samples=3", "--keep-samples"];
    assert_eq!(folder.run(&[&LONG[..4], &first, &LONG[5..]].concat()).0, 0);
    let (mut child, mut stderr) = measuring(&folder, &["--resume"]);
    let held = File::options().write(true).open(folder.path().join("d.toml")).unwrap();
    held.lock().unwrap();
    stop(&child, 1);
    let mut line = String::new();
    while !line.starts_with("Stopping") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended without a message");
    }
    sleep(Duration::from_millis(1100));
    stop(&child, 1);
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(SIGTERM), "{said}");
    assert!(said.contains("d.toml.samples, for --resume"), "{said}");
    drop(held);
    let again = ["--samples=5", "--resume"];
    let (code, _, stderr) = folder.run(&[&LONG[..4], &again, &LONG[5..]].concat());
    assert_eq!(code, 0, "the kept samples can be resumed: {stderr}");
}

/// Goal: resuming does not repeat measurements, and the result is as large as without the
/// interruption. Method: the first run is stopped immediately, and the second run's additional
/// samples are counted.
#[test]
fn an_interrupted_profile_goes_on() {
    let folder = Folder::new();
    let profile = |more: &[&str]| folder.run(&[&LONG[..2], &["--depth=4"], more].concat());
    let only = ["--only=batch,single", "-o", "d.toml"];
    let stopped = [&only[..], &["--samples=400000", "--time-limit=500ms"]].concat();
    // On a busy host, the time can run out before the first sample; then nothing is left behind.
    let mut tries = (0..20).map(|_| profile(&stopped));
    let is_measured =
        |(_, _, stderr): &(i32, String, String)| !stderr.contains("stopped before anything");
    let (code, _, stderr) = tries.find(is_measured).expect("some time for it");
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("-o d.toml --samples=400000 --resume"), "{stderr}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "d.toml and its samples");
    let rounds = count_of_batches(&folder);
    assert!(rounds > 0);

    let samples = format!("--samples={}", rounds + 3);
    let (code, _, stderr) = profile(&[&only[..], &[&samples]].concat());
    assert_eq!(code, 2, "neither the file nor its samples are overwritten: {stderr}");
    let again = [&only[..], &[&samples, "--resume", "--keep-samples"]].concat();
    let (code, _, stderr) = profile(&again);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(count_of_batches(&folder), rounds + 3);
    let text = std::fs::read_to_string(folder.path().join("d.toml")).unwrap();
    assert!(text.contains(&format!("samples = {}\n", rounds + 3)), "{stderr}");
}

fn count_of_batches(folder: &Folder) -> usize {
    let text = std::fs::read_to_string(folder.path().join("d.toml.samples")).unwrap();
    text.lines().filter(|line| line.contains("\"of\":\"batch of ")).count()
}

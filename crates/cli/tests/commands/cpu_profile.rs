// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tidegate cpu profile` and `cpu serve` keep their results, refuse wrong input, and restore
//! threads. Method: short measurements with the binary; no figure that depends on the host is
//! asserted.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::Folder;
use rustix::fs::{OFlags, fcntl_setfl};
use serde_json::Value;

/// The id of a user without permissions.
const NOBODY: u32 = 65_534;

/// Options of a measurement that takes a fraction of a second.
const SHORT: [&str; 7] =
    ["cpu", "profile", "--longest=5ms", "--lengths=10", "--trials=20", "--seed=1", "-o"];

/// Starts a command and waits until it prints `word`; its later output can still be read. If the
/// command ends before that, returns its whole output.
fn begun(command: &mut Command, word: &str) -> Result<Child, String> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stderr = child.stderr.as_mut().unwrap();
    let mut said = String::new();
    while !said.contains(word) {
        let mut letter = [0];
        if stderr.read(&mut letter).unwrap() == 0 {
            child.wait().unwrap();
            return Err(said);
        }
        said.push(char::from(letter[0]));
    }
    Ok(child)
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// Goal: a measurement is written completely, drawn, and usable in a proof.
#[test]
fn a_profile_is_written_drawn_and_proved_with() {
    let folder = Folder::new();
    let (code, found) = folder.json(&[&SHORT[..], &["a.cpu.toml", "--svg=a.svg"]].concat());
    assert_eq!((code, &found["end"]), (0, &Value::from("complete")));
    assert_eq!(found["written"], "a.cpu.toml");
    let (intervals, demand) = (numbers(&found["interval_ns"]), numbers(&found["demand_ns"]));
    assert_eq!((intervals.len(), intervals[9]), (10, 5_000_000));
    assert!(demand.windows(2).all(|pair| pair[0] <= pair[1]), "Theorem 5.4.1: {demand:?}");
    assert!(demand.iter().zip(&intervals).all(|(demand, interval)| demand <= interval));
    // A wake-up takes time, and the figures include it.
    assert!(demand[9] > 0 && found["wake_up_ns_max"].as_u64() > Some(0));
    assert!(found["trials"].as_u64() >= Some(20));
    let svg = fs::read_to_string(folder.path().join("a.svg")).unwrap();
    assert_eq!(svg.matches("<circle").count(), 20, "demand and load of ten lengths");
    folder.file(
        "w.toml",
        "[[cpu_task]]\nname = \"t\"\nperiod = \"1s\"\nexecution = \"1us\"\npriority = 1\n\
         [[cpu_interference]]\nfile = \"a.cpu.toml\"\nbound = \"points\"\n",
    );
    let (code, stdout, stderr) = folder.run(&["cpu", "check", "w.toml"]);
    assert!(code < 2 && stdout.contains("cpu"), "{stdout}{stderr}");
}

/// Goal: a host can be measured once, for a long time, as a baseline; a baseline with other
/// parameters is refused.
#[test]
fn a_thief_is_compared_with_a_baseline_that_was_measured_before() {
    let folder = Folder::new();
    let (code, idle) = folder.json(&[&SHORT[..], &["idle.cpu.toml"]].concat());
    assert_eq!(code, 0);
    let begin = ["cpu", "profile", "--trials=20", "--thief=200us/1ms", "--baseline=idle.cpu.toml"];
    let with_thief = |more: &[&'static str]| [&begin[..], more].concat();
    for (more, says) in [
        (&["--longest=5ms", "--lengths=10", "--cpu=100000"][..], "write --cpu "),
        (&["--longest=5ms", "--lengths=10", "--priority=39"], "write --priority 40"),
        (&["--longest=5ms"], "write --lengths 10 --longest 5ms"),
    ] {
        if says.contains("priority") && !idle["conditions"]["priority"].is_u64() {
            continue;
        }
        let (code, _, stderr) = folder.run(&with_thief(more));
        assert!(code == 2 && stderr.contains(says), "{more:?}: {stderr}");
        assert!(!stderr.contains("Measuring"), "{stderr}");
    }
    // A measurement without a real-time priority has other parameters, and a profile that contains
    // only points has no fitted line.
    let text = fs::read_to_string(folder.path().join("idle.cpu.toml")).unwrap();
    let (same, no_fit) = (&["--longest=5ms", "--lengths=10"], text.split("[fit").next().unwrap());
    let is_priority = |line: &&str| line.starts_with("priority = ");
    let unasked: String = text.split_inclusive('\n').filter(|line| !is_priority(line)).collect();
    let refused = |baseline: &str, says: &str| {
        folder.file("other.cpu.toml", baseline);
        let mut options = with_thief(same);
        options[4] = "--baseline=other.cpu.toml";
        let (code, _, stderr) = folder.run(&options);
        assert!(code == 2 && stderr.contains(says), "{stderr}");
    };
    refused(no_fit, "no [fit.demand]");
    if idle["conditions"]["priority"].is_u64() {
        refused(&unasked, "measured without a real-time priority");
    }
    let elsewhere = text.replacen("where = \"", "where = \"far away, ", 1);
    folder.file("idle.cpu.toml", &elsewhere);
    let (code, found) = folder.json(&with_thief(same));
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("the baseline was measured on far away"), "{warnings}");
    assert_eq!(found["conditions"]["thief"], "200us/1ms");
    assert!(idle["conditions"]["thief"].is_null());
    // Whether the load is covered depends on the host.
    assert!(code < 2, "{found:#}");
    assert_eq!(found["calibration"]["idle_ns"], idle["demand_ns"]);
    assert_eq!(found["calibration"]["lines"]["points"], 10);
}

/// Goal: Ctrl-C during a long measurement leaves a profile of partial results, and scripts can tell
/// that it is partial.
#[test]
fn an_interrupted_measurement_is_written() {
    let folder = Folder::new();
    let long =
        ["cpu", "profile", "--longest=5ms", "--trials=1000000", "--json", "-o", "a.cpu.toml"];
    let child = begun(&mut folder.command(&long), "Measuring").unwrap();
    // This is usually long enough for one interval of 25 ms. If not, the command waits for the
    // first one.
    sleep(Duration::from_millis(1_500));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &found["end"]), (Some(1), &Value::from("interrupted")));
    let text = fs::read_to_string(folder.path().join("a.cpu.toml")).unwrap();
    assert!(text.contains(&format!("trials = {}\n", found["trials"])), "{text}");
}

/// Goal: with a duration, the measurement uses all of it, even if the usual number of trials is
/// reached earlier, and does not count as interrupted; it leaves no file but the result.
#[test]
fn the_end_of_its_time_is_an_answer() {
    let folder = Folder::new();
    let options = ["cpu", "profile", "--longest=100us", "--lengths=10", "--duration=1s"];
    let (code, found) = folder.json(&[&options[..], &["-o", "a.cpu.toml"]].concat());
    assert_eq!((code, &found["end"]), (0, &Value::from("time over")));
    // With both limits, the first one reached ends the measurement.
    let (code, both) = folder.json(&[&options[..], &["--trials=1"]].concat());
    assert_eq!((code, &both["end"]), (0, &Value::from("complete")));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Goal: without permission the command still measures, and reports the disadvantage. The test
/// needs root, to become another user.
#[test]
fn without_permission_it_works_and_warns() {
    let folder = Folder::new();
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("skipped: not root");
        return;
    }
    let as_nobody = |more: &[&str]| {
        let short = ["cpu", "profile", "--longest=5ms", "--trials=5"];
        let mut command = folder.command(&[&short[..], more].concat());
        command.uid(NOBODY).gid(NOBODY).current_dir("/").output()
    };
    let Ok(output) = as_nobody(&[]) else {
        eprintln!("skipped: the user `nobody` cannot reach the binary");
        return;
    };
    let (stdout, stderr) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("Warning") && stderr.contains("without real-time priority"),
        "{stderr}"
    );
    assert!(!String::from_utf8_lossy(stdout).contains("\npriority ="), "none was granted");
    // A synthetic load among threads of the same priority proves nothing, whatever the result is.
    let thief = as_nobody(&["--thief=1ms/5ms"]).unwrap();
    let stdout = String::from_utf8_lossy(&thief.stdout);
    assert_eq!(thief.status.code(), Some(1), "{stdout}");
    assert!(stdout.contains("says nothing: no thread was above the other"), "{stdout}");
}

/// `screens` tests the other refusals; these also name the processors of this host.
#[test]
fn a_processor_that_is_not_there_is_refused() {
    let folder = Folder::new();
    let profile = ["cpu", "profile", "--trials=1"];
    let serve = ["cpu", "serve", "--budget=1ms", "--period=10ms", "--thread=1"];
    for command in [&profile[..], &serve] {
        let (code, _, stderr) = folder.run(&[command, &["--cpu=100000"]].concat());
        assert!(code == 2 && stderr.contains("cannot run on processor 100000"), "{code} {stderr}");
        assert!(!stderr.contains("Serving"), "nothing is announced before: {stderr}");
    }
}

/// Goal: a thread of another process stays within its budget, as the kernel accounts it, and gets
/// its scheduling back when the server is stopped or reaches a limit. The test needs permission. It
/// allows for the host's lateness, which the report includes.
#[test]
fn a_process_is_served_and_put_back() {
    for signal in ["-TERM", "-XCPU", "-ABRT"] {
        is_served_until(signal);
    }
}

fn is_served_until(signal: &str) {
    let folder = Folder::new();
    let greedy = Greedy::begin();
    let thread = greedy.thread();
    let options = ["cpu", "serve", "--budget=2ms", "--period=20ms", "--thread", &thread, "--json"];
    let child = match begun(&mut folder.command(&options), "Serving") {
        Ok(child) => child,
        Err(said) => {
            assert!(said.contains("the manager needs"), "{said}");
            eprintln!("skipped: no permission for real-time priorities");
            return;
        }
    };
    // A second server for the same thread is refused.
    let (code, _, second) = folder.run(&options);
    sleep(Duration::from_millis(800));
    let told = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let after = greedy.policy();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(code == 2 && second.contains("is already served"), "{code} {second}");
    assert!(!second.contains("Serving"), "{second}");
    assert!(told.success() && output.status.code() == Some(0), "{stderr}");
    assert_eq!(after, ORDINARY);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ns = |name: &str| found[name].as_u64().unwrap();
    assert_eq!(found["end"], "stopped");
    let tolerance = 100_000;
    let allowed = ns("budget_ns") + ns("enforcement_delay_ns_max") + tolerance;
    assert!(ns("executed_in_period_ns_max") <= allowed, "{found:#}");
    assert!(ns("executed_ns") > 0 && ns("exhaustions") > 0, "{found:#}");
}

/// Goal: a program that does not read the output cannot delay the manager: the thread's scheduling
/// is restored in time. Method: standard error is a full pipe, so the command itself then waits
/// forever.
#[test]
fn a_manager_waits_for_nobody_who_reads() {
    let folder = Folder::new();
    let greedy = Greedy::begin();
    let thread = greedy.thread();
    let mut options =
        vec!["cpu", "serve", "--budget=2ms", "--period=20ms", "--background=idle", "--thread"];
    options.extend([&thread[..], "--duration"]);
    let (code, _, said) = folder.run(&[&options[..], &["1ms"]].concat());
    if code == 3 {
        assert!(said.contains("the manager needs"), "{said}");
        eprintln!("skipped: no permission for real-time priorities");
        return;
    }
    assert_eq!(code, 0, "{said}");
    let (kept, mut full) = std::io::pipe().unwrap();
    fcntl_setfl(&full, OFlags::NONBLOCK).unwrap();
    while full.write(&[b'x'; 4096]).is_ok() {}
    fcntl_setfl(&full, OFlags::empty()).unwrap();
    let options = [&options[..], &["3s"]].concat();
    let mut child = folder.command(&options).stdout(Stdio::null()).stderr(full).spawn().unwrap();
    until("it is served", || greedy.policy() != ORDINARY);
    until("the thread is restored", || greedy.policy() == ORDINARY);
    until("the program ends", || {
        Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        child.try_wait().unwrap().is_some()
    });
    assert_eq!(child.wait().unwrap().signal(), Some(15), "it waits for the reader");
    drop(kept);
}

/// A process that never sleeps.
struct Greedy(Child);

/// The priority and policy of a process without a server.
const ORDINARY: [&str; 2] = ["0", "0"];

impl Greedy {
    fn begin() -> Self {
        Self(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
    }

    fn thread(&self) -> String {
        self.0.id().to_string()
    }

    /// Priority and policy are fields 40 and 41; the state, which follows the name, is field 3.
    fn policy(&self) -> Vec<String> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let fields = text.rsplit(") ").next().unwrap().split(' ').skip(40 - 3).take(2);
        fields.map(str::to_owned).collect()
    }
}

impl Drop for Greedy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "in vain: {what}");
        sleep(Duration::from_millis(5));
    }
}

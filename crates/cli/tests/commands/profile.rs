// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tidegate profile` loses neither the user's files nor a measurement. Method: the binary is
//! run with invalid and full outputs, and is killed.
//!
//! Refusals before the measurement need no disk. The other tests print the reason and pass if the
//! folder of the build output has no direct I/O.

use std::io::{BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::Folder;

/// Options for a quick measurement of 8 MiB.
const MEASURE: [&str; 10] = [
    "profile",
    "disk.img",
    "--size",
    "64KiB",
    "--depth",
    "4",
    "--only=batch",
    "--samples",
    "20",
    "--seed=1",
];

/// Creates a new file of 8 MiB; prints the reason and returns `false` if it cannot be measured.
fn is_measurable(folder: &Folder) -> bool {
    let (code, _, stderr) = folder.run(&[&MEASURE[..], &["--create", "8MiB"]].concat());
    if code != 0 {
        println!("skipped: {stderr}");
    }
    code == 0
}

fn profile(folder: &Folder, more: &[&str]) -> (i32, String, String) {
    folder.run(&[&MEASURE[..], more].concat())
}

fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// `screens` tests the other impossible outputs; the message for this one comes from the system.
#[test]
fn an_output_in_a_folder_of_the_system_is_refused() {
    let folder = Folder::new();
    let (code, stdout, stderr) = profile(&folder, &["-o", "/proc/d.toml"]);
    assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
    assert!(stderr.contains("cannot write"), "{stderr}");
}

#[test]
fn the_target_is_no_output_and_neighbours_are_left_alone() {
    let folder = Folder::new();
    if !is_measurable(&folder) {
        return;
    }
    let before = std::fs::read(folder.path().join("disk.img")).unwrap();
    let (code, _, stderr) = profile(&folder, &["-o", "disk.img"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(std::fs::read(folder.path().join("disk.img")).unwrap() == before, "it was replaced");
    folder.file("d.toml.partial", "precious");
    assert_eq!(profile(&folder, &["-o", "d.toml"]).0, 0);
    let partial = std::fs::read_to_string(folder.path().join("d.toml.partial")).unwrap();
    assert_eq!(partial, "precious");
    assert_eq!(names(&folder), ["d.toml", "d.toml.partial", "disk.img"]);
}

/// Starts a profile into `d.toml` without a time limit, and waits until it has saved some rounds.
fn measuring(folder: &Folder) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut child = folder
        .command(&[&MEASURE[..7], &["--samples", "4000000", "-o", "d.toml"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let journal = folder.path().join("d.toml.samples");
    while std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count()) < 5 {
        assert_eq!(child.try_wait().unwrap(), None, "it ended too early");
        sleep(Duration::from_millis(5));
    }
    let stderr = BufReader::new(child.stderr.take().unwrap());
    (child, stderr)
}

/// Goal: the drive file describes the host of the run that measured, not of the run that finished.
/// Method: a run's drive file is removed and its samples are kept, as if it had been killed before
/// it wrote the file. Its record is changed to another date and to a host with another load and
/// without real-time scheduling. The next run measures nothing more.
#[test]
fn the_host_of_a_killed_run_is_that_of_the_file() {
    let folder = Folder::new();
    if !is_measurable(&folder) {
        return;
    }
    let whole = ["--samples=3", "-o", "d.toml", "--keep-samples"];
    let (code, _, stderr) = folder.run(&[&MEASURE[..7], &whole].concat());
    assert_eq!(code, 0, "{stderr}");
    std::fs::remove_file(folder.path().join("d.toml")).unwrap();
    let path = folder.path().join("d.toml.samples");
    let text = std::fs::read_to_string(&path).unwrap();
    let record = |line: &str| -> String {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        match value["of"].as_str() {
            Some("options") => {
                value["found"]["when"] = "2001-01-01T00:00:00Z".into();
                value["found"]["is_real_time"] = false.into();
            }
            Some("load") => value["found"]["other"] = serde_json::json!([700, 7]),
            _ => (),
        }
        value.to_string() + "\n"
    };
    let text: String = text.lines().map(record).collect();
    std::fs::write(&path, &text).unwrap();
    assert!(text.contains("[700,7]"), "{text:.2000}");
    let arguments = [&MEASURE[..7], &["--samples=3", "-o", "d.toml", "--resume"]].concat();
    let (code, _, stderr) = folder.run(&arguments);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("without real-time scheduling and locked memory"), "{stderr}");
    assert!(stderr.contains("served other programs, 700 reads and 7 writes"), "{stderr}");
    let file = std::fs::read_to_string(folder.path().join("d.toml")).unwrap();
    assert!(file.contains("when = \"2001-01-01T00:00:00Z\""), "{file}");
    assert!(file.contains("other load: 700 reads, 7 writes completed"), "{file}");
    assert_eq!(file.matches("other load: ").count(), 1, "{file}");
    assert!(file.contains("code = \"other_load\""), "{file}");
}

#[test]
fn samples_that_another_process_writes_are_refused() {
    let folder = Folder::new();
    if !is_measurable(&folder) {
        return;
    }
    let (mut child, _) = measuring(&folder);
    let (code, _, stderr) = profile(&folder, &["-o", "d.toml", "--resume"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(code == 2 && stderr.contains("another process measures into it now"), "{stderr}");
}

/// Goal: a measurement that cannot be written is printed, without any other output.
#[test]
fn a_finished_measurement_is_never_lost() {
    let folder = Folder::new();
    if !is_measurable(&folder) {
        return;
    }
    let (mut child, mut stderr) = measuring(&folder);
    folder.file("d.toml", "precious");
    // The command measures until it is stopped, so the other file exists first, however slow this
    // process is.
    let kill = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(kill.success());
    let [mut table, mut said] = [String::new(), String::new()];
    child.stdout.take().unwrap().read_to_string(&mut table).unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{said}");
    assert!(said.contains("printed to standard output"), "{said}");
    assert!(said.contains("appeared while the command ran"), "{said}");
    assert_eq!(std::fs::read_to_string(folder.path().join("d.toml")).unwrap(), "precious");
    folder.file("printed.toml", &table);
    folder.file("w.toml", "drive = \"printed.toml\"\n[[best_effort]]\nname = \"b\"\noutstanding = 1\nsize = \"4KiB\"\n");
    assert_eq!(folder.json(&["check", "w.toml"]).0, 0, "{table}");
}

#[test]
fn a_table_of_another_device_is_not_added() {
    let folder = Folder::new();
    if !is_measurable(&folder) || profile(&folder, &["-o", "d.toml"]).0 != 0 {
        return;
    }
    let path = folder.path().join("d.toml");
    let own = std::fs::read_to_string(&path).unwrap();
    let foreign: String = own
        .lines()
        .map(|line| if line.starts_with("where = ") { "where = \"sdz\"" } else { line })
        .flat_map(|line| [line, "\n"])
        .collect();
    folder.file("d.toml", &foreign);
    let (code, _, stderr) = profile(&folder, &["-o", "d.toml", "--add"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("another device") && stderr.contains("`sdz`"), "{stderr}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), foreign);
    folder.file("d.toml", &own);
    let (code, _, stderr) = profile(&folder, &["-o", "d.toml", "--add"]);
    assert_eq!(code, 0, "{stderr}");
    let both = std::fs::read_to_string(&path).unwrap();
    assert!(both.contains("; reads of 64KiB measured again (20 samples of each), 2"), "{both}");
    // The host's facts appear once, although remarks about a busy host can differ.
    let kernels = |file: &str| file.matches("\"kernel ").count();
    assert_eq!((kernels(&own), kernels(&both)), (1, 1), "{both}");
}

/// Goal: a mistake in one option does not leave a file that makes the corrected command fail.
/// Method: request a new file that is too small for the measurement, which the command notices only
/// after it has created the file.
#[test]
fn a_refused_profile_leaves_no_file_of_its_own() {
    let folder = Folder::new();
    if !is_measurable(&folder) {
        return;
    }
    let create = ["profile", "new.img", "--create", "64KiB", "--size", "64KiB"];
    let (code, _, stderr) = folder.run(&create);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("Removed      new.img"), "{stderr}");
    assert_eq!(names(&folder), ["disk.img"]);
}

#[test]
fn a_log_has_the_head_first_then_the_warnings_then_the_answer() {
    let folder = Folder::new();
    let (code, _, stderr) = profile(&folder, &["--create", "8MiB"]);
    if code != 0 {
        return println!("skipped: {stderr}");
    }
    let words: Vec<_> = stderr.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(words[..4], ["Creating", "Target", "Measuring", "Host"], "{stderr}");
    let (last, warnings) = words[4..].split_last().unwrap();
    assert!(warnings.iter().all(|&word| word == "Warning"), "{stderr}");
    assert_eq!(*last, "Usable", "{stderr}");
    assert!(!stderr.contains(['\r', '\u{1b}']), "{stderr}");
}

#[test]
fn the_table_says_what_a_batch_gains() {
    let folder = Folder::new();
    if !is_measurable(&folder) {
        return;
    }
    let (code, stdout, _) = profile(&folder, &["-o", "d.toml"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("gain of median") && stdout.contains("1.00x"), "{stdout}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate profile` of simulated drives, and `tidegate drive compare`: plans, interruptions,
//! and what two profiles have in common. Needs no disk.

mod common;

use std::path::Path;

use common::Folder;

/// A disk that is measured in no time.
const DRIVE: &str = "fujitsu-max3036rc";

fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn profile(folder: &Folder, more: &[&str]) -> (i32, String, String) {
    folder.run(&[&["profile", DRIVE, "--depth", "4"], more].concat())
}

/// Goal: a whole profile is a drive file that `check` and `sim` take, with what the disk is
/// made of beside its tables.
#[test]
fn a_whole_profile_is_a_drive_file() {
    let folder = Folder::new();
    let (code, _, stderr) = profile(&folder, &["--samples=20", "-o", "d.toml"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(names(&folder), ["d.toml"], "samples are not kept");
    folder.file("w.toml", "drive = \"d.toml\"\n[policy]\nname = \"rtio-limit\"\n[[task]]\nname = \"t\"\nperiod = \"100ms\"\nsize = \"128KiB\"\n[[best_effort]]\nname = \"b\"\noutstanding = 8\nsize = \"128KiB\"\n");
    assert_eq!(folder.run(&["check", "w.toml"]).0, 0);
    is_shown_with_all_that_was_seen(&folder);
    is_made_of_what_the_drive_is_made_of(&folder);
}

fn is_shown_with_all_that_was_seen(folder: &Folder) {
    let (_, shown) = folder.json(&["drive", "show", "d.toml"]);
    assert_eq!(shown["fit"]["geometry"]["zones"]["zone"].as_array().unwrap().len(), 14);
    assert_eq!(shown["drain"][0]["ns_max"].as_array().unwrap().len(), 4);
    assert!(shown["single"][0]["samples"] == 20 && shown["throughput"][0]["op"] == "read");
}

fn is_made_of_what_the_drive_is_made_of(folder: &Folder) {
    let (_, value) = folder.json(&["drive", "compare", "d.toml", DRIVE]);
    let rows = value["tables"].as_array().unwrap();
    for name in ["rotation (one turn)", "zones", "sectors per track", "seeks over cylinders"] {
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        assert_eq!(row["moved"], false, "{row:#}");
    }
}

/// Goal: what was measured before an interruption is not measured again, and the result is as
/// large as if there had been none. Method: the first run is told to stop at once; the samples
/// that the second has beside it are counted.
#[test]
fn an_interrupted_profile_goes_on() {
    let folder = Folder::new();
    let only = ["--only=batch,single", "-o", "d.toml"];
    let stopped = [&only[..], &["--samples=400000", "--time-limit=500ms"]].concat();
    // On a busy machine the time may be over before the first sample: that leaves nothing behind.
    let mut tries = (0..20).map(|_| profile(&folder, &stopped));
    let is_measured = |(_, _, stderr): &(i32, String, String)| !stderr.contains("allow more time");
    let (code, _, stderr) = tries.find(is_measured).expect("some time for it");
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("go on with --resume"), "{stderr}");
    assert_eq!(names(&folder), ["d.toml", "d.toml.samples"]);
    let rounds = count_of_rounds(&folder.path().join("d.toml.samples"), "batch");
    assert!(rounds > 0);

    let samples = format!("--samples={}", rounds + 3);
    let (code, _, stderr) = profile(&folder, &[&only[..], &[&samples]].concat());
    assert_eq!(code, 2, "neither the file nor its samples are overwritten: {stderr}");
    let again = [&only[..], &[&samples, "--resume", "--keep-samples"]].concat();
    let (code, _, stderr) = profile(&folder, &again);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(count_of_rounds(&folder.path().join("d.toml.samples"), "batch"), rounds + 3);
    let text = std::fs::read_to_string(folder.path().join("d.toml")).unwrap();
    assert!(text.contains(&format!("samples = {}\n", rounds + 3)), "{stderr}");
}

fn count_of_rounds(path: &Path, experiment: &str) -> usize {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| line.contains(&format!("\"of\":\"{experiment} of "))).count()
}

/// Goal: the drive file says with which options all its rounds were made, also where the run that
/// made some of them left no drive file. Method: three runs, of which the second adds nothing.
#[test]
fn how_names_the_options_of_every_run_that_gave_rounds() {
    let folder = Folder::new();
    let run = |more: &[&str]| {
        let common = ["--only=batch,rotation", "--keep-samples", "-o", "d.toml"];
        let (code, _, stderr) = profile(&folder, &[&common[..], more].concat());
        assert_eq!(code, 0, "{stderr}");
        let text = std::fs::read_to_string(folder.path().join("d.toml")).unwrap();
        std::fs::remove_file(folder.path().join("d.toml")).unwrap();
        text.lines().find(|line| line.starts_with("how = ")).unwrap().to_owned()
    };
    assert!(!run(&["--samples=3", "--seed=11"]).contains("after rounds"));
    let how = run(&["--samples=4", "--seed=22", "--resume"]);
    assert!(how.contains("--samples 4 --seed 22; after rounds made with"), "{how}");
    let how = run(&["--samples=6", "--seed=33", "--resume"]);
    for seed in ["--samples 6 --seed 33", "--samples 3 --seed 11", "--samples 4 --seed 22"] {
        assert_eq!(how.matches(seed).count(), 1, "{seed}: {how}");
    }
    let other = folder.run(&[
        "profile",
        DRIVE,
        "--depth=4",
        "--only=batch",
        "--size=4KiB",
        "--samples=2",
        "-o",
        "d.toml",
        "--resume",
    ]);
    assert_eq!(other.0, 0, "{}", other.2);
    let text = std::fs::read_to_string(folder.path().join("d.toml")).unwrap();
    assert!(!text.contains("after rounds"), "none of them are in it: {text}");
}

/// Goal: a drive file does not claim what was not measured.
#[test]
fn how_does_not_name_what_was_skipped() {
    let folder = Folder::new();
    let arguments = ["--only=batch,mixed,stripe", "--samples=2", "-o", "d.toml"];
    let (code, _, stderr) = profile(&folder, &arguments);
    assert!(code == 0 && stderr.contains("mixed was not measured"), "{stderr}");
    let text = std::fs::read_to_string(folder.path().join("d.toml")).unwrap();
    let how = text.lines().find(|line| line.starts_with("how = ")).unwrap();
    assert!(how.contains("--only batch,stripe ") && !how.contains("mixed"), "{how}");
}

#[test]
fn profiles_of_one_drive_are_alike_and_of_two_are_not() {
    let folder = Folder::new();
    for (seed, name) in [("--seed=1", "a.toml"), ("--seed=2", "b.toml")] {
        let arguments = ["--only=batch,single", "--samples=2000", seed, "-o", name];
        assert_eq!(profile(&folder, &arguments).0, 0);
    }
    let compared = |arguments: &[&str]| folder.json(&[&["drive", "compare"], arguments].concat());
    let (code, value) = compared(&["a.toml", "b.toml"]);
    assert_eq!(code, 0, "{value:#}");
    assert_eq!(value["tables"][0]["entries"], 4);
    let (code, value) = compared(&["a.toml", "ibm-36z15"]);
    assert_eq!((code, &value["moved"]), (1, &true.into()), "{value:#}");
    assert!(value["facts"].as_array().unwrap().iter().any(|fact| fact["what"] == "model"));
}

/// Goal: going on with less than was measured loses nothing. Method: a profile that is complete
/// and whose samples were kept, then one experiment of it with another size.
#[test]
fn what_was_measured_before_stays_when_a_measurement_goes_on() {
    let folder = Folder::new();
    let first = ["--only=batch,single,starvation", "--samples=3", "-o", "d.toml"];
    assert_eq!(profile(&folder, &[&first[..], &["--keep-samples"]].concat()).0, 0);
    let second = ["--only=batch", "--samples=3", "--size=4KiB", "-o", "d.toml", "--resume"];
    let (code, _, stderr) = profile(&folder, &second);
    assert_eq!(code, 0, "{stderr}");
    let left = "rounds of batch of reads of 128KiB; single of reads of 128KiB; starvation of";
    assert!(stderr.contains(left), "what is not taken is said: {stderr}");
    assert_eq!(names(&folder), ["d.toml", "d.toml.samples"]);
    let text = std::fs::read_to_string(folder.path().join("d.toml")).unwrap();
    for kept in ["[[single]]", "starvation_ns_max", "size = \"4KiB\"", "size = \"128KiB\""] {
        assert!(text.contains(kept), "{kept}");
    }
    let (code, _, stderr) =
        folder.run(&["profile", DRIVE, "--depth=3", "--only=batch", "-o", "d.toml", "--resume"]);
    assert!(code == 2 && stderr.contains("1 to 4 at once"), "another depth: {stderr}");
    let other = ["profile", "ibm-36z15", "--depth=4", "--only=batch", "-o", "d.toml", "--resume"];
    assert_eq!(folder.run(&other).0, 2);
    assert_eq!(std::fs::read_to_string(folder.path().join("d.toml")).unwrap(), text);
}

/// Goal: a starvation that was seen is not forgotten for a shorter one.
#[test]
fn starvation_that_is_added_does_not_fall() {
    let folder = Folder::new();
    let starvation = |path: &str| -> u64 {
        let text = std::fs::read_to_string(folder.path().join(path)).unwrap();
        let line = text.lines().find(|line| line.starts_with("starvation_ns_max")).unwrap();
        line.split_once(" = ").unwrap().1.parse().unwrap()
    };
    let first = ["--only=batch,starvation", "--samples=5", "-o", "d.toml"];
    assert_eq!(profile(&folder, &first).0, 0);
    let before = starvation("d.toml");
    let arguments = ["profile", DRIVE, "--depth=2", "--only=starvation", "--samples=1", "--add"];
    let (code, _, stderr) = folder.run(&[&arguments[..], &["-o", "d.toml"]].concat());
    assert_eq!(code, 0, "{stderr}");
    assert!(starvation("d.toml") >= before);
}

/// Goal: what is added never takes costs away unsaid, and costs of mixed batches stay when one of
/// their kinds is measured again. Method: costs of two sizes, one size again; then a third.
#[test]
fn costs_stay_when_other_kinds_are_added() {
    let folder = Folder::new();
    let run = |more: &[&str]| {
        let common = ["--samples=3", "--depth=3", "-o", "d.toml"];
        let (code, stdout, stderr) = folder.run(&[&["profile", DRIVE], &common[..], more].concat());
        assert_eq!(code, 0, "{stdout}{stderr}");
        stderr
    };
    let costs = || {
        let (_, value) = folder.json(&["drive", "compare", "d.toml", "d.toml"]);
        let tables = value["tables"].as_array().unwrap().clone();
        let names = tables.iter().map(|row| row["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.starts_with("cost: ")).collect::<Vec<_>>()
    };
    run(&["--only=batch,mixed", "--size=4KiB,128KiB"]);
    assert_eq!(costs(), ["cost: positioning", "cost: read of 4KiB", "cost: read of 128KiB"]);
    let said = run(&["--only=batch", "--size=4KiB", "--seed=9", "--add"]);
    assert!(!said.contains("[cost]"), "{said}");
    assert_eq!(costs().len(), 3, "they are kept");
    let said = run(&["--only=batch", "--size=64KiB", "--add"]);
    assert!(
        said.contains("[cost] has figures of reads of 4KiB and reads of 128KiB only"),
        "{said}"
    );
    assert!(said.contains("reads of 64KiB are charged as larger ones"), "{said}");
    assert!(said.contains("--only batch,mixed --op read --size 4KiB,64KiB,128KiB --add"), "{said}");
    assert_eq!(costs().len(), 3);
    run(&["--only=batch,mixed", "--size=4KiB,64KiB,128KiB", "--add"]);
    assert_eq!(costs().len(), 4, "all were mixed");
}

/// Goal: the command that a refused service names gives its drive file the longest flush, and says
/// how it was found. Method: that command, on a disk that defers writes and on a file without it.
#[test]
fn the_longest_flush_is_added_to_a_drive_file() {
    let folder = Folder::new();
    let of_disk = ["profile", "nearline-7200", "--depth=4", "--samples=12", "-o", "d.toml"];
    let run = |more: &[&str]| folder.run(&[&of_disk[..], more].concat());
    let (code, _, stderr) = run(&["--only=batch"]);
    assert_eq!(code, 0, "{stderr}");
    let path = folder.path().join("d.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let built_in: Vec<_> = text.lines().filter(|line| !line.starts_with("flush_ns_max")).collect();
    std::fs::write(&path, built_in.join("\n")).unwrap();

    let (code, _, stderr) = run(&["--only=flush", "--allow-writes", "--add"]);
    assert_eq!(code, 0, "{stderr}");
    let (_, value) = folder.json(&["drive", "show", "d.toml"]);
    let starts = &value["fit"]["flush"]["writes of 128KiB"]["ns_max"];
    let longest = starts.as_array().unwrap().iter().map(|ns| ns.as_u64().unwrap()).max();
    assert_eq!(value["flush_ns_max"].as_u64(), longest);
}

/// Goal: the last column of drains is drain(q) of the file. Method: drains after requests far apart,
/// which raise it above those from random places.
#[test]
fn drains_are_shown_as_the_file_has_them() {
    let folder = Folder::new();
    let arguments = ["--only=batch,drain,drain-adversary", "--samples=12", "-o", "d.toml"];
    let (code, stdout, stderr) = profile(&folder, &arguments);
    assert_eq!(code, 0, "{stderr}");
    let text = std::fs::read_to_string(folder.path().join("d.toml")).unwrap();
    let file: toml::Table = text.parse().unwrap();
    let drain: Vec<i64> = file["drain"][0]["ns_max"].clone().try_into().unwrap();
    let rows = stdout.split("Drains, ").nth(1).expect("the drains").lines().skip(2);
    let mut is_raised = false;
    for (row, q) in rows.zip([1, 2, 4]) {
        let us: Vec<u64> = row
            .split_whitespace()
            .skip(1)
            .map(|cell| cell.trim_end_matches("ms").replace('.', "").parse().unwrap())
            .collect();
        let (shown, starts) = us.split_last().unwrap();
        let longest = drain[..q].iter().max().unwrap().cast_unsigned().div_ceil(1_000);
        assert_eq!(*shown, longest, "drain({q}): {stdout}");
        is_raised |= starts[3..].iter().any(|us| us > starts[..3].iter().max().unwrap());
    }
    assert!(is_raised, "no drain after requests far apart is longer: {stdout}");
}

/// Goal: what the drive file could not say twice is not measured twice.
#[test]
fn a_kind_named_twice_is_measured_once() {
    let folder = Folder::new();
    let twice =
        ["--only=batch", "--samples=2", "--size=4KiB,4KiB", "--op=read,read", "-o", "d.toml"];
    let (code, _, stderr) = profile(&folder, &twice);
    assert_eq!(code, 0, "{stderr}");
    let (code, shown) = folder.json(&["drive", "show", "d.toml"]);
    assert_eq!((code, shown["tables"].as_array().unwrap().len()), (0, 1), "{shown:#}");
}

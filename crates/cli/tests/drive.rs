// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive` through the binary: imports that say what they did, drives as people and
//! programs see them, and replays.

mod common;

use std::path::{Path, PathBuf};

use common::Folder;

const SPECS: &str = "disksim_disk Made_Up {\n  Model = source d.model,\n  Max queue length = 4,\n  \
                     Allow almost read hits = 1,\n  Read miss over. after read = 0.5\n}\n";

const MODEL: &str = "\
dm_disk Made_Up.model {
  Number of data surfaces = 2, Number of cylinders = 100, Block count = 20000,
  Layout Model = dm_layout_g1 {
    LBN-to-PBN mapping scheme = 0, Sparing scheme used = 0, Rangesize for sparing = 1,
    Zones = [ dm_layout_g1_zone {
      First cylinder number = 0, Last cylinder number = 99, Blocks per track = 100,
      Offset of first block = 0, Empty space at zone front = 0,
      Skew for track switch = 10, Skew for cylinder switch = 20,
      Number of spares = 0, slips = [], defects = []
    } ]
  },
  Mechanical Model = dm_mech_g1 {
    Access time type = trackSwitchPlusRotation, Seek type = extracted,
    Full seek curve = d.seek, Add. write settling delay = 0.2,
    Head switch time = 0.9, Rotation speed (in rpms) = 6000, Percent error in rpms = 0
  }
}
";

const SEEK: &str = "Seek distances measured: 2\n1, 1.0\n99, 10.0\n";

const TRACE: &str = "R Hit 0 8 7000.0 1000.0\nW Hit 15000 8 12000.5 500.0\nR Hit 300 16 9000.0 0\n";

/// A drive of which only a table is known.
const TABLES: &str = "name = \"t\"\nkind = \"pseudo\"\ndepth = 2\n[[batch]]\nop = \"read\"\n\
                      size = \"4KiB\"\nns_max = [5_000_000, 8_000_000]\n";

/// A folder with the parameter files of a disk and a trace.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, text) in
        [("d.diskspecs", SPECS), ("d.model", MODEL), ("d.seek", SEEK), ("d.trace", TRACE)]
    {
        folder.file(name, text);
    }
    folder
}

/// The same with the drive imported as `d.drive.toml`.
fn imported() -> Folder {
    let folder = folder();
    let (code, _, stderr) = folder.run(&["drive", "import", "d.diskspecs", "-o", "d.drive.toml"]);
    assert_eq!(code, 0, "{stderr}");
    folder
}

fn has_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn an_import_says_what_it_used_left_out_and_did_not_find() {
    let folder = folder();
    let (code, text, _) = folder.run(&["drive", "import", ".", "-o", "d.drive.toml"]);
    assert_eq!(code, 0);
    has_all(
        &text,
        &[
            "Imported     made-up, 10.2 MB, 6,000 rpm, up to 4 requests at once",
            "Used         d.diskspecs: overheads, cache, queue",
            "d.model: mechanics",
            "d.seek: seek curve",
            "Left out     Allow almost read hits = 1  (disksim_disk)",
            "Not found    d.diskspecs: first come, first served is used for the missing",
            "\n             `Scheduler`\n",
            "d.diskspecs: 0 is used for the missing `Per-request overhead",
            "Written      d.drive.toml",
        ],
    );
    let file = std::fs::read_to_string(folder.path().join("d.drive.toml")).unwrap();
    has_all(&file, &["name = \"made-up\"", "kind = \"mechanical\"", "[mechanics.seek]"]);
}

#[test]
fn one_file_is_enough_and_the_name_is_the_users() {
    let folder = folder();
    let arguments = ["drive", "import", "d.diskspecs", "-o", "n.drive.toml", "--name", "my disk"];
    let (code, text, _) = folder.run(&arguments);
    assert_eq!(code, 0);
    has_all(&text, &["Imported     my disk", "d.seek: seek curve (beside d.model)"]);
}

#[test]
fn nothing_that_exists_is_overwritten() {
    let folder = imported();
    let before = std::fs::read(folder.path().join("d.drive.toml")).unwrap();
    for output in ["d.drive.toml", "d.model"] {
        let (code, _, stderr) = folder.run(&["drive", "import", "d.diskspecs", "-o", output]);
        assert_eq!(code, 2);
        assert!(stderr.contains("nothing that exists is overwritten"), "{stderr}");
    }
    assert_eq!(std::fs::read(folder.path().join("d.drive.toml")).unwrap(), before);
}

#[test]
fn a_file_that_is_missing_is_named_with_who_names_it() {
    let folder = folder();
    std::fs::remove_file(folder.path().join("d.seek")).unwrap();
    let (code, _, stderr) = folder.run(&["drive", "import", "d.diskspecs", "-o", "o.toml"]);
    assert_eq!(code, 2);
    has_all(&stderr, &["d.model names `d.seek`, a seek curve", "help: give the path of `d.seek`"]);
    assert!(!folder.path().join("o.toml").exists());
    let (code, _, stderr) = folder.run(&["drive", "import", "nowhere", "-o", "o.toml"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("cannot read nowhere"), "{stderr}");
}

#[test]
fn a_faulty_parameter_file_is_shown_with_a_caret() {
    let folder = folder();
    folder.file("d.seek", "1, 1.0\n99, soon\n");
    let (code, _, stderr) = folder.run(&["drive", "import", "d.diskspecs", "-o", "o.toml"]);
    assert_eq!(code, 2);
    has_all(
        &stderr,
        &["d.seek, line 2, column 1", "`99, soon` is not a point", "^^^", "help: write"],
    );
}

#[test]
fn what_never_ends_is_not_imported() {
    let folder = folder();
    let (code, _, stderr) = folder.run(&["drive", "import", "/dev/zero", "-o", "o.toml"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("a character device"), "{stderr}");
}

#[test]
fn every_built_in_drive_is_listed_and_shown() {
    let folder = Folder::new();
    let (code, list) = folder.json(&["drive", "list"]);
    assert_eq!(code, 0);
    let drives = list["drives"].as_array().unwrap();
    assert!(drives.iter().any(|drive| drive["name"] == "maxtor-atlas-10k-v"));
    let (_, text, _) = folder.run(&["drive", "list"]);
    for drive in drives {
        let name = drive["name"].as_str().unwrap();
        assert!(text.contains(name) && drive["depth"].as_u64() > Some(0), "{name}");
        let (code, shown) = folder.json(&["drive", "show", name]);
        assert_eq!((code, &shown["name"]), (0, &drive["name"]));
        assert_eq!(shown["kinds"][0], shown["kind"], "{name}: its own kind can be simulated");
        let (code, text, _) = folder.run(&["drive", "show", name]);
        assert_eq!(code, 0);
        assert!(text.starts_with(&format!("Drive        {name}")), "{text}");
    }
}

#[test]
fn a_disk_is_shown_with_its_facts_and_plots_within_80_columns() {
    let folder = imported();
    let (code, text, _) = folder.run(&["drive", "show", "d.drive.toml"]);
    assert_eq!(code, 0);
    has_all(
        &text,
        &[
            "Rotation     6,000 turns a minute, 10.000ms each",
            "2 surfaces, 100 cylinders; another head takes 0.900ms",
            "1, 100 sectors per track outside (5.1MB/s)",
            "1.000ms to the next cylinder",
            "10.000ms at full stroke",
            "reads from the disk  0.500ms after a read",
            "Queue        fifo",
            "Seek time by distance",
            "Sectors per track by position",
        ],
    );
    for line in text.lines() {
        assert!(line.chars().count() < 80, "{line}");
    }
}

#[test]
fn programs_get_the_figures_of_a_disk() {
    let folder = imported();
    let (_, drive) = folder.json(&["drive", "show", "d.drive.toml"]);
    let mechanics = &drive["mechanics"];
    assert_eq!(
        (drive["depth"].as_u64(), drive["capacity_bytes"].as_u64()),
        (Some(4), Some(10_240_000))
    );
    assert_eq!(mechanics["seek_ns_one_cylinder"], 1_000_000);
    assert_eq!(mechanics["seek_ns_full_stroke"], 10_000_000);
    // Over 100 cylinders: the line 1 + 9 (d - 1) / 98 ms, d being 33.33 on average where it
    // is not 0, which it is once in a hundred.
    let mean = mechanics["seek_ns_mean"].as_u64().unwrap();
    assert!(mean.abs_diff(3_960_000) < 20_000, "{mean}");
    assert_eq!(mechanics["zones"][0]["sectors"], 20_000);
    assert_eq!(drive["kinds"], serde_json::json!(["mechanical"]));
}

/// Names of tags in their order, `/` before those that close.
fn tags(xml: &str) -> Vec<String> {
    let parts = xml.split('<').skip(1);
    let parts = parts.filter(|part| !part.starts_with('?') && !part.contains("/>"));
    let name = |part: &str| part.split([' ', '>', '\n']).next().unwrap().to_owned();
    parts.map(name).collect()
}

#[test]
fn the_picture_of_a_drive_is_well_formed_and_goes_into_a_new_file() {
    let folder = imported();
    folder.file("t.drive.toml", TABLES);
    for (name, picture, labels) in [
        ("d.drive.toml", "d.svg", ["distance (cylinders)", "position (MB)"]),
        ("t.drive.toml", "t.svg", [">requests at once<", "longest time (ms)"]),
    ] {
        let arguments = ["drive", "show", name, "--svg", picture];
        assert_eq!(folder.run(&arguments).0, 0);
        let svg = std::fs::read_to_string(folder.path().join(picture)).unwrap();
        assert!(labels.iter().all(|label| svg.contains(label)), "{name}");
        let mut open: Vec<String> = Vec::new();
        for tag in tags(&svg) {
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop().as_deref(), Some(name)),
                None => open.push(tag),
            }
        }
        assert_eq!(open, Vec::<String>::new());
        let (code, _, stderr) = folder.run(&arguments);
        assert_eq!(code, 2);
        assert!(stderr.contains("nothing that exists is overwritten"), "{stderr}");
    }
    let built_in = include_str!("../../../drives/sata-ssd.drive.toml");
    let parts = &built_in[built_in.find("\n[ssd]").unwrap()..];
    folder.file("s.toml", &format!("name = \"s\"\nkind = \"ssd\"\ndepth = 1\n{parts}"));
    let (code, _, stderr) = folder.run(&["drive", "show", "s.toml", "--svg", "s.svg"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("nothing to draw"), "{stderr}");
}

#[test]
fn a_replay_gives_both_distributions_and_the_demerit() {
    let folder = imported();
    let arguments = ["drive", "replay", "d.drive.toml", "--trace", "d.trace"];
    let (code, replay) = folder.json(&arguments);
    assert_eq!(code, 0);
    assert_eq!((&replay["drive"], &replay["requests"]), (&"made-up".into(), &3.into()));
    assert_eq!(replay["measured_ms_max"], 12.0005);
    assert_eq!(
        replay["measured_ms_mean"].as_f64().map(|ms| ms.to_string()),
        Some("9.333500".parse::<f64>().unwrap().to_string())
    );
    for name in ["demerit_ms", "simulated_ms_mean", "simulated_ms_p50", "simulated_ms_max"] {
        assert!(replay[name].as_f64() > Some(0.0), "{name}: {replay}");
    }
    assert_eq!(folder.json(&arguments).1, replay, "the same again");
    let (_, text, _) = folder.run(&arguments);
    has_all(&text, &["Trace        d.trace, 3 requests", "measured", "simulated", "Demerit"]);
}

#[test]
fn a_trace_that_does_not_fit_is_refused() {
    let folder = imported();
    let replay = |drive: &str, trace: &str| {
        let (code, _, stderr) = folder.run(&["drive", "replay", drive, "--trace", trace]);
        assert_eq!(code, 2);
        stderr
    };
    folder.file("beyond.trace", "R Hit 19999 8 7000.0 1000.0\n");
    assert!(replay("d.drive.toml", "beyond.trace").contains("the trace is of another drive"));
    folder.file("broken.trace", "R Hit 0 8 7000.0 1000.0\nX Hit 0 8 7000.0 1000.0\n");
    has_all(
        &replay("d.drive.toml", "broken.trace"),
        &["broken.trace, line 2", "neither R nor W", "^^^"],
    );
    folder.file("empty.trace", "# nothing\n");
    assert!(replay("d.drive.toml", "empty.trace").contains("no request in it"));
    assert!(replay("d.drive.toml", "no.trace").contains("cannot read the trace"));
    folder.file("t.drive.toml", TABLES);
    assert!(replay("t.drive.toml", "d.trace").contains("`t` has tables only"));
}

/// The files of real disks; none, with a reason, where there are none.
fn real_drives() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("TIDEGATE_DRIVE_DATA").map_or(beside, PathBuf::from);
    let drives = data.join("drives");
    if drives.is_dir() {
        return drives.canonicalize().ok();
    }
    println!("skipped: {} has no files of real disks", data.display());
    None
}

/// Goal: an imported disk is as true to the measured one as in the simulator that its files
/// were written for, whose demerit figures are known.
#[test]
fn imported_disks_are_as_true_as_in_the_simulator_they_come_from() {
    let Some(drives) = real_drives() else { return };
    let folder = Folder::new();
    for (name, demerit_ms) in [("atlas_III", 0.378), ("cheetah9LP", 0.107), ("hp_c2490a", 0.254)] {
        let path = |end: &str| drives.join(format!("{name}.{end}")).to_str().unwrap().to_owned();
        let output = format!("{name}.drive.toml");
        let (code, _, stderr) = folder.run(&["drive", "import", &path("diskspecs"), "-o", &output]);
        assert_eq!(code, 0, "{stderr}");
        let (code, replay) = folder.json(&["drive", "replay", &output, "--trace", &path("trace")]);
        assert_eq!(code, 0);
        let reached = replay["demerit_ms"].as_f64().unwrap();
        assert!(reached <= demerit_ms, "{name}: {reached} ms");
    }
}

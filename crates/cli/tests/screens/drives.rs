// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: built-in drives are listed, plots are well-formed, and imported disks are accurate.
//! Method: the JSON and SVG outputs are parsed and compared with known figures.

use std::path::{Path, PathBuf};

use crate::{folder, json_of};

#[test]
fn every_built_in_drive_is_listed_and_shown() {
    let folder = folder();
    let (code, list) = json_of("tidegate drive list --json", folder.path());
    assert_eq!(code, 0);
    let drives = list["drives"].as_array().unwrap();
    assert!(drives.iter().any(|drive| drive["name"] == "maxtor-atlas-10k-v"));
    for drive in drives {
        let name = drive["name"].as_str().unwrap();
        assert!(drive["depth"].as_u64() > Some(0), "{name}");
        let (code, shown) = json_of(&format!("tidegate drive show {name} --json"), folder.path());
        assert_eq!((code, &shown["name"]), (0, &drive["name"]));
        assert_eq!(shown["kinds"][0], shown["kind"], "{name}: its own kind can be simulated");
    }
}

/// Returns the names of the tags in order, with `/` before closing tags.
fn tags(xml: &str) -> Vec<String> {
    let parts = xml.split('<').skip(1);
    let parts = parts.filter(|part| !part.starts_with('?') && !part.contains("/>"));
    let name = |part: &str| part.split([' ', '>', '\n']).next().unwrap().to_owned();
    parts.map(name).collect()
}

#[test]
fn pictures_are_well_formed() {
    let folder = folder();
    for drive in ["fujitsu-max3036rc", "sata-ssd", "sizes.drive.toml"] {
        let line = format!("tidegate drive show {drive} --svg {drive}.svg --json");
        assert_eq!(json_of(&line, folder.path()).0, 0);
        let svg = std::fs::read_to_string(folder.path().join(format!("{drive}.svg"))).unwrap();
        let mut open: Vec<String> = Vec::new();
        for tag in tags(&svg) {
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop().as_deref(), Some(name)),
                None => open.push(tag),
            }
        }
        assert_eq!(open, Vec::<String>::new());
    }
}

/// Returns the folder with files of real disks; `None`, after printing the reason, if there are
/// none.
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

/// Goal: an imported disk is as close to the measured one as in the simulator for which its files
/// were written, with known demerit figures.
#[test]
fn imported_disks_are_as_true_as_in_the_simulator_they_come_from() {
    let Some(drives) = real_drives() else { return };
    let folder = folder();
    for (name, demerit_ms) in [("atlas_III", 0.378), ("cheetah9LP", 0.107), ("hp_c2490a", 0.254)] {
        let path = drives.join(name).display().to_string();
        let line = format!(
            "tidegate drive import '{path}.diskspecs' -o {name}.drive.toml > said && \
             tidegate drive replay {name}.drive.toml --trace '{path}.trace' --json"
        );
        let (code, replay) = json_of(&line, folder.path());
        assert_eq!(code, 0);
        let reached = replay["demerit_ms"].as_f64().unwrap();
        assert!(reached <= demerit_ms, "{name}: {reached} ms");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the mechanical drive with real drives: the tests import parameter files, replay the
//! requests of a measured trace, and compare the distributions of response times.
//!
//! The data is not part of this project: `TIDEGATE_DRIVE_DATA` names its folder, by default
//! `shared/data` beside the project. The limits are the figures that DiskSim 4.0 documents for its
//! own validation of the same drives; the code does not use them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tidegate_disksim::{Files, import};
use tidegate_model::{DriveFile, DriveKind, Duration};
use tidegate_sim::replay::{demerit, read_trace, replay};

/// Reads files from the file system.
struct DiskFiles;

impl Files for DiskFiles {
    fn text(&self, path: &Path) -> io::Result<String> {
        fs::read_to_string(path)
    }

    fn folder(&self, path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
        if !path.is_dir() {
            return Ok(None);
        }
        let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
        let mut files = entries.collect::<io::Result<Vec<_>>>()?;
        files.sort();
        Ok(Some(files))
    }
}

fn data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("TIDEGATE_DRIVE_DATA").map_or(beside, PathBuf::from);
    let drives = folder.join("drives");
    if !drives.is_dir() {
        eprintln!("skipped: no measurements of real drives at {}", drives.display());
        return None;
    }
    Some(drives)
}

/// Returns the drive that these files describe.
fn imported(folder: &Path, files: &[&str]) -> DriveFile {
    let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(file)).collect();
    import(&paths, &DiskFiles).expect("the files are valid").drive
}

/// Returns the demerit figure of a drive over this trace.
fn demerit_of(drive: &DriveFile, folder: &Path, trace: &str) -> Duration {
    let text = fs::read_to_string(folder.join(trace)).expect("the trace exists");
    let trace = read_trace(&text).expect("the trace is valid");
    let mut drive =
        tidegate_drive::from_parts(DriveKind::Mechanical, drive, 1).expect("it has mechanics");
    let simulated = replay(&mut *drive, &trace).expect("the trace is of this drive");
    let measured: Vec<Duration> = trace.iter().map(|request| request.measured).collect();
    demerit(&measured, &simulated)
}

/// Checks that the simulation is at least as accurate as DiskSim 4.0, whose own validation states
/// its demerit figure in thousandths of a millisecond.
fn check(files: &[&str], trace: &str, disksim_us: u64) {
    let Some(folder) = data() else { return };
    let figure = demerit_of(&imported(&folder, files), &folder, trace);
    assert!(figure <= Duration::from_us(disksim_us), "{trace}: {figure}, DiskSim {disksim_us} us");
}

#[test]
fn quantum_atlas_iii_is_simulated_as_truly_as_by_disksim() {
    let files = ["atlas_III.model", "atlas_III.diskspecs", "atlas_III.seek"];
    check(&files, "atlas_III.trace", 378);
}

#[test]
fn seagate_cheetah_9lp_is_simulated_as_truly_as_by_disksim() {
    let files = ["cheetah9LP.diskspecs", "cheetah9LP.seek", "cheetah9LP.model"];
    check(&files, "cheetah9LP.trace", 107);
}

/// The bus of this drive is described only in its system file, which is in the same folder.
#[test]
fn hp_c2490a_is_simulated_as_truly_as_by_disksim() {
    let files = ["hp_c2490a_validate.seek", "hp_c2490a_validate.model", "hp_c2490a.diskspecs"];
    check(&files, "hp_c2490a.trace", 254);
}

/// Canary: a drive with the rotation speed of another drive is found to be inaccurate.
#[test]
fn wrong_speed_shows_in_the_demerit() {
    let Some(folder) = data() else { return };
    let files = ["cheetah9LP.diskspecs", "cheetah9LP.seek", "cheetah9LP.model"];
    let mut drive = imported(&folder, &files);
    drive.mechanics.as_mut().expect("it has mechanics").rpm = 7_200;
    assert!(demerit_of(&drive, &folder, "cheetah9LP.trace") > Duration::from_us(500));
}

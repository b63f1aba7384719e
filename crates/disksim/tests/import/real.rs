// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameter files of real disks, if present.
//!
//! They are not part of the project: the folder is `TIDEGATE_DRIVE_DATA`, or `shared/data` beside
//! the checkout.

use std::io;
use std::path::{Path, PathBuf};

use tidegate_disksim::{Files, Import, import};
use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::DriveFile;
use tidegate_model::mechanics::{Layout, Seek};

/// The file system, as on the command line but without limits.
struct Disk;

impl Files for Disk {
    fn text(&self, path: &Path) -> io::Result<String> {
        let bytes = std::fs::read(path)?;
        String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    fn folder(&self, path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
        if !path.is_dir() {
            return Ok(None);
        }
        let inside = std::fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
        let mut inside: Vec<PathBuf> = inside.into_iter().map(|entry| entry.path()).collect();
        inside.retain(|path| path.is_file());
        inside.sort();
        Ok(Some(inside))
    }
}

/// Returns the folder with the files of real disks; `None`, with a printed reason, if there is
/// none.
pub(crate) fn drives() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("TIDEGATE_DRIVE_DATA").map_or(beside, PathBuf::from);
    let drives = data.join("drives");
    if drives.is_dir() {
        return Some(drives);
    }
    println!("skipped: {} has no files of real disks", data.display());
    None
}

pub(crate) fn imported(paths: &[PathBuf]) -> Import {
    let import = import(paths, &Disk).unwrap_or_else(|error| panic!("{error}"));
    let drive = &import.drive;
    assert_eq!(&DriveFile::parse(&drive.to_toml()).unwrap(), drive, "it reads back");
    let mechanics = drive.mechanics.as_ref().expect("imports are mechanical");
    MechanicalDrive::new(mechanics, drive.depth, 1).expect("it makes a drive");
    import
}

#[test]
fn disks_with_zones_are_imported_whole_from_one_file() {
    let Some(drives) = drives() else { return };
    for (name, sectors, zones, points) in [
        ("atlas_III", 17_783_250, 9, 117),
        ("cheetah9LP", 17_783_240, 11, 106),
        ("hp_c2490a", 4_165_272, 11, 64),
    ] {
        let import = imported(&[drives.join(format!("{name}.diskspecs"))]);
        let mechanics = import.drive.mechanics.unwrap();
        assert_eq!(import.report.used.len(), 4, "{name}: {:?}", import.report.used);
        assert_eq!(mechanics.sectors, sectors, "{name}");
        let Layout::Zones(layout) = mechanics.layout else { panic!("{name} has zones") };
        let Seek::Points(curve) = mechanics.seek else { panic!("{name} was measured") };
        assert_eq!((layout.zone.len(), curve.len()), (zones, points), "{name}");
        assert_eq!(import.report.missing, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_bus_of_a_disk_is_found_in_the_system_beside_it() {
    let Some(drives) = drives() else { return };
    let import = imported(&[drives.join("hp_c2490a.diskspecs")]);
    let bus = import.drive.mechanics.unwrap().bus;
    assert_eq!((bus.read_sector_ps, bus.write_sector_ps), (148_410_000, 148_410_000));
}

#[test]
fn disks_with_an_index_are_imported_from_their_folders() {
    let Some(drives) = drives() else { return };
    for (folder, sectors, points) in
        [("atlas10k5", 585_937_499, 350), ("cheetah15k5", 286_749_487, 342)]
    {
        let import = imported(&[drives.join(folder)]);
        let mechanics = import.drive.mechanics.unwrap();
        assert_eq!(import.report.used.len(), 4, "{folder}");
        assert_eq!(mechanics.sectors, sectors, "{folder}");
        let Seek::Points(curve) = mechanics.seek else { panic!("{folder} was measured") };
        assert_eq!(curve.len(), points, "{folder}");
        assert!(matches!(mechanics.layout, Layout::Index(_)), "{folder}");
    }
}

#[test]
fn all_files_of_a_disk_in_any_order_make_the_same_drive() {
    let Some(drives) = drives() else { return };
    let named = |end: &str| drives.join(format!("hp_c2490a{end}"));
    let alone = imported(&[named(".diskspecs")]).drive.mechanics;
    let ends = ["_validate.seek", ".parv", "_validate.model", ".trace", ".diskspecs"];
    let mut paths: Vec<PathBuf> = ends.iter().map(|end| named(end)).collect();
    for _ in 0..ends.len() {
        paths.rotate_left(1);
        assert_eq!(imported(&paths).drive.mechanics, alone);
    }
}

#[test]
fn a_folder_with_several_disks_is_refused_with_their_names() {
    let Some(drives) = drives() else { return };
    let error = import(&[drives], &Disk).unwrap_err().to_string();
    for name in ["describe 3 disks", "QUANTUM_QM39100TD-SW", "HP_C2490A_validate"] {
        assert!(error.contains(name), "{name} in {error}");
    }
}

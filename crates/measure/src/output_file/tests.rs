// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: no drive file is lost, whether it exists before, appears during the measurement, or is
//! extended by two processes at the same time. Method: real files in a temporary folder.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use tempfile::TempDir;

use super::*;

const TARGET: &str = "/dev/null";

fn expected(add: bool) -> Expected {
    if add { Expected::DriveFile } else { Expected::Nothing }
}

fn drive(op: &str) -> DriveFile {
    let text = format!(
        "name = \"d\"\nkind = \"recorded\"\ndepth = 1\n[identity]\nmodel = \"M\"\n\
         [[batch]]\nop = \"{op}\"\nsize = \"4KiB\"\nns_max = [1]\n"
    );
    DriveFile::parse(&text).unwrap()
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.toml");
    (folder, path)
}

fn prepare(path: &Path, add: bool) -> Result<OutputFile, OutputFault> {
    OutputFile::prepare(path, expected(add), Path::new(TARGET))
}

fn read(path: &Path) -> DriveFile {
    DriveFile::parse(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_new_file_is_all_that_is_left_and_others_may_read_it() {
    let (folder, path) = folder();
    let output = prepare(&path, false).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing before the end");
    output.publish(&drive("read"), &[]).unwrap();
    assert_eq!(read(&path), drive("read"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let usual = folder.path().join("usual");
    fs::write(&usual, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&usual));
}

/// Goal: if two measurements have the same output, neither replaces the other's result.
#[test]
fn a_file_that_came_up_meanwhile_stays() {
    let (_folder, path) = folder();
    let [first, second] = [prepare(&path, false).unwrap(), prepare(&path, false).unwrap()];
    first.publish(&drive("read"), &[]).unwrap();
    assert!(second.publish(&drive("write"), &[]).is_err());
    assert_eq!(read(&path), drive("read"));
}

#[test]
fn two_that_add_at_once_are_both_added() {
    let (_folder, path) = folder();
    fs::write(&path, drive("read").to_toml().replace("4KiB", "8KiB")).unwrap();
    let outputs = [("read", prepare(&path, true)), ("write", prepare(&path, true))];
    std::thread::scope(|scope| {
        for (op, output) in outputs {
            scope.spawn(move || output.unwrap().publish(&drive(op), &[]).unwrap());
        }
    });
    assert_eq!(read(&path).batch.len(), 3);
}

#[test]
fn adding_keeps_permissions_and_links() {
    let (folder, path) = folder();
    fs::write(&path, drive("read").to_toml()).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("link");
    symlink("d.toml", &link).unwrap();
    prepare(&link, true).unwrap().publish(&drive("write"), &[]).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read(&path).batch.len(), 2);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn whatever_exists_is_left_alone() {
    let (folder, path) = folder();
    fs::write(&path, b"\xff\xfe not text").unwrap();
    let dangling = folder.path().join("dangling");
    symlink("nowhere", &dangling).unwrap();
    for path in [&path, &dangling, folder.path(), Path::new("/dev/full"), Path::new(".")] {
        assert!(prepare(path, false).is_err(), "{}", path.display());
        assert!(prepare(path, true).is_err(), "{}", path.display());
    }
    assert_eq!(fs::read(&path).unwrap(), b"\xff\xfe not text");
}

#[test]
fn what_cannot_be_written_is_known_at_once() {
    let (folder, path) = folder();
    let missing = folder.path().join("missing");
    for path in [&missing.join("d.toml"), &missing.join(""), Path::new("/proc/d.toml")] {
        assert!(prepare(path, false).is_err(), "{}", path.display());
    }
    assert!(prepare(&path, true).is_err(), "nothing to add to");
}

#[test]
fn the_target_is_no_place_whatever_it_is_called() {
    let (folder, path) = folder();
    let is_refused =
        |output: &Path, add| OutputFile::prepare(output, expected(add), &path).is_err();
    let other = folder.path().join(".").join("d.toml");
    assert!(is_refused(&path, false) && is_refused(&other, false), "before it is made");
    fs::write(&path, drive("read").to_toml()).unwrap();
    let [hard, soft] = ["hard", "soft"].map(|name| folder.path().join(name));
    fs::hard_link(&path, &hard).unwrap();
    symlink("d.toml", &soft).unwrap();
    for output in [&path, &other, &hard, &soft] {
        assert!(is_refused(output, true), "{}", output.display());
    }
}

#[test]
fn a_foreign_table_is_refused_before_and_after() {
    let (_folder, path) = folder();
    fs::write(&path, drive("read").to_toml()).unwrap();
    let output = prepare(&path, true).unwrap();
    assert!(output.check_device(&drive("write").identity).is_ok());
    let mut foreign = drive("write");
    foreign.identity.model = Some("N".to_owned());
    assert!(output.check_device(&foreign.identity).is_err());
    assert!(output.publish(&foreign, &[]).is_err());
    assert_eq!(read(&path), drive("read"));
}

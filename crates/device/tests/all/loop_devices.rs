// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a file below a loop device is refused, regardless of its name and of the caller's rights.
//! Method: attach real loop devices. Without root rights or loop devices, these tests print a
//! message and pass.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{CWD, FileType, mknodat};
use tempfile::TempDir;
use tidegate_device::in_use::{self, Use};
use tidegate_device::{Access, OpenError, Target, open_store};

/// The user of the other process, who has no special rights (`nobody`).
const SOMEBODY: u32 = 65534;

/// The environment variable that names the file for the other process.
const FILE: &str = "TIDEGATE_TEST_LOOP_FILE";

fn at(folder: &TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

/// Makes a folder with a file in it.
fn laid_out(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = at(&folder, name);
    std::fs::write(&path, vec![1; 1 << 20]).expect("a file");
    (folder, path)
}

/// A loop device over a file; detached when dropped.
struct Loop(String);

impl Loop {
    /// Attaches a loop device; `None`, with a printed reason, if that is not possible.
    fn over(path: &Path) -> Option<Self> {
        let mut losetup = Command::new("losetup");
        let output = losetup.args(["--find", "--show"]).arg(path).output();
        match output {
            Ok(output) if output.status.success() => {
                Some(Self(String::from_utf8_lossy(&output.stdout).trim().to_owned()))
            }
            Ok(output) => {
                eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr).trim());
                None
            }
            Err(error) => {
                eprintln!("skipped: no losetup: {error}");
                None
            }
        }
    }

    /// Returns the expected user of the file.
    fn held(&self) -> Use {
        Use::Held { holder: self.name().to_owned() }
    }

    fn name(&self) -> &str {
        self.0.trim_start_matches("/dev/")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

fn use_of(path: &Path) -> Option<Use> {
    let file = File::options().read(true).write(true).open(path).expect("it is there");
    in_use::of_file(&file)
}

#[test]
fn a_name_that_ends_in_blanks_is_no_hiding_place() {
    let (_folder, path) = laid_out("image  ");
    let Some(device) = Loop::over(&path) else { return };
    assert_eq!(use_of(&path), Some(device.held()));
}

#[test]
fn a_name_that_is_no_text_is_no_hiding_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(OsStr::from_bytes(b"image\xff"));
    std::fs::write(&path, vec![1; 1 << 20]).expect("a file");
    let Some(device) = Loop::over(&path) else { return };
    assert_eq!(use_of(&path), Some(device.held()));
}

/// The name under which the file was attached is removed, and another file has the name that the
/// kernel now shows for the backing file.
#[test]
fn a_file_that_lost_the_name_is_still_the_one() {
    let (folder, path) = laid_out("image");
    let other = at(&folder, "other");
    std::fs::hard_link(&path, &other).expect("a second name");
    let Some(device) = Loop::over(&path) else { return };
    std::fs::remove_file(&path).expect("it is there");
    std::fs::write(at(&folder, "image (deleted)"), "").expect("a file");
    assert_eq!(use_of(&other), Some(device.held()));
    std::fs::write(&path, vec![1; 1 << 20]).expect("another file of the first name");
    assert_eq!(use_of(&path), None);
    let refused = match Target::open(&other, Access::ReadWrite) {
        Err(OpenError::InUse { used, .. }) => used,
        Err(OpenError::MemoryFileSystem { .. } | OpenError::NoDirectIo { .. }) => return,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused, device.held());
}

/// As in a container: the device was attached under a path that does not exist here.
#[test]
fn a_file_attached_in_another_mount_namespace_is_known() {
    let (folder, path) = laid_out("image");
    let elsewhere = at(&folder, "elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    let script = "mount --bind \"$1\" \"$2\" && exec losetup --find --show \"$2/image\"";
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", script, "sh"]).arg(folder.path()).arg(&elsewhere);
    let output = unshare.output().expect("util-linux");
    if !output.status.success() {
        return eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let device = Loop(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    assert_eq!(use_of(&path), Some(device.held()));
}

#[test]
fn a_device_below_a_loop_device_is_held_by_it() {
    let (folder, path) = laid_out("image");
    let Some(below) = Loop::over(&path) else { return };
    // A separate device node, removed before the check.
    let node = at(&folder, "node");
    let number = std::fs::metadata(&below.0).expect("it is there").rdev();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    if let Err(error) = mknodat(CWD, &node, FileType::BlockDevice, mode, number) {
        return eprintln!("skipped: {error}");
    }
    assert_eq!(in_use::of_device_at(Path::new(&below.0)), None);
    let Some(above) = Loop::over(&node) else { return };
    std::fs::remove_file(&node).expect("it is there");
    assert_eq!(in_use::of_device_at(Path::new(&below.0)), Some(above.held()));
}

#[test]
fn a_store_is_neither_a_block_device_nor_below_one() {
    let (_folder, path) = laid_out("image");
    drop(open_store(&path).expect("below nothing yet"));
    let Some(device) = Loop::over(&path) else { return };
    let error = open_store(Path::new(&device.0)).expect_err("a block device");
    assert!(error.to_string().contains("is a block device, and a store"), "{error}");
    let error = open_store(&path).expect_err("below one");
    let OpenError::InUse { used, .. } = error else { panic!("{error}") };
    assert_eq!(used, device.held());
    assert_eq!(std::fs::read(&path).expect("it is there"), vec![1; 1 << 20]);
}

/// Not a test by itself: prints, in a child process, whether the file is in use.
#[test]
fn as_somebody_without_rights() {
    let Some(path) = std::env::var_os(FILE) else { return };
    println!("found {:?}", use_of(Path::new(&path)));
}

/// Runs this program as an unprivileged user that owns the file, and returns the line that it
/// prints; `None` if it could not be run.
fn told_to_somebody(folder: &TempDir, path: &Path) -> Option<String> {
    let everybody = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), everybody.clone()).expect("our folder");
    chown(path, Some(SOMEBODY), Some(SOMEBODY)).expect("root may");
    // That user may have no access to the build directory.
    let program = at(folder, "program");
    // `cp` makes the copy: if this process wrote it, a child that was just started could still hold
    // the descriptor for writing, and the copy could not be executed.
    let mut copy = Command::new("cp");
    copy.arg(std::env::current_exe().expect("we run")).arg(&program);
    assert!(copy.status().expect("coreutils").success());
    std::fs::set_permissions(&program, everybody).expect("our file");
    let mut command = Command::new(&program);
    command.args(["--exact", "as_somebody_without_rights", "--nocapture"]).env(FILE, path);
    match command.uid(SOMEBODY).gid(SOMEBODY).current_dir("/").output() {
        Ok(output) => {
            assert!(output.status.success(), "{output:?}");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            said.lines().find(|line| line.contains("found ")).map(ToOwned::to_owned)
        }
        Err(error) => {
            eprintln!("skipped: programs cannot be run from here: {error}");
            None
        }
    }
}

/// Without permission to open the device, the check relies on the device's path and, if that is
/// gone, on whether another process has the file open. Other users' loop devices do not block
/// unrelated files.
#[test]
fn somebody_without_rights_is_refused_what_is_in_doubt_and_nothing_else() {
    let (folder, path) = laid_out("image");
    let (other, unrelated) = (at(&folder, "other"), at(&folder, "unrelated"));
    std::fs::hard_link(&path, &other).expect("a second name");
    std::fs::write(&unrelated, vec![1; 1 << 20]).expect("a file");
    let Some(device) = Loop::over(&path) else { return };
    let Some(told) = told_to_somebody(&folder, &other) else { return };
    assert!(told.contains("Held") && told.contains(device.name()), "{told}");
    std::fs::remove_file(&path).expect("it is there");
    let told = told_to_somebody(&folder, &other).expect("it ran before");
    assert!(told.contains("Undecided"), "{told}");
    let told = told_to_somebody(&folder, &unrelated).expect("it ran before");
    assert!(told.contains("None"), "{told}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tidegate drive attach` keeps data, serves at full depth, and leaves nothing behind.
//! Method: a real block device backed by a simulated drive is read, written, kept open and killed.
//! Without root, FUSE or loop devices the tests print the reason and pass.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Folder;
use tidegate_device::IoBuffer;
use tidegate_model::Bytes;

/// A drive that takes 20 ms for any number of requests, so that many clients can be outstanding
/// together.
const SLOW: &str = "name = \"slow\"\nkind = \"pseudo\"\ndepth = 64\n[[batch]]\nop = \"read\"\n\
                    size = \"4KiB\"\nns_max = [TIMES]\n";

const O_DIRECT: i32 = 0x4000;

/// Returns the reason why no drive can be attached here; `None` if one can.
fn refusal() -> Option<String> {
    let open = |path| OpenOptions::new().read(true).write(true).open(path).map(drop);
    for path in ["/dev/fuse", "/dev/loop-control"] {
        if let Err(error) = open(path) {
            return Some(format!("{path}: {error}"));
        }
    }
    if !may_mount() {
        return Some("no right to mount (CAP_SYS_ADMIN)".to_owned());
    }
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    (!is_there("losetup")).then(|| "losetup is not installed".to_owned())
}

/// Returns whether this process can mount: in a container, root can sometimes open devices but not
/// mount.
fn may_mount() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    u64::from_str_radix(effective.trim(), 16).unwrap() >> 21 & 1 == 1
}

/// Returns whether a drive can be attached here; prints the reason if not.
fn can_run(what: &str) -> bool {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("skipped: {what}: O_DIRECT is only known here for x86-64");
        return false;
    }
    let refusal = refusal();
    if let Some(reason) = &refusal {
        eprintln!("skipped: {what}: {reason}");
    }
    refusal.is_none()
}

/// An attached drive; it is removed when the test ends, even after a failure.
struct Attached<'a> {
    folder: &'a Folder,
    name: String,
    child: Child,
    stdout: BufReader<ChildStdout>,
    device: PathBuf,
}

impl<'a> Attached<'a> {
    fn new(folder: &'a Folder, drive: &str, name: &str, more: &[&str]) -> Self {
        let name = format!("test-{}-{name}", std::process::id());
        let arguments = [&["drive", "attach", drive, "--name", &name], more].concat();
        let mut child = folder.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut attached = Self { folder, name, child, stdout, device: PathBuf::new() };
        let mut line = String::new();
        while !line.starts_with("Stop") {
            if let Some((device, _)) =
                line.strip_prefix("Attached as ").and_then(|it| it.split_once(':'))
            {
                attached.device = PathBuf::from(device);
            }
            line.clear();
            let count = attached.stdout.read_line(&mut line).unwrap();
            assert!(count > 0, "it ended before the device existed");
        }
        attached
    }

    fn open(&self) -> File {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(O_DIRECT).open(&self.device).unwrap()
    }

    fn detach(&self, more: &[&str]) -> (i32, String, String) {
        self.folder.run(&[&["drive", "detach", &self.name], more].concat())
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until the process ends; returns its exit code and its output.
    fn end(&mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }

    fn tags(&self) -> String {
        let name = self.device.file_name().unwrap().to_str().unwrap();
        let tags = fs::read_to_string(format!("/sys/block/{name}/queue/nr_requests"));
        tags.unwrap().trim().to_owned()
    }

    fn records(&self) -> PathBuf {
        Path::new("/run/tidegate/attached").join(&self.name)
    }

    /// Returns whether nothing remains: no device, no mount, no folder.
    fn is_gone(&self) -> bool {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        !self.has_device() && !mounts.contains(&self.name) && !self.records().exists()
    }

    fn has_device(&self) -> bool {
        let name = self.device.file_name().unwrap().to_str().unwrap();
        let backing = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"));
        backing.is_ok_and(|path| path.contains(&self.name) || path.trim() == "/disk")
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        if self.records().exists() {
            self.detach(&["--force"]);
        }
        // The process may have ended earlier.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until the kernel has reached a state; returns whether it did in time.
fn comes_true(is_so: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > Duration::from_mins(1) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

fn buffer(size: usize, byte: u8) -> IoBuffer {
    let mut buffer = IoBuffer::new(Bytes::new(size as u64));
    buffer.bytes_mut()[..size].fill(byte);
    buffer
}

/// Returns whether a program of e2fsprogs succeeded; `None` if it is not installed.
fn try_program(program: &str, arguments: &[&str], device: &Path) -> Option<bool> {
    let output = Command::new(program).args(arguments).arg(device).output().ok()?;
    Some(output.status.success())
}

/// Goal: written data can be read through the device and is in the store afterwards; a file system
/// can be made on the device; detaching makes the process print statistics and end.
#[test]
fn attached_drive_keeps_data_and_a_file_system() {
    if !can_run("attach and read back") {
        return;
    }
    let folder = Folder::new();
    let more = ["--size", "64MiB", "--store", "store"];
    let mut drive = Attached::new(&folder, "nvme-ssd", "data", &more);
    if let Some(is_made) = try_program("mkfs.ext4", &["-q", "-F"], &drive.device) {
        assert!(is_made, "mkfs.ext4");
        assert_eq!(try_program("e2fsck", &["-fn"], &drive.device), Some(true));
    }
    let (size, offset) = (256 << 10, 40 << 20);
    let (written, mut read) = (buffer(size, 0xa5), buffer(size, 0));
    let file = drive.open();
    file.write_all_at(&written.bytes()[..size], offset).unwrap();
    file.sync_all().unwrap();
    file.read_exact_at(&mut read.bytes_mut()[..size], offset).unwrap();
    assert_eq!(read.bytes()[..size], written.bytes()[..size]);
    drop(file);

    let (code, _, error) = drive.detach(&[]);
    assert_eq!((code, error.as_str()), (0, ""));
    let (code, said) = drive.end();
    assert_eq!(code, Some(0));
    // `sync_all` causes at least one flush.
    let flushes = said.lines().find_map(|line| line.strip_prefix("Flushes")).unwrap();
    assert!(flushes.trim().parse::<u32>().unwrap() >= 1, "{said}");
    assert!(drive.is_gone());
    let mut stored = vec![0; size];
    File::open(folder.path().join("store")).unwrap().read_exact_at(&mut stored, offset).unwrap();
    assert_eq!(stored, written.bytes()[..size]);
}

/// Goal: every outstanding request reaches the drive. Method: 64 threads read from a drive that
/// takes 20 ms for any number of requests; each thread sends its next request after a completion.
#[test]
fn requests_reach_the_drive_at_full_depth() {
    if !can_run("attach at depth 64") {
        return;
    }
    let folder = Folder::new();
    let times = vec!["20_000_000"; 64].join(", ");
    let path = folder.file("slow.drive.toml", &SLOW.replace("TIMES", &times));
    let size = ["--size", "64MiB"];
    let mut drive = Attached::new(&folder, path.to_str().unwrap(), "depth", &size);
    let file = drive.open();
    std::thread::scope(|scope| {
        for thread in 0..64 {
            let file = &file;
            scope.spawn(move || {
                let mut memory = buffer(4096, 0);
                for turn in 0..10 {
                    let offset = (thread * 16 + turn) << 12;
                    file.read_exact_at(&mut memory.bytes_mut()[..4096], offset).unwrap();
                }
            });
        }
    });
    drop(file);
    assert_eq!(drive.tags(), "64");
    assert_eq!(drive.detach(&[]).0, 0);
    // The loop device's depth limit is reset for its next user.
    assert_ne!(drive.tags(), "64");
    let (_, said) = drive.end();
    let outstanding = said.lines().find_map(|line| line.strip_prefix("Outstanding")).unwrap();
    let highest: u32 = outstanding.split_whitespace().next().unwrap().parse().unwrap();
    assert!((32..=64).contains(&highest), "{said}");
}

/// Goal: a drive in use is not detached, and a drive whose process was killed is cleaned up.
#[test]
fn a_killed_drive_is_refused_while_held_and_cleaned_up_after() {
    if !can_run("attach and kill") {
        return;
    }
    let folder = Folder::new();
    let mut drive = Attached::new(&folder, "nvme-ssd", "kill", &["--size", "64MiB"]);
    let file = drive.open();
    let (code, _, error) = drive.detach(&[]);
    assert_eq!(code, 2);
    assert!(error.contains(&format!("(process {}) has it open", std::process::id())), "{error}");
    drive.kill();
    let mut memory = buffer(4096, 0);
    let read = file.read_exact_at(&mut memory.bytes_mut()[..4096], 0);
    assert!(read.is_err(), "no process is left that could serve it");
    drop(file);
    assert!(!drive.is_gone(), "a killed process cleans nothing up");

    let (_, listed) = folder.json(&["drive", "detach"]);
    let all = listed["attached"].as_array().unwrap();
    let of_it = all.iter().find(|one| one["name"] == drive.name.as_str()).unwrap();
    assert_eq!(of_it["is_served"], false);
    assert_eq!(of_it["device"], drive.device.to_str().unwrap());
    let (code, _, error) = drive.detach(&[]);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(drive.is_gone());
    let (code, _, error) = drive.detach(&[]);
    assert!(code == 2 && error.contains("no attached drive"), "{error}");
}

/// Goal: --force detaches a drive that is in use, even if the mount below it was removed.
#[test]
fn by_force_a_held_drive_is_pulled_out() {
    if !can_run("attach and pull out") {
        return;
    }
    let folder = Folder::new();
    let mut drive = Attached::new(&folder, "nvme-ssd", "force", &["--size", "64MiB"]);
    let file = drive.open();
    drive.kill();
    let mount = drive.records().join("mount");
    assert!(Command::new("umount").arg("-l").arg(&mount).status().unwrap().success());
    let (code, said, _) = drive.detach(&["--force"]);
    assert!(code == 0 && said.contains("Stays"), "{said}");
    assert!(drive.has_device(), "a process has it open");
    drop(file);
    assert!(comes_true(|| drive.is_gone()));
}

/// Goal: a drive that is mounted in another namespace is not detached. Canary: once it is unmounted
/// there, it can be detached.
#[test]
fn a_mount_in_another_namespace_is_seen() {
    if !can_run("attach and mount elsewhere") {
        return;
    }
    let folder = Folder::new();
    let drive = Attached::new(&folder, "nvme-ssd", "elsewhere", &["--size", "64MiB"]);
    if try_program("mkfs.ext4", &["-q"], &drive.device).is_none() {
        eprintln!("skipped: mkfs.ext4 is not installed");
        return;
    }
    let place = folder.path().join("place");
    fs::create_dir(&place).unwrap();
    let mut elsewhere = Command::new("unshare");
    elsewhere.args(["-m", "--propagation", "private", "sh", "-c"]);
    elsewhere.arg("mount \"$0\" \"$1\" && echo mounted && read line; umount \"$1\"");
    elsewhere.arg(&drive.device).arg(&place).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut elsewhere) = elsewhere.spawn() else {
        eprintln!("skipped: unshare is not installed");
        return;
    };
    let mut line = String::new();
    BufReader::new(elsewhere.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if line != "mounted\n" {
        eprintln!("skipped: nothing can be mounted in a namespace of its own");
        return;
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(place.to_str().unwrap()), "the mount is visible here");
    let (code, said, error) = drive.detach(&[]);
    assert!(
        code == 2 && error.contains("a user that is not visible here holds it"),
        "{said}{error}"
    );
    let (_, listed) = folder.json(&["drive", "detach"]);
    let all = listed["attached"].as_array().unwrap();
    let of_it = all.iter().find(|one| one["name"] == drive.name.as_str()).unwrap();
    assert_eq!(of_it["is_in_use"], true);
    drop(elsewhere.stdin.take());
    assert!(elsewhere.wait().unwrap().success(), "unmounted there");
    let (code, said, error) = drive.detach(&[]);
    assert_eq!(code, 0, "{said}{error}");
}

/// Goal: starting in the background returns once the device exists, or reports the error.
#[test]
fn in_the_background_it_returns_with_the_device_or_the_fault() {
    if !can_run("attach in the background") {
        return;
    }
    let folder = Folder::new();
    let name = format!("test-{}-background", std::process::id());
    let attach = ["drive", "attach", "nvme-ssd", "--background", "--name", &name, "--size"];
    let (code, said, _) = folder.run(&[&attach[..], &["64MiB"]].concat());
    assert!(code == 0 && said.starts_with("Attached as /dev/loop"), "{said}");
    let (code, _, error) = folder.run(&[&attach[..], &["64MiB"]].concat());
    assert!(code == 2 && error.contains("is attached already"), "{error}");
    let (code, _, error) = folder.run(&[&attach[..], &["1TiB"]].concat());
    assert!(code == 2 && error.contains("holds"), "{error}");
    let (code, said, error) = folder.run(&["drive", "detach", &name]);
    assert!(code == 0 && said.contains("Outstanding"), "{said}{error}");
}

/// Goal: `--json` names the device and prints the statistics, for a drive in the background and in
/// the foreground.
#[test]
fn programs_read_the_device_and_the_statistics() {
    if !can_run("attach for programs") {
        return;
    }
    let folder = Folder::new();
    let name = format!("test-{}-json", std::process::id());
    let attach = ["drive", "attach", "nvme-ssd", "--size", "64MiB", "--name", &name];
    let (code, attached) = folder.json(&[&attach[..], &["--background"]].concat());
    assert_eq!(
        (code, &attached["name"], &attached["size_bytes"]),
        (0, &name.as_str().into(), &(64u32 << 20).into())
    );
    let mut memory = buffer(4096, 0);
    let device = attached["device"].as_str().unwrap();
    let mut options = OpenOptions::new();
    let file = options.read(true).custom_flags(O_DIRECT).open(device).unwrap();
    file.read_exact_at(&mut memory.bytes_mut()[..4096], 0).unwrap();
    drop(file);
    let (code, detached) = folder.json(&["drive", "detach", &name]);
    let statistics = &detached["detached"][0]["statistics"];
    assert_eq!((code, &detached["detached"][0]["name"]), (0, &name.as_str().into()));
    assert!(statistics["reads"].as_u64().unwrap() >= 1, "{detached:#}");

    let (code, _, error) =
        folder.run(&["drive", "attach", "nvme-ssd", "--background", "--size", "1TiB", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&error).unwrap();
    assert_eq!((code, &error["exit_code"]), (2, &2.into()));

    let mut command = folder.command(&[&attach[..], &["--json"]].concat());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let objects = serde_json::Deserializer::from_reader(child.stdout.take().unwrap());
    let mut objects = objects.into_iter::<serde_json::Value>();
    assert_eq!(objects.next().unwrap().unwrap()["name"], name.as_str());
    let (code, said, _) = folder.run(&["drive", "detach", &name, "--quiet"]);
    assert_eq!((code, said), (0, format!("Detached: {name}.\n")));
    assert!(objects.next().unwrap().unwrap()["outstanding_max"].is_u64());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a file system on an export survives a killed server. Method: ext4 on an export, whose
//! server is killed under load.
//!
//! ```text
//!   file --tidegate serve--> NBD --nbdfuse--> file --loop--> block device --ext4--> files
//! ```

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::Folder;
use crate::server::{Server, done, has, image, path_with_sbin, tool, until};

const SERVE: &str = "backing = \"disk.img\"\n\
    [[export]]\nname = \"root\"\nsize = \"48MiB\"\nbest_effort = true\n";

/// The number of files, for all of which there is room.
const FILES: u32 = 500;

/// The layers from an export to a mounted file system; removed on drop, even after a failure.
struct Mounted {
    fuse: Child,
    file: PathBuf,
    device: Option<String>,
    folder: PathBuf,
}

impl Mounted {
    /// Presents the export as a file, through FUSE.
    fn file(folder: &Folder, server: &Server) -> Option<Self> {
        let path = |name: &str| folder.path().join(name);
        let (file, mount) = (path("export.img"), path("mnt"));
        std::fs::write(&file, "").unwrap();
        std::fs::create_dir_all(&mount).unwrap();
        let fuse = Command::new("nbdfuse")
            .arg(&file)
            .arg(server.uri("root"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mounted = Self { fuse, file, device: None, folder: mount };
        if !until(|| std::fs::metadata(&mounted.file).is_ok_and(|it| it.len() == 48 << 20)) {
            println!("skipped: nbdfuse cannot mount here");
            return None;
        }
        Some(mounted)
    }

    /// Presents the file as a block device, which programs need that write less than a block at a
    /// time. `None` if there is no loop device.
    fn attach(&mut self) -> Option<String> {
        let (code, device, stderr) =
            tool("losetup", &["--find", "--show", &self.file.display().to_string()]);
        if code != Some(0) {
            println!("skipped: no loop device: {stderr}");
            return None;
        }
        self.device = Some(device.trim().to_owned());
        self.device.clone()
    }

    fn mount(&self, device: &str) -> bool {
        let folder = self.folder.display().to_string();
        let (code, _, stderr) = tool("mount", &["-t", "ext4", device, &folder]);
        if code != Some(0) {
            println!("skipped: ext4 cannot be mounted here: {stderr}");
        }
        code == Some(0)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let run = |name: &str, arguments: &[&str]| {
            let mut command = Command::new(name);
            command.args(arguments).env("PATH", path_with_sbin()).stderr(Stdio::null());
            let _ = command.status();
        };
        if let Some(device) = &self.device {
            run("umount", &["-l", &self.folder.display().to_string()]);
            run("losetup", &["--detach", device]);
        }
        run("fusermount3", &["-u", "-z", &self.file.display().to_string()]);
        let _ = self.fuse.kill();
        let _ = self.fuse.wait();
    }
}

/// Returns the content of the file with this number.
fn content(number: u32) -> Vec<u8> {
    (0..6000 + number % 7 * 3000).flat_map(|word| (word ^ number << 16).to_le_bytes()).collect()
}

fn name(number: u32) -> String {
    format!("{number:04}")
}

/// Writes files until a write fails; returns the number of files that were durable by then.
fn write_until_killed(folder: &Path) -> u32 {
    for number in 0..FILES {
        let write = || -> std::io::Result<()> {
            let mut file = File::create(folder.join(name(number)))?;
            file.write_all(&content(number))?;
            file.sync_all()?;
            // A name is durable once its folder is synced.
            File::open(folder)?.sync_all()
        };
        if write().is_err() {
            return number;
        }
    }
    FILES
}

#[test]
fn ext4_is_sound_and_whole_after_its_server_was_killed() {
    let folder = Folder::new();
    let is_root = done("id", &["-u"]).trim() == "0";
    if !is_root || File::options().write(true).open("/dev/fuse").is_err() {
        println!("skipped: mounting takes root and /dev/fuse");
        return;
    }
    let programs = ["nbdfuse", "fusermount3", "losetup", "mount", "mkfs.ext4", "e2fsck"];
    if !has(&programs) || image(&folder, "disk.img", 48).is_none() {
        return;
    }
    let Some(server) = Server::start(&folder, SERVE, &[]) else { return };
    let Some(mut mounted) = Mounted::file(&folder, &server) else { return };
    let Some(device) = mounted.attach() else { return };
    done("mkfs.ext4", &["-q", "-F", &device]);
    if !mounted.mount(&device) {
        return;
    }
    let durable = std::thread::scope(|scope| {
        let writer = scope.spawn(|| write_until_killed(&mounted.folder));
        // The server is killed under load: some files exist, others will follow.
        until(|| mounted.folder.join(name(10)).exists() || writer.is_finished());
        std::thread::sleep(Duration::from_millis(50));
        server.kill();
        writer.join().unwrap()
    });
    assert!((10..FILES).contains(&durable), "{durable} files: it was not killed under load");
    drop(mounted);
    let server = Server::start(&folder, SERVE, &[]).expect("it served before");
    let mut mounted = Mounted::file(&folder, &server).expect("it was mounted before");
    let device = mounted.attach().expect("a loop device existed before");
    // The journal is replayed; after that nothing must be left to repair.
    let (code, said, stderr) = tool("e2fsck", &["-fy", &device]);
    assert!(code == Some(0) || code == Some(1), "{said}{stderr}{}", server.said());
    let (code, said, stderr) = tool("e2fsck", &["-fn", &device]);
    assert_eq!(code, Some(0), "{said}{stderr}");
    assert!(mounted.mount(&device));
    for number in 0..durable {
        let found = std::fs::read(mounted.folder.join(name(number)));
        assert!(found.is_ok_and(|found| found == content(number)), "file {number} of {durable}");
    }
    println!("{durable} files were durable, and are whole");
    drop(mounted);
    assert_eq!(server.stop().0, Some(0));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Loop devices, by `losetup` and sysfs.
//!
//! `losetup` is on every machine that can mount (util-linux), finds a free device without a race
//! and sets direct I/O in the same call to the kernel; our own would be unsafe code for three
//! `ioctl`s. What it did is checked here, not believed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use model::Bytes;

use crate::error::AttachError;
use crate::file_system::FILE_NAME;

/// The fewest requests that the kernel lets a queue be limited to.
const TAGS_MIN: u32 = 4;

/// How a loop device is to look like the drive below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Looks {
    /// Whether schedulers are to take it for a disk that turns.
    pub(crate) is_rotational: bool,
    /// K: how many requests the drive accepts at once.
    pub(crate) depth: u32,
    /// The largest request.
    pub(crate) request_max: Bytes,
}

/// Makes a loop device over the file, with direct I/O.
pub(crate) fn make(file: &Path) -> Result<PathBuf, AttachError> {
    let mut command = Command::new("losetup");
    command.args(["--find", "--show", "--direct-io=on"]).arg(file);
    let output = command.output().map_err(|source| AttachError::LosetupMissing { source })?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let device = PathBuf::from(said(&output.stdout));
    if !output.status.success() || device.as_os_str().is_empty() {
        return Err(AttachError::LoopRefused { reason: said(&output.stderr) });
    }
    // Where direct I/O is not to be had, `losetup` warns and goes on.
    match attribute(&device, "loop/dio") {
        Some(dio) if dio == "1" => Ok(device),
        _ => {
            let _ = remove(&device);
            Err(AttachError::NotDirect { device })
        }
    }
}

/// Gives the queue of the device the looks of the drive.
pub(crate) fn dress(device: &Path, looks: Looks) -> Result<(), AttachError> {
    let set = |name: &str, value: u64| {
        let path = sysfs(device).join("queue").join(name);
        fs::write(&path, value.to_string()).map_err(|source| AttachError::Setting {
            path,
            value,
            source,
        })
    };
    set("rotational", u64::from(looks.is_rotational))?;
    set("max_sectors_kb", (looks.request_max.get() >> 10).max(4))?;
    // The drives have no discard.
    set("discard_max_bytes", 0)?;
    // Without a scheduler this limits what is on the device, also under one that is chosen later:
    // requests that the drive cannot take stay where the scheduler sees them.
    let tags = number(device, "queue/nr_requests").unwrap_or(u32::MAX);
    if looks.depth < tags {
        set("nr_requests", u64::from(looks.depth.max(TAGS_MIN)))?;
    }
    Ok(())
}

/// Detaches the device: at once, or as soon as nobody has it open any more. One that is not
/// attached is as good as detached.
pub(crate) fn remove(device: &Path) -> io::Result<()> {
    if backing_file(device).is_none() {
        return Ok(());
    }
    let output = Command::new("losetup").arg("--detach").arg(device).output()?;
    if output.status.success() || backing_file(device).is_none() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(reason))
}

/// The devices over that file, whether or not it still answers.
pub(crate) fn over(file: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/sys/block") else { return Vec::new() };
    let device = |entry: fs::DirEntry| Path::new("/dev").join(entry.file_name());
    let mut devices: Vec<_> = entries.flatten().map(device).collect();
    devices.retain(|device| is_over(device, file));
    devices.sort();
    devices
}

/// Whether the device is attached to that file.
pub(crate) fn is_over(device: &Path, file: &Path) -> bool {
    backing_file(device).is_some_and(|backing| backing == file)
}

/// Whether the device is attached to a disk of ours to which no path leads any more.
pub(crate) fn is_over_lost(device: &Path) -> bool {
    let lost = Path::new("/").join(FILE_NAME);
    is_over(device, &lost) && !lost.exists()
}

fn backing_file(device: &Path) -> Option<PathBuf> {
    attribute(device, "loop/backing_file").map(PathBuf::from)
}

fn number(device: &Path, name: &str) -> Option<u32> {
    attribute(device, name)?.parse().ok()
}

fn attribute(device: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(sysfs(device).join(name)).ok()?;
    Some(text.trim().to_owned())
}

fn sysfs(device: &Path) -> PathBuf {
    Path::new("/sys/block").join(device.file_name().unwrap_or_default())
}

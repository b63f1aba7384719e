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

use tidegate_model::Bytes;

use crate::error::AttachError;
use crate::file_system::FILE_NAME;

/// The fewest requests that the kernel lets a queue be limited to.
const TAGS_MIN: u32 = 4;

/// The most, unless the module was told otherwise.
const TAGS_USUAL: u32 = 128;

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

/// Gives the queue of the device the looks of the drive. Its settings outlive what it was attached
/// to before, so all are set.
pub(crate) fn dress(device: &Path, looks: Looks) -> Result<(), AttachError> {
    let set = |name: &str, value: String| set(device, name, &value);
    // Without a scheduler `nr_requests` limits what is on the device, also under one that is
    // chosen later: requests that the drive cannot take stay where the scheduler sees them.
    set("scheduler", "none".to_owned())?;
    set("nr_requests", looks.depth.clamp(TAGS_MIN, tags_max()).to_string())?;
    set("rotational", u32::from(looks.is_rotational).to_string())?;
    set("max_sectors_kb", (looks.request_max.get() >> 10).max(4).to_string())?;
    // The drives have no discard.
    set("discard_max_bytes", "0".to_owned())?;
    // Whoever had the device before may have left it read-only (`blockdev --setro`).
    if attribute(device, "ro").is_some_and(|ro| ro == "1") {
        let _ = Command::new("blockdev").arg("--setrw").arg(device).status();
    }
    match attribute(device, "ro").filter(|ro| ro == "1") {
        None => Ok(()),
        Some(_) => Err(AttachError::ReadOnly { device: device.to_owned() }),
    }
}

/// Gives the queue back what the next one who attaches something expects, as far as it may be set.
fn undress(device: &Path) {
    let discard = attribute(device, "queue/discard_max_hw_bytes");
    let settings = [
        ("scheduler", Some("none".to_owned())),
        ("nr_requests", Some(tags_max().to_string())),
        ("max_sectors_kb", attribute(device, "queue/max_hw_sectors_kb")),
        ("discard_max_bytes", discard),
    ];
    for (name, value) in settings {
        if let Some(value) = value {
            // What stays is a limit, and no fault.
            let _ = set(device, name, &value);
        }
    }
}

fn set(device: &Path, name: &str, value: &str) -> Result<(), AttachError> {
    let path = sysfs(device).join("queue").join(name);
    let value = value.to_owned();
    fs::write(&path, &value).map_err(|source| AttachError::Setting { path, value, source })
}

/// How many requests a loop device takes at once.
fn tags_max() -> u32 {
    let text = fs::read_to_string("/sys/module/loop/parameters/hw_queue_depth").ok();
    let told = text.and_then(|text| text.trim().parse().ok());
    told.unwrap_or(TAGS_USUAL).max(TAGS_MIN)
}

/// Detaches the device: at once, or as soon as nobody has it open any more. One that is not
/// attached is as good as detached.
pub(crate) fn remove(device: &Path) -> io::Result<()> {
    if backing_file(device).is_none() {
        return Ok(());
    }
    undress(device);
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

fn attribute(device: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(sysfs(device).join(name)).ok()?;
    Some(text.trim().to_owned())
}

fn sysfs(device: &Path) -> PathBuf {
    Path::new("/sys/block").join(device.file_name().unwrap_or_default())
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes, configures and removes loop devices, with `losetup` and sysfs.
//!
//! Every machine that can mount has `losetup` (util-linux). It finds a free device without a race
//! and sets direct I/O in the same system call; calling the kernel directly would need unsafe code
//! for three `ioctl`s. This module checks the result of `losetup`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tidegate_model::Bytes;

use crate::error::AttachError;
use crate::file_system::FILE_NAME;

/// The smallest queue limit (`nr_requests`) that the kernel accepts.
const TAGS_MIN: u32 = 4;

/// The default queue limit of the `loop` module.
const TAGS_USUAL: u32 = 128;

/// The queue settings that make a loop device look like the drive below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueSettings {
    /// Whether the kernel's schedulers must treat the device as a rotating disk.
    pub(crate) is_rotational: bool,
    /// K, the number of requests that the drive accepts at the same time.
    pub(crate) depth: u32,
    /// The largest request.
    pub(crate) request_max: Bytes,
}

/// Creates a loop device over the file, with direct I/O.
pub(crate) fn make(file: &Path) -> Result<PathBuf, AttachError> {
    let mut command = Command::new("losetup");
    command.args(["--find", "--show", "--direct-io=on"]).arg(file);
    let output = command.output().map_err(|source| AttachError::LosetupMissing { source })?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let device = PathBuf::from(said(&output.stdout));
    if !output.status.success() || device.as_os_str().is_empty() {
        return Err(AttachError::LoopRefused { reason: said(&output.stderr) });
    }
    // If direct I/O is not possible, `losetup` only prints a warning.
    match attribute(&device, "loop/dio") {
        Some(dio) if dio == "1" => Ok(device),
        _ => {
            let _ = remove(&device);
            Err(AttachError::NotDirect { device })
        }
    }
}

/// Sets the device's queue to the drive's values. Queue settings survive a detach, so all of them
/// are set.
pub(crate) fn apply_settings(device: &Path, settings: QueueSettings) -> Result<(), AttachError> {
    let set = |name: &str, value: String| set(device, name, &value);
    // `nr_requests` limits the requests in flight only if it is set while there is no scheduler;
    // the limit then remains under a scheduler that is chosen later. So requests beyond the drive's
    // depth stay queued where the scheduler sees them.
    set("scheduler", "none".to_owned())?;
    set("nr_requests", settings.depth.clamp(TAGS_MIN, tags_max()).to_string())?;
    set("rotational", u32::from(settings.is_rotational).to_string())?;
    set("max_sectors_kb", (settings.request_max.get() >> 10).max(4).to_string())?;
    // The drives have no discard.
    set("discard_max_bytes", "0".to_owned())?;
    // The device's previous user may have left it read-only (`blockdev --setro`).
    if attribute(device, "ro").is_some_and(|ro| ro == "1") {
        let _ = Command::new("blockdev").arg("--setrw").arg(device).status();
    }
    match attribute(device, "ro").filter(|ro| ro == "1") {
        None => Ok(()),
        Some(_) => Err(AttachError::ReadOnly { device: device.to_owned() }),
    }
}

/// Restores the queue's default settings for the device's next user, as far as they can be set.
fn restore_settings(device: &Path) {
    let discard = attribute(device, "queue/discard_max_hw_bytes");
    let settings = [
        ("scheduler", Some("none".to_owned())),
        ("nr_requests", Some(tags_max().to_string())),
        ("max_sectors_kb", attribute(device, "queue/max_hw_sectors_kb")),
        ("discard_max_bytes", discard),
    ];
    for (name, value) in settings {
        if let Some(value) = value {
            // A setting that cannot be restored only limits the next user.
            let _ = set(device, name, &value);
        }
    }
}

fn set(device: &Path, name: &str, value: &str) -> Result<(), AttachError> {
    let path = sysfs(device).join("queue").join(name);
    let value = value.to_owned();
    fs::write(&path, &value).map_err(|source| AttachError::Setting { path, value, source })
}

/// Returns the number of requests that a loop device accepts at the same time.
fn tags_max() -> u32 {
    let text = fs::read_to_string("/sys/module/loop/parameters/hw_queue_depth").ok();
    let told = text.and_then(|text| text.trim().parse().ok());
    told.unwrap_or(TAGS_USUAL).max(TAGS_MIN)
}

/// Detaches the device, immediately or as soon as no process has it open. Succeeds if the device is
/// not attached.
pub(crate) fn remove(device: &Path) -> io::Result<()> {
    if backing_file(device).is_none() {
        return Ok(());
    }
    restore_settings(device);
    let output = Command::new("losetup").arg("--detach").arg(device).output()?;
    if output.status.success() || backing_file(device).is_none() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(reason))
}

/// Returns the devices over that file, even if the file is no longer served.
pub(crate) fn over(file: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/sys/block") else { return Vec::new() };
    let device = |entry: fs::DirEntry| Path::new("/dev").join(entry.file_name());
    let mut devices: Vec<_> = entries.flatten().map(device).collect();
    devices.retain(|device| is_over(device, file));
    devices.sort();
    devices
}

/// Returns whether the device is attached to that file.
pub(crate) fn is_over(device: &Path, file: &Path) -> bool {
    backing_file(device).is_some_and(|backing| backing == file)
}

/// Returns whether the device is attached to the file of a drive whose file system was unmounted:
/// the kernel then shows a path directly below the root, where no file exists.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Detaches an attached drive, whatever the state of the process that serves it.
//!
//! ```text
//!   normal  the device has users --> refused, with their names
//!           the drive is served --> SIGTERM, and its process cleans up
//!   forced  SIGKILL: the kernel fails outstanding and later requests
//!   then    removes the loop device, the mount and the folder, as far as they exist
//! ```

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, kill_process};
use tidegate_device::in_use::{self, Use};

use crate::error::{DetachError, Holders};
use crate::loop_device;
use crate::record::{AttachmentFolder, Record};

/// The longest time that a process may take to complete outstanding requests and end.
const END_MAX: Duration = Duration::from_secs(20);

/// The longest time that the kernel may take to release a device that no process has open.
const RELEASE_MAX: Duration = Duration::from_secs(2);

/// The longest time for which a program that only looks at the device, such as a search for a free
/// loop device, has it open.
const LOOK_MAX: Duration = Duration::from_millis(500);

/// The interval between two checks of an awaited condition.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Returns a drive's loop devices: usually one, none if attaching was interrupted.
pub fn devices(place: &AttachmentFolder) -> Vec<PathBuf> {
    let mut devices = loop_device::over(&place.file());
    // If the file below a device was unmounted, the kernel no longer knows a path to it.
    let lost = place.record().and_then(|record| record.device);
    devices.extend(lost.filter(|device| loop_device::is_over_lost(device)));
    devices
}

/// Returns the users of the drive.
pub fn holders(place: &AttachmentFolder) -> Holders {
    let devices = devices(place);
    let used = devices.iter().find_map(|device| in_use::of_device_or_elsewhere(device));
    let openers = devices.iter().flat_map(|device| in_use::openers(device));
    // This process does not count: it has the device open only if it inherited the descriptor from
    // its parent, which is counted.
    let openers: Vec<_> = openers.filter(|opener| opener.pid != std::process::id()).collect();
    // If a visible process has the device open, that process made the claim.
    let used = used.filter(|used| *used != Use::Elsewhere || openers.is_empty());
    Holders { used, openers }
}

/// Returns the users of the drive, without processes that open it only briefly: a search for a free
/// loop device opens all of them, and a check like this one claims the device for a moment.
fn lasting_holders(place: &AttachmentFolder) -> Holders {
    let mut found = holders(place);
    wait(LOOK_MAX, || {
        found = holders(place);
        found.is_empty() || found.used.as_ref().is_some_and(|used| *used != Use::Elsewhere)
    });
    found
}

/// Detaches the drive. Returns the devices that remain, without a drive, until their users close
/// them: none unless `is_forced`.
///
/// # Errors
/// [`DetachError`]; then the drive is still attached, or the call may be repeated.
pub fn detach(place: &AttachmentFolder, is_forced: bool) -> Result<Vec<PathBuf>, DetachError> {
    if !rustix::process::geteuid().is_root() {
        return Err(DetachError::NotRoot);
    }
    let holders = lasting_holders(place);
    if !holders.is_empty() && !is_forced {
        return Err(DetachError::InUse { name: place.name(), holders });
    }
    if let Some(record) = place.record().filter(Record::is_served) {
        end(place, &record, if is_forced { Signal::KILL } else { Signal::TERM })?;
    }
    clean_up(place)
}

/// Ends the process that serves the drive, and waits until it has ended.
fn end(place: &AttachmentFolder, record: &Record, signal: Signal) -> Result<(), DetachError> {
    let pid = i32::try_from(record.pid).ok().and_then(Pid::from_raw);
    let pid = pid.expect("a process that runs has a number");
    match kill_process(pid, signal) {
        Ok(()) | Err(Errno::SRCH) => (),
        Err(error) => return Err(host(format!("end process {}", record.pid))(error.into())),
    }
    if wait(END_MAX, || !record.is_served()) {
        return Ok(());
    }
    Err(DetachError::StillServed { name: place.name(), pid: record.pid })
}

/// Removes all parts that exist. Calling it twice has the same effect as calling it once.
pub(crate) fn clean_up(place: &AttachmentFolder) -> Result<Vec<PathBuf>, DetachError> {
    for device in devices(place) {
        loop_device::remove(&device).map_err(host(format!("detach {}", device.display())))?;
    }
    let still = || self::devices(place);
    wait(RELEASE_MAX, || still().is_empty());
    let held = still();
    unmount_all(place)?;
    place.remove().map_err(host(format!("remove the folder of `{}`", place.name())))?;
    Ok(held)
}

/// Unmounts every file system in the attachment's folder, even one that does not respond, is busy,
/// or was mounted more than once.
fn unmount_all(place: &AttachmentFolder) -> Result<(), DetachError> {
    let mount = place.mount();
    loop {
        match unmount(&mount, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW) {
            Ok(()) => (),
            // Nothing is mounted there, or the folder does not exist.
            Err(Errno::INVAL | Errno::NOENT) => return Ok(()),
            Err(error) => {
                return Err(host(format!("unmount {}", mount.display()))(error.into()));
            }
        }
    }
}

/// Repeats a check until it is true or `at_most` has passed; returns whether it is true.
pub(crate) fn wait(at_most: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        if is_so() {
            return true;
        }
        if begun.elapsed() >= at_most {
            return false;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn host(what: String) -> impl FnOnce(io::Error) -> DetachError {
    move |source| DetachError::Host { what, source }
}

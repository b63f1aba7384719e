// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Takes an attached drive away again, whatever became of the process that serves it.
//!
//! ```text
//!   asked   somebody holds the device --> refused, by name
//!           it is served --> SIGTERM, and its process cleans up
//!   forced  SIGKILL: the kernel fails whatever is outstanding or comes later
//!   then    the loop device, the mount, the folder, as far as they are still there
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
use crate::record::{Place, Record};

/// How long a process may take to answer what is outstanding and end.
const END_MAX: Duration = Duration::from_secs(20);

/// How long the kernel may take to let go of a device that nobody has open.
const RELEASE_MAX: Duration = Duration::from_secs(2);

/// How long a look at a device takes.
const LOOK_MAX: Duration = Duration::from_millis(500);

/// How often something is looked at that is waited for.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The loop devices of a drive: usually one, none of an attempt that was cut short.
pub fn devices(place: &Place) -> Vec<PathBuf> {
    let mut devices = loop_device::over(&place.file());
    // Where somebody unmounted the file below a device, the kernel knows no way to it any more.
    let lost = place.record().and_then(|record| record.device);
    devices.extend(lost.filter(|device| loop_device::is_over_lost(device)));
    devices
}

/// Who has the drive.
pub fn holders(place: &Place) -> Holders {
    let devices = devices(place);
    let used = devices.iter().find_map(|device| in_use::of_device_or_elsewhere(device));
    let openers = devices.iter().flat_map(|device| in_use::openers(device));
    // What is open here was open where this was started from, which counts itself.
    let openers: Vec<_> = openers.filter(|opener| opener.pid != std::process::id()).collect();
    // Whoever has it open here is who has it for itself: nobody is to be sought elsewhere.
    let used = used.filter(|used| *used != Use::Elsewhere || openers.is_empty());
    Holders { used, openers }
}

/// The same without those who only have a short look: whoever searches for a free loop device
/// opens all of them, and whoever asks as we do has it for a moment.
fn lasting_holders(place: &Place) -> Holders {
    let mut found = holders(place);
    wait(LOOK_MAX, || {
        found = holders(place);
        found.is_empty() || found.used.as_ref().is_some_and(|used| *used != Use::Elsewhere)
    });
    found
}

/// Takes the drive away. Gives the devices that stay, without a drive, until whoever has them
/// open lets go: none unless `is_forced`.
///
/// # Errors
/// [`DetachError`]; then it is as it was, or may be tried again.
pub fn detach(place: &Place, is_forced: bool) -> Result<Vec<PathBuf>, DetachError> {
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

/// Ends the process that serves the drive, and waits for that.
fn end(place: &Place, record: &Record, signal: Signal) -> Result<(), DetachError> {
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

/// Removes what there is of it. Done twice it is as good as done once.
pub(crate) fn clean_up(place: &Place) -> Result<Vec<PathBuf>, DetachError> {
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

/// Also one that does not answer, is busy, or was mounted more than once.
fn unmount_all(place: &Place) -> Result<(), DetachError> {
    let mount = place.mount();
    loop {
        match unmount(&mount, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW) {
            Ok(()) => (),
            // Nothing is mounted there, or there is no such folder.
            Err(Errno::INVAL | Errno::NOENT) => return Ok(()),
            Err(error) => {
                return Err(host(format!("unmount {}", mount.display()))(error.into()));
            }
        }
    }
}

/// Looks until it is so, or the time is over; gives whether it is.
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Real-time scheduling and locked memory for the thread that drives the device.
//!
//! Without them, the host's own delays are part of every measured or guaranteed time. Both need
//! permission, so a request returns what was granted and why the rest was refused. The caller must
//! report this to its user.

use std::fmt;

use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities, disable_transparent_huge_pages};
use tidegate_model::Duration;

use crate::privileges;
use crate::scheduling::Scheduling;

/// The default priority: above other programs, below the kernel's own interrupt threads (50).
pub const PRIORITY: u8 = 40;

/// The settings that the host granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RealTime {
    /// The `SCHED_FIFO` priority of the calling thread, or the error.
    pub scheduling: Result<u8, Errno>,
    /// Whether all memory of the process is locked, or the error.
    pub memory: Result<(), Errno>,
}

impl RealTime {
    /// Returns whether everything was granted.
    pub fn is_complete(&self) -> bool {
        self.scheduling.is_ok() && self.memory.is_ok()
    }
}

impl fmt::Display for RealTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scheduling {
            Ok(priority) => write!(f, "real-time scheduling at priority {priority}")?,
            Err(error) => {
                let advice = privileges::advice("run as root, or raise `ulimit -r`");
                write!(f, "no real-time scheduling ({error}): {advice}")?;
            }
        }
        match self.memory {
            Ok(()) => write!(f, "; memory locked"),
            Err(error) => {
                let advice = privileges::advice("run as root, or with `ulimit -l unlimited`");
                write!(f, "; memory not locked ({error}): {advice}")
            }
        }
    }
}

/// The kernel's limit on the processor time of real-time threads.
///
/// A thread that has used up its share waits for the end of the period; [`crate::RunDelay`]
/// counts this wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttling {
    /// The time per period that real-time threads may run on a processor; `None` for no limit.
    pub runtime: Option<Duration>,
    /// The period.
    pub period: Duration,
}

impl Throttling {
    /// Reads the current setting; `None` if the kernel does not report it.
    pub fn read() -> Option<Self> {
        let number = |name: &str| -> Option<i64> {
            let path = format!("/proc/sys/kernel/sched_rt_{name}_us");
            std::fs::read_to_string(path).ok()?.trim().parse().ok()
        };
        let runtime = u64::try_from(number("runtime")?).ok().map(Duration::from_us);
        Some(Self { runtime, period: Duration::from_us(u64::try_from(number("period")?).ok()?) })
    }
}

impl fmt::Display for Throttling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.runtime {
            Some(runtime) => write!(
                f,
                "the kernel lets real-time threads run for {runtime} of each {}",
                self.period
            ),
            None => write!(f, "the kernel does not throttle real-time threads"),
        }
    }
}

/// Requests `SCHED_FIFO` at `priority` (1 to 99) for the calling thread and locked memory for the
/// process. Threads started later do not inherit the priority.
///
/// # Panics
/// If the priority is not 1 to 99.
pub fn request(priority: u8) -> RealTime {
    assert!((1..=99).contains(&priority), "SCHED_FIFO has priorities 1 to 99");
    RealTime {
        scheduling: schedule_first_in_first_out(priority).map(|()| priority),
        memory: lock_memory(MlockAllFlags::FUTURE),
    }
}

/// Does the same as [`request`] for a process with many threads that each use little of their
/// stack. Memory that is allocated later is locked when it is first used, and never in huge pages.
/// The kernel clears 2 MiB for the first byte of a huge page, so a thousand threads that begin to
/// allocate at the same time would keep all other threads from the processors
/// (docs/reference/service.md).
///
/// # Panics
/// If the priority is not 1 to 99.
pub fn request_for_server(priority: u8) -> RealTime {
    // A kernel without this call keeps its page sizes.
    let _ = disable_transparent_huge_pages(true);
    let memory = lock_memory(MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT);
    assert!((1..=99).contains(&priority), "SCHED_FIFO has priorities 1 to 99");
    RealTime { scheduling: schedule_first_in_first_out(priority).map(|()| priority), memory }
}

/// Locks the memory that the process has and, with the flags `later`, the memory that it will
/// allocate. If a limit applies, nothing is locked, because a later allocation would fail at the
/// limit.
fn lock_memory(later: MlockAllFlags) -> Result<(), Errno> {
    let is_unlimited = getrlimit(Resource::Memlock).current.is_none();
    if !is_unlimited && !capabilities(None)?.effective.contains(CapabilitySet::IPC_LOCK) {
        return Err(Errno::PERM);
    }
    // Two calls are needed, because `ONFAULT` in `later` must not apply to the present memory.
    mlockall(MlockAllFlags::CURRENT)?;
    mlockall(later)
}

fn schedule_first_in_first_out(priority: u8) -> Result<(), Errno> {
    Scheduling::fifo(priority).with_reset_on_fork().apply(None)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Real-time scheduling and locked memory for the thread that drives the device.
//!
//! Without them the host adds its own lateness to everything measured or promised. Both
//! need permission, so the answer says what was granted and why the rest was refused; the
//! caller says so to its user.

use std::fmt;

use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities, disable_transparent_huge_pages};
use tidegate_model::Duration;

use crate::scheduling::Scheduling;

/// The priority to ask for: above other programs, below the kernel's own interrupt threads (50).
pub const PRIORITY: u8 = 40;

/// What the host granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RealTime {
    /// `SCHED_FIFO` at this priority for the calling thread, or why not.
    pub scheduling: Result<u8, Errno>,
    /// All memory of the process stays in place, or why not.
    pub memory: Result<(), Errno>,
}

impl RealTime {
    /// Whether everything was granted.
    pub fn is_complete(&self) -> bool {
        self.scheduling.is_ok() && self.memory.is_ok()
    }
}

impl fmt::Display for RealTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scheduling {
            Ok(priority) => write!(f, "real-time scheduling at priority {priority}")?,
            Err(error) => {
                write!(f, "no real-time scheduling ({error}): run as root, or raise `ulimit -r`")?;
            }
        }
        match self.memory {
            Ok(()) => write!(f, "; memory locked"),
            Err(error) => write!(
                f,
                "; memory not locked ({error}): run as root, or with `ulimit -l unlimited`"
            ),
        }
    }
}

/// How the kernel keeps real-time threads from taking a processor for themselves.
///
/// A thread that used up its share waits until the period is over; that wait is counted in
/// [`crate::RunDelay`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttling {
    /// Real-time threads of a processor run for so long in each period; `None`: for ever.
    pub runtime: Option<Duration>,
    /// The period.
    pub period: Duration,
}

impl Throttling {
    /// What is set now; `None` where the kernel does not tell.
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

/// Asks for `SCHED_FIFO` at `priority` (1 to 99) for the calling thread and for locked
/// memory for the process. Threads started later do not inherit the priority.
///
/// # Panics
/// When the priority is not 1 to 99.
pub fn request(priority: u8) -> RealTime {
    assert!((1..=99).contains(&priority), "SCHED_FIFO has priorities 1 to 99");
    RealTime {
        scheduling: schedule_first_in_first_out(priority).map(|()| priority),
        memory: lock_memory(MlockAllFlags::FUTURE),
    }
}

/// The same for a process with many threads, each with a stack of which it uses little: what it
/// takes later is locked when it is first used, and not before; and not in huge pages, of which 2 MiB
/// are cleared for the first byte: a thousand threads that begin to allocate at once keep the
/// processors from everybody else (docs/reference/service.md).
///
/// # Panics
/// When the priority is not 1 to 99.
pub fn request_for_server(priority: u8) -> RealTime {
    // A kernel that cannot gives pages as large as before.
    let _ = disable_transparent_huge_pages(true);
    let memory = lock_memory(MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT);
    assert!((1..=99).contains(&priority), "SCHED_FIFO has priorities 1 to 99");
    RealTime { scheduling: schedule_first_in_first_out(priority).map(|()| priority), memory }
}

/// Locks what the process has and, as `later` says, what it will have. Where a limit applies nothing
/// is locked: it would turn a later allocation into a crash.
fn lock_memory(later: MlockAllFlags) -> Result<(), Errno> {
    let is_unlimited = getrlimit(Resource::Memlock).current.is_none();
    if !is_unlimited && !capabilities(None)?.effective.contains(CapabilitySet::IPC_LOCK) {
        return Err(Errno::PERM);
    }
    // One after the other: what is there is to be in place now, however the rest is locked.
    mlockall(MlockAllFlags::CURRENT)?;
    mlockall(later)
}

fn schedule_first_in_first_out(priority: u8) -> Result<(), Errno> {
    Scheduling::fifo(priority).with_reset_on_fork().apply(None)
}

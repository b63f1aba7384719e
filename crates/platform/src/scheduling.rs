// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads, sets and restores a thread's scheduling: policy and priority.

use std::fmt;

use rustix::io::Errno;

use crate::threads::ThreadId;

/// The policy, priority and niceness of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduling {
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    /// Runtime, deadline and period in ns; for SCHED_OTHER the slice, or 0 for the kernel's.
    deadline: [u64; 3],
}

/// The kernel's `struct sched_attr`, first version.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    deadline: [u64; 3],
}

const ATTR_BYTES: u32 = 48;
const POLICY_FIFO: u32 = 1;
const POLICY_IDLE: u32 = 5;
const SLICE_MIN_NS: u64 = 100_000;
const RESET_ON_FORK: u64 = 1;

impl Scheduling {
    /// Returns `SCHED_FIFO` with a priority of 1 to 99.
    pub const fn fifo(priority: u8) -> Self {
        // `u32::from` is not const.
        Self { priority: priority as u32, ..Self::plain(POLICY_FIFO) }
    }

    /// Returns `SCHED_OTHER`, the policy with which threads normally start.
    pub const fn other() -> Self {
        Self::plain(0)
    }

    /// Returns `SCHED_IDLE`: the thread runs only if no other thread wants to.
    pub const fn idle() -> Self {
        Self::plain(POLICY_IDLE)
    }

    const fn plain(policy: u32) -> Self {
        Self { policy, flags: 0, nice: 0, priority: 0, deadline: [0; 3] }
    }

    /// Returns `SCHED_OTHER` with the shortest slice that the kernel accepts. Linux can let a thread
    /// finish its slice although a thread of a higher priority has woken (`RUN_TO_PARITY`). The
    /// kernel keeps the slice when the thread then gets [`Self::idle`], with which it accepts none.
    /// Kernels before 6.12 ignore it.
    pub const fn other_with_shortest_slice() -> Self {
        Self { deadline: [SLICE_MIN_NS, 0, 0], ..Self::other() }
    }

    /// Returns the same scheduling, but threads that the thread starts later do not inherit it.
    #[must_use]
    pub const fn with_reset_on_fork(self) -> Self {
        Self { flags: self.flags | RESET_ON_FORK, ..self }
    }

    /// Returns the priority under SCHED_FIFO or SCHED_RR, 1 to 99; `None` under another policy.
    pub fn real_time_priority(&self) -> Option<u8> {
        u8::try_from(self.priority).ok().filter(|&priority| priority > 0)
    }

    /// Returns shell commands that set this scheduling for a thread; `None` if `chrt` has no short
    /// option for the policy.
    pub fn by_hand(&self, thread: ThreadId) -> Option<String> {
        let option = match self.policy {
            0 => "-o",
            POLICY_FIFO => "-f",
            2 => "-r",
            3 => "-b",
            POLICY_IDLE => "-i",
            _ => return None,
        };
        let policy = format!("chrt {option} -p {} {thread}", self.priority);
        Some(match self.nice {
            0 => policy,
            nice => format!("{policy}; renice -n {nice} -p {thread}"),
        })
    }

    /// Reads a thread's scheduling.
    ///
    /// # Errors
    /// If the thread is gone.
    #[expect(unsafe_code, reason = "neither libc nor rustix has this call")]
    pub fn of(thread: ThreadId) -> Result<Self, Errno> {
        let mut attr = SchedAttr::default();
        // SAFETY: the kernel writes at most the given number of bytes, the size of the structure,
        // which lives during the call.
        let answer = unsafe {
            libc::syscall(libc::SYS_sched_getattr, thread.raw(), &raw mut attr, ATTR_BYTES, 0_u32)
        };
        outcome(answer)?;
        let SchedAttr { policy, flags, nice, priority, deadline, .. } = attr;
        Ok(Self { policy, flags, nice, priority, deadline })
    }

    /// Sets this scheduling for `thread`, or for the calling thread.
    ///
    /// # Errors
    /// If permission is missing (root, `CAP_SYS_NICE`, or `ulimit -r`), or the thread is gone.
    #[expect(unsafe_code, reason = "neither libc nor rustix has this call")]
    pub fn apply(&self, thread: Option<ThreadId>) -> Result<(), Errno> {
        let Self { policy, flags, nice, priority, deadline } = *self;
        let attr = SchedAttr { size: ATTR_BYTES, policy, flags, nice, priority, deadline };
        let thread = thread.map_or(0, ThreadId::raw);
        // SAFETY: the kernel reads as many bytes as `size` in the structure states; the structure
        // lives during the call. 0 means the calling thread.
        let answer =
            unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &raw const attr, 0_u32) };
        outcome(answer)
    }
}

const _: () = assert!(size_of::<SchedAttr>() == ATTR_BYTES as usize);

fn outcome(answer: libc::c_long) -> Result<(), Errno> {
    if answer >= 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&error).unwrap_or(Errno::PERM))
}

impl fmt::Display for Scheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.policy {
            0 => "SCHED_OTHER",
            POLICY_FIFO => "SCHED_FIFO",
            2 => "SCHED_RR",
            3 => "SCHED_BATCH",
            POLICY_IDLE => "SCHED_IDLE",
            6 => "SCHED_DEADLINE",
            other => return write!(f, "policy {other}"),
        };
        match (self.priority, self.nice) {
            (0, 0) => f.write_str(name),
            (0, nice) => write!(f, "{name}, nice {nice}"),
            (priority, _) => write!(f, "{name} {priority}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_idle_and_ordinary_again() {
        // Setting SCHED_IDLE needs no permission, but on old kernels, leaving it does.
        std::thread::spawn(|| {
            let this = ThreadId::this();
            let before = Scheduling::of(this).unwrap();
            Scheduling::idle().apply(Some(this)).unwrap();
            assert!(Scheduling::of(this).unwrap().to_string().starts_with("SCHED_IDLE"));
            before.apply(None).unwrap();
            assert_eq!(Scheduling::of(this).unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn an_idle_thread_keeps_its_slice() {
        std::thread::spawn(|| {
            let this = ThreadId::this();
            Scheduling::other_with_shortest_slice().apply(Some(this)).unwrap();
            Scheduling::idle().apply(Some(this)).unwrap();
            let found = Scheduling::of(this).unwrap();
            assert_eq!(found.policy, POLICY_IDLE);
            // Kernels before 6.12 have no slices.
            assert!([0, SLICE_MIN_NS].contains(&found.deadline[0]), "{}", found.deadline[0]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn they_are_called_as_the_kernel_calls_them() {
        let named = [Scheduling::other(), Scheduling::fifo(40), Scheduling::idle()];
        assert_eq!(named.map(|it| it.to_string()), ["SCHED_OTHER", "SCHED_FIFO 40", "SCHED_IDLE"]);
        assert_eq!(named.map(|it| it.real_time_priority()), [None, Some(40), None]);
    }

    #[test]
    fn by_hand_gives_the_commands_of_the_tools() {
        let thread = ThreadId::from_raw(7).unwrap();
        let by_hand = |it: Scheduling| it.by_hand(thread).unwrap();
        assert_eq!(by_hand(Scheduling::fifo(50)), "chrt -f -p 50 7");
        let nice = Scheduling { nice: -5, ..Scheduling::other() };
        assert_eq!(by_hand(nice), "chrt -o -p 0 7; renice -n -5 -p 7");
        assert_eq!(Scheduling::plain(6).by_hand(thread), None);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Threads of this machine: their names, whether they have work, and for how long they executed.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;

use rustix::thread::{Pid, gettid};
use tidegate_model::Duration;

/// The kernel's number for a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ThreadId(Pid);

impl ThreadId {
    /// Returns the calling thread.
    pub fn this() -> Self {
        Self(gettid())
    }

    /// Returns the thread with this number; `None` for 0 and below.
    pub fn from_raw(number: i32) -> Option<Self> {
        // In system calls, zero means the calling thread.
        (number > 0).then(|| Pid::from_raw(number)).flatten().map(Self)
    }

    /// Returns the thread's number.
    pub fn raw(self) -> i32 {
        self.0.as_raw_nonzero().get()
    }

    pub(crate) fn pid(self) -> Pid {
        self.0
    }

    /// Returns the thread's name; `None` if the thread is gone.
    pub fn name(self) -> Option<String> {
        let name = fs::read_to_string(format!("/proc/{self}/comm")).ok()?;
        Some(name.trim_end().to_owned())
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.raw())
    }
}

/// Returns all threads with this name, by number. The kernel keeps only 15 bytes of a name. Takes
/// O(threads).
///
/// # Errors
/// If `/proc` cannot be read.
pub fn named(name: &str) -> io::Result<Vec<ThreadId>> {
    let mut found = Vec::new();
    for process in numbers("/proc")? {
        // A process that has ended in the meantime has no threads.
        for thread in numbers(&format!("/proc/{process}/task")).unwrap_or_default() {
            let thread = ThreadId::from_raw(thread);
            found.extend(thread.filter(|it| it.name().is_some_and(|found| found == name)));
        }
    }
    found.sort_unstable_by_key(|thread| thread.raw());
    Ok(found)
}

fn numbers(folder: &str) -> io::Result<Vec<i32>> {
    let entries = fs::read_dir(folder)?.filter_map(Result::ok);
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// A thread's progress until now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The time for which the thread has executed since it began. It is exact while the thread does
    /// not execute, and up to a tick late while it executes on another processor.
    pub executed: Duration,
    /// Whether the thread executes or is ready to execute.
    pub has_work: bool,
}

/// Reads a thread's progress without allocating.
#[derive(Debug)]
pub struct Watch {
    executed: File,
    state: File,
}

impl Watch {
    /// Opens the files with a thread's progress.
    ///
    /// # Errors
    /// If the thread is gone, or the kernel does not count (`CONFIG_SCHED_INFO`).
    pub fn of(thread: ThreadId) -> io::Result<Self> {
        let open = |what: &str| File::open(format!("/proc/{thread}/task/{thread}/{what}"));
        let watch = Self { executed: open("schedstat")?, state: open("stat")? };
        watch.read()?;
        Ok(watch)
    }

    /// Claims the thread. Other callers of this method that see the same `/proc` are refused while
    /// this value lives. Returns whether there was no other claim.
    pub fn claim(&self) -> bool {
        self.state.try_lock().is_ok()
    }

    /// Reads the progress now. Costs two system calls.
    ///
    /// # Errors
    /// If the thread is gone, including a zombie that its parent has not yet reaped.
    pub fn read(&self) -> io::Result<Progress> {
        let mut text = [0; 512];
        let length = self.executed.read_at(&mut text, 0)?;
        let executed = parse_executed(&text[..length]);
        let length = self.state.read_at(&mut text, 0)?;
        let state = parse_state(&text[..length]);
        match executed.zip(state) {
            Some((_, b'Z' | b'X')) => Err(io::ErrorKind::NotFound.into()),
            Some((executed, state)) => Ok(Progress { executed, has_work: state == b'R' }),
            None => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the kernel's record of the thread cannot be read",
            )),
        }
    }
}

/// Returns the first of three numbers: nanoseconds on a processor, nanoseconds of waiting for a
/// processor, and the number of times that the thread ran.
fn parse_executed(text: &[u8]) -> Option<Duration> {
    let first = text.split(|&byte| byte == b' ').next()?;
    std::str::from_utf8(first).ok()?.parse().ok().map(Duration::from_ns)
}

/// Returns the state from `number (name) state ..`; the name can contain spaces and parentheses.
fn parse_state(text: &[u8]) -> Option<u8> {
    let closed = text.iter().rposition(|&byte| byte == b')')?;
    text.get(closed + 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_found_by_name_and_seen_to_execute() {
        let builder = std::thread::Builder::new().name("tg (of) test".to_owned());
        let check = || {
            let this = ThreadId::this();
            assert!(named("tg (of) test").unwrap().contains(&this));
            let watch = Watch::of(this).unwrap();
            let before = watch.read().unwrap();
            assert!(before.has_work);
            while watch.read().unwrap().executed <= before.executed + Duration::from_us(10) {}
        };
        builder.spawn(check).unwrap().join().unwrap();
        assert_eq!(ThreadId::from_raw(0), None);
        assert!(Watch::of(ThreadId::from_raw(i32::MAX).unwrap()).is_err());
    }

    /// The kernel keeps a zombie's record until its parent reaps it.
    #[test]
    fn a_zombie_counts_as_gone() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let thread = ThreadId::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let watch = Watch::of(thread).unwrap();
        assert!(watch.read().is_ok());
        child.kill().unwrap();
        let text = || fs::read_to_string(format!("/proc/{thread}/stat")).unwrap();
        while parse_state(text().as_bytes()) != Some(b'Z') {
            std::thread::yield_now();
        }
        assert_eq!(watch.read().unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(Watch::of(thread).is_err());
        child.wait().unwrap();
    }

    #[test]
    fn a_thread_is_claimed_once() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let thread = ThreadId::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let [first, second] = [(); 2].map(|()| Watch::of(thread).unwrap());
        assert_eq!([first.claim(), second.claim()], [true, false]);
        drop(first);
        assert!(second.claim());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn names_with_brackets_do_not_hide_the_state() {
        assert_eq!(parse_state(b"12 (a) b) S 1 2"), Some(b'S'));
        assert_eq!(parse_state(b"12 (R) R 1 2"), Some(b'R'));
        assert_eq!(parse_state(b"12 (R"), None);
        assert_eq!(parse_executed(b"123 456 7\n"), Some(Duration::from_ns(123)));
    }
}

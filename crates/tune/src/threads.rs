// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The threads of systemd services, and the I/O priority number of each.
//!
//! In a copy of a machine, no threads run. There, a thread's I/O priority number is the text of the
//! file `io_priority` in its directory below `proc`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tidegate_device::io_priority::{self, CLASS_SHIFT, IoClass};

use crate::disk::Root;

/// The mount points of the control groups of the service manager: version 2, both versions
/// together, and version 1.
const GROUPS: [&str; 3] = ["sys/fs/cgroup", "sys/fs/cgroup/unified", "sys/fs/cgroup/systemd"];
/// The files that list the threads of a control group, in versions 2 and 1.
const LISTS: [&str; 2] = ["cgroup.threads", "tasks"];

/// A running thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thread {
    /// The thread's number; the kernel reuses it after the thread's end.
    pub(crate) number: u32,
    /// The start time, in ticks since the boot. Together with the number, it identifies the thread.
    pub(crate) started: u64,
    /// The I/O priority number of its requests; `None` if the kernel does not report it.
    pub(crate) priority: Option<u16>,
    /// Whether the thread has no class of its own, so that the number follows from its scheduling
    /// policy.
    pub(crate) is_usual: bool,
}

impl Thread {
    /// Returns the number that restores the current state when it is written. Newer kernels report
    /// a thread without a class like one with the class of its scheduling policy, so both count as
    /// having none.
    pub(crate) fn own_priority(self) -> u16 {
        self.priority.filter(|_| !self.is_usual).unwrap_or(0)
    }

    /// Returns whether the thread's I/O class is the wanted one: real time if `is_real_time`, any
    /// other class if not. False if the class is unknown.
    pub(crate) fn fits(self, is_real_time: bool) -> bool {
        let class = io_priority::value(IoClass::RealTime) >> CLASS_SHIFT;
        self.priority.is_some_and(|it| (it >> CLASS_SHIFT == class) == is_real_time)
    }

    /// Returns the number and the start time, which identify the thread.
    pub(crate) const fn identity(self) -> (u32, u64) {
        (self.number, self.started)
    }
}

/// Returns the threads of a service, including those in control groups below its own; empty if the
/// service is not running.
pub(crate) fn of_service(root: &Root, service: &str) -> Vec<Thread> {
    let mut numbers = Vec::new();
    let find = |name: &str| GROUPS.iter().find_map(|place| group(&root.at(place), name));
    let found = find(service).or_else(|| find(&of_alias(root, service)?));
    if let Some(group) = found {
        collect(&group, &mut numbers);
    }
    numbers.into_iter().filter_map(|number| read(root, number)).collect()
}

/// A program outside of the workload with threads in the real-time class.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Stranger {
    /// The name of the threads' process.
    pub name: String,
    /// The number of its threads in the class.
    pub threads: usize,
}

impl Stranger {
    /// Returns the programs that have threads in the real-time class, by an I/O priority or by
    /// `SCHED_FIFO` or `SCHED_RR`, outside of these services. Kernel threads are left out, because
    /// they send no requests of their own to a disk.
    pub fn all(root: &Root, services: &[&str]) -> Vec<Self> {
        let own: BTreeSet<u32> = services
            .iter()
            .flat_map(|service| of_service(root, service))
            .map(|thread| thread.number)
            .collect();
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        for process in numbers(&root.at("proc")) {
            let Some(name) = program(root, process) else { continue };
            let tasks = numbers(&directory(root, process).join("task"));
            // A copy of a machine may list only processes.
            let threads = if tasks.is_empty() { vec![process] } else { tasks };
            let is_foreign = |number: &u32| {
                !own.contains(number) && read(root, *number).is_some_and(|it| it.fits(true))
            };
            let count = threads.iter().filter(|number| is_foreign(number)).count();
            if count > 0 {
                *found.entry(name).or_default() += count;
            }
        }
        found.into_iter().map(|(name, threads)| Self { name, threads }).collect()
    }
}

/// Returns the numbers among the names of the folders in a folder.
fn numbers(folder: &Path) -> Vec<u32> {
    let name = |path: PathBuf| path.file_name()?.to_str()?.parse().ok();
    folders(folder).filter_map(name).collect()
}

/// Returns the name of a process; `None` for a kernel thread, or if the process has ended.
fn program(root: &Root, process: u32) -> Option<String> {
    /// `PF_KTHREAD` in the flags, which marks kernel threads.
    const KERNEL: u64 = 0x0020_0000;
    /// The index of the flags, field 9, among the fields after the name.
    const FLAGS: usize = 9 - 3;
    let stat = fs::read_to_string(directory(root, process).join("stat")).ok()?;
    let (head, fields) = stat.rsplit_once(')')?;
    let flags: u64 = fields.split_whitespace().nth(FLAGS)?.parse().ok()?;
    let (_, name) = head.split_once('(')?;
    (flags & KERNEL == 0).then(|| name.to_owned())
}

/// Gives a thread this I/O priority number; 0 means no class of its own. Returns whether the thread
/// still exists. If its number was reused during the call, the new thread is left without a class.
pub(crate) fn set(root: &Root, thread: Thread, priority: u16) -> io::Result<bool> {
    let is_same = || read(root, thread.number).is_some_and(|it| it.started == thread.started);
    if !is_same() || !set_number(root, thread.number, priority)? {
        return Ok(false);
    }
    let is_set = is_same();
    if !is_set {
        set_number(root, thread.number, 0)?;
    }
    Ok(is_set)
}

fn set_number(root: &Root, number: u32, priority: u16) -> io::Result<bool> {
    if root.is_this_machine() {
        return io_priority::set_of_thread(number, priority);
    }
    match fs::write(directory(root, number).join("io_priority"), priority.to_string()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        written => written.map(|()| true),
    }
}

/// Returns the unit of which this name is an alias; `None` if it is not an alias.
fn of_alias(root: &Root, service: &str) -> Option<String> {
    let target = fs::read_link(root.at("etc/systemd/system").join(service)).ok()?;
    Some(target.file_name()?.to_str()?.to_owned())
}

/// Finds the control group of a service of the system's manager; all groups above it are slices.
fn group(folder: &Path, service: &str) -> Option<PathBuf> {
    let own = folder.join(service);
    if own.is_dir() {
        return Some(own);
    }
    let is_slice = |path: &PathBuf| path.extension().is_some_and(|it| it == "slice");
    folders(folder).filter(is_slice).find_map(|slice| group(&slice, service))
}

fn collect(group: &Path, numbers: &mut Vec<u32>) {
    let texts = LISTS.iter().filter_map(|list| fs::read_to_string(group.join(list)).ok());
    for text in texts {
        numbers.extend(text.lines().filter_map(|line| line.trim().parse::<u32>().ok()));
    }
    folders(group).for_each(|folder| collect(&folder, numbers));
}

/// Returns the folders in a folder, without symbolic links.
fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir())).map(|it| it.path())
}

/// Returns a thread; `None` if it has ended.
fn read(root: &Root, number: u32) -> Option<Thread> {
    let stat = fs::read_to_string(directory(root, number).join("stat")).ok()?;
    let (started, usual) = facts(&stat)?;
    let priority = match priority(root, number) {
        // For a thread without a class, older kernels report 0, and newer ones the number that
        // follows from its scheduling policy.
        Ok(Some(told)) if told >> CLASS_SHIFT == 0 => Some(usual),
        Ok(Some(told)) => Some(told),
        Ok(None) => return None,
        Err(_) => None,
    };
    Some(Thread { number, started, priority, is_usual: priority == Some(usual) })
}

fn priority(root: &Root, number: u32) -> io::Result<Option<u16>> {
    if root.is_this_machine() {
        return io_priority::of_thread(number);
    }
    let text = fs::read_to_string(directory(root, number).join("io_priority")).ok();
    Ok(Some(text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)))
}

fn directory(root: &Root, number: u32) -> PathBuf {
    root.at("proc").join(number.to_string())
}

/// Returns a thread's start time, and the I/O priority number that follows from its scheduling
/// policy, from its `stat`.
///
/// # Source
/// `task_nice_ioclass` and `task_nice_ioprio` in `include/linux/ioprio.h` of Linux 6.1 and 6.12.
fn facts(stat: &str) -> Option<(u64, u16)> {
    /// The index of the nice value, field 19, among the fields after the name.
    const NICE: usize = 19 - 3;
    /// The index of the start time, field 22.
    const STARTED: usize = 22 - 3;
    /// The index of the scheduling policy, field 41.
    const POLICY: usize = 41 - 3;
    /// `IOPRIO_CLASS_IDLE`.
    const IDLE_CLASS: u16 = 3;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let class = match *fields.get(POLICY)? {
        // FIFO, round robin, deadline.
        "1" | "2" | "6" => io_priority::value(IoClass::RealTime) >> CLASS_SHIFT,
        "5" => IDLE_CLASS,
        _ => io_priority::value(IoClass::BestEffort) >> CLASS_SHIFT,
    };
    let nice: i16 = fields.get(NICE)?.parse().ok()?;
    let level = u16::try_from((nice.clamp(-20, 19) + 20) / 5).ok()?;
    Some((fields.get(STARTED)?.parse().ok()?, class << CLASS_SHIFT | level))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected numbers consist of class and level as in the kernel's `linux/ioprio.h`.
    #[test]
    fn a_thread_without_a_class_has_that_of_its_scheduling() {
        for (nice, policy, expected) in [
            (0, 0, 0x4004),
            (19, 3, 0x4007),
            (-20, 0, 0x4000),
            (0, 1, 0x2004),
            (0, 6, 0x2004),
            (10, 5, 0x6006),
        ] {
            let stat = format!(
                "7 (a (b) c) S {} {nice} 1 0 77 {} {policy} 0 0",
                "0 ".repeat(15).trim(),
                "0 ".repeat(18).trim()
            );
            assert_eq!(facts(&stat), Some((77, expected)), "{nice} {policy}");
        }
        assert_eq!(facts("7 (a) S 0"), None);
    }
}

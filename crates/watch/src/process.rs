// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the program behind a thread: its process, its systemd unit and its I/O class, from
//! `/proc`.
//!
//! The results are cached. A thread is looked up again after a second, or if its name has changed,
//! because classes change and the kernel reuses thread numbers. A thread that has ended keeps its
//! last result. A thread that was never found has the event's name and no unit.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use tidegate_device::io_priority;
use tidegate_model::{Duration, Time};

use crate::event::{IoClass, Submitter};

/// The time for which a result is cached.
const KEPT: Duration = Duration::from_ms(1_000);
/// The maximum number of cached results; beyond that, all are discarded.
const THREADS_MAX: usize = 1 << 16;

/// The program behind a thread.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Process {
    /// The process's number; the thread's number if the thread has ended.
    pub pid: u32,
    /// The process's name.
    pub name: String,
    /// The process's systemd service, such as `recorder.service`.
    pub unit: Option<String>,
    /// The class of the thread's requests.
    pub class: IoClass,
    /// Whether the thread was found. If not, it had ended, and its unit and class are unknown.
    pub is_known: bool,
}

/// Finds the program behind a thread.
pub trait Processes {
    /// Returns the program of the thread that had this name at this time.
    fn look_up(&mut self, at: Time, by: &Submitter) -> Process;
}

/// The programs of this machine.
#[derive(Debug)]
pub struct ProcessTable {
    root: PathBuf,
    known: BTreeMap<u32, (Time, String, Process)>,
}

impl ProcessTable {
    /// Reads processes below the directory `root`, usually `/proc`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), known: BTreeMap::new() }
    }

    /// Returns the program of a thread; `None` if the thread has ended.
    fn read(&self, by: &Submitter) -> Option<Process> {
        let file =
            |name: &str| fs::read_to_string(self.root.join(by.thread.to_string()).join(name)).ok();
        let status = file("status")?;
        let pid = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
        let pid: u32 = pid.trim().parse().ok()?;
        let leader = fs::read_to_string(self.root.join(pid.to_string()).join("comm")).ok();
        let name = leader.map_or(by.name.clone(), |name| name.trim_end().to_owned());
        // If the kernel does not report the class, it follows from the thread's scheduling policy.
        let priority = io_priority::of_thread(by.thread).ok().flatten();
        Some(Process {
            pid,
            name: common_name(name),
            unit: file("cgroup").and_then(|text| unit(&text)),
            class: class(priority, file("stat").as_deref()),
            is_known: true,
        })
    }

    /// Returns the last result for a thread that has ended, or else a result from the event alone.
    fn ended(&self, by: &Submitter) -> Process {
        match self.known.get(&by.thread) {
            Some((_, name, process)) if *name == by.name => process.clone(),
            _ => Process {
                pid: by.thread,
                name: common_name(by.name.clone()),
                unit: None,
                class: IoClass::BestEffort,
                // Thread 0 is the idle thread of a processor and has no process; its requests are
                // the kernel's own.
                is_known: by.thread == 0,
            },
        }
    }
}

impl Processes for ProcessTable {
    fn look_up(&mut self, at: Time, by: &Submitter) -> Process {
        if let Some((since, name, process)) = self.known.get(&by.thread)
            && *name == by.name
            && at.ns().abs_diff(since.ns()) < KEPT.ns()
        {
            return process.clone();
        }
        let process = self.read(by).unwrap_or_else(|| self.ended(by));
        if self.known.len() >= THREADS_MAX {
            self.known.clear();
        }
        self.known.insert(by.thread, (at, by.name.clone(), process.clone()));
        process
    }
}

/// Returns `kworker` for a worker thread of the kernel, such as `kworker/u8:2-flush`, and any other
/// name unchanged.
fn common_name(name: String) -> String {
    if name.starts_with("kworker/") { "kworker".to_owned() } else { name }
}

/// Returns the service from the text of `/proc/PID/cgroup`: the outermost service, which belongs to
/// the system's manager. Below it are the program's own groups or, below `user@1000.service`, the
/// services of a user's manager.
fn unit(text: &str) -> Option<String> {
    // Version 2 has one line, `0::/path`. In version 1, systemd's own hierarchy names the service.
    let is_of_systemd = |line: &&str| line.starts_with("0::") || line.contains(":name=systemd:");
    let lines = text.lines().filter(is_of_systemd);
    let mut services = lines.flat_map(|line| line.split('/')).filter(|it| it.ends_with(".service"));
    services.next().map(str::to_owned)
}

/// Returns the class of a thread's requests from its priority number and `/proc/PID/stat`. If a
/// thread has no class of its own, the class follows from its scheduling policy.
///
/// # Source
/// `task_nice_ioclass` in `include/linux/ioprio.h` of Linux 6.1 and 6.12.
fn class(priority: Option<u16>, stat: Option<&str>) -> IoClass {
    let stated = priority.filter(|priority| priority >> 13 != 0);
    stated.map_or_else(|| class_of_policy(stat), IoClass::of_priority)
}

fn class_of_policy(stat: Option<&str>) -> IoClass {
    /// The index of the scheduling policy, field 41, among the fields after the name.
    const POLICY: usize = 41 - 3;
    /// The number of `SCHED_FIFO`.
    const FIFO: &str = "1";
    /// The number of `SCHED_RR`.
    const ROUND_ROBIN: &str = "2";
    /// The number of `SCHED_IDLE`.
    const IDLE: &str = "5";
    /// The number of `SCHED_DEADLINE`.
    const DEADLINE: &str = "6";
    let fields = stat.and_then(|stat| stat.rsplit_once(')')).map(|(_, fields)| fields);
    match fields.and_then(|fields| fields.split_whitespace().nth(POLICY)) {
        Some(FIFO | ROUND_ROBIN | DEADLINE) => IoClass::RealTime,
        Some(IDLE) => IoClass::Idle,
        _ => IoClass::BestEffort,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_service_is_found() {
        for (text, found) in [
            ("0::/system.slice/recorder.service\n", Some("recorder.service")),
            (
                "0::/user.slice/user@1000.service/app.slice/player.service/x\n",
                Some("user@1000.service"),
            ),
            ("0::/system.slice/a.service/payload/system.slice/b.service\n", Some("a.service")),
            ("0::/user.slice/user-1000.slice/session-2.scope\n", None),
            (
                "12:blkio:/a.service\n1:name=systemd:/system.slice/b.service\n0::/\n",
                Some("b.service"),
            ),
            ("0::/\n", None),
        ] {
            assert_eq!(unit(text).as_deref(), found, "{text}");
        }
    }

    #[test]
    fn a_thread_without_a_class_has_that_of_its_scheduling() {
        let stat = |policy: u32| format!("7 (a (b) c) S {} {policy} 0 0", "0 ".repeat(37).trim());
        for (priority, policy, expected) in [
            (Some(0x2004), 0, IoClass::RealTime),
            (Some(0x4004), 1, IoClass::BestEffort),
            (Some(0), 1, IoClass::RealTime),
            (None, 2, IoClass::RealTime),
            (Some(0), 6, IoClass::RealTime),
            (Some(0), 5, IoClass::Idle),
            (Some(0), 0, IoClass::BestEffort),
        ] {
            assert_eq!(class(priority, Some(&stat(policy))), expected, "{priority:?} {policy}");
        }
        assert_eq!(class(None, None), IoClass::BestEffort);
    }

    /// Goal: a thread has the name of its process, even after it has ended. A thread that was never
    /// found alive has the name in its event.
    #[test]
    fn threads_are_those_of_their_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        file("1000000100/comm", "recorder\n");
        file("1000000107/status", "Name:\tworker\nTgid:\t1000000100\n");
        file("1000000107/cgroup", "0::/system.slice/recorder.service\n");
        let mut table = ProcessTable::new(folder.path());
        let by = |thread: u32| Submitter { thread, name: "worker".to_owned() };
        let found = table.look_up(Time::ZERO, &by(1_000_000_107));
        assert_eq!((found.pid, found.name.as_str()), (1_000_000_100, "recorder"));
        assert_eq!(found.unit.as_deref(), Some("recorder.service"));
        fs::remove_dir_all(folder.path().join("1000000107")).unwrap();
        assert_eq!(table.look_up(Time::from_ns(999_999_999), &by(1_000_000_107)), found);
        let ended = Time::from_ns(1_000_000_000);
        assert_eq!(table.look_up(ended, &by(1_000_000_107)), found);
        let unknown = table.look_up(ended, &by(1_000_000_108));
        assert_eq!(
            (unknown.pid, unknown.name.as_str(), unknown.unit.clone()),
            (1_000_000_108, "worker", None)
        );
        let idle = table.look_up(ended, &by(0));
        assert_eq!([found.is_known, unknown.is_known, idle.is_known], [true, false, true]);
    }
}

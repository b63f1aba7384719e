// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A small language for streams of events, and a substitute for the machine's programs.
//!
//! ```text
//!   5 queue R 100+8 recorder     at 5 us, the program `recorder` requests sectors 100 to 107
//!   6 issue R 100+8 rt           a class, if the kernel reports it
//!   7 requeue R 100+8
//!   8 end R 100+8                the kernel ended a bio without a request
//!   9 complete R 100+8 failed
//!   9 lose 3
//! ```

use tidegate_model::{DriveLimits, Duration, Lba, Time};
use tidegate_watch::{
    Declared, Event, EventKind, Extent, IoClass, Operation, Process, Processes, Submitter, Watcher,
};

pub(crate) fn at(us: u64) -> Time {
    Time::from_ns(us * 1_000)
}

pub(crate) fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

/// Looks up processes by the names in a script. A name with `!` is in the real-time class, a name
/// with `?` belongs to a thread that has ended, `a@b` belongs to `b.service`, and a process's
/// number can follow `:`.
pub(crate) struct ByName;

impl Processes for ByName {
    fn look_up(&mut self, _at: Time, by: &Submitter) -> Process {
        let class = if by.name.contains('!') { IoClass::RealTime } else { IoClass::BestEffort };
        let name = by.name.replace('!', "");
        let (name, pid) = name.split_once(':').unwrap_or((&name, "7"));
        let (name, unit) =
            name.split_once('@').map_or((name, None), |(name, unit)| (name, Some(unit)));
        let unit = unit.map(|unit| format!("{unit}.service"));
        let is_known = !by.name.contains('?');
        Process { pid: pid.parse().unwrap(), name: name.to_owned(), unit, class, is_known }
    }
}

pub(crate) fn submitter(name: &str) -> Submitter {
    Submitter { thread: 7, name: name.to_owned() }
}

pub(crate) fn extent(op: Operation, start: u64, sectors: u64) -> Extent {
    Extent { op, start: Lba::new(start), sectors }
}

/// Returns a watcher that begins at time 0.
pub(crate) fn watcher(declared: Option<Declared>, limits: Option<&DriveLimits>) -> Watcher<ByName> {
    Watcher::new(Time::ZERO, ByName, declared, limits)
}

/// Feeds the lines of a script.
pub(crate) fn feed(watcher: &mut Watcher<ByName>, script: &str) {
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<_> = line.split_whitespace().collect();
        let time = at(words[0].parse().unwrap());
        if words[1] == "lose" {
            watcher.lose(words[2].parse().unwrap());
            continue;
        }
        let (start, sectors) = words[3].split_once('+').unwrap();
        let sectors = sectors.parse().unwrap();
        let op = Operation::of_letters(words[2], sectors);
        let is_forced = Operation::is_forced(words[2]);
        let extent = extent(op, start.parse().unwrap(), sectors);
        let more = words.get(4).copied();
        let kind = match words[1] {
            "queue" => EventKind::Queued { extent, by: submitter(more.unwrap()), is_forced },
            "issue" => EventKind::Issued { extent, class: more.map(class), is_forced },
            "end" => EventKind::Ended { extent },
            "requeue" => EventKind::Requeued { extent },
            "complete" => EventKind::Completed { extent, is_failed: more.is_some() },
            other => panic!("no event: {other}"),
        };
        watcher.observe(Event { at: time, kind });
    }
}

fn class(name: &str) -> IoClass {
    match name {
        "rt" => IoClass::RealTime,
        "be" => IoClass::BestEffort,
        _ => IoClass::Idle,
    }
}

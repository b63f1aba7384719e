// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Changes the I/O class of services that are already running.
//!
//! A drop-in gives a service its class when it starts. A service that is already running gets the
//! class thread by thread. A new thread or process inherits the class of the thread that created
//! it, so the threads are checked again until all of them have the class.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::{Deserialize, Serialize};
use tidegate_device::io_priority::{self, IoClass};
use tidegate_model::workload_file::Unit;

use crate::disk::Root;
use crate::threads::{self, Thread};

/// The maximum number of checks; each one can find only threads that were created since the last.
const ROUNDS: u32 = 16;

/// A service of the workload, with the current classes of its threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The service's unit.
    pub unit: String,
    /// Whether the service's requests need the real-time class.
    pub is_real_time: bool,
    /// The number of the service's threads; 0 if the service is not running.
    pub threads: usize,
    /// The number of threads in another class.
    pub others: usize,
}

impl Running {
    /// Returns the current state of a service on this machine.
    pub fn of(root: &Root, unit: &Unit) -> Self {
        let threads = threads::of_service(root, &unit.name);
        let others = threads.iter().filter(|it| !it.fits(unit.is_real_time)).count();
        let (unit, is_real_time) = (unit.name.clone(), unit.is_real_time);
        Self { unit, is_real_time, threads: threads.len(), others }
    }

    /// Returns systemd's name of the class that the service needs.
    pub const fn class(&self) -> &'static str {
        class(self.is_real_time)
    }
}

/// Returns systemd's name of a class.
pub(crate) const fn class(is_real_time: bool) -> &'static str {
    if is_real_time { "realtime" } else { "best-effort" }
}

/// A service whose threads were given a class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Service {
    unit: String,
    is_real_time: bool,
    /// Whether a drop-in gives the class to threads of a later start.
    #[serde(default)]
    has_drop_in: bool,
    /// The earlier state of the threads that were changed, and of those that already had the
    /// priority.
    threads: Vec<Before>,
}

/// The state of a thread before it was given its class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Before {
    thread: u32,
    started: u64,
    /// The I/O priority number; 0 means no class of its own.
    priority: u16,
}

impl Service {
    /// Returns the record of a service before any thread is changed.
    pub(crate) fn new(root: &Root, unit: &Unit) -> Self {
        let Unit { name, is_real_time } = unit;
        let (unit, is_real_time) = (name.clone(), *is_real_time);
        let mut service = Self { unit, is_real_time, has_drop_in: false, threads: Vec::new() };
        if is_real_time {
            let all = threads::of_service(root, name).into_iter();
            let left = all.filter(|it| it.own_priority() == service.given());
            service.threads = left.map(Before::of).collect();
        }
        service
    }

    /// Returns the unit of the service, with the class that it needs.
    pub(crate) fn unit(&self) -> Unit {
        Unit { name: self.unit.clone(), is_real_time: self.is_real_time }
    }

    /// Records that a drop-in gives the class.
    pub(crate) const fn note_drop_in(&mut self) {
        self.has_drop_in = true;
    }

    /// Forgets the threads of an earlier boot.
    pub(crate) fn forget_threads(&mut self) {
        self.threads.clear();
    }

    /// Adds the threads that another record of this service lists.
    pub(crate) fn adopt(&mut self, other: &Self) {
        self.has_drop_in |= other.has_drop_in;
        for it in &other.threads {
            if self.before((it.thread, it.started)).is_none() {
                self.threads.push(it.clone());
            }
        }
    }

    /// Gives all threads their class. `save` is called before each round of changes.
    ///
    /// # Errors
    /// An error of `save`, or the kernel's error for a thread, converted by `fault`.
    pub(crate) fn give<E>(
        services: &mut [Self],
        root: &Root,
        mut save: impl FnMut(&[Self]) -> Result<(), E>,
        fault: impl Fn(&str, u32, io::Error) -> E,
    ) -> Result<(), E> {
        for _ in 0..ROUNDS {
            let noted: Vec<_> = services.iter_mut().map(|service| service.note(root)).collect();
            if noted.iter().all(Vec::is_empty) {
                return Ok(());
            }
            save(services)?;
            for (service, threads) in services.iter().zip(noted) {
                for thread in threads {
                    let set = threads::set(root, thread, service.given());
                    set.map_err(|error| fault(&service.unit, thread.number, error))?;
                }
            }
        }
        for service in services {
            if let Some(thread) = service.misfits(root).first() {
                let error = io::Error::other("it has another class again after each change");
                return Err(fault(&service.unit, thread.number, error));
            }
        }
        Ok(())
    }

    /// Records the threads in another class, and returns them.
    fn note(&mut self, root: &Root) -> Vec<Thread> {
        let misfits = self.misfits(root);
        for thread in &misfits {
            if self.before(thread.identity()).is_none() {
                self.threads.push(Before::of(*thread));
            }
        }
        misfits
    }

    /// Returns the threads in another class.
    fn misfits(&self, root: &Root) -> Vec<Thread> {
        let all = threads::of_service(root, &self.unit).into_iter();
        all.filter(|it| !it.fits(self.is_real_time)).collect()
    }

    /// Restores the class that each thread had before, and returns how many threads were restored.
    /// If a thread's class was changed since, it is left unchanged.
    ///
    /// # Errors
    /// The error of the first thread that cannot be changed; all other threads are still restored.
    pub(crate) fn take_back(&self, root: &Root) -> Result<usize, (u32, io::Error)> {
        let (mut seen, mut changed, mut first) = (BTreeSet::new(), 0, Ok(()));
        for _ in 0..ROUNDS {
            let all = threads::of_service(root, &self.unit).into_iter();
            // Newer kernels can report the same number after a change, so each thread is changed
            // only once.
            let given = all.filter(|it| it.priority == Some(self.given()));
            let new: Vec<_> = given.filter(|it| seen.insert(it.identity())).collect();
            if new.is_empty() {
                break;
            }
            for (thread, old) in new.iter().filter_map(|it| Some((*it, self.old(it)?))) {
                match threads::set(root, thread, old) {
                    Ok(is_set) => changed += usize::from(is_set),
                    Err(error) => first = first.and(Err((thread.number, error))),
                }
            }
        }
        first.map(|()| changed)
    }

    /// Returns the number that an undo gives to a thread; `None` if the thread is left unchanged.
    fn old(&self, thread: &Thread) -> Option<u16> {
        let old = match self.before(thread.identity()) {
            Some(old) => Some(old),
            None if thread.is_usual => None,
            None => self.inherited(),
        };
        old.filter(|&old| old != self.given())
    }

    /// Returns the number for a thread that started later and inherited the class from its creator
    /// or from the drop-in: the number that most of the changed threads had before.
    fn inherited(&self) -> Option<u16> {
        // Threads that were never changed are also in best effort, so their class shows nothing.
        if !self.is_real_time {
            return None;
        }
        let mut counts = BTreeMap::<u16, usize>::new();
        for it in self.threads.iter().filter(|it| it.priority != self.given()) {
            *counts.entry(it.priority).or_default() += 1;
        }
        // If several counts are equal, choose the smallest number: 0 means no class.
        let most = counts.into_iter().max_by_key(|(priority, count)| (*count, Reverse(*priority)));
        let by_drop_in = (self.has_drop_in && self.threads.is_empty()).then_some(0);
        most.map(|(priority, _)| priority).or(by_drop_in)
    }

    /// Returns the priority number that the service's threads are given.
    const fn given(&self) -> u16 {
        io_priority::value(if self.is_real_time { IoClass::RealTime } else { IoClass::BestEffort })
    }

    /// Returns the priority number that a thread had before; `None` if it is not recorded.
    fn before(&self, identity: (u32, u64)) -> Option<u16> {
        let same = |it: &&Before| (it.thread, it.started) == identity;
        self.threads.iter().find(same).map(|it| it.priority)
    }
}

impl Before {
    fn of(thread: Thread) -> Self {
        let priority = thread.own_priority();
        Self { thread: thread.number, started: thread.started, priority }
    }
}

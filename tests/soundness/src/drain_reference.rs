// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rules of `gated-drain` and `adaptive-drain`, implemented again by scanning all requests at
//! every decision, with a switch for each condition.
//!
//! With all switches on, these policies must decide as the real ones do. With one switch off, each
//! is a canary: the adversary must make it miss a deadline, unless the condition that is off
//! follows from the others.

use tidegate_model::{Class, Request, RequestId, Time};
use tidegate_policy::{Decision, Event, Full, Policy, Tag};

use crate::drain_system::DrainSystem;

/// The condition that a canary lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// No condition is missing.
    Nothing,
    /// The condition for the units on the drive.
    OnDrive,
    /// The condition for the units that wait in the host.
    Waiting,
    /// The condition for the units that are not released.
    Unreleased,
    /// The condition of best effort for the next jobs of the units on the drive.
    AfterFlight,
    /// The condition on an empty drive: send only as many units as are allowed together.
    Prefix,
    /// The count is one request too low.
    One,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Idle,
    Waiting(RequestId),
    InFlight(RequestId),
}

#[derive(Debug, Clone, Copy)]
struct UnitState {
    task: usize,
    deadline: u64,
    period: u64,
    next_release: u64,
    due: u64,
    stage: Stage,
}

/// `gated-drain` by scanning all requests; see the module's text.
#[derive(Debug, Clone)]
pub struct ScanGate {
    /// The drain time that the policy assumes, by the number of requests.
    drain: Vec<u64>,
    depth: usize,
    units: Vec<UnitState>,
    excess: Vec<Request>,
    best_effort: std::collections::VecDeque<RequestId>,
    best_effort_in_flight: Vec<RequestId>,
    granted: usize,
    lack: Lack,
}

/// Returns the drain table by count: as a policy must read it, or as measured, with its decreases.
fn by_count(system: &DrainSystem, is_raised: bool) -> Vec<u64> {
    let counts = (0_u32..).take(system.drain.len() + 1);
    let time = |count: u32| match count.checked_sub(1) {
        Some(index) if !is_raised => system.drain[index as usize],
        _ => system.drain_max(count),
    };
    counts.map(time).collect()
}

impl ScanGate {
    /// Creates the policy for this system. It reads its drain table with the running maximum if
    /// `is_raised`.
    #[must_use]
    pub fn new(system: &DrainSystem, lack: Lack, is_raised: bool) -> Self {
        let mut units = Vec::new();
        for (task, parameters) in system.tasks.iter().enumerate() {
            for _ in 0..parameters.requests {
                units.push(UnitState {
                    task,
                    deadline: parameters.deadline,
                    period: parameters.period,
                    next_release: 0,
                    due: 0,
                    stage: Stage::Idle,
                });
            }
        }
        Self {
            drain: by_count(system, is_raised),
            depth: system.depth as usize,
            units,
            excess: Vec::new(),
            best_effort: std::collections::VecDeque::new(),
            best_effort_in_flight: Vec::new(),
            granted: 0,
            lack,
        }
    }

    fn time(&self, count: usize) -> Option<u64> {
        self.drain.get(count).copied().filter(|_| count <= self.depth)
    }

    fn in_flight(&self) -> usize {
        let is_in_flight = |unit: &&UnitState| matches!(unit.stage, Stage::InFlight(_));
        self.units.iter().filter(is_in_flight).count() + self.best_effort_in_flight.len()
    }

    /// Returns the waiting units, the earliest deadline first.
    fn waiting(&self) -> Vec<usize> {
        let is_waiting = |&unit: &usize| matches!(self.units[unit].stage, Stage::Waiting(_));
        let mut waiting: Vec<usize> = (0..self.units.len()).filter(is_waiting).collect();
        waiting.sort_by_key(|&unit| (self.units[unit].due, unit));
        waiting
    }

    fn admit(&mut self, request: &Request) -> bool {
        let idle = self
            .units
            .iter_mut()
            .filter(|unit| unit.task == request.task.index() && unit.stage == Stage::Idle);
        let Some(unit) = idle.min_by_key(|unit| unit.next_release) else { return false };
        unit.stage = Stage::Waiting(request.id);
        unit.due = request.due.map_or(u64::MAX, Time::ns);
        unit.next_release = request.released.ns() + unit.period;
        true
    }

    /// Checks the conditions for sending these units and `best_effort` best-effort requests.
    fn is_allowed(&self, now: u64, sent: &[usize], best_effort: usize) -> bool {
        let mut count = self.in_flight() + sent.len() + best_effort;
        if count > self.depth {
            return false;
        }
        count -= usize::from(self.lack == Lack::One && count > 0);
        let is_on_drive = |place: usize| {
            matches!(self.units[place].stage, Stage::InFlight(_)) || sent.contains(&place)
        };
        let left = (0..self.units.len()).filter(|&place| !is_on_drive(place)).count();
        let Some(drain) = self.time(count) else { return false };
        let empty_by = now + drain;
        (0..self.units.len()).all(|place| {
            let unit = self.units[place];
            let next_due = unit.next_release.max(now) + unit.deadline;
            let after = |count: usize| self.time(count).map(|time| empty_by + time);
            if is_on_drive(place) {
                let is_early = best_effort == 0
                    || self.lack == Lack::AfterFlight
                    || after(self.units.len())
                        .is_some_and(|by| by <= unit.next_release + unit.deadline);
                return (self.lack == Lack::OnDrive || empty_by <= unit.due) && is_early;
            }
            let (due, lack) = match unit.stage {
                Stage::Waiting(_) => (unit.due, Lack::Waiting),
                _ => (next_due, Lack::Unreleased),
            };
            self.lack == lack || after(left).is_some_and(|by| by <= due)
        })
    }

    /// Returns the number of waiting units that may be sent.
    fn grant(&self, now: u64, waiting: &[usize]) -> usize {
        let fits = |&count: &usize| self.is_allowed(now, &waiting[..count], 0);
        let all = waiting.len();
        if self.in_flight() > 0 {
            return [all, 1].into_iter().find(fits).unwrap_or(0);
        }
        if self.lack == Lack::Prefix {
            return all.min(self.depth);
        }
        (1..=all).rev().find(fits).unwrap_or(all.min(self.depth))
    }
}

impl Policy for ScanGate {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        self.granted = 0;
        match event {
            Event::Release(request) if request.class == Class::BestEffort => {
                self.best_effort.push_back(request.id);
            }
            Event::Release(request) => {
                if !self.admit(&request) {
                    self.excess.push(request);
                }
            }
            Event::Complete { id, .. } => {
                self.best_effort_in_flight.retain(|&other| other != id);
                let flying = self.units.iter_mut().find(|unit| unit.stage == Stage::InFlight(id));
                if let Some(unit) = flying {
                    unit.stage = Stage::Idle;
                    let task = unit.task;
                    let next = self.excess.iter().position(|request| request.task.index() == task);
                    if let Some(place) = next {
                        let request = self.excess.remove(place);
                        assert!(self.admit(&request), "a unit has just become idle");
                    }
                }
            }
            Event::Cancel(_) | Event::Notice { .. } | Event::Reconfigure(_) => {}
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        let waiting = self.waiting();
        if let Some(&first) = waiting.first() {
            if self.granted == 0 {
                self.granted = self.grant(now.ns(), &waiting);
            }
            if self.granted == 0 {
                return Decision::AwaitEvent;
            }
            self.granted -= 1;
            let Stage::Waiting(id) = self.units[first].stage else { unreachable!("it waits") };
            self.units[first].stage = Stage::InFlight(id);
            return Decision::Dispatch { id, tag: Tag::Simple };
        }
        if self.best_effort.is_empty() || !self.is_allowed(now.ns(), &[], 1) {
            return Decision::AwaitEvent;
        }
        let id = self.best_effort.pop_front().expect("not empty");
        self.best_effort_in_flight.push(id);
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

/// The fault of an `adaptive-drain` canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No fault.
    None,
    /// Best effort joins a real-time request without regard to its deadline.
    DueForgotten,
    /// While no real-time request is on the drive, every request may be sent.
    NextForgotten,
    /// No place is kept for the next request: drain(o+1) instead of drain(o+2).
    One,
    /// The next request takes no time: `t + drain(o+1) <= max(t, r_next) + D`.
    NextForFree,
    /// A released request is sent immediately, without regard to its deadline.
    NeverHolds,
}

/// `adaptive-drain` for one task, correct or with a fault; see the module's text.
#[derive(Debug, Clone)]
pub struct ScanAdaptive {
    drain: Vec<u64>,
    depth: usize,
    deadline: u64,
    period: u64,
    next_release: u64,
    waiting: std::collections::VecDeque<Request>,
    best_effort: std::collections::VecDeque<RequestId>,
    in_flight: Vec<(RequestId, Option<u64>)>,
    fault: Fault,
}

impl ScanAdaptive {
    /// Creates the policy for this system's only task.
    #[must_use]
    pub fn new(system: &DrainSystem, fault: Fault, is_raised: bool) -> Self {
        Self {
            drain: by_count(system, is_raised),
            depth: system.depth as usize,
            deadline: system.tasks[0].deadline,
            period: system.tasks[0].period,
            next_release: 0,
            waiting: std::collections::VecDeque::new(),
            best_effort: std::collections::VecDeque::new(),
            in_flight: Vec::new(),
            fault,
        }
    }

    fn time(&self, count: usize) -> u64 {
        let known = self.drain.get(count).copied().filter(|_| count <= self.depth);
        known.unwrap_or(u64::MAX / 4)
    }

    fn may_add(&self, now: u64) -> bool {
        let count = self.in_flight.len() + 1;
        if count > self.depth {
            return false;
        }
        let empty_by = now + self.time(count);
        let one = if self.fault == Fault::NextForFree { 0 } else { self.time(1) };
        if let Some(due) = self.in_flight.iter().find_map(|&(_, due)| due) {
            (self.fault == Fault::DueForgotten || empty_by <= due)
                && (self.time(count) <= self.deadline
                    || empty_by + one <= self.next_release + self.deadline)
        } else {
            let with_next = count + usize::from(self.fault != Fault::One);
            self.fault == Fault::NextForgotten
                || self.time(with_next) <= self.deadline
                || empty_by + one <= self.next_release.max(now) + self.deadline
        }
    }
}

impl Policy for ScanAdaptive {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) if request.class == Class::BestEffort => {
                self.best_effort.push_back(request.id);
            }
            Event::Release(request) => {
                self.next_release = request.released.ns() + self.period;
                self.waiting.push_back(request);
            }
            Event::Complete { id, .. } => self.in_flight.retain(|&(other, _)| other != id),
            Event::Cancel(_) | Event::Notice { .. } | Event::Reconfigure(_) => {}
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        let now = now.ns();
        let (id, due) = if let Some(request) = self.waiting.front() {
            let due = request.due.map_or(u64::MAX, Time::ns);
            let count = self.in_flight.len();
            let earliest = self.in_flight.iter().filter_map(|&(_, due)| due).min();
            let limit = earliest.map_or(due, |other| other.min(due));
            let fits = count == 0
                || self.fault == Fault::NeverHolds && count < self.depth
                || now + self.time(count + 1) <= limit;
            if !fits {
                return Decision::AwaitEvent;
            }
            (self.waiting.pop_front().expect("not empty").id, Some(due))
        } else if !self.best_effort.is_empty() && self.may_add(now) {
            (self.best_effort.pop_front().expect("not empty"), None)
        } else {
            return Decision::AwaitEvent;
        };
        self.in_flight.push((id, due));
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

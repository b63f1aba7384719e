// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of `tidegate watch`: what happened on a disk, beside the bounds of a workload, and
//! what was learnt.

mod learnt;
mod text;

use serde::Serialize;
use tidegate_analysis::{Answer as Verdict, Assessment};
use tidegate_model::DriveContract;
use tidegate_tune::Drift;
use tidegate_watch::{
    Account, Declared, DeclaredEntry, DeclaredRecord, DeviceRecord, Seen, Source,
};

use crate::drive_record::ByContract;
use crate::figures;
use crate::ns::Ns;
use crate::page::printable;
use crate::runs::ResponseTimes;

pub use learnt::LearnReport;

/// The parts of a report on a watch.
#[derive(Debug, Clone, Copy)]
pub struct Watched<'a> {
    /// The kernel's name for the disk.
    pub device: &'a str,
    /// What was seen.
    pub seen: Seen<'a>,
    /// The verdict on the workload; `None` without a workload.
    pub assessment: Option<&'a Assessment>,
    /// Whether the kernel told the class of each request; otherwise it is that of the thread.
    pub tells_class: bool,
    /// In what the disk differs from what `tune` made; `None` if it is not tuned.
    pub drift: Option<&'a [Drift]>,
}

/// What happened on a disk.
#[derive(Debug, Serialize)]
pub struct WatchReport<'a> {
    device: &'a str,
    duration_ns: Ns,
    /// `None` without a workload.
    verdict: Option<&'static str>,
    requests: u64,
    lost_events: u64,
    /// Whether every request kept its bound; `None` if no request has a bound.
    is_held: Option<bool>,
    /// What the proof rests on and the watch saw broken.
    broken: Vec<String>,
    /// Whether the disk has the settings of `tune`; `None` without a workload.
    is_tuned: Option<bool>,
    drift: &'a [Drift],
    entries: Vec<EntryReport<'a>>,
    entries_without_unit: &'a [String],
    undeclared: Vec<UndeclaredReport<'a>>,
    undeclared_others: u64,
    /// Requests of threads that had ended: whose they were is unknown.
    unknown: u64,
    sources: Vec<SourceReport<'a>>,
    on_device: OnDeviceReport,
    /// What the device did beyond its tables; `None` without a workload.
    contracts: Option<ByContract>,
    unseen_sectors: u64,
    pending: usize,
    unfinished: u64,
    unsent: u64,
    class_from: &'static str,
    /// The contract that the bounds rest on.
    #[serde(skip)]
    contract: Option<DriveContract>,
}

/// An entry of the workload.
#[derive(Debug, Serialize)]
struct EntryReport<'a> {
    name: &'a str,
    unit: &'a str,
    is_task: bool,
    requests: u64,
    #[serde(flatten)]
    response: ResponseTimes,
    bound_ns: Option<Ns>,
    exceeded: u64,
    /// Those of them that are not complete.
    waiting: u64,
    waiting_ns_max: Option<Ns>,
    failed: u64,
    beyond: u64,
    larger: u64,
    other_class: u64,
    outstanding_max: u32,
}

/// A source of requests.
#[derive(Debug, Serialize)]
struct SourceReport<'a> {
    name: &'a str,
    unit: Option<&'a str>,
    /// `None` if several processes share the row.
    pid: Option<u32>,
    class: &'static str,
    reads: u64,
    writes: u64,
    others: u64,
    bytes: u64,
    failed: u64,
    #[serde(flatten)]
    response: ResponseTimes,
    #[serde(skip)]
    title: &'a str,
}

/// Real-time requests that no task declares.
#[derive(Debug, Serialize)]
struct UndeclaredReport<'a> {
    name: &'a str,
    unit: Option<&'a str>,
    requests: u64,
}

/// The requests on the device.
#[derive(Debug, Serialize)]
struct OnDeviceReport {
    in_flight_max: u32,
    /// The most that the proof allows; `None` without one.
    in_flight_allowed: Option<u32>,
    flushes: u64,
    flush_ns_max: Option<Ns>,
    passthrough: u64,
    passthrough_ns_max: Option<Ns>,
    requeued: u64,
    unseen: u64,
}

impl<'a> WatchReport<'a> {
    /// Reports a watch.
    pub fn of(watched: Watched<'a>) -> Self {
        let Watched { device, seen, assessment, tells_class, drift } = watched;
        let verdict = assessment.map(|it| match it.answer {
            Verdict::Proven => "proven",
            Verdict::NotProven => "not_proven",
            Verdict::NotApplicable { .. } => "not_applicable",
        });
        let declared = seen.declared;
        let of_declared = |it: &'a Declared| it.entries().map(EntryReport::of).collect::<Vec<_>>();
        let entries = declared.map(of_declared).unwrap_or_default();
        let is_compared = |it: &&EntryReport<'_>| it.bound_ns.is_some() && it.is_seen();
        let compared: Vec<&EntryReport<'_>> = entries.iter().filter(is_compared).collect();
        let is_held = compared.iter().all(|entry| entry.exceeded == 0);
        let is_held = (!compared.is_empty()).then_some(is_held);
        let undeclared = declared.into_iter().flat_map(Declared::undeclared);
        let mut report = Self {
            device,
            duration_ns: seen.duration.into(),
            verdict,
            requests: seen.accounts.requests(),
            lost_events: seen.lost,
            is_held,
            broken: Vec::new(),
            is_tuned: assessment.map(|_| drift.is_some()),
            drift: drift.unwrap_or_default(),
            entries,
            entries_without_unit: declared.map(Declared::without_unit).unwrap_or_default(),
            undeclared: undeclared.map(UndeclaredReport::of).collect(),
            undeclared_others: declared.map_or(0, Declared::undeclared_others),
            unknown: declared.map_or(0, Declared::unknown),
            sources: seen.accounts.rows().into_iter().map(SourceReport::of).collect(),
            on_device: OnDeviceReport::of(seen.device.record(), assessment),
            contracts: seen.device.contracts().map(ByContract::of),
            unseen_sectors: seen.foreign_sectors,
            pending: seen.pending,
            unfinished: seen.unfinished,
            unsent: seen.unsent,
            class_from: if tells_class { "request" } else { "thread" },
            contract: assessment.map(|it| it.policy.facts().contract()),
        };
        report.broken = report.find_broken();
        report
    }

    /// Returns whether there was nothing to compare, or every request kept its bound, in the class and
    /// at the depth that the proof is for.
    pub fn is_kept(&self) -> bool {
        let is_other_class = self.entries.iter().any(|entry| entry.other_class > 0);
        let is_as_proven = !is_other_class && !self.on_device.is_too_deep();
        self.verdict.is_none() || (self.is_held == Some(true) && is_as_proven)
    }

    /// Returns what the proof rests on and the watch saw broken, or did not see.
    fn find_broken(&self) -> Vec<String> {
        if self.verdict.is_none() {
            return Vec::new();
        }
        let mut broken: Vec<String> = self.entries.iter().flat_map(EntryReport::broken).collect();
        if self.on_device.is_too_deep() {
            broken.push("the disk had more requests at once than proved for".to_owned());
        }
        if !self.undeclared.is_empty() {
            broken.push("undeclared requests came in the real-time class".to_owned());
        }
        if !self.drift.is_empty() {
            broken.push("the disk differs from its settings".to_owned());
        }
        broken
    }
}

impl<'a> EntryReport<'a> {
    fn of((entry, record): &'a (DeclaredEntry, DeclaredRecord)) -> Self {
        Self {
            name: &entry.name,
            unit: &entry.unit,
            is_task: entry.is_task(),
            requests: record.responses.count(),
            response: ResponseTimes::of(&record.responses),
            bound_ns: Ns::of(entry.bound()),
            exceeded: record.exceeded + record.waiting,
            waiting: record.waiting,
            waiting_ns_max: Ns::of(record.waiting_max),
            failed: record.failed,
            beyond: record.beyond,
            larger: record.larger,
            other_class: record.other_class,
            outstanding_max: record.outstanding_max,
        }
    }

    /// Returns whether a request of it is complete, or waits for too long.
    const fn is_seen(&self) -> bool {
        self.requests + self.waiting > 0
    }

    /// Returns the longest response, or the longest time that a request waits if that is longer.
    fn longest(&self) -> Option<Ns> {
        self.response.response_ns_max.max(self.waiting_ns_max)
    }

    fn broken(&self) -> Vec<String> {
        let is_unseen = self.is_task && self.bound_ns.is_some() && !self.is_seen();
        let class = if self.is_task {
            "sent requests below real time"
        } else {
            "sent requests in the real-time class"
        };
        let facts = [
            (u64::from(is_unseen), "was not seen"),
            (self.other_class, class),
            (self.failed, "had failed requests"),
            (self.beyond, "sent requests beyond its contract"),
            (self.larger, "sent requests larger than declared"),
        ];
        let seen = facts.into_iter().filter(|(count, _)| *count > 0);
        seen.map(|(_, what)| format!("{} {what}", printable(self.name))).collect()
    }
}

impl<'a> SourceReport<'a> {
    fn of((source, account): (&'a Source, &'a Account)) -> Self {
        Self {
            name: &source.name,
            unit: source.unit.as_deref(),
            pid: (!account.has_several).then_some(account.pid),
            class: source.class.name(),
            reads: account.reads,
            writes: account.writes,
            others: account.others,
            bytes: account.bytes,
            failed: account.failed,
            response: ResponseTimes::of(&account.responses),
            title: source.title(),
        }
    }

    fn requests(&self) -> u64 {
        self.reads + self.writes + self.others
    }
}

impl<'a> UndeclaredReport<'a> {
    fn of((source, requests): (&'a Source, &'a u64)) -> Self {
        Self { name: &source.name, unit: source.unit.as_deref(), requests: *requests }
    }
}

impl OnDeviceReport {
    fn is_too_deep(&self) -> bool {
        self.in_flight_allowed.is_some_and(|allowed| self.in_flight_max > allowed)
    }

    fn of(record: &DeviceRecord, assessment: Option<&Assessment>) -> Self {
        Self {
            in_flight_max: record.in_flight_max,
            in_flight_allowed: assessment.and_then(figures::best_effort_depth),
            flushes: record.flushes,
            flush_ns_max: Ns::of(record.flush_max),
            passthrough: record.passthrough,
            passthrough_ns_max: Ns::of(record.passthrough_max),
            requeued: record.requeued,
            unseen: record.foreign,
        }
    }
}

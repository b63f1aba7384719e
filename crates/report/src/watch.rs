// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of `tidegate watch`: the requests on a disk against the bounds of a workload, and
//! the workload that was learnt.

mod histogram;
mod learnt;
mod notes;
mod parts;
mod text;

use serde::Serialize;
use tidegate_analysis::{Answer as Verdict, Assessment};
use tidegate_model::DriveContract;
use tidegate_tune::Drift;
use tidegate_watch::{Declared, DeviceRecord, IoClass, Seen, Source};

use crate::drive_record::ByContract;
use crate::figures;
use crate::ns::Ns;
use crate::page::Note;
use crate::result::{RunRecord, SourceRecord};

use parts::{EntryReport, SourceReport};

pub use learnt::LearnReport;

/// The data for a report on a watch.
#[derive(Debug, Clone, Copy)]
pub struct Watched<'a> {
    /// The kernel's name for the disk.
    pub device: &'a str,
    /// The observations of the watch.
    pub seen: Seen<'a>,
    /// The verdict on the workload; `None` without a workload.
    pub assessment: Option<&'a Assessment>,
    /// Whether the kernel reported the class of each request; if not, the thread's class is used.
    pub tells_class: bool,
    /// How the disk differs from the settings that `tune` made; `None` if it is not tuned.
    pub drift: Option<&'a [Drift]>,
}

/// The requests on a disk during a watch, with the verdict on a workload.
#[derive(Debug, Serialize)]
pub struct WatchReport<'a> {
    device: &'a str,
    duration_ns: Ns,
    /// The verdict; `None` without a workload.
    verdict: Option<&'static str>,
    requests: u64,
    lost_events: u64,
    /// Whether every request kept its bound; `None` if no observed request has a bound.
    is_held: Option<bool>,
    /// The assumptions of the proof that were broken during the watch, and the tasks that were not
    /// seen.
    broken: Vec<String>,
    /// Whether the disk was tuned; `None` without a workload.
    is_tuned: Option<bool>,
    drift: &'a [Drift],
    entries: Vec<EntryReport<'a>>,
    entries_without_unit: &'a [String],
    undeclared: Vec<UndeclaredReport<'a>>,
    undeclared_others: u64,
    /// The number of requests with an unknown unit, because their threads had ended.
    unknown: u64,
    sources: Vec<SourceReport<'a>>,
    on_device: OnDeviceReport,
    /// The overruns of the device's tables; `None` without a workload.
    contracts: Option<ByContract>,
    unseen_sectors: u64,
    pending: usize,
    unfinished: u64,
    unsent: u64,
    class_from: &'static str,
    /// Notes on the programs and the disk, and doubts about the report.
    notes: Vec<Note>,
    /// The contract on which the bounds rely.
    #[serde(skip)]
    contract: Option<DriveContract>,
}

/// Real-time requests of a program that no entry declares.
#[derive(Debug, Serialize)]
struct UndeclaredReport<'a> {
    name: &'a str,
    unit: Option<&'a str>,
    requests: u64,
}

/// The numbers of requests on the device.
#[derive(Debug, Serialize)]
struct OnDeviceReport {
    in_flight_max: u32,
    /// The largest number in flight that the proof allows; `None` without a proof.
    in_flight_allowed: Option<u32>,
    flushes: u64,
    flush_ns_max: Option<Ns>,
    passthrough: u64,
    passthrough_ns_max: Option<Ns>,
    requeued: u64,
    unseen: u64,
}

impl<'a> WatchReport<'a> {
    /// Makes the report on a watch.
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
            notes: Vec::new(),
            contract: assessment.map(|it| it.policy.facts().contract()),
        };
        report.broken = report.find_broken();
        report.notes = report.find_notes();
        report
    }

    /// Returns the distributions: those of the entries in their order, then those of the sources.
    pub fn record(&self, seen: Seen<'_>) -> RunRecord {
        let entries = seen.declared.into_iter().flat_map(Declared::entries);
        let entries = entries.map(|(entry, record)| {
            SourceRecord::new(entry.name.clone(), !entry.is_task(), &record.responses)
        });
        let programs = seen.accounts.rows().into_iter().map(|(source, account)| {
            let is_lower = source.class != IoClass::RealTime;
            SourceRecord::new(source.name.clone(), is_lower, &account.responses)
        });
        RunRecord::of_sources("kernel".to_owned(), entries.chain(programs).collect())
    }

    /// Returns whether there is no workload, or whether requests with a bound were seen and each of
    /// them kept its bound, in the class and at the depth that the proof assumes.
    pub fn is_kept(&self) -> bool {
        let is_other_class = self.entries.iter().any(|entry| entry.other_class > 0);
        let is_as_proven = !is_other_class && !self.on_device.is_too_deep();
        self.verdict.is_none() || (self.is_held == Some(true) && is_as_proven)
    }

    /// Returns the assumptions of the proof that were broken during the watch, and the tasks that
    /// were not seen.
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
            broken.push("settings or classes are not those of `tune`".to_owned());
        }
        broken
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

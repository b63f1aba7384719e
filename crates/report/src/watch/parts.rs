// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The entries of a workload and the sources of requests, as a watch saw them.

use serde::Serialize;
use tidegate_stats::{Distribution, ResponseCounts};
use tidegate_watch::{Account, DeclaredEntry, DeclaredRecord, Source};

use crate::ns::Ns;
use crate::page::printable;
use crate::runs::ResponseTimes;

/// The histogram classes of response times that are not empty. Each has its upper limit (`None` for
/// the last possible class) and the number of requests that are above the previous class's limit
/// and within its own.
type Counts = Vec<(Option<Ns>, u64)>;

fn counts(counts: &ResponseCounts) -> Counts {
    let filled = counts.classes().filter(|(_, count)| *count > 0);
    filled.map(|(limit, count)| (Ns::of(limit), count)).collect()
}

/// The observed requests of an entry of the workload.
#[derive(Debug, Serialize)]
pub(super) struct EntryReport<'a> {
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
    pub(super) is_task: bool,
    pub(super) requests: u64,
    #[serde(flatten)]
    pub(super) response: ResponseTimes,
    pub(super) response_ns_counts: Counts,
    pub(super) bound_ns: Option<Ns>,
    pub(super) exceeded: u64,
    /// The number of requests that are incomplete and have already exceeded the bound.
    pub(super) waiting: u64,
    pub(super) waiting_ns_max: Option<Ns>,
    pub(super) failed: u64,
    pub(super) beyond: u64,
    pub(super) larger: u64,
    pub(super) other_class: u64,
    pub(super) outstanding_max: u32,
    #[serde(skip)]
    pub(super) responses: &'a Distribution,
}

/// The observed requests of a source.
#[derive(Debug, Serialize)]
pub(super) struct SourceReport<'a> {
    pub(super) name: &'a str,
    pub(super) unit: Option<&'a str>,
    /// The process's id; `None` if several processes share the row.
    pub(super) pid: Option<u32>,
    pub(super) class: &'static str,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) others: u64,
    pub(super) bytes: u64,
    pub(super) failed: u64,
    #[serde(flatten)]
    pub(super) response: ResponseTimes,
    pub(super) response_ns_counts: Counts,
    #[serde(skip)]
    pub(super) responses: &'a Distribution,
    #[serde(skip)]
    pub(super) title: &'a str,
}

impl<'a> EntryReport<'a> {
    pub(super) fn of((entry, record): &'a (DeclaredEntry, DeclaredRecord)) -> Self {
        Self {
            name: &entry.name,
            unit: &entry.unit,
            is_task: entry.is_task(),
            requests: record.responses.count(),
            response: ResponseTimes::of(&record.responses),
            response_ns_counts: counts(&record.counts),
            bound_ns: Ns::of(entry.bound()),
            exceeded: record.exceeded + record.waiting,
            waiting: record.waiting,
            waiting_ns_max: Ns::of(record.waiting_max),
            failed: record.failed,
            beyond: record.beyond,
            larger: record.larger,
            other_class: record.other_class,
            outstanding_max: record.outstanding_max,
            responses: &record.responses,
        }
    }

    /// Returns whether a request of the entry has completed, or has waited for longer than its
    /// bound.
    pub(super) const fn is_seen(&self) -> bool {
        self.requests + self.waiting > 0
    }

    /// Returns the longest response, or the longest time that a request has waited if that is
    /// longer.
    pub(super) fn longest(&self) -> Option<Ns> {
        self.response.response_ns_max.max(self.waiting_ns_max)
    }

    pub(super) fn broken(&self) -> Vec<String> {
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
    pub(super) fn of((source, account): (&'a Source, &'a Account)) -> Self {
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
            response_ns_counts: counts(&account.counts),
            responses: &account.responses,
            title: source.title(),
        }
    }

    pub(super) fn requests(&self) -> u64 {
        self.reads + self.writes + self.others
    }
}

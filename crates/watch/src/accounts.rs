// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts requests and their response times for each program and class.

use std::collections::BTreeMap;

use tidegate_model::{Duration, Op};
use tidegate_stats::{Distribution, Memory, ResponseCounts};

use crate::event::IoClass;
use crate::process::Process;
use crate::served::Served;

/// The maximum number of sources with a row of their own; further sources share one row for each
/// class.
const SOURCES_MAX: usize = 512;

/// A source of requests: all processes with one name in one systemd unit, and one class of their
/// requests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// The systemd service; `None` outside of services.
    pub unit: Option<String>,
    /// The processes' name.
    pub name: String,
    /// The class of the requests.
    pub class: IoClass,
}

impl Source {
    /// Returns the source that a process's requests of this class belong to.
    pub fn of(process: &Process, class: IoClass) -> Self {
        Self { unit: process.unit.clone(), name: process.name.clone(), class }
    }

    /// Returns the row that the further sources of a class share if there are too many.
    pub(crate) fn others(class: IoClass) -> Self {
        Self { unit: None, name: "others".to_owned(), class }
    }

    /// Returns the unit, or the processes' name if there is no unit.
    pub fn title(&self) -> &str {
        self.unit.as_deref().unwrap_or(&self.name)
    }
}

/// The counts of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// The process whose request completed last.
    pub pid: u32,
    /// Whether the source had several processes.
    pub has_several: bool,
    /// The number of reads.
    pub reads: u64,
    /// The number of writes.
    pub writes: u64,
    /// The number of other requests, such as flushes and discards.
    pub others: u64,
    /// The number of bytes that were read and written.
    pub bytes: u64,
    /// The number of requests that failed.
    pub failed: u64,
    /// The response times of all requests, from queueing to completion.
    pub responses: Distribution,
    /// The same response times, counted in classes.
    pub counts: ResponseCounts,
}

impl Account {
    fn new(pid: u32) -> Self {
        Self {
            pid,
            has_several: false,
            reads: 0,
            writes: 0,
            others: 0,
            bytes: 0,
            failed: 0,
            responses: Distribution::new(Memory::AsNeeded),
            counts: ResponseCounts::default(),
        }
    }

    fn record(&mut self, served: &Served) {
        self.has_several |= self.pid != served.by.pid;
        self.pid = served.by.pid;
        match served.extent.op.moves_data() {
            Some(Op::Read) => self.reads += 1,
            Some(Op::Write) => self.writes += 1,
            None => self.others += 1,
        }
        if served.extent.op.moves_data().is_some() {
            self.bytes += served.extent.bytes().get();
        }
        self.failed += u64::from(served.is_failed);
        self.responses.record(served.response());
        self.counts.record(served.response());
    }
}

/// The counts of all sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accounts {
    by_source: BTreeMap<Source, Account>,
}

impl Accounts {
    /// Counts a completed request.
    pub fn record(&mut self, served: &Served) {
        let Served { by, class, .. } = served;
        let mut source = Source::of(by, *class);
        if self.by_source.len() >= SOURCES_MAX && !self.by_source.contains_key(&source) {
            source = Source::others(*class);
        }
        let account = self.by_source.entry(source).or_insert_with(|| Account::new(by.pid));
        account.record(served);
    }

    /// Returns the sources with their counts, sorted by class, the highest first, and then by their
    /// longest response, the longest first.
    pub fn rows(&self) -> Vec<(&Source, &Account)> {
        let mut rows: Vec<_> = self.by_source.iter().collect();
        rows.sort_by_key(|(source, account)| {
            (source.class, std::cmp::Reverse(account.responses.max()))
        });
        rows
    }

    /// Returns the number of all counted requests.
    pub fn requests(&self) -> u64 {
        self.by_source.values().map(|account| account.responses.count()).sum()
    }

    /// Returns the longest response and its source.
    pub fn longest(&self) -> Option<(&Source, Duration)> {
        let rows = self.by_source.iter();
        let longest = rows.filter_map(|(source, account)| Some((source, account.responses.max()?)));
        longest.max_by_key(|(_, response)| *response)
    }
}

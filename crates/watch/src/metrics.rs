// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes the metrics page of a watch. Each metric has a label for the disk, so that the pages of
//! several watches can be collected together.

use tidegate_host::Overruns;
use tidegate_metrics::{Families, Labels, Value, labels};
use tidegate_model::DriveContract;

use crate::accounts::{Account, Source};
use crate::declared::{Declared, DeclaredEntry, Record};
use crate::event::IoClass;
use crate::watcher::Seen;

/// Returns the metrics of a watch of the disk with this name. `tells_class` says whether the kernel
/// reported the class of each request.
pub fn metrics(device: &str, seen: &Seen<'_>, tells_class: bool) -> Families {
    let watch = Watch { device, seen };
    let mut page = Families::default();
    let class_from = if tells_class { "request" } else { "thread" };
    let facts = [("version", env!("CARGO_PKG_VERSION")), ("class_from", class_from)];
    let help = "The version of the watch, and where classes are from";
    page.info("tidegate_watch", help, watch.with(facts));
    watch.whole(&mut page);
    watch.entries(&mut page);
    watch.undeclared(&mut page);
    watch.sources(&mut page);
    watch.device(&mut page);
    watch.contracts(&mut page);
    page
}

/// The observations of a disk, with the disk's name.
struct Watch<'a> {
    device: &'a str,
    seen: &'a Seen<'a>,
}

impl Watch<'_> {
    /// Returns the labels of a sample, beginning with the disk's.
    fn with<const N: usize>(&self, more: [(&'static str, &str); N]) -> Labels {
        let mut all = labels([("device", self.device)]);
        all.extend(labels(more));
        all
    }

    fn of_entry(&self, entry: &DeclaredEntry) -> Labels {
        // The labels for operation and size distinguish entries of one unit with the same name: an
        // entry `cam` with a count, whose tasks are `cam-1` and so on, and another entry `cam`.
        let (op, size) = (entry.op.name(), entry.size.to_string());
        self.with([("entry", &entry.name), ("unit", &entry.unit), ("op", op), ("size", &size)])
    }

    fn of_source(&self, source: &Source) -> Labels {
        let unit = source.unit.as_deref().unwrap_or_default();
        self.with([("unit", unit), ("process", &source.name), ("class", source.class.name())])
    }

    fn counter(&self, page: &mut Families, what: &str, help: &'static str, count: u64) {
        page.counters(format!("tidegate_watch_{what}"), help, [(self.with([]), count)]);
    }

    fn gauge(&self, page: &mut Families, what: &str, help: &'static str, value: impl Into<Value>) {
        page.gauges(format!("tidegate_watch_{what}"), help, [(self.with([]), value)]);
    }

    fn whole(&self, page: &mut Families) {
        let Seen { duration, lost, unfinished, pending, declared, .. } = *self.seen;
        self.gauge(page, "duration_seconds", "Time since the watch began", duration);
        self.gauge(page, "pending", "Requests that are not complete", pending as u64);
        self.counter(page, "lost_events", "Events that the kernel had no room for", lost);
        let help = "Requests whose end is unknown: events were lost, or they had none for minutes";
        self.counter(page, "unfinished", help, unfinished);
        if let Some(declared) = declared {
            let help = "Requests whose unit is unknown, because their threads had ended";
            self.counter(page, "unknown", help, declared.unknown());
        }
    }

    fn entries(&self, page: &mut Families) {
        type Count = fn(&Record) -> u64;
        let each = || self.seen.declared.into_iter().flat_map(Declared::entries);
        let of_each = |pick: Count| each().map(move |(e, record)| (self.of_entry(e), pick(record)));
        let help =
            "Response times of an entry's requests, from queue to completion or until given up";
        let counts = each().map(|(entry, record)| (self.of_entry(entry), record.counts.clone()));
        page.histograms("tidegate_watch_entry_response_seconds", help, counts);
        let help = "Longest response, or longest time that a request has waited";
        let longest = |record: &Record| record.responses.max().max(record.waiting_max);
        let samples = each().filter_map(|(e, record)| Some((self.of_entry(e), longest(record)?)));
        page.gauges("tidegate_watch_entry_response_max_seconds", help, samples);
        let bounds = each().filter_map(|(entry, _)| Some((self.of_entry(entry), entry.bound()?)));
        page.gauges("tidegate_watch_entry_bound_seconds", "Proved bound", bounds);
        let counters: [(&str, &str, Count); 3] = [
            ("exceeded", "Requests that completed, or were given up, after their bound", |it| {
                it.exceeded
            }),
            ("failed", "Requests that failed", |it| it.failed),
            ("other_class", "Requests of another class than the proof needs", |it| it.other_class),
        ];
        for (what, help, pick) in counters {
            page.counters(format!("tidegate_watch_entry_{what}"), help, of_each(pick));
        }
        // A request that ended without being sent is subtracted from these counts, so they are
        // gauges.
        let gauges: [(&str, &str, Count); 3] = [
            ("waiting", "Pending requests that have waited for longer than their bound", |it| {
                it.waiting
            }),
            ("beyond", "Requests beyond the contract", |it| it.beyond),
            ("larger", "Requests larger than declared", |it| it.larger),
        ];
        for (what, help, pick) in gauges {
            page.gauges(format!("tidegate_watch_entry_{what}"), help, of_each(pick));
        }
    }

    fn undeclared(&self, page: &mut Families) {
        let Some(declared) = self.seen.declared else { return };
        let mut all = declared.undeclared().clone();
        let further = declared.undeclared_others();
        if further > 0 {
            // A process can have the same name as the row that further sources share.
            *all.entry(Source::others(IoClass::RealTime)).or_default() += further;
        }
        let samples = all.iter().map(|(source, count)| (self.of_source(source), *count));
        let help = "Requests in the real-time class that no entry declares";
        page.counters("tidegate_watch_undeclared", help, samples);
    }

    fn sources(&self, page: &mut Families) {
        type Count = fn(&Account) -> u64;
        let rows = self.seen.accounts.rows();
        let each = || rows.iter().map(|(source, account)| (self.of_source(source), *account));
        let help = "Response times of a source's requests, from queue to completion";
        let counts = each().map(|(labels, account)| (labels, account.counts.clone()));
        page.histograms("tidegate_watch_source_response_seconds", help, counts);
        let longest = each().filter_map(|(labels, it)| Some((labels, it.responses.max()?)));
        page.gauges("tidegate_watch_source_response_max_seconds", "Longest response", longest);
        let counters: [(&str, &str, Count); 2] = [
            ("transferred_bytes", "Bytes read and written", |it| it.bytes),
            ("failed", "Requests that failed", |it| it.failed),
        ];
        for (what, help, pick) in counters {
            let samples = each().map(|(labels, account)| (labels, pick(account)));
            page.counters(format!("tidegate_watch_source_{what}"), help, samples);
        }
    }

    fn device(&self, page: &mut Families) {
        let record = self.seen.device.record();
        let help = "Most requests at once on the disk";
        self.gauge(page, "in_flight_max", help, u64::from(record.in_flight_max));
        self.counter(page, "flushes", "Flushes", record.flushes);
        let help = "Commands past the scheduler";
        self.counter(page, "passthrough", help, record.passthrough);
        let help = "Requests that the kernel took back and sent again";
        self.counter(page, "requeued", help, record.requeued);
        if let Some(longest) = record.flush_max {
            self.gauge(page, "flush_max_seconds", "Longest flush", longest);
        }
        if let Some(longest) = record.passthrough_max {
            let help = "Longest command past the scheduler";
            self.gauge(page, "passthrough_max_seconds", help, longest);
        }
    }

    fn contracts(&self, page: &mut Families) {
        type Pick = fn(&Overruns) -> Value;
        let Some(watch) = self.seen.device.contracts() else { return };
        let all: Vec<_> = DriveContract::ALL
            .into_iter()
            .filter_map(|contract| Some((contract.name(), watch.overruns(contract)?)))
            .collect();
        let counters: [(&str, &str, Pick); 4] = [
            ("observed", "Cases that were compared with the drive file", |it| it.observed.into()),
            ("overruns", "Cases that took longer than the drive file says", |it| {
                it.overruns.into()
            }),
            // The number of tolerated cases falls when one of them lasts too long, so this is a
            // gauge.
            ("overruns_void", "Of these cases, those that the proof does not tolerate", |it| {
                (it.overruns - it.tolerated).into()
            }),
            ("overrun_seconds", "Sum of the times beyond the drive file", |it| it.sum.into()),
        ];
        for (what, help, pick) in counters {
            let samples = all.iter().map(|(name, it)| (self.with([("contract", *name)]), pick(it)));
            page.counters(format!("tidegate_watch_drive_{what}"), help, samples);
        }
    }
}

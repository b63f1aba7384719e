// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The screen of a watch.

mod rows;

use super::{EntryReport, SourceReport, WatchReport};
use crate::figures::{bound, count, thousands};
use crate::ns::Ns;
use crate::page::{Answer, Page, Report, Table, Tone, printable};

/// The largest number of sources in a table; the JSON object contains all.
pub(super) const SOURCES_MAX: usize = 20;
/// The largest number of faults in the first line.
const BROKEN_MAX: usize = 2;

impl Report for WatchReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let about = format!("{} for {}", self.device, seconds(self.duration_ns));
        let missing = self.missing();
        Some(match (self.verdict, self.is_held) {
            (None, _) => {
                let requests = requests(self.requests);
                let text = format!("SEEN: {about}, {requests}{}", self.longest());
                if missing.is_empty() {
                    Answer::good(text)
                } else {
                    Answer::doubtful(format!("{text}; {}", missing.join("; ")))
                }
            }
            (Some("proven"), None) if self.entries.iter().all(|entry| entry.bound_ns.is_none()) => {
                Answer::bad(format!("NOT COMPARED: {about}: no task of the workload names a unit"))
            }
            (Some("proven"), None) => {
                Answer::bad(format!("NOT SEEN: {about}: no request of a task with a bound"))
            }
            (Some("proven"), Some(false)) => {
                Answer::bad(format!("EXCEEDED: {about}: {}", self.exceeded()))
            }
            (Some("proven"), Some(true)) => {
                let text = format!("{about}, {} within their bounds", requests(self.compared()));
                self.held(&text, &missing)
            }
            (Some(_), _) => Answer::bad(format!("NO BOUNDS: {about}: the workload is not proven")),
        })
    }

    fn write(&self, page: &mut Page) {
        self.write_entries(page);
        self.write_sources(page);
        writeln!(page);
        self.notes.iter().for_each(|note| page.note(note));
    }
}

impl WatchReport<'_> {
    /// Returns the number of requests that were compared with a bound.
    pub(super) fn compared(&self) -> u64 {
        let bounded = self.entries.iter().filter(|entry| entry.bound_ns.is_some());
        bounded.map(|entry| entry.requests).sum()
    }

    fn held(&self, text: &str, missing: &[String]) -> Answer {
        let seen = if missing.is_empty() { "" } else { " as far as seen" };
        let mut doubts = missing.to_vec();
        let (first, more) = self.broken.split_at(self.broken.len().min(BROKEN_MAX));
        doubts.extend(first.iter().map(|it| format!("but {it}")));
        if !more.is_empty() {
            doubts.push(format!("and {}", count(more.len(), "more fault")));
        }
        let but = if self.broken.is_empty() { "" } else { ", BUT" };
        match doubts.as_slice() {
            [] => Answer::good(format!("HELD: {text}")),
            _ => Answer::doubtful(format!("HELD{seen}{but}: {text}; {}", doubts.join("; "))),
        }
    }

    /// Returns the tasks and requests that the watch did not see, in words.
    fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if self.lost_events > 0 {
            missing.push(self.lost());
        }
        if self.unfinished > 0 && self.lost_events == 0 {
            missing.push(format!("{} without an end", requests(self.unfinished)));
        }
        if self.unknown > 0 {
            missing.push(format!("{} of threads that had ended", requests(self.unknown)));
        }
        if self.is_tuned == Some(false) {
            missing.push("settings not checked, because the disk was not tuned".to_owned());
        }
        missing
    }

    pub(super) fn lost(&self) -> String {
        format!("{} lost", count(thousands(self.lost_events), "event"))
    }

    fn longest(&self) -> String {
        let with_response = |it: &&SourceReport<'_>| it.response.response_ns_max.is_some();
        let sources = self.sources.iter().filter(with_response);
        let longest = sources.max_by_key(|source| source.response.response_ns_max);
        longest.map_or(String::new(), |source| {
            let response = bound(source.response.response_ns_max.map(|it| it.0));
            format!("; longest response {response} ({})", printable(source.title))
        })
    }

    fn exceeded(&self) -> String {
        let worst = self.entries.iter().filter(|entry| entry.exceeded > 0);
        let worst: Vec<_> = worst
            .map(|entry| {
                let (took, most) = (entry.longest(), entry.bound_ns);
                format!(
                    "{} took {}, bound {}, {} of {}",
                    printable(entry.name),
                    bound(took.map(|it| it.0)),
                    bound(most.map(|it| it.0)),
                    thousands(entry.exceeded),
                    requests(entry.requests + entry.waiting)
                )
            })
            .collect();
        worst.join("; ")
    }

    fn write_entries(&self, page: &mut Page) {
        if self.entries.is_empty() {
            return;
        }
        let header = ["declared", "requests", "p99", "longest", "bound", "above", "beyond"];
        let rows = self.entries.iter().map(EntryReport::row).collect();
        let tone = |entry: &EntryReport<'_>| (entry.exceeded > 0).then_some(Tone::Bad);
        let tones = self.entries.iter().map(tone).collect();
        page.put(Table::new(&header, rows, 1).optional(&["p99", "beyond"]).toned(tones));
        writeln!(page);
    }

    fn write_sources(&self, page: &mut Page) {
        if self.sources.is_empty() {
            page.paragraph("No request completed.");
            return;
        }
        let header = ["source", "class", "requests", "data/s", "mean", "p99", "longest"];
        let rows = self.sources.iter().take(SOURCES_MAX).map(|it| it.row(self.duration_ns));
        page.put(Table::new(&header, rows.collect(), 2).optional(&["data/s", "mean"]));
        if let Some(more) = self.sources.len().checked_sub(SOURCES_MAX).filter(|&more| more > 0) {
            page.legend(format!("and {}; --json has all", count(more, "more source")));
        }
    }
}

pub(super) fn requests(number: u64) -> String {
    format!("{} {}", thousands(number), if number == 1 { "request" } else { "requests" })
}

/// Formats a time in seconds with one decimal, rounded down.
pub(super) fn seconds(Ns(time): Ns) -> String {
    let tenths = time.ns() / 100_000_000;
    format!("{}.{} s", tenths / 10, tenths % 10)
}

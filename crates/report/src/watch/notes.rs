// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The notes of a watch: behaviour of programs and the disk that the proof does not cover, and
//! doubts about the report.

use super::text::requests;
use super::{EntryReport, OnDeviceReport, SourceReport, UndeclaredReport, WatchReport};
use crate::figures::{bound, ms_ceil, thousands};
use crate::page::{Note, printable};

/// The largest number of sources that have notes about their failed requests.
const FAILED_MAX: usize = 20;

impl WatchReport<'_> {
    /// Returns the notes in the order of the screen.
    pub(super) fn find_notes(&self) -> Vec<Note> {
        let of_entries = self.entries.iter().flat_map(EntryReport::faults);
        let mut notes: Vec<Note> = of_entries.map(|it| Note::doubtful("Declared", it)).collect();
        notes.extend(self.undeclared.iter().map(UndeclaredReport::note));
        if self.undeclared_others > 0 {
            let text = format!("{} of further sources", requests(self.undeclared_others));
            notes.push(Note::bad("Undeclared", text));
        }
        // The failed requests of entries are also among the entries' faults.
        let failed = self.sources.iter().filter(|it| it.failed > 0).take(FAILED_MAX);
        notes.extend(failed.map(SourceReport::failure));
        notes.extend(self.settings());
        for name in self.entries_without_unit {
            let text =
                format!("{}: names no unit, so its requests cannot be told apart", printable(name));
            notes.push(Note::doubtful("Declared", text));
        }
        if let (Some(contracts), Some(contract)) = (&self.contracts, self.contract)
            && let Some(sentence) = contracts.sentence(contract)
        {
            notes.push(Note::bad("Overruns", sentence));
        }
        notes.extend(self.on_device.notes());
        notes.extend(self.left_out());
        notes
    }

    fn settings(&self) -> Option<Note> {
        if self.is_tuned == Some(false) {
            let text =
                "the disk was not tuned: `tidegate tune` makes the settings that the bounds need";
            return Some(Note::doubtful("Settings", text));
        }
        let names: Vec<_> = self.drift.iter().map(|it| printable(&it.name)).collect();
        let text = || format!("not as they were tuned: {}", names.join(", "));
        (!names.is_empty()).then(|| Note::bad("Settings", text()))
    }

    /// Returns notes on requests that the watch did not see, or knows only in part.
    fn left_out(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if self.lost_events > 0 {
            let pending = match self.unfinished {
                0 => "no request was pending then".to_owned(),
                pending => format!("{} without a known end are left out", requests(pending)),
            };
            let text = format!("{}: the kernel's buffer was full; {pending}", self.lost());
            notes.push(Note::doubtful("Lost", text));
        }
        if self.unfinished > 0 && self.lost_events == 0 {
            let text = format!("{} without an end for five minutes", requests(self.unfinished));
            notes.push(Note::doubtful("Left out", text));
        }
        if self.unknown > 0 {
            let text = format!(
                "{} of threads that had ended before their unit could be read",
                requests(self.unknown)
            );
            notes.push(Note::doubtful("Left out", text));
        }
        if self.unseen_sectors > 0 {
            let text = format!(
                "{} sectors of requests that came before the watch began, or from a device above \
                 the disk that passes them on",
                thousands(self.unseen_sectors)
            );
            notes.push(Note::plain("Left out", text));
        }
        if self.verdict.is_some() && self.class_from == "thread" {
            let text = "each request counts in its thread's class: this kernel does not report the \
                        request's own";
            notes.push(Note::plain("Classes", text));
        }
        notes
    }
}

impl EntryReport<'_> {
    /// Describes how the programs differ from the entry.
    fn faults(&self) -> Vec<String> {
        let name = printable(self.name);
        let (asks, class) = if self.is_task {
            (
                "beyond its contract, more in a period than declared",
                "below real time, where the proof gives no bound",
            )
        } else {
            (
                "beyond its contract, more at once than declared",
                "in the real-time class, which delays every task",
            )
        };
        let still = format!(
            "waited still at the end, for up to {}",
            bound(self.waiting_ns_max.map(|it| it.0))
        );
        let faults = [
            (self.waiting, still.as_str()),
            (self.failed, "failed"),
            (self.beyond, asks),
            (self.larger, "larger than declared"),
            (self.other_class, class),
        ];
        let seen = faults.into_iter().filter(|(count, _)| *count > 0);
        seen.map(|(count, what)| format!("{name}: {} {what}", requests(count))).collect()
    }
}

impl UndeclaredReport<'_> {
    fn note(&self) -> Note {
        let Self { name, unit, requests: count } = self;
        let whose = unit.map_or(String::new(), |unit| format!(" of {}", printable(unit)));
        let text = format!(
            "{}{whose}: {} in the real-time class, which no task declares: no bound counts on them",
            printable(name),
            requests(*count)
        );
        Note::bad("Undeclared", text)
    }
}

impl SourceReport<'_> {
    fn failure(&self) -> Note {
        let text = format!("{}: {}", printable(self.title), requests(self.failed));
        Note::doubtful("Failed", text)
    }
}

impl OnDeviceReport {
    fn notes(&self) -> Vec<Note> {
        const LABEL: &str = "On the disk";
        let most = format!("at most {} at once", requests(self.in_flight_max.into()));
        let mut notes = vec![match self.in_flight_allowed {
            Some(allowed) if self.in_flight_max > allowed => {
                Note::bad(LABEL, format!("{most}, and the proof is for {allowed}"))
            }
            Some(allowed) => Note::plain(LABEL, format!("{most}, as proved for {allowed}")),
            None => Note::plain(LABEL, most),
        }];
        let rows = [
            (self.flushes, "flush", "flushes", self.flush_ns_max),
            (
                self.passthrough,
                "command past the scheduler",
                "commands past the scheduler",
                self.passthrough_ns_max,
            ),
        ];
        for (number, one, several, longest) in rows.into_iter().filter(|row| row.0 > 0) {
            let what = if number == 1 { one } else { several };
            let took = longest.map_or(String::new(), |it| format!(", up to {}", ms_ceil(it.0)));
            let text = format!("{} {what}{took}: before everything else", thousands(number));
            notes.push(Note::plain(LABEL, text));
        }
        if self.requeued > 0 {
            let text = format!("{} taken back and sent again", requests(self.requeued));
            notes.push(Note::plain(LABEL, text));
        }
        if self.unseen > 0 {
            let text = format!("{} without a dispatch that was seen", requests(self.unseen));
            notes.push(Note::plain(LABEL, text));
        }
        notes
    }
}

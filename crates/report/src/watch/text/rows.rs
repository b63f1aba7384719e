// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rows of a watch's screen, and what entries, programs and the disk did beyond the proof.

use super::super::{EntryReport, OnDeviceReport, SourceReport};
use super::requests;
use crate::figures::{bound, ms_ceil, thousands, throughput};
use crate::ns::Ns;
use crate::page::{Page, Tone, printable};

impl EntryReport<'_> {
    pub(super) fn row(&self) -> Vec<String> {
        let time = |time: Option<Ns>| bound(time.map(|it| it.0));
        vec![
            printable(self.name),
            thousands(self.requests),
            time(self.response.response_ns_p99),
            time(self.longest()),
            time(self.bound_ns),
            thousands(self.exceeded),
            thousands(self.beyond),
        ]
    }

    /// Returns how the programs differ from the entry.
    pub(super) fn faults(&self) -> Vec<String> {
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

impl SourceReport<'_> {
    pub(super) fn row(&self, duration: Ns) -> Vec<String> {
        let time = |time: Option<Ns>| bound(time.map(|it| it.0));
        vec![
            printable(self.title),
            self.class.to_owned(),
            thousands(self.requests()),
            self.per_second(duration),
            time(self.response.response_ns_mean),
            time(self.response.response_ns_p99),
            time(self.response.response_ns_max),
        ]
    }

    fn per_second(&self, Ns(duration): Ns) -> String {
        let rate = u128::from(self.bytes) * 1_000_000_000 / u128::from(duration.ns().max(1));
        u64::try_from(rate).map_or("-".to_owned(), throughput)
    }
}

impl OnDeviceReport {
    pub(super) fn write(&self, page: &mut Page) {
        let most = format!("at most {} at once", requests(self.in_flight_max.into()));
        match self.in_flight_allowed {
            Some(allowed) if self.in_flight_max > allowed => page.labelled_as(
                "On the disk",
                format!("{most}, and the proof is for {allowed}"),
                Some(Tone::Bad),
            ),
            Some(allowed) => {
                page.labelled("On the disk", format!("{most}, as proved for {allowed}"));
            }
            None => page.labelled("On the disk", most),
        }
        let rows = [
            (self.flushes, "flush", "flushes", self.flush_ns_max),
            (
                self.passthrough,
                "command past the scheduler",
                "commands past the scheduler",
                self.passthrough_ns_max,
            ),
        ];
        for (number, one, several, longest) in rows {
            let what = if number == 1 { one } else { several };
            let took = longest.map_or(String::new(), |it| format!(", up to {}", ms_ceil(it.0)));
            if number > 0 {
                page.labelled(
                    "",
                    format!("{} {what}{took}: before everything else", thousands(number)),
                );
            }
        }
        if self.requeued > 0 {
            page.labelled("", format!("{} taken back and sent again", requests(self.requeued)));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rows of a watch's screen.

use super::super::{EntryReport, SourceReport};
use crate::figures::{bound, thousands, throughput};
use crate::ns::Ns;
use crate::page::printable;

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
